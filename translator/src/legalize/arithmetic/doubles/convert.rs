//! Conversions from integers, and from and to single precision.

use super::parts::{ABOVE, Double, PLACE, round_aligned};
use super::words::{Pair, Words};
use crate::ir::{Builder, Compare, Rounding, Type, Value};
use crate::soft::{DOUBLE, Overflow, SINGLE, overflowed, round_truncated};

/// An integer of either width, rounded to nearest.
pub(crate) fn from_integer(b: &Builder<'_>, is_signed: bool, integer: Value) -> Pair {
    let zero = b.i32(0);
    let integer = if b.type_of(integer) == Type::I64 {
        Pair::of(b, integer)
    } else if is_signed {
        Words([integer, b.sar(integer, 31)])
    } else {
        Words([integer, zero])
    };
    let (sign, magnitude) = if is_signed {
        let ones = b.sar(integer.high(), 31);
        let magnitude = integer.negated_if(b, ones);
        (b.shl(ones, 31), magnitude)
    } else {
        (zero, integer)
    };
    let (significand, shift) = magnitude.normalised(b);
    let exponent = b.sub(b.i32(DOUBLE.bias + 63), shift);
    // Zero gets the least exponent, so that it stays zero.
    let is_zero = b.is_zero(significand.high());
    round_aligned(b, Rounding::NearestEven, sign, b.select(is_zero, b.i32(1), exponent), significand)
}

/// The distance by which the exponent begins lower in a double's higher word than in a single.
const NARROWER: u32 = SINGLE.precision - 1 - PLACE;
/// Difference of the exponents' biases.
const REBIAS: u32 = DOUBLE.bias - SINGLE.bias;

/// A float of single precision, given by its bits.
pub(crate) fn widen(b: &Builder<'_>, bits: Value) -> Pair {
    let sign = b.and_const(bits, SINGLE.sign());
    let magnitude = b.and_const(bits, SINGLE.sign() - 1);
    let [zero, once, twice] = [0, REBIAS, 2 * REBIAS].map(|exponent| b.i32(exponent));
    // A subnormal's leading one moves to where it counts as an exponent of one.
    let highest = b.find_high_bit(magnitude);
    let shift = b.sub_const(b.sub(b.i32(31), highest), u64::from(SINGLE.bits - SINGLE.precision));
    let is_subnormal = b.compare_const(Compare::LessUnsigned, magnitude, SINGLE.hidden());
    let shift = b.select(is_subnormal, shift, zero);
    let significand = b.shl_by(magnitude, shift);
    // Infinities and NaNs get the top exponent.
    let is_finite = b.compare_const(Compare::LessUnsigned, magnitude, SINGLE.infinity());
    let exponent = b.shl(b.sub(b.select(is_finite, once, twice), shift), PLACE);
    let high = b.add(b.shr(significand, NARROWER), exponent);
    let high = b.select(b.is_zero(magnitude), zero, high);
    let low = b.shl(significand, 32 - NARROWER);
    Words([low, b.or(high, sign)])
}

/// The bits of a float in single precision. NaN becomes NVIDIA's.
pub(crate) fn narrow(b: &Builder<'_>, rounding: Rounding, x: Pair) -> Value {
    let x = Double::of(b, x);
    let sign = x.sign(b);
    let negative = b.is_nonzero(sign);
    let significand = x.significand.shl(b, ABOVE);
    let significand = Words([significand.high()]).stick(b, significand.low());
    let exponent = b.sub_const(x.exponent, REBIAS.into());
    let [zero, one, limit] = [0, 1, 31].map(|bits| b.i32(bits));
    let missing = b.sub(one, exponent);
    let is_subnormal = b.slt(zero, missing);
    let missing = b.select(is_subnormal, missing, zero);
    let Words([significand]) = significand.shr_sticking(b, b.minimum(Compare::LessUnsigned, missing, limit));

    let dropped = SINGLE.bits - SINGLE.precision;
    let kept = b.shr(significand, dropped);
    let kept = round_truncated(b, rounding, negative, kept, b.shl(significand, 32 - dropped));
    // The leading one adds one to the exponent, which may be too large for its place.
    let top = b.i32(SINGLE.top_exponent());
    let exponent = b.sub_const(b.select(is_subnormal, one, b.minimum(Compare::LessSigned, exponent, top)), 1);
    let magnitude = b.add(kept, b.shl(exponent, SINGLE.precision - 1));
    let infinity = b.i32(SINGLE.infinity() as u32);
    let overflows = b.ule(infinity, magnitude);
    let beyond = overflowed(b, SINGLE, rounding, Overflow::Rounded, negative, magnitude);
    let magnitude = b.select(overflows, beyond, magnitude);
    let is_infinite = x.is_special(b);
    let result = b.or(b.select(is_infinite, infinity, magnitude), sign);
    b.select(x.is_nan(b), b.constant(Type::I32, SINGLE.nan), result)
}
