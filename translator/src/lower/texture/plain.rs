//! Point reads of the simplest textures: whole words as channels, no levels, and clamped coordinates that count texels.

use super::record::Record;
use super::texel::load;
use super::{Geometry, Point, clamp_float, least, list};
use crate::decode::program::{Instruction, Operand};
use crate::diagnostic::{Diagnostic, Result};
use crate::ir::{Compare, Type, Unary, Value, Var};
use crate::lower::lowering::Lowering;
use ptx2spv_interface::texture::image;

/// A read of a texture that may be plain.
pub(super) struct Plain {
    /// Whether the texture is plain.
    pub(super) suits: Value,
    /// Whether all textures of the launch are plain.
    pub(super) always_suits: Value,
    record: Record,
    geometry: Geometry,
    point: Point,
}

impl Plain {
    /// `None` for cubes, offsets, and samplers apart from the texture.
    pub(super) fn of(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result<Option<Plain>> {
        let geometry = Geometry::of(i)?;
        let [texture, sampler, rest @ ..] = list(i, 1)? else {
            return Err(Diagnostic::internal("a texture without coordinates", i.span));
        };
        if geometry.cube || matches!(l.operand(i, 5), Operand::List(_)) || *sampler != Operand::Sink {
            return Ok(None);
        }
        let record = Record::of(l, texture)?;
        let point = Point::of(l, geometry, rest)?;
        let [suits, always_suits] = record.image_bits(l, image::IS_PLAIN);
        Ok(Some(Plain { suits, always_suits, record, geometry, point }))
    }

    /// Reads the channels' bits. Variables of missing channels keep their values.
    pub(super) fn read(&self, l: &mut Lowering<'_, '_>, into: [Var; 4]) -> Result {
        let image = self.record.image(l);
        let mut extents = image.level.extents(self.geometry, image.layers).into_iter();
        let coordinates = self.point.coordinates.iter().zip(&mut extents);
        let coordinates = coordinates.map(|(bits, extent)| texel(l, *bits, extent)).collect::<Vec<_>>();
        let layer =
            self.point.layer.zip(extents.next()).map(|(layer, layers)| least(l, layer, l.b.sub_const(layers, 1)));
        let Some(x) = coordinates.first().copied() else { return Ok(()) };
        let bytes = l.b.shl(l.b.mul(x, image.channels), 2);
        let address = image.level.address(l, self.geometry, bytes, &Point { coordinates, layer });
        let [is_one, is_two] = [1, 2].map(|count| l.b.compare_const(Compare::Equal, image.channels, count));
        let [red, green, ..] = into;
        l.b.if_else(
            is_one,
            |b| load(b, address, &[red]),
            |b| b.if_else(is_two, |b| load(b, address, &[red, green]), |b| load(b, address, &into)),
        );
        Ok(())
    }
}

/// The texel of a coordinate's bits. NaN counts as 0.
fn texel(l: &mut Lowering<'_, '_>, bits: Value, extent: Value) -> Value {
    let b = &l.b;
    let coordinate = b.bitcast(bits, Type::F32);
    let [zero, most] = [0.0, 1_048_576.0].map(|number| b.f32(number));
    let is_number = b.feq(coordinate, coordinate);
    let coordinate = clamp_float(b, b.select(is_number, coordinate, zero), [zero, most]);
    least(l, b.unary(Unary::FloatToSigned(Type::I32), coordinate), b.sub_const(extent, 1))
}
