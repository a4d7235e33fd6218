//! Float coordinates: conversion to a texture unit's fixed-point number, and the texels around a coordinate.

use super::{clamp, clamp_float};
use crate::ir::{Builder, Compare, Type, Unary, Value};
use crate::lower::lowering::Lowering;
use ptx2spv_interface::texture::AddressMode;

/// Widths up to which a normalised coordinate has 21 and 22 fraction bits; for greater widths it has 23.
const WIDTHS: [u64; 2] = [8192, 65536];

/// A normalised coordinate so large that no offset leads back into a texture of any extent.
const FAR: f32 = 33.5;

pub(super) struct Dimension {
    /// Number of texels.
    pub(super) extent: Value,
    /// The number of the [`AddressMode`].
    pub(super) mode: Value,
}

/// The place of a coordinate in one dimension.
#[derive(Clone, Copy)]
pub(super) struct Position {
    /// The lower and the upper texel; without a filter, the first is the nearest texel.
    pub(super) texels: [Value; 2],
    /// Whether the texels lie within the texture.
    pub(super) inside: [Value; 2],
    /// Weight of the upper texel in 256ths; 0 without a filter.
    pub(super) weight: Value,
}

impl Position {
    /// The position of the only texel in a dimension that has no coordinate.
    pub(super) fn only(l: &Lowering<'_, '_>) -> Position {
        let zero = l.b.i32(0);
        let inside = l.b.bool(true);
        Position { texels: [zero; 2], inside: [inside; 2], weight: zero }
    }
}

/// A coordinate in 512ths of a texel, rounded down. NaN and subnormals count as 0.
fn fixed(
    b: &Builder<'_>,
    coordinate: Value,
    Dimension { extent, .. }: &Dimension,
    normalized: Value,
    periodic: Value,
) -> Value {
    let extent = *extent;
    let magnitude = b.magnitude(coordinate);
    let least = b.i32(0x80_0000);
    let most = b.i32(0x7f80_0000);
    let is_tiny = b.ult(magnitude, least);
    let is_finite = b.ult(magnitude, most);
    let is_huge = b.not(is_finite);
    let zero = b.f32(0.0);
    let is_number = b.feq(coordinate, coordinate);
    let coordinate = b.select(is_tiny, zero, b.select(is_number, coordinate, zero));
    b.choose(
        normalized,
        |b| {
            // Whole periods of a wrapped or mirrored texture make no difference.
            let halved = b.fmul(coordinate, b.f32(0.5));
            let turns = b.unary(Unary::Floor, halved);
            let turned = b.fsub(coordinate, b.fadd(turns, turns));
            let two = b.f32(2.0);
            let is_low = b.fle(coordinate, b.f32(-2.0));
            let is_high = b.fle(two, coordinate);
            let is_far = b.and(b.or(is_low, is_high), periodic);
            let near = b.select(is_far, b.select(is_huge, zero, turned), coordinate);
            let [narrow, middle] = WIDTHS.map(|width| b.compare_const(Compare::LessEqualUnsigned, extent, width));
            let [fine, finer, finest] = [21, 22, 23].map(|bits| b.f32((1u32 << bits) as f32));
            let scale = b.select(narrow, fine, b.select(middle, finer, finest));
            let [twelve, thirteen, fourteen] = [12, 13, 14].map(|bits| b.i32(bits));
            let shift = b.select(narrow, twelve, b.select(middle, thirteen, fourteen));
            let scaled = b.unary(Unary::Floor, b.fmul(near, scale));
            stretched(b, b.unary(Unary::FloatToSigned(Type::I32), scaled), extent, shift)
        },
        |b| {
            let [least, most] = [b.f32(-64.0), b.f32(1_048_576.0)];
            let near = clamp_float(b, coordinate, [least, most]);
            let scaled = b.unary(Unary::Floor, b.fmul(near, b.f32(512.0)));
            b.unary(Unary::FloatToSigned(Type::I32), scaled)
        },
    )
}

/// The product of a coordinate and an extent, without the lowest bits.
fn stretched(b: &Builder<'_>, number: Value, extent: Value, shift: Value) -> Value {
    let low = b.mul(number, extent);
    let high = b.mul_high_signed(number, extent);
    let low = b.shr_by(low, shift);
    let up = b.sub(b.i32(32), shift);
    b.or(low, b.shl_by(high, up))
}

/// The position of a coordinate on a cube's face, from -1 to 1. With a seamless filter, texels beyond the edge keep their numbers.
pub(super) fn on_face(
    l: &mut Lowering<'_, '_>,
    coordinate: Value,
    dimension: &Dimension,
    is_linear: Value,
    is_seamless: Value,
) -> Position {
    let b = &l.b;
    let scaled = b.unary(Unary::Floor, b.fmul(coordinate, b.f32((1u32 << 20) as f32)));
    let number = b.add_const(b.unary(Unary::FloatToSigned(Type::I32), scaled), 1 << 20);
    let fixed = stretched(b, number, dimension.extent, b.i32(12));
    let periodic = is_periodic(b, dimension.mode);
    let [lower, weight] = lower_texel(b, fixed, is_linear);
    let upper = b.add_const(lower, 1);
    let flat = between(l, [lower, upper], weight, dimension, periodic);
    let b = &l.b;
    let [first, second] = flat.texels;
    // Only a filter goes on beyond the edge. The nearest texel to the edge is the last.
    let nearest = b.minimum(Compare::LessSigned, b.sub_const(dimension.extent, 1), lower);
    let lower = b.select(is_linear, lower, nearest);
    let texels = [b.select(is_seamless, lower, first), b.select(is_seamless, upper, second)];
    let inside = flat.inside.map(|is_inside| b.or(is_seamless, is_inside));
    Position { texels, inside, weight: b.select(is_seamless, weight, flat.weight) }
}

