//! `cvt` to and from pairs of f16, bf16 and narrower floats, and to four of those (PTX section 9.7.9.21).

use crate::decode::program::{Instruction, Operand};
use crate::diagnostic::{Diagnostic, Result};
use crate::ir::{Binary, Compare, Type, Unary, Value};
use crate::isa::types::ScalarType;
use crate::isa::word::Word;
use crate::lower::convert::convert_float::bits_in;
use crate::lower::float::{float_of, format};
use crate::lower::integer::packed::{join, part};
use crate::lower::integer::{clamp_signed, relu};
use crate::lower::lowering::Lowering;
use crate::soft::{self, BFLOAT, Overflow, SINGLE};

/// From two f32, the first of which goes to the upper half.
pub fn pack(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let [high, low] = [l.int(i, 1, ScalarType::F32)?, l.int(i, 2, ScalarType::F32)?];
    let to = i.ty(0)?;
    let [low, high] = [low, high].map(|bits| lane(l, i, to, float_of(l, SINGLE, bits)));
    finish(l, i, [low?, high?])
}

/// From a pair of another format, times powers of two with `.scaled::n2::ue8m0`.
pub fn repack(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let (to, from) = (i.ty(0)?, i.ty(1)?);
    let width = from.bits() / 2;
    let a = l.int(i, 1, from)?;
    let scales = scales(l, i, 2)?;
    let [low, high] = [0, 1].map(|number| {
        let bits = part(l, a, number * width, width, from == ScalarType::S2f6x2);
        let value = if from == ScalarType::S2f6x2 { of_fixed(l, bits) } else { float_of(l, format(from)?, bits) };
        let Some([low, high]) = scales else { return lane(l, i, to, value) };
        let scale = if number == 0 { low } else { high };
        // A scale is an f32 without sign and fraction; 2^-127 is subnormal.
        let power = l.b.shl(scale, SINGLE.precision - 1);
        let power = l.b.select(l.b.is_zero(scale), l.b.i32(1 << (SINGLE.precision - 2)), power);
        let power = l.b.bitcast(power, Type::F32);
        // Exact, since these formats have few bits; what is beyond f32 is beyond bf16 too.
        let scaled = l.b.fmul(value, power);
        let result = lane(l, i, to, scaled)?;
        let nan = l.b.constant(Type::I32, format(to)?.nan);
        let from_nan = soft::is_nan(&l.b, SINGLE, l.b.bits(value));
        let scaled_by_nan = l.b.compare_const(Compare::Equal, scale, 0xff);
        let is_nan = l.b.or(from_nan, scaled_by_nan);
        Ok(l.b.select(is_nan, nan, result))
    });
    finish(l, i, [low?, high?])
}

/// The scales that operand number `index` holds, for the lower and the upper number: exponents, 0xff for NaN.
fn scales(l: &mut Lowering<'_, '_>, i: &Instruction, index: usize) -> Result<Option<[Value; 2]>> {
    if !i.modifiers.has(Word::ScaledN2Ue8m0) {
        return Ok(None);
    }
    let pair = l.int(i, index, ScalarType::B16)?;
    Ok(Some([0, 8].map(|position| part(l, pair, position, 8, false))))
}

/// A number with six binary places, as an f32.
fn of_fixed(l: &mut Lowering<'_, '_>, number: Value) -> Value {
    l.b.fmul(l.b.unary(Unary::SignedToFloat(Type::F32), number), l.b.f32(1.0 / 64.0))
}

/// `cvt` to `.s2f6x2`: to a signed byte with six binary places, divided by powers of two with `.scaled::n2::ue8m0`. NaN gives the largest
/// number.
pub fn to_fixed(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let (lanes, next) = if i.ty(1)? == ScalarType::F32 {
        ([l.int(i, 2, ScalarType::F32)?, l.int(i, 1, ScalarType::F32)?], 3)
    } else {
        let pair = l.int(i, 1, ScalarType::Bf16x2)?;
        ([l.b.shl(pair, 16), l.b.and_const(pair, 0xffff_0000)], 2)
    };
    let one = l.b.i32(SINGLE.bias);
    let scales = scales(l, i, next)?.unwrap_or([one; 2]);
    let [low, high] = [0, 1].map(|number| fixed(l, i, lanes[number], scales[number]));
    finish(l, i, [low, high])
}

