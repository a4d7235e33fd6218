//! Filters: the sum of the texels around a point, over slices and levels.

use super::blend::{Arithmetic, Channel, depths, weights};
use super::border;
use super::coordinate::Position;
use super::cube;
use super::record::Level;
use super::source::{Source, Where};
use super::texel::Format;
use super::{Geometry, Point};
use crate::diagnostic::{Diagnostic, Result};
use crate::ir::{Builder, Compare, Stmt, Type, Unary, Value, Var};
use crate::lower::lowering::Lowering;

/// The state of summing the texels around a point.
pub(super) struct Filter<'s> {
    source: &'s Source,
    arithmetics: [Arithmetic; 4],
    sums: [Channel; 4],
    loaded: [Var; 4],
}

/// A texel's integer position.
pub(super) struct Tap {
    pub(super) x: Value,
    pub(super) y: Value,
    pub(super) z: Option<Value>,
    pub(super) inside: Value,
}

impl<'s> Filter<'s> {
    pub(super) fn new(l: &mut Lowering<'_, '_>, source: &'s Source) -> Self {
        let loaded = [Type::I32; 4].map(|ty| l.b.var(ty));
        let sums = std::array::from_fn(|_| Channel::new(&l.b));
        Filter { source, arithmetics: arithmetics(&l.b, source.arithmetic, source.format), sums, loaded }
    }

    /// Adds a level with weight `whole`. One loop visits the texels of each slice twice, first for their exponents.
    pub(super) fn add_level(&self, l: &mut Lowering<'_, '_>, level: &Level, whole: Value) -> Result {
        let (plane, depth) = self.source.positions(l, level, self.source.is_linear);
        let [x, y] = *plane.as_slice() else {
            return Err(Diagnostic::internal("a texture of other than two or three dimensions", None));
        };
        let zero = l.b.i32(0);
        let z_weight = depth.map_or(zero, |z| z.weight);
        let slices = depths(&l.b, z_weight, whole);
        let mut corner = None;
        if let Where::Cube { is_seamless, .. } = &self.source.point {
            corner = Some(Corner::of(&l.b, [x, y], level.width, *is_seamless));
        }
        let all_weights = slices.map(|slice| {
            let weights = weights(&l.b, [x.weight, y.weight], slice);
            corner.map_or(weights, |corner| corner.share(&l.b, weights))
        });
        let step = l.b.var(Type::I32);
        l.b.set(step, zero);
        let [eight, sixteen] = [8, 16].map(|count| l.b.i32(count));
        let end = l.b.select(l.b.is_nonzero(z_weight), sixteen, eight);
        let before = l.b.take_block();
        let number = l.b.get(step);
        let bit = |l: &mut Lowering<'_, '_>, at: u32| l.b.is_nonzero(l.b.and_const(l.b.shr(number, at), 1));
        let (right, lower, second, back) = (bit(l, 0), bit(l, 1), bit(l, 2), bit(l, 3));
        let weight = chosen(&l.b, number, &all_weights);
        let mut counts = l.b.bool(true);
        for (is_upper, weight) in [(right, x.weight), (lower, y.weight), (back, z_weight)] {
            let has = l.b.is_nonzero(weight);
            counts = l.b.and(counts, l.b.or(l.b.not(is_upper), has));
        }
        if let Some(corner) = corner {
            counts = l.b.or(counts, l.b.is_nonzero(weight));
            let there = corner.has(&l.b, number);
            counts = l.b.and(counts, there);
        }
        // Fractions have no exponents.
        let arithmetic = self.source.arithmetic;
        let skips = l.b.and(l.b.not(second), arithmetic.fractions);
        counts = l.b.and(counts, l.b.not(skips));
        l.if_(counts, |l| {
            let tap = tap(&l.b, [(x, right), (y, lower)], depth.map(|z| (z, back)));
            self.source.load(l, level, &tap, self.loaded)?;
            self.take(&l.b, second, weight);
            Ok(())
        })?;
        let b = &l.b;
        let next = b.add_const(number, 1);
        b.set(step, next);
        b.if_(b.is_zero(b.and_const(next, 7)), |b| {
            for (sum, arithmetic) in self.sums.iter().zip(self.arithmetics) {
                sum.end_slice(b, arithmetic);
            }
        });
        let is_end = b.ule(end, next);
        b.if_(is_end, Builder::break_);
        b.push(Stmt::Loop(b.replace_block(before)));
        Ok(())
    }

    /// Processes the loaded texel.
    fn take(&self, b: &Builder<'_>, second: Value, weight: Value) {
        let parts = || self.sums.iter().zip(self.arithmetics).zip(self.loaded);
        b.if_else(
            second,
            |b| {
                for ((sum, arithmetic), var) in parts() {
                    add(b, sum, arithmetic, b.get(var), weight);
                }
            },
            |b| {
                for ((sum, arithmetic), var) in parts() {
                    sum.look(b, arithmetic, b.get(var), weight);
                }
            },
        );
    }

    /// Stores the channels.
    pub(super) fn finish(&self, b: &Builder<'_>, into: [Var; 4]) {
        for ((result, sum), arithmetic) in into.into_iter().zip(&self.sums).zip(self.arithmetics) {
            b.set(result, sum.result(b, arithmetic));
        }
    }
}

/// The arithmetic of each channel: some channels of sRGB are linear.
pub(super) fn arithmetics(b: &Builder<'_>, arithmetic: Arithmetic, format: Format) -> [Arithmetic; 4] {
    let unencoded = b.or(arithmetic.fractions, arithmetic.srgb);
    let no = b.bool(false);
    let linear = Arithmetic { fractions: unencoded, srgb: no, ..arithmetic };
    let encodes_all = format.encodes_all(b);
    let fractions = b.select(encodes_all, arithmetic.fractions, unencoded);
    let srgb = b.and(arithmetic.srgb, encodes_all);
    let middle = Arithmetic { fractions, srgb, ..arithmetic };
    [arithmetic, middle, middle, linear]
}

