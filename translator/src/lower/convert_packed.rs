//! `cvt` to and from pairs of f16, bf16 and narrower floats, and to four of those (PTX section 9.7.9.21).

use super::convert_float::bits_in;
use super::float::{float_of, format};
use super::lowering::{Lowering, Result};
use super::packed::{join, part};
use crate::decode::program::{Instruction, Operand};
use crate::diagnostic::Diagnostic;
use crate::ir::{Compare, Value};
use crate::isa::types::ScalarType;
use crate::isa::word::Word;
use crate::soft::{self, BFLOAT, Overflow, SINGLE};

/// From two f32, the first of which goes to the upper half.
pub fn pack(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let [high, low] = [l.int(i, 1, ScalarType::F32)?, l.int(i, 2, ScalarType::F32)?];
    let to = i.ty(0)?;
    let [low, high] = [low, high].map(|bits| {
        let value = float_of(l, SINGLE, bits);
        lane(l, i, to, value)
    });
    finish(l, i, [low?, high?])
}

/// From a pair of another format.
pub fn repack(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let (to, from) = (i.ty(0)?, i.ty(1)?);
    let width = from.bits() / 2;
    let a = l.int(i, 1, from)?;
    let format = format(from)?;
    let [low, high] = [0, width].map(|position| {
        let bits = part(l, a, position, width, false);
        let value = float_of(l, format, bits);
        lane(l, i, to, value)
    });
    finish(l, i, [low?, high?])
}

/// One of the results.
fn lane(l: &mut Lowering<'_, '_>, i: &Instruction, to: ScalarType, value: Value) -> Result<Value> {
    let bits = bits_in(l, i, to, value)?;
    or_relu(l, i, to, bits)
}

fn or_relu(l: &mut Lowering<'_, '_>, i: &Instruction, to: ScalarType, bits: Value) -> Result<Value> {
    let format = format(to)?;
    Ok(if i.modifiers.has(Word::Relu) { soft::relu(&mut l.b, format, bits) } else { bits })
}

fn finish<const N: usize>(l: &mut Lowering<'_, '_>, i: &Instruction, lanes: [Value; N]) -> Result {
    let to = i.ty(0)?;
    let result = join(l, &lanes, to.bits() / lanes.len() as u32);
    l.set(i, 0, to, result)
}

/// `cvt.rs`: two or four f32, the first of which goes to the uppermost place, rounded by random bits.
///
/// Two numbers take half of the random bits each; f16 uses 13 of them. Four narrow numbers take 16 bits each. Neighbours share the same 16
/// bits, and the upper neighbour takes them in reverse order.
pub fn stochastic(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let to = i.ty(0)?;
    if let Operand::Vector(sources) = l.operand(i, 1) {
        let [a, b, e, f] = sources.as_slice() else {
            return Err(Diagnostic::internal("a conversion of other than four", i.span));
        };
        let random = l.int(i, 2, ScalarType::B32)?;
        let random = if to == ScalarType::E2m1x4 { middle_swapped(l, random) } else { random };
        let backwards = l.b.bit_reverse(random);
        let numbers = [(f, random, 0), (e, backwards, 16), (b, random, 16), (a, backwards, 0)];
        let mut lanes = [random; 4];
        for (lane, (source, random, position)) in lanes.iter_mut().zip(numbers) {
            let bits = l.source(source, ScalarType::F32)?;
            let random = part(l, random, position, 16, false);
            *lane = stochastic_lane(l, i, to, bits, random, 16)?;
        }
        return finish(l, i, lanes);
    }
    let random = l.int(i, 3, ScalarType::B32)?;
    let width = if to == ScalarType::F16x2 { 13 } else { 16 };
    let mut lanes = [random; 2];
    for (lane, (index, position)) in lanes.iter_mut().zip([(2, 0), (1, 16)]) {
        let bits = l.int(i, index, ScalarType::F32)?;
        let random = part(l, random, position, width, false);
        *lane = stochastic_lane(l, i, to, bits, random, width)?;
    }
    finish(l, i, lanes)
}

