//! `tex` with floats for coordinates: the nearest texel, or what a linear filter makes of those around.
//!
//! `.1d` reads one row, as if it were `.2d` with a second coordinate of 0, which counts for the filter and the border; layers of one
//! dimension have none. Layers beyond the last are the last. Of linear memory all is zero.

use super::blend::{Arithmetic, Channel, weights};
use super::coordinate::{Dimension, Position, position};
use super::fetch::finish;
use super::record::{Level, Record};
use super::texel::Format;
use super::texel::at_least_minus_one;
use super::{Geometry, Point, is_among, is_linear, least, list};
use crate::decode::program::{Instruction, Operand};
use crate::diagnostic::Diagnostic;
use crate::interface::texture::{Texel, field, flag};
use crate::ir::{Builder, Compare, Stmt, Type, Unary, Value, Var};
use crate::isa::types::ScalarType;
use crate::lower::{Lowering, Result};
use crate::target::Fault;

/// `tex` with coordinates of `.f32`
pub fn sample(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let geometry = Geometry::of(i);
    let [texture, sampler, rest @ ..] = list(i, 1)? else {
        return Err(Diagnostic::internal("a texture without coordinates", i.span));
    };
    let record = Record::of(l, texture)?;
    let Point { mut coordinates, layer } = Point::of(l, geometry, rest)?;
    let is_row = geometry == Geometry { dimensions: 1, layered: false };
    if is_row {
        coordinates.push(l.b.i32(0));
    }
    let image = record.image(l);
    let (levels, kind) = record.levels_and_kind(l);
    let flags = record.word(l, field::FLAGS);
    let mut normalized = is_set(l, flags, flag::NORMALIZED);
    let state = if *sampler == Operand::Sink { record } else { Record::of(l, sampler)? };
    if *sampler != Operand::Sink {
        let flags = state.word(l, field::FLAGS);
        let forced = is_set(l, flags, flag::FORCE_UNNORMALIZED);
        let free = l.b.not(forced);
        normalized = l.b.and(normalized, free);
    }
    let level = lowest_level(l, state, &levels, image.level);
    let [x_mode, y_mode, z_mode, filter] = state.words(l, field::ADDRESS_MODE);
    let filtered = l.b.is_nonzero(filter);
    let extents = [level.width, level.height, level.depth];
    let offsets = offsets(l, i)?;
    let mut positions = Vec::new();
    for (number, coordinate) in coordinates.into_iter().enumerate() {
        let [Some(extent), Some(mode)] = [extents, [x_mode, y_mode, z_mode]].map(|all| all.get(number).copied()) else {
            return Err(Diagnostic::internal("more coordinates than dimensions", i.span));
        };
        let coordinate = l.b.bitcast(coordinate, Type::F32);
        let dimension = Dimension { extent, mode };
        let offset = offsets.get(number).copied();
        positions.push(position(l, coordinate, &dimension, normalized, filtered, offset));
    }
    if positions.len() == 1 {
        positions.push(Position::only(l));
    }
    let layer = layer.map(|layer| {
        let last = l.b.sub_const(image.layers, 1);
        least(l, layer, last)
    });
    let is_flat = is_linear(l, kind);
    let exists = l.b.not(is_flat);
    let format = Format::of(l, image.texel, image.channels);
    let texels = Texels {
        record: state,
        level,
        format,
        texel: image.texel,
        channels: image.channels,
        geometry,
        positions,
        layer,
    };
    let results = texels.filter(l, filtered, exists)?;
    finish(l, i, results)
}

fn is_set(l: &mut Lowering<'_, '_>, flags: Value, bit: u32) -> Value {
    let bit = l.b.and_const(flags, bit.into());
    l.b.is_nonzero(bit)
}

/// Without a level in the instruction that is the lowest that the sampler allows, in 256ths.
fn lowest_level(l: &mut Lowering<'_, '_>, sampler: Record, levels: &super::record::Levels, first: Level) -> Level {
    let lowest = sampler.word(l, field::MIN_LEVEL);
    let mip_filter = sampler.word(l, field::MIP_FILTER);
    let b = &mut l.b;
    let lowest = b.bitcast(lowest, Type::F32);
    let [zero, most, scale] = [b.f32(0.0), b.f32(100.0), b.f32(256.0)];
    let is_positive = b.flt(zero, lowest);
    let lowest = b.select(is_positive, lowest, zero);
    let is_high = b.flt(most, lowest);
    let lowest = b.select(is_high, most, lowest);
    let fixed = b.fmul(lowest, scale);
    let fixed = b.unary(Unary::FloatToSigned(Type::I32), fixed);
    let has_levels = b.is_nonzero(levels.count);
    let zero = b.i32(0);
    let fixed = b.select(has_levels, fixed, zero);
    // Between levels there is a filter that is not translated.
    let fraction = b.and_const(fixed, 255);
    let is_between = b.is_nonzero(fraction);
    let interpolates = b.is_nonzero(mip_filter);
    let fails = b.and(is_between, interpolates);
    b.if_(fails, |b| b.report(Fault::MipFilter));
    let number = b.add_const(fixed, 128);
    let number = b.shr(number, 8);
    let count = levels.at_least_one(l);
    let last = l.b.sub_const(count, 1);
    let number = least(l, number, last);
    levels.level(l, first, number)
}