/// The byte for an f32 divided by a power of two, rounded to nearest even.
fn fixed(l: &mut Lowering<'_, '_>, i: &Instruction, bits: Value, scale: Value) -> Value {
    let magnitude = l.b.magnitude(bits);
    let place = SINGLE.precision - 1;
    let exponent = l.b.shr(magnitude, place);
    let fraction = l.b.and_const(magnitude, SINGLE.hidden() - 1);
    let normal = l.b.or_const(fraction, SINGLE.hidden());
    let is_subnormal = l.b.is_zero(exponent);
    let significand = l.b.select(is_subnormal, fraction, normal);
    let unit = l.b.i32(1);
    let exponent = l.b.select(is_subnormal, unit, exponent);
    // The significand, an integer of 24 bits, is to be divided by this power of two. Nothing is left of it if that is more than 2^25; if
    // less than 2, the number is too large, and half of the significand is too.
    let lost = clamp_signed(l, l.b.add_const(l.b.sub(scale, exponent), u64::from(place - 6)), 1, 26);
    let kept = l.b.binary(Binary::Shr, significand, lost);
    let odd = l.b.and_const(kept, 1);
    let half = l.b.binary(Binary::Shl, unit, l.b.sub_const(lost, 1));
    let rounded = l.b.add(l.b.sub_const(l.b.add(significand, half), 1), odd);
    let rounded = l.b.binary(Binary::Shr, rounded, lost);
    let is_negative = l.b.is_nonzero(l.b.shr(bits, 31));
    let number = clamp_signed(l, l.b.select(is_negative, l.b.neg(rounded), rounded), -128, 127);
    let number = if i.modifiers.has(Word::Relu) { relu(l, number) } else { number };
    let is_nan = l.b.ult(l.b.i32(SINGLE.infinity() as u32), magnitude);
    let scaled_by_nan = l.b.compare_const(Compare::Equal, scale, 0xff);
    l.b.select(l.b.or(is_nan, scaled_by_nan), l.b.i32(127), number)
}

fn lane(l: &mut Lowering<'_, '_>, i: &Instruction, to: ScalarType, value: Value) -> Result<Value> {
    let bits = bits_in(l, i, to, value)?;
    or_relu(l, i, to, bits)
}

fn or_relu(l: &Lowering<'_, '_>, i: &Instruction, to: ScalarType, bits: Value) -> Result<Value> {
    let format = format(to)?;
    Ok(if i.modifiers.has(Word::Relu) { soft::relu(&l.b, format, bits) } else { bits })
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
    let up = l.b.shl(l.b.and_const(word, 0xff00), 8);
    let down = l.b.and_const(l.b.shr(word, 8), 0xff00);
    l.b.or(outer, l.b.or(up, down))
}

fn stochastic_lane(
    l: &Lowering<'_, '_>,
    i: &Instruction,
    to: ScalarType,
    bits: Value,
    random: Value,
    width: u32,
) -> Result<Value> {
    let overflow = if i.modifiers.has(Word::Satfinite) { Overflow::Largest } else { Overflow::Rounded };
    let value = float_of(l, SINGLE, bits);
    let bits = soft::narrow_stochastic(&l.b, format(to)?, overflow, random, width, value);
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
        let rounded = l.b.shr(l.b.add_const(magnitude, SINGLE.hidden() - 1), place);
        let is_above = l.b.ult(l.b.i32(1 << (place - 1)), magnitude);
        l.b.select(is_above, rounded, l.b.i32(0))
    } else {
        l.b.shr(magnitude, place)
    };
    let nan = l.b.i32(0xff);
    let most = if i.modifiers.has(Word::Satfinite) { l.b.i32(0xfe) } else { nan };
    let exponent = l.b.minimum(Compare::LessUnsigned, most, exponent);
    let is_nan = l.b.ult(l.b.i32(SINGLE.infinity() as u32), magnitude);
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
        let result = l.b.select(is_least, l.b.i32(1 << (BFLOAT.precision - 2)), power);
        let is_nan = l.b.compare_const(Compare::Equal, exponent, 0xff);
        l.b.select(is_nan, l.b.i32(BFLOAT.nan as u32), result)
    });
    finish(l, i, lanes)
}