/// Bytes 0, 2, 1 and 3 of a word.
fn middle_swapped(l: &mut Lowering<'_, '_>, word: Value) -> Value {
    let outer = l.b.and_const(word, 0xff00_00ff);
    let up = l.b.and_const(word, 0xff00);
    let up = l.b.shl(up, 8);
    let down = l.b.shr(word, 8);
    let down = l.b.and_const(down, 0xff00);
    let middle = l.b.or(up, down);
    l.b.or(outer, middle)
}

fn stochastic_lane(
    l: &mut Lowering<'_, '_>,
    i: &Instruction,
    to: ScalarType,
    bits: Value,
    random: Value,
    width: u32,
) -> Result<Value> {
    let overflow = if i.modifiers.has(Word::Satfinite) { Overflow::Largest } else { Overflow::Rounded };
    let value = float_of(l, SINGLE, bits);
    let bits = soft::narrow_stochastic(&mut l.b, format(to)?, overflow, random, width, value);
    or_relu(l, i, to, bits)
}

/// `cvt` to `.ue8m0x2`: the exponents of magnitudes, biased as in f32; subnormal numbers have the least exponent,
/// 2^-127.
pub fn to_exponents(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let lanes = if i.ty(1)? == ScalarType::F32 {
        [l.int(i, 2, ScalarType::F32)?, l.int(i, 1, ScalarType::F32)?]
    } else {
        let pair = l.int(i, 1, ScalarType::Bf16x2)?;
        [l.b.shl(pair, 16), l.b.and_const(pair, 0xffff_0000)]
    };
    let lanes = lanes.map(|bits| exponent(l, i, bits));
    finish(l, i, lanes)
}

/// The exponent of an f32's magnitude, rounded as the modifiers say. Infinity and NaN give the exponent that stands for
/// NaN.
fn exponent(l: &mut Lowering<'_, '_>, i: &Instruction, bits: Value) -> Value {
    let magnitude = l.b.magnitude(bits);
    let place = SINGLE.precision - 1;
    let exponent = if i.modifiers.has(Word::Rp) {
        let above = l.b.add_const(magnitude, SINGLE.hidden() - 1);
        let rounded = l.b.shr(above, place);
        let least = l.b.i32(1 << (place - 1));
        let is_above = l.b.ult(least, magnitude);
        let zero = l.b.i32(0);
        l.b.select(is_above, rounded, zero)
    } else {
        l.b.shr(magnitude, place)
    };
    let nan = l.b.i32(0xff);
    let most = if i.modifiers.has(Word::Satfinite) { l.b.i32(0xfe) } else { nan };
    let is_beyond = l.b.ult(most, exponent);
    let exponent = l.b.select(is_beyond, most, exponent);
    let infinity = l.b.i32(SINGLE.infinity() as u32);
    let is_nan = l.b.ult(infinity, magnitude);
    l.b.select(is_nan, nan, exponent)
}

/// `cvt` from `.ue8m0x2` to bf16, exactly.
pub fn from_exponents(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let pair = l.int(i, 1, ScalarType::Ue8m0x2)?;
    let lanes = [0, 8].map(|position| {
        let exponent = part(l, pair, position, 8, false);
        let power = l.b.shl(exponent, BFLOAT.precision - 1);
        let is_least = l.b.is_zero(exponent);
        // 2^-127 is subnormal.
        let least = l.b.i32(1 << (BFLOAT.precision - 2));
        let result = l.b.select(is_least, least, power);
        let is_nan = l.b.compare_const(Compare::Equal, exponent, 0xff);
        let nan = l.b.i32(BFLOAT.nan as u32);
        l.b.select(is_nan, nan, result)
    });
    finish(l, i, lanes)
}
