//! Rounding to integral values.

use super::parts::{ABOVE, Double, magnitude, signed};
use super::words::{Pair, Words};
use crate::ir::{Builder, Compare, Unary, Value};
use crate::soft::DOUBLE;

/// Number of fraction bits.
const FRACTION: u32 = DOUBLE.precision - 1;

/// The result of `Trunc`, `RoundEven`, `Floor` or `Ceil`.
pub(crate) fn round_integral(b: &Builder<'_>, op: Unary, x: Pair) -> Pair {
    let parts = Double::of(b, x);
    let sign = parts.sign(b);
    let negative = b.is_nonzero(sign);
    let magnitude = magnitude(b, x);

    // For numbers from 1 to 2^52: add what rounds away from zero, then mask out the fraction bits. A carry increments
    // the exponent.
    let places = b.sub(b.i32(DOUBLE.bias + FRACTION), parts.exponent);
    let one = Pair::constant(b, 1);
    let unit = one.shl_by(b, places);
    let zero = Pair::constant(b, 0);
    let below = unit.minus(b, one);
    let added = match op {
        Unary::Floor => Words::select(b, negative, below, zero),
        Unary::Ceil => Words::select(b, negative, zero, below),
        Unary::RoundEven => {
            // Add less than one half, or exactly one half if the integer part is odd.
            let is_even = x.zip(unit, |x, unit| b.and(x, unit)).is_zero(b);
            let [zero, one] = [0, 1].map(|bits| b.i32(bits));
            let odd = b.select(is_even, zero, one);
            // Half a unit less one is half of the mask of the bits below.
            below.shr(b, 1).plus_word(b, odd)
        }
        _ => zero,
    };
    let none = b.i32(0);
    let sum = magnitude.plus(b, added, none);
    let result = sum.zip(below, |sum, below| b.and(sum, b.not(below)));

    // Numbers below one give one or zero.
    let is_nonzero = b.not(magnitude.is_zero(b));
    let away = match op {
        Unary::Floor => b.and(negative, is_nonzero),
        Unary::Ceil => b.and(b.not(negative), is_nonzero),
        Unary::RoundEven => {
            let half = Pair::constant(b, DOUBLE.one() - DOUBLE.hidden());
            half.is_less(b, magnitude)
        }
        _ => b.bool(false),
    };
    let small = Words::select(b, away, Pair::constant(b, DOUBLE.one()), zero);
    let is_small = b.compare_const(Compare::LessUnsigned, parts.exponent, DOUBLE.bias.into());
    let result = Words::select(b, is_small, small, result);
    let is_whole = b.sle(places, none);
    signed(b, sign, Words::select(b, is_whole, magnitude, result))
}

/// The integer part of a number in range, as two's complement.
pub(crate) fn to_pair(b: &Builder<'_>, signed: bool, x: Pair) -> Pair {
    let parts = Double::of(b, x);
    to_integer(b, signed, parts, parts.significand.shl(b, ABOVE))
}

/// The same, to 32 bits.
pub(crate) fn to_word(b: &Builder<'_>, signed: bool, x: Pair) -> Value {
    let parts = Double::of(b, x);
    let significand = parts.significand.shl(b, ABOVE);
    let Words([word]) = to_integer(b, signed, parts, Words([significand.high()]));
    word
}

/// The same from the upper bits of the significand, whose leading one is the highest bit.
fn to_integer<const N: usize>(b: &Builder<'_>, signed: bool, x: Double, significand: Words<N>) -> Words<N> {
    let bits = 32 * N as u32;
    let shift = b.sub(b.i32(DOUBLE.bias + bits - 1), x.exponent);
    let (shifted, _) = significand.shr_by(b, shift);
    // For numbers below one, the shift is at least the width.
    let is_within = b.compare_const(Compare::LessUnsigned, shift, bits.into());
    let result = Words::select(b, is_within, shifted, Words([b.i32(0); N]));
    if !signed {
        return result;
    }
    result.negated_if(b, b.sar(x.bits.high(), 31))
}
