//! The common part of fetches at float coordinates: a texture, its sampler, and a point.
//!
//! `.1d` reads one row, as if it were `.2d` with a second coordinate of 0, which takes part in the filter and the border. Layers of one
//! dimension have no second coordinate. Layers beyond the last are clamped.

use super::blend::Arithmetic;
use super::coordinate::{self, Dimension, Position};
use super::cube::{self, FacePoint};
use super::record::{Image, Level, Levels, Record};
use super::texel::Format;
use super::{Geometry, Point, is_among, is_linear, least, list};
use crate::decode::program::{Instruction, Operand};
use crate::diagnostic::{Diagnostic, Result};
use crate::ir::{Compare, Type, Value};
use crate::isa::types::ScalarType;
use crate::lower::lowering::Lowering;
use ptx2spv_interface::texture::{Texel, field, flag};

/// The position of a point, which holds for every level.
pub(super) enum Where {
    /// Float coordinates, and offsets in texels if there are any.
    Flat { coordinates: Vec<Value>, offsets: Vec<Value> },
    /// On a cube's face. Filters may go on beyond its edges.
    Cube { place: FacePoint, is_seamless: Value },
}

/// A texture, sampler and point.
pub(super) struct Source {
    pub(super) texture: Record,
    pub(super) sampler: Record,
    pub(super) image: Image,
    pub(super) levels: Levels,
    pub(super) format: Format,
    pub(super) arithmetic: Arithmetic,
    pub(super) srgb_table: u64,
    /// Whether the texture is an array, or linear memory of two dimensions; reads of others give zeros.
    pub(super) exists: Value,
    /// Whether the sampler filters within levels.
    pub(super) is_linear: Value,
    /// The point's coordinates as the instruction has them, without the layer.
    pub(super) coordinates: Vec<Value>,
    pub(super) point: Where,
    normalized: Value,
    modes: [Value; 3],
    layer: Option<Value>,
}

impl Source {
    /// From operands; offsets have `offset_bits` bits.
    pub(super) fn of(l: &mut Lowering<'_, '_>, i: &Instruction, offset_bits: u32) -> Result<Source> {
        let geometry = Geometry::of(i)?;
        let [texture, sampler, rest @ ..] = list(i, 1)? else {
            return Err(Diagnostic::internal("a texture without coordinates", i.span));
        };
        let Some(srgb_table) = l.layout.srgb_table() else {
            return Err(Diagnostic::internal("a texture without the table of sRGB", i.span));
        };
        let record = Record::of(l, texture)?;
        let Point { coordinates, layer } = Point::of(l, geometry, rest)?;
        let image = record.image(l);
        let (levels, kind) = record.levels_and_kind(l);
        let flags = record.word(l, field::FLAGS);
        let mut normalized = is_set(l, flags, flag::NORMALIZED);
        let state = if *sampler == Operand::Sink { record } else { Record::of(l, sampler)? };
        let mut sampler_flags = flags;
        if *sampler != Operand::Sink {
            sampler_flags = state.word(l, field::FLAGS);
            let forced = is_set(l, sampler_flags, flag::FORCE_UNNORMALIZED);
            normalized = l.b.and(normalized, l.b.not(forced));
        }
        let [x_mode, y_mode, z_mode, filter] = state.words(l, field::ADDRESS_MODE);
        let is_linear_filter = l.b.is_nonzero(filter);
        let is_flat = is_linear(l, kind);
        let exists = l.b.not(is_flat);
        let format = Format::of(l, image.texel, image.channels);
        let arithmetic = arithmetic(l, image.texel);
        let mut floats: Vec<Value> = coordinates.iter().map(|bits| l.b.bitcast(*bits, Type::F32)).collect();
        let point = match *floats.as_slice() {
            [x, y, z] if geometry.cube => {
                let is_seamless = is_set(l, sampler_flags, flag::SEAMLESS);
                Where::Cube { place: cube::located(&l.b, [x, y, z]), is_seamless }
            }
            _ => {
                if geometry.is_row() {
                    floats.push(l.b.f32(0.0));
                }
                Where::Flat { coordinates: floats.clone(), offsets: offsets(l, i, geometry, offset_bits)? }
            }
        };
        let mut layers = image.layers;
        if geometry.cube {
            layers = l.b.div_unsigned_const(layers, 6);
        }
        let layer = layer.map(|layer| least(l, layer, l.b.sub_const(layers, 1)));
        Ok(Source {
            texture: record,
            sampler: state,
            image,
            levels,
            format,
            arithmetic,
            srgb_table,
            exists,
            is_linear: is_linear_filter,
            coordinates: floats,
            point,
            normalized,
            modes: [x_mode, y_mode, z_mode],
            layer,
        })
    }

