//! Fetches by the device's sampler, of textures that have an image. Other textures are read by loads.

use super::record::Record;
use super::{Geometry, Point, list};
use crate::decode::program::{Instruction, Operand};
use crate::diagnostic::{Diagnostic, Result};
use crate::ir::{Op, Sample, Type, Value, Var};
use crate::lower::lowering::Lowering;
use crate::policy::Samplers;
use ptx2spv_interface::texture::{field, image};

/// A read of a texture that may have an image.
pub(super) struct Image {
    /// Whether the texture has an image, with as many dimensions as the instruction.
    pub(super) exists: Value,
    /// Whether all textures of the launch have such an image.
    pub(super) always_exists: Value,
    /// A sample of its first channel.
    sample: Sample,
}

impl Image {
    /// `None` for instructions that are always done by loads: other geometries, offsets, and samplers apart from the texture.
    pub(super) fn of(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result<Option<Image>> {
        let geometry = Geometry::of(i)?;
        let [texture, sampler, rest @ ..] = list(i, 1)? else {
            return Err(Diagnostic::internal("a texture without coordinates", i.span));
        };
        let has_offsets = matches!(l.operand(i, 5), Operand::List(_));
        let samplers = l.layout.samplers;
        if samplers == Samplers::Unused || geometry.layered || geometry.cube || has_offsets || *sampler != Operand::Sink
        {
            return Ok(None);
        }
        let Point { coordinates, .. } = Point::of(l, geometry, rest)?;
        let coordinates: Vec<Value> = coordinates.into_iter().map(|bits| l.b.bitcast(bits, Type::F32)).collect();
        let (place, depth, kind) = match *coordinates.as_slice() {
            // A row lies in a plane that has no other.
            [x] => ([x, l.b.f32(0.0)], None, image::IS_PLANE),
            [x, y] => ([x, y], None, image::IS_PLANE),
            [x, y, z] => ([x, y], Some(z), image::IS_VOLUME),
            _ => return Ok(None),
        };
        let record = Record::of(l, texture)?;
        let word = record.word(l, field::IMAGE);
        let bits = if samplers == Samplers::Exact { kind | image::IS_EXACT } else { kind };
        let [exists, always_exists] = record.image_bits(l, bits);
        let number = l.b.and_const(word, image::NUMBER.into());
        Ok(Some(Image { exists, always_exists, sample: Sample { image: number, place, depth, channel: 0 } }))
    }

    /// Reads the channels' bits.
    pub(super) fn read(&self, l: &mut Lowering<'_, '_>, into: [Var; 4]) {
        for (channel, var) in (0..).zip(into) {
            let value = l.b.op(Type::F32, Op::Sample(Sample { channel, ..self.sample }));
            l.b.set(var, l.b.bits(value));
        }
    }
}
