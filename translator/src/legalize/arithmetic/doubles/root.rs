//! Square roots: an estimate of 54 bits from a reciprocal root of 30, and the sign of the exact remainder.

use super::parts::{ABOVE, Double, round_aligned, unless_special};
use super::words::{Pair, Words};
use crate::ir::{Builder, Rounding, Value};
use crate::soft::DOUBLE;

/// The square root.
pub(crate) fn root(b: &Builder<'_>, rounding: Rounding, x: Pair) -> Pair {
    let x = Double::of(b, x);
    let (significand, exponent) = x.normalised(b);
    // An even exponent, with a significand of 1 to 4 that has two bits before the point.
    let exponent = b.sub_const(exponent, DOUBLE.bias.into());
    let is_odd = b.is_nonzero(b.and_const(exponent, 1));
    let significand = Words::select(b, is_odd, significand, significand.shr(b, 1));
    let exponent = b.add_const(b.sar(exponent, 1), DOUBLE.bias.into());
    let root = of_significand(b, significand);
    let positive = b.i32(0);
    let root = round_aligned(b, rounding, positive, exponent, root);

    let sign = x.sign(b);
    let is_zero = x.is_zero(b);
    let root = Words::select(b, is_zero, Words([positive, sign]), root);
    // All negative operands except minus zero.
    let is_negative = b.and(b.is_nonzero(sign), b.not(is_zero));
    let is_nan = b.or(x.is_nan(b), is_negative);
    let is_infinite = x.is_special(b);
    unless_special(b, is_infinite, is_nan, positive, root)
}

/// The root of a number from 1 to 4 times 2^62 that has 54 bits, with its leading one as highest bit; the lowest bit stands
/// for all that is lost.
fn of_significand(b: &Builder<'_>, number: Pair) -> Pair {
    let top = number.high();
    let inverse = inverse_root(b, top);
    // The root times 2^30, too small by less than 7.
    let first = b.mul_high_unsigned(top, inverse);
    let square = Words([b.mul(first, first), b.mul_high_unsigned(first, first)]);
    let rest = number.shr(b, 2).minus(b, square);
    // The remainder divided by twice the root gives 26 more bits, too small by less than 3 or too large by less than 1: the remainder is
    // below 2^35.
    let second = b.shr(b.mul_high_unsigned(rest.shr(b, 4).low(), inverse), 1);
    let zero = b.i32(0);
    let estimate = Words([first, zero]).shl(b, 26).plus_word(b, second);

    // Rounded to 54 bits, whose unit is eight: wrong by less than one unit.
    let near = estimate.plus_word(b, b.i32(4)).shr(b, 3);
    // The lowest 64 bits of the remainder of its square give the sign.
    let Words([low, high, ..]) = near.product(b, near);
    let scaled = b.shl(number.low(), 12);
    let rest = Words([zero, scaled]).minus(b, Words([low, high]));
    let is_exact = rest.is_zero(b);
    let sign = b.sar(rest.high(), 31);
    let root = near.plus(b, Words([sign, sign]), zero).shl(b, ABOVE - 1);
    let lost = b.select(is_exact, zero, b.i32(1));
    Words([b.or(root.low(), lost), root.high()])
}

/// `2^32 / sqrt(x)` for `x` from 1 to 4, given times 2^30: never above, nor below by more than 7.
fn inverse_root(b: &Builder<'_>, x: Value) -> Value {
    // 1.335 - 0.411 x + 0.0512 x^2 is within 2.5 %.
    let [constant, linear, quadratic] = [0xaaef_1df0, 0xd243_b000, 0x68de_0d00].map(|factor| b.i32(factor));
    let sum = b.mul_high_unsigned(x, b.sub(linear, b.mul_high_unsigned(x, quadratic)));
    let mut inverse = b.shl(b.sub(constant, sum), 1);
    // Newton's method: an error of e becomes 3/2 e^2. The constant makes sure that the result is never too large.
    let three = b.i32((3 << 30) - 2);
    for _ in 0..3 {
        let square = b.mul_high_unsigned(inverse, inverse);
        let factor = b.sub(three, b.mul_high_unsigned(square, x));
        inverse = b.shl(b.mul_high_unsigned(inverse, factor), 1);
    }
    inverse
}