    /// The point's position in each dimension of a level.
    pub(super) fn positions(
        &self,
        l: &mut Lowering<'_, '_>,
        level: &Level,
        is_linear: Value,
    ) -> (Vec<Position>, Option<Position>) {
        let extents = [level.width, level.height, level.depth];
        let dimensions = extents.into_iter().zip(self.modes).map(|(extent, mode)| Dimension { extent, mode });
        let mut positions: Vec<Position> = match &self.point {
            Where::Flat { coordinates, offsets } => dimensions
                .zip(coordinates)
                .enumerate()
                .map(|(number, (dimension, coordinate))| {
                    let offset = offsets.get(number).copied();
                    coordinate::position(l, *coordinate, &dimension, self.normalized, is_linear, offset)
                })
                .collect(),
            Where::Cube { place, is_seamless } => dimensions
                .zip(place.coordinates)
                .map(|(dimension, value)| coordinate::on_face(l, value, &dimension, is_linear, *is_seamless))
                .collect(),
        };
        if positions.len() == 1 {
            positions.push(Position::only(l));
        }
        let depth = (positions.len() == 3).then(|| positions.pop()).flatten();
        (positions, depth)
    }

    /// The slice of memory of a texel: a layer, a face, or a third coordinate.
    pub(super) fn slice(&self, l: &mut Lowering<'_, '_>, face: Option<Value>, depth: Option<Value>) -> Option<Value> {
        let Some(face) = face else { return self.layer.or(depth) };
        let mut slice = face;
        if let Some(layer) = self.layer {
            slice = l.b.add(l.b.mul_const(layer, 6), face);
        }
        // Textures that aren't cubes have fewer.
        Some(least(l, slice, l.b.sub_const(self.image.layers, 1)))
    }
}

fn is_set(l: &mut Lowering<'_, '_>, flags: Value, bit: u32) -> Value {
    l.b.is_nonzero(l.b.and_const(flags, bit.into()))
}

/// The operand that is an offset.
fn offsets(l: &mut Lowering<'_, '_>, i: &Instruction, geometry: Geometry, bits: u32) -> Result<Vec<Value>> {
    let Some(Operand::List(offsets)) = i.operands.get(5) else { return Ok(Vec::new()) };
    let mut all = Vec::new();
    for offset in offsets {
        let offset = l.source(offset, ScalarType::S32)?;
        all.push(l.sign_extend_narrow(offset, bits));
        if geometry.is_row() {
            // The unit finds the second coordinate's offset in the next bits, which nothing masks.
            all.push(l.sign_extend_narrow(l.b.shr(offset, bits), bits));
        }
    }
    Ok(all)
}

/// The arithmetic for adding texels of a format.
fn arithmetic(l: &mut Lowering<'_, '_>, texel: Value) -> Arithmetic {
    let set = |texels: &[Texel]| texels.iter().map(|texel| 1 << texel.code()).sum();
    let fractions = is_among(l, texel, set(&[Texel::Unorm8, Texel::Snorm8, Texel::Unorm16, Texel::Snorm16]));
    let signed = is_among(l, texel, set(&[Texel::Snorm8, Texel::Snorm16]));
    let half = is_among(l, texel, set(&[Texel::F16, Texel::Srgb8]));
    let byte = is_among(l, texel, set(&[Texel::U8, Texel::S8, Texel::Unorm8, Texel::Snorm8, Texel::Srgb8]));
    let srgb = l.b.compare_const(Compare::Equal, texel, Texel::Srgb8.code().into());
    let of = |single: u32, short: u32, byte: u32| {
        let [single, short, byte] = [single, short, byte].map(|number| l.b.i32(number));
        l.b.select(half, l.b.select(srgb, byte, short), single)
    };
    // Halves have 13 bits less than singles; sRGB intensities have 8 bits and no guard bits.
    let lost = of(0, 13, 20);
    let least = of(0, 113, 120);
    Arithmetic { fractions, signed, half, byte, srgb, lost, least }
}