/// Adds a texel of any format.
pub(super) fn add(b: &Builder<'_>, sum: &Channel, arithmetic: Arithmetic, bits: Value, weight: Value) {
    b.if_else(
        arithmetic.fractions,
        |b| {
            sum.add_product(b, as_fraction(b, arithmetic, bits), weight);
        },
        |b| sum.add_float(b, arithmetic, bits, weight),
    );
}

/// One of the texels around a point.
pub(super) fn tap(b: &Builder<'_>, plane: [(Position, Value); 2], depth: Option<(Position, Value)>) -> Tap {
    let mut inside = b.bool(true);
    let mut at = |(position, is_upper): (Position, Value)| {
        let [first, second] = position.inside;
        let is_inside = b.select(is_upper, second, first);
        inside = b.and(inside, is_inside);
        let [first, second] = position.texels;
        b.select(is_upper, second, first)
    };
    let [x, y] = plane.map(&mut at);
    let z = depth.map(at);
    Tap { x, y, z, inside }
}

impl Source {
    /// The channels of a texel, or of the border.
    pub(super) fn load(&self, l: &mut Lowering<'_, '_>, level: &Level, tap: &Tap, into: [Var; 4]) -> Result {
        let (mut x, mut y, mut face) = (tap.x, tap.y, None);
        if let Where::Cube { place, .. } = &self.point {
            let (other, [column, row]) = cube::neighbour(&l.b, place.face, [x, y], level.width);
            (x, y, face) = (column, row, Some(other));
        }
        let slice = self.slice(l, face, tap.z);
        let inside = |l: &mut Lowering<'_, '_>| {
            let geometry = Geometry { dimensions: 2, layered: slice.is_some(), cube: false };
            let bytes = self.format.bytes(l, x);
            let address = level.address(l, geometry, bytes, &Point { coordinates: vec![x, y], layer: slice });
            self.format.load(l, address, into)
        };
        l.if_else(tap.inside, inside, |l| {
            border::load(l, self, into);
            Ok(())
        })
    }
}

/// Beyond a cube's corner there is no texel; its weight is divided among the others.
#[derive(Clone, Copy)]
pub(super) struct Corner {
    /// The number of the missing texel among the four.
    pub(super) missing: Value,
    /// Whether a texel is missing.
    pub(super) exists: Value,
}

impl Corner {
    pub(super) fn of(b: &Builder<'_>, positions: [Position; 2], extent: Value, is_seamless: Value) -> Corner {
        let mut exists = is_seamless;
        let mut missing = b.i32(0);
        for (place, position) in (0..).zip(positions) {
            let [lower, upper] = position.texels;
            let is_low = b.slt(lower, b.i32(0));
            let is_high = b.sle(extent, upper);
            let is_out = b.or(is_low, is_high);
            exists = b.and(exists, is_out);
            let upper = b.bool_to(Type::I32, b.not(is_low));
            missing = b.or(missing, b.shl(upper, place));
        }
        Corner { missing, exists }
    }

    /// Whether the tap with the number's low bits exists.
    fn has(self, b: &Builder<'_>, number: Value) -> Value {
        let other = b.ne(b.and_const(number, 3), self.missing);
        b.or(b.not(self.exists), other)
    }

    /// Each neighbour of the missing texel gets a third of its weight, rounded; the last texel gets the rest.
    fn share(self, b: &Builder<'_>, weights: [Value; 4]) -> [Value; 4] {
        let zero = b.i32(0);
        let mut weight = zero;
        for (number, value) in (0..).zip(weights) {
            let is_this = b.compare_const(Compare::Equal, self.missing, number);
            weight = b.select(is_this, value, weight);
        }
        weight = b.select(self.exists, weight, zero);
        let third = b.div_unsigned_const(b.add_const(b.shl(weight, 1), 3), 6);
        let rest = b.sub(weight, b.shl(third, 1));
        let mut number = 0;
        weights.map(|value| {
            let is_missing = b.and(b.compare_const(Compare::Equal, self.missing, number), self.exists);
            let is_opposite = b.compare_const(Compare::Equal, self.missing, 3 - number);
            number += 1;
            let more = b.add(value, b.select(is_opposite, rest, third));
            b.select(is_missing, zero, more)
        })
    }
}

/// The weight of the texel of a step.
fn chosen(b: &Builder<'_>, step: Value, weights: &[[Value; 4]; 2]) -> Value {
    let tap = b.and_const(step, 3);
    let place = b.or(b.shl(b.shr(step, 3), 2), tap);
    let mut weight = b.i32(0);
    for (number, value) in (0..).zip(weights.iter().flatten()) {
        let is_place = b.compare_const(Compare::Equal, place, number);
        weight = b.select(is_place, *value, weight);
    }
    weight
}

/// A fraction in 65535ths or 32767ths; in 127ths for signed 8-bit formats.
pub(super) fn as_fraction(b: &Builder<'_>, arithmetic: Arithmetic, bits: Value) -> Value {
    let value = b.bitcast(bits, Type::F32);
    let [byte, short, unsigned] = [127.0, 32767.0, 65535.0].map(|largest| b.f32(largest));
    let signed = b.select(arithmetic.byte, byte, short);
    let largest = b.select(arithmetic.signed, signed, unsigned);
    let scaled = b.fmul(value, largest);
    b.unary(Unary::FloatToSigned(Type::I32), b.unary(Unary::RoundEven, scaled))
}
