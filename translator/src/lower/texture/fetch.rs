//! `tex` with integer coordinates: texels without a filter, in the requested level.
//!
//! Without a level, texels outside are zero, whatever the address mode, and layers likewise. With a level, coordinates and layers are
//! clamped, and all texels of a missing level are zero. `.1d` reads only linear memory.

use super::record::Record;
use super::texel::Format;
use super::{Geometry, Point, clamp, is_linear, least, list};
use crate::decode::program::{Instruction, Operand};
use crate::diagnostic::{Diagnostic, Result};
use crate::ir::{Compare, Rounding, Type, Value, Var};
use crate::isa::modifiers;
use crate::isa::types::ScalarType;
use crate::isa::word::Word;
use crate::lower::integer::packed::join;
use crate::lower::lowering::Lowering;
use crate::soft::{self, HALF, Overflow};

/// `tex` with coordinates of `.s32`
pub fn fetch(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let geometry = Geometry::of(i)?;
    let operands = list(i, 1)?;
    let Some((handle, rest)) = operands.split_first() else {
        return Err(Diagnostic::internal("a texture that isn't there", i.span));
    };
    let record = Record::of(l, handle)?;
    let rest = rest.get(1..).unwrap_or_default();
    let is_multisampled = i.modifiers.geometry().is_some_and(modifiers::Geometry::is_multisampled);
    let (sample, rest) = if is_multisampled { rest.split_at(1) } else { rest.split_at(0) };
    let mut point = Point::of(l, geometry, rest)?;
    offset(l, i, geometry, &mut point)?;
    let image = record.image(l);
    let is_line = geometry.is_row();
    let leveled = i.modifiers.has(Word::Level);
    let (level, is_there) = if leveled {
        let number = if is_line { l.b.i32(0) } else { l.int(i, 2, ScalarType::S32)? };
        let (levels, kind) = record.levels_and_kind(l);
        let count = levels.at_least_one(l);
        let is_level = l.b.ult(number, count);
        let level = levels.level(l, image.level, l.b.select(is_level, number, l.b.i32(0)));
        for (coordinate, extent) in point.coordinates.iter_mut().zip(level.extents(geometry, image.layers)) {
            *coordinate = clamp(l, *coordinate, l.b.sub_const(extent, 1));
        }
        if let Some(layer) = &mut point.layer {
            *layer = least(l, *layer, l.b.sub_const(image.layers, 1));
        }
        // An unbound reference has no texels.
        let mut is_there = l.b.and(is_level, l.b.is_nonzero(level.width));
        if is_line {
            is_there = l.b.and(is_there, is_linear(l, kind));
        }
        (level, is_there)
    } else {
        let mut is_inside = l.b.bool(true);
        if is_line {
            let (_, kind) = record.levels_and_kind(l);
            is_inside = is_linear(l, kind);
        }
        let extents = image.level.extents(geometry, image.layers);
        for (coordinate, extent) in point.coordinates.iter().chain(&point.layer).zip(extents) {
            let is_below = l.b.ult(*coordinate, extent);
            is_inside = l.b.and(is_inside, is_below);
        }
        // There are no textures with more than one sample.
        for sample in sample {
            let sample = l.source(sample, ScalarType::B32)?;
            is_inside = l.b.and(is_inside, l.b.is_zero(sample));
        }
        (image.level, is_inside)
    };
    let format = Format::of(l, image.texel, image.channels);
    let channels = no_channels(l);
    l.if_(is_there, |l| {
        let Some(x) = point.coordinates.first().copied() else { return Ok(()) };
        let bytes = format.bytes(l, x);
        let address = level.address(l, geometry, bytes, &point);
        format.fetch(l, address, channels)
    })?;
    finish(l, i, channels)
}

/// Farther than any texture is wide, so that an offset can't lead a far coordinate back.
const FAR: u32 = 1 << 30;

/// Adds the operand that is an offset to coordinates. Hardware has four bits for each, and none for linear memory.
fn offset(l: &mut Lowering<'_, '_>, i: &Instruction, geometry: Geometry, point: &mut Point) -> Result {
    let Some(Operand::List(offsets)) = i.operands.get(5).filter(|_| !geometry.is_row()) else { return Ok(()) };
    for (coordinate, offset) in point.coordinates.iter_mut().zip(offsets) {
        let offset = l.source(offset, ScalarType::S32)?;
        let offset = l.sign_extend_narrow(offset, 4);
        let (near, far) = (l.b.i32(FAR.wrapping_neg()), l.b.i32(FAR));
        *coordinate = l.b.maximum(Compare::LessSigned, *coordinate, near);
        *coordinate = l.b.minimum(Compare::LessSigned, far, *coordinate);
        *coordinate = l.b.add(*coordinate, offset);
    }
    Ok(())
}

/// Variables for the channels' bits, all zero.
pub(super) fn no_channels(l: &Lowering<'_, '_>) -> [Var; 4] {
    let zero = l.b.i32(0);
    [Type::I32; 4].map(|ty| {
        let var = l.b.var(ty);
        l.b.set(var, zero);
        var
    })
}

/// Writes the result, and the predicate that all of it was resident.
pub(super) fn finish(l: &mut Lowering<'_, '_>, i: &Instruction, channels: [Var; 4]) -> Result {
    let Some(Operand::Pair(destinations)) = i.operands.first() else {
        return Err(Diagnostic::internal("a texture fetch without destinations", i.span));
    };
    let [vector, predicate] = destinations.as_ref();
    let ty = i.ty(0)?;
    let mut values: Vec<Value> = channels.map(|var| l.b.get(var)).into();
    if matches!(ty, ScalarType::F16 | ScalarType::F16x2) {
        for value in &mut values {
            let float = l.b.bitcast(*value, Type::F32);
            *value = soft::narrow(&l.b, HALF, Rounding::NearestEven, Overflow::Rounded, float);
        }
    }
    if ty == ScalarType::F16x2 {
        values = values.chunks(2).map(|pair| join(l, pair, 16)).collect();
    }
    if let Operand::Vector(destinations) = vector {
        for (destination, value) in destinations.iter().zip(values) {
            l.assign(destination, ty, value)?;
        }
    }
    l.assign(predicate, ScalarType::Pred, l.b.bool(true))
}