/// The nearest texel, or the lower of two texels and the weight of the upper, in 512ths.
fn lower_texel(b: &Builder<'_>, fixed: Value, is_linear: Value) -> [Value; 2] {
    let half = b.sar(b.sub_const(fixed, 255), 1);
    let lower = b.sar(half, 8);
    let weight = b.and_const(half, 255);
    let nearest = b.sar(fixed, 9);
    let zero = b.i32(0);
    [b.select(is_linear, lower, nearest), b.select(is_linear, weight, zero)]
}

/// The position of a float coordinate, with a filter or without.
pub(super) fn position(
    l: &mut Lowering<'_, '_>,
    coordinate: Value,
    dimension: &Dimension,
    normalized: Value,
    is_linear: Value,
    offset: Option<Value>,
) -> Position {
    let b = &l.b;
    // Limit the coordinate to a value so far outside the texture that no offset leads back. For wide textures, larger
    // numbers would overflow.
    let periodic = is_periodic(b, dimension.mode);
    let [_, middle] = WIDTHS;
    let is_wide = b.not(b.compare_const(Compare::LessEqualUnsigned, dimension.extent, middle));
    let [least, most] = [-1.0, 1.0].map(|sign| {
        let [wide, narrow] = [1.5 * sign, FAR * sign].map(|number| b.f32(number));
        b.select(is_wide, wide, narrow)
    });
    let is_low = b.flt(coordinate, least);
    let is_high = b.flt(most, coordinate);
    let ends = b.and(b.not(periodic), normalized);
    let low = b.and(is_low, ends);
    let coordinate = b.select(b.and(is_high, ends), most, b.select(low, least, coordinate));
    let fixed = fixed(b, coordinate, dimension, normalized, periodic);
    let [mut lower, weight] = lower_texel(b, fixed, is_linear);
    if let Some(offset) = offset {
        lower = b.add(lower, offset);
    }
    let upper = b.add_const(lower, 1);
    between(l, [lower, upper], weight, dimension, periodic)
}

/// Two neighbouring texels, after the address mode.
fn between(
    l: &mut Lowering<'_, '_>,
    [lower, upper]: [Value; 2],
    weight: Value,
    dimension: &Dimension,
    periodic: Value,
) -> Position {
    let b = &l.b;
    let zero = b.i32(0);
    // If both are the same texel, the weight is zero.
    let is_clamp = b.compare_const(Compare::Equal, dimension.mode, AddressMode::Clamp.code().into());
    let last = b.sub_const(dimension.extent, 1);
    let is_before = b.slt(lower, zero);
    let is_after = b.sle(last, lower);
    let is_one = b.and(b.or(is_before, is_after), is_clamp);
    let weight = b.select(is_one, zero, weight);
    let [(first, first_inside), (second, second_inside)] =
        [lower, upper].map(|texel| resolve(l, texel, dimension, periodic));
    Position { texels: [first, second], inside: [first_inside, second_inside], weight }
}

/// Whether the address mode maps coordinates out of range periodically.
fn is_periodic(b: &Builder<'_>, mode: Value) -> Value {
    let wraps = b.compare_const(Compare::Equal, mode, AddressMode::Wrap.code().into());
    b.or(wraps, b.compare_const(Compare::Equal, mode, AddressMode::Mirror.code().into()))
}

/// The texel that a texel number stands for after the address mode, and whether it is within the texture.
fn resolve(l: &mut Lowering<'_, '_>, texel: Value, dimension: &Dimension, periodic: Value) -> (Value, Value) {
    let extent = dimension.extent;
    let clamped = clamp(l, texel, l.b.sub_const(extent, 1));
    let b = &l.b;
    let is_border = b.compare_const(Compare::Equal, dimension.mode, AddressMode::Border.code().into());
    let is_inside = b.ult(texel, extent);
    let inside = b.or(is_inside, b.and(b.not(is_border), b.is_nonzero(extent)));
    let turned = b.choose(
        periodic,
        |b| {
            let mirrors = b.compare_const(Compare::Equal, dimension.mode, AddressMode::Mirror.code().into());
            let twice = b.shl(extent, 1);
            let period = b.select(mirrors, twice, extent);
            let one = b.i32(1);
            let period = b.select(b.is_nonzero(period), period, one);
            // No texel is lower than two periods and an offset.
            let positive = b.add(texel, b.shl(twice, 5));
            let place = b.rem_unsigned(positive, period);
            let is_first = b.ult(place, extent);
            let end = b.sub(twice, one);
            b.select(is_first, place, b.sub(end, place))
        },
        |_| clamped,
    );
    (turned, inside)
}