/// The operand that is an offset.
fn offsets(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result<Vec<Value>> {
    let Some(Operand::List(offsets)) = i.operands.get(5) else { return Ok(Vec::new()) };
    let mut all = Vec::new();
    for offset in offsets {
        let offset = l.source(offset, ScalarType::S32)?;
        all.push(l.sign_extend_narrow(offset, 4));
    }
    Ok(all)
}

/// The texels around a point.
struct Texels {
    record: Record,
    level: Level,
    format: Format,
    texel: Value,
    channels: Value,
    geometry: Geometry,
    positions: Vec<Position>,
    layer: Option<Value>,
}

impl Texels {
    fn arithmetic(&self, l: &mut Lowering<'_, '_>) -> Arithmetic {
        let set = |texels: &[Texel]| texels.iter().map(|texel| 1 << texel.code()).sum();
        let fractions = is_among(l, self.texel, set(&[Texel::Unorm8, Texel::Snorm8, Texel::Unorm16, Texel::Snorm16]));
        let signed = is_among(l, self.texel, set(&[Texel::Snorm8, Texel::Snorm16]));
        let half = is_among(l, self.texel, set(&[Texel::F16, Texel::Srgb8]));
        let byte = is_among(l, self.texel, set(&[Texel::U8, Texel::S8, Texel::Unorm8, Texel::Snorm8, Texel::Srgb8]));
        let srgb = l.b.compare_const(Compare::Equal, self.texel, Texel::Srgb8.code().into());
        let mut of = |single: u32, short: u32, byte: u32| {
            let [single, short, byte] = [single, short, byte].map(|number| l.b.i32(number));
            let narrow = l.b.select(srgb, byte, short);
            l.b.select(half, narrow, single)
        };
        // Halves have 13 bits less than singles; intensities of sRGB have 8 bits, and no guards.
        let lost = of(0, 13, 20);
        let least = of(0, 113, 120);
        Arithmetic { fractions, signed, half, byte, srgb, lost, least }
    }

    /// The result's channels. One loop goes over the texels of each slice twice, at first for their exponents; without a
    /// filter it ends with the first.
    fn filter(&self, l: &mut Lowering<'_, '_>, filtered: Value, exists: Value) -> Result<[Var; 4]> {
        let results = [Type::I32; 4].map(|ty| l.b.var(ty));
        let loaded = [Type::I32; 4].map(|ty| l.b.var(ty));
        let zero = l.b.i32(0);
        results.into_iter().for_each(|var| l.b.set(var, zero));
        let arithmetic = self.arithmetic(l);
        // The fourth channel of sRGB is none of it.
        let alpha_fractions = l.b.or(arithmetic.fractions, arithmetic.srgb);
        let no = l.b.bool(false);
        let alpha = Arithmetic { fractions: alpha_fractions, srgb: no, ..arithmetic };
        let arithmetics = [arithmetic, arithmetic, arithmetic, alpha];
        let [x, y, z] = [0, 1, 2].map(|number| self.positions.get(number).copied());
        let [Some(x), Some(y)] = [x, y] else {
            return Err(Diagnostic::internal("a texture of less than two dimensions", None));
        };
        let z_weight = z.map_or(zero, |z| z.weight);
        let all_weights = weights(&mut l.b, [x.weight, y.weight, z_weight]);
        let outer = std::mem::take(&mut l.b.block);
        let sums: [Channel; 4] = std::array::from_fn(|_| Channel::new(&mut l.b));
        let step = l.b.var(Type::I32);
        let zero = l.b.i32(0);
        l.b.set(step, zero);
        let [one, eight, sixteen] = [l.b.i32(1), l.b.i32(8), l.b.i32(16)];
        let is_deep = l.b.is_nonzero(z_weight);
        let end = l.b.select(is_deep, sixteen, eight);
        let end = l.b.select(filtered, end, one);
        let before = std::mem::take(&mut l.b.block);

        let number = l.b.get(step);
        let bit = |l: &mut Lowering<'_, '_>, at: u32| {
            let bit = l.b.shr(number, at);
            let bit = l.b.and_const(bit, 1);
            l.b.is_nonzero(bit)
        };
        let (right, lower, second, back) = (bit(l, 0), bit(l, 1), bit(l, 2), bit(l, 3));
        let mut counts = l.b.bool(true);
        for (is_upper, weight) in [(right, x.weight), (lower, y.weight), (back, z_weight)] {
            let has = l.b.is_nonzero(weight);
            let is_lower = l.b.not(is_upper);
            let either = l.b.or(is_lower, has);
            counts = l.b.and(counts, either);
        }
        // Fractions have no exponents to look at.
        let skips = l.b.not(second);
        let skips = l.b.and(skips, arithmetic.fractions);
        let skips = l.b.and(skips, filtered);
        let needed = l.b.not(skips);
        counts = l.b.and(counts, needed);
        let tap_outer = std::mem::take(&mut l.b.block);
        self.load(l, [(x, right), (y, lower)], z.map(|z| (z, back)), loaded)?;
        let b = &mut l.b;
        let weight = chosen(b, number, &all_weights);
        b.if_else(
            filtered,
            |b| {
                b.if_else(
                    second,
                    |b| {
                        for ((sum, arithmetic), var) in sums.iter().zip(arithmetics).zip(loaded) {
                            let bits = b.get(var);
                            b.if_else(
                                arithmetic.fractions,
                                |b| {
                                    let number = as_fraction(b, arithmetic, bits);
                                    sum.add_product(b, number, weight);
                                },
                                |b| sum.add_float(b, arithmetic, bits, weight),
                            );
                        }
                    },
                    |b| {
                        for ((sum, arithmetic), var) in sums.iter().zip(arithmetics).zip(loaded) {
                            let bits = b.get(var);
                            sum.look(b, arithmetic, bits, weight);
                        }
                    },
                );
            },
            |b| {
                for (result, var) in results.into_iter().zip(loaded) {
                    let bits = b.get(var);
                    let bits = at_least_minus_one(b, arithmetic.signed, bits);
                    b.set(result, bits);
                }
            },
        );
        let then = std::mem::replace(&mut l.b.block, tap_outer);
        l.b.push(Stmt::If { condition: counts, then, otherwise: Vec::new() });
        let next = l.b.add_const(number, 1);
        l.b.set(step, next);
        let is_end = l.b.ule(end, next);
        let b = &mut l.b;
        b.if_(is_end, Builder::break_);
        if z.is_some() {
            let turns = b.compare_const(Compare::Equal, next, 8);
            b.if_(turns, |b| sums.iter().for_each(|sum| sum.next_slice(b, arithmetic)));
        }
        let body = std::mem::replace(&mut b.block, before);
        b.push(Stmt::Loop(body));
        b.if_(filtered, |b| {
            for ((result, sum), arithmetic) in results.into_iter().zip(&sums).zip(arithmetics) {
                let bits = sum.result(b, arithmetic);
                b.set(result, bits);
            }
        });
        let then = std::mem::replace(&mut b.block, outer);
        b.push(Stmt::If { condition: exists, then, otherwise: Vec::new() });
        Ok(results)
    }

    /// The channels of one of the texels, or of the border.
    fn load(
        &self,
        l: &mut Lowering<'_, '_>,
        plane: [(Position, Value); 2],
        depth: Option<(Position, Value)>,
        into: [Var; 4],
    ) -> Result {
        let mut coordinates = Vec::new();
        let mut inside = l.b.bool(true);
        for (position, is_upper) in plane.into_iter().chain(depth) {
            let [first, second] = position.texels;
            coordinates.push(l.b.select(is_upper, second, first));
            let [first, second] = position.inside;
            let is_inside = l.b.select(is_upper, second, first);
            inside = l.b.and(inside, is_inside);
        }
        let outer = std::mem::take(&mut l.b.block);
        let geometry = Geometry { dimensions: coordinates.len(), layered: self.geometry.layered };
        let first = coordinates.first().copied();
        let point = Point { coordinates, layer: self.layer };
        if let Some(x) = first {
            let bytes = self.format.bytes(l, x);
            let address = self.level.address(l, geometry, bytes, &point);
            self.format.load(l, address, into)?;
        }
        let then = std::mem::take(&mut l.b.block);
        self.border(l, into);
        let otherwise = std::mem::replace(&mut l.b.block, outer);
        l.b.push(Stmt::If { condition: inside, then, otherwise });
        Ok(())
    }

    /// The border's colour, as the format could hold it.
    fn border(&self, l: &mut Lowering<'_, '_>, into: [Var; 4]) {
        let colour = self.record.words(l, field::BORDER);
        let arithmetic = self.arithmetic(l);
        let whole = is_among(l, self.texel, 1 << Texel::F32.code() | 1 << Texel::B32.code());
        let halves = l.b.compare_const(Compare::Equal, self.texel, Texel::F16.code().into());
        let is_signed = is_among(l, self.texel, 1 << Texel::S8.code() | 1 << Texel::S16.code());
        for (number, (var, bits)) in (0..).zip(into.into_iter().zip(colour)) {
            let b = &mut l.b;
            let fractions = b.or(arithmetic.fractions, arithmetic.srgb);
            let integer = low_bits(b, bits, arithmetic.byte, is_signed);
            let fraction = quantised(b, bits, arithmetic);
            let half = cut_half(b, bits);
            let value = b.select(fractions, fraction, integer);
            let value = b.select(halves, half, value);
            let value = b.select(whole, bits, value);
            let place = b.i32(number);
            let has = b.ult(place, self.channels);
            let zero = b.i32(0);
            let value = b.select(has, value, zero);
            b.set(var, value);
        }
    }
}

/// The weight of the texel of a step.
fn chosen(b: &mut Builder<'_>, step: Value, weights: &[Value; 8]) -> Value {
    let tap = b.and_const(step, 3);
    let slice = b.shr(step, 3);
    let slice = b.shl(slice, 2);
    let place = b.or(slice, tap);
    let mut weight = b.i32(0);
    for (number, value) in (0..).zip(weights) {
        let is_place = b.compare_const(Compare::Equal, place, number);
        weight = b.select(is_place, *value, weight);
    }
    weight
}

/// A fraction by 65535ths or 32767ths; by 127ths of 8 bits with a sign.
fn as_fraction(b: &mut Builder<'_>, arithmetic: Arithmetic, bits: Value) -> Value {
    let value = b.bitcast(bits, Type::F32);
    let [byte, short, unsigned] = [127.0, 32767.0, 65535.0].map(|largest| b.f32(largest));
    let signed = b.select(arithmetic.byte, byte, short);
    let largest = b.select(arithmetic.signed, signed, unsigned);
    let scaled = b.fmul(value, largest);
    let whole = b.unary(Unary::RoundEven, scaled);
    b.unary(Unary::FloatToSigned(Type::I32), whole)
}

/// What an integer's low bits stand for.
fn low_bits(b: &mut Builder<'_>, bits: Value, is_byte: Value, is_signed: Value) -> Value {
    let [twenty_four, sixteen] = [b.i32(24), b.i32(16)];
    let above = b.select(is_byte, twenty_four, sixteen);
    let high = b.shl_by(bits, above);
    let signed = b.sar_by(high, above);
    let unsigned = b.shr_by(high, above);
    b.select(is_signed, signed, unsigned)
}

/// A float as the next lower fraction in size that a format has.
fn quantised(b: &mut Builder<'_>, bits: Value, arithmetic: Arithmetic) -> Value {
    let value = b.bitcast(bits, Type::F32);
    let [zero, one, minus_one] = [b.f32(0.0), b.f32(1.0), b.f32(-1.0)];
    let least = b.select(arithmetic.signed, minus_one, zero);
    let is_number = b.feq(value, value);
    let value = b.select(is_number, value, zero);
    let is_low = b.flt(value, least);
    let value = b.select(is_low, least, value);
    let is_high = b.flt(one, value);
    let value = b.select(is_high, one, value);
    let mut largest = |byte: f32, short: f32| {
        let (byte, short) = (b.f32(byte), b.f32(short));
        b.select(arithmetic.byte, byte, short)
    };
    let (signed, unsigned) = (largest(127.0, 32767.0), largest(255.0, 65535.0));
    let largest = b.select(arithmetic.signed, signed, unsigned);
    let scaled = b.fmul(value, largest);
    let whole = b.unary(Unary::FloatToSigned(Type::I32), scaled);
    let whole = b.unary(Unary::SignedToFloat(Type::F32), whole);
    let fraction = b.fdiv(whole, largest);
    b.bits(fraction)
}

/// A float without what a half has no room for.
fn cut_half(b: &mut Builder<'_>, bits: Value) -> Value {
    use crate::ir::Rounding;
    use crate::soft::{self, HALF, Overflow};
    let float = b.bitcast(bits, Type::F32);
    let half = soft::narrow(b, HALF, Rounding::TowardZero, Overflow::Rounded, float);
    let float = soft::widen(b, HALF, half);
    b.bits(float)
}
