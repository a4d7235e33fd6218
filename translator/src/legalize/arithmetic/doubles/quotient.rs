//! Quotients, from digits that a 32-bit reciprocal estimates, and exact remainders.

use super::parts::{ABOVE, Double, product_sign, round, unless_special};
use super::product::either;
use super::words::{Pair, Words};
use crate::ir::{Builder, Rounding, Type, Value};
use crate::soft::DOUBLE;

/// Bits of the quotient's first digit after the point.
const FIRST: u32 = 31;
/// Bits of the second one.
const SECOND: u32 = 28;

pub(crate) fn divide(b: &Builder<'_>, rounding: Rounding, x: Pair, y: Pair) -> Pair {
    let [x, y] = [x, y].map(|bits| Double::of(b, bits));
    let [(dividend, x_exponent), (divisor, y_exponent)] = [x, y].map(|float| float.normalised(b));
    let (quotient, inexact) = significands(b, dividend, divisor);

    // The quotient is between one half and two, so its leading one is bit 58 or 59.
    let last = FIRST + SECOND;
    let borrowed = b.xor_const(b.shr(quotient.high(), last - 32), 1);
    let significand = quotient.shl_within(b, b.add_const(borrowed, u64::from(63 - last)));
    let inexact = b.bool_to(Type::I32, inexact);
    let significand = Words([b.or(significand.low(), inexact), significand.high()]);
    let exponent = b.add_const(b.sub(b.sub(x_exponent, y_exponent), borrowed), DOUBLE.bias.into());
    let sign = product_sign(b, x, y);
    let result = round(b, rounding, sign, exponent, significand);

    let [x_zero, y_zero] = [x, y].map(|float| float.is_zero(b));
    let [x_infinite, y_infinite] = [x, y].map(|float| float.is_special(b));
    let is_zero = b.or(x_zero, y_infinite);
    let is_infinite = b.or(x_infinite, y_zero);
    let result = Words::select(b, is_zero, Words([b.i32(0), sign]), result);
    // Zero by zero and infinity by infinity are the cases that look both zero and infinite.
    let undefined = b.and(is_zero, is_infinite);
    unless_special(b, is_infinite, b.or(either(b, x, y, Double::is_nan), undefined), sign, result)
}

/// The quotient of significands whose highest bits are set, times 2^59 and truncated, and whether the truncation lost anything. The result
/// for zeros doesn't matter.
fn significands(b: &Builder<'_>, dividend: Pair, divisor: Pair) -> (Pair, Value) {
    let inverse = reciprocal(b, divisor.high());
    // Each digit leaves a remainder below eight times the divisor: truncating the dividend to x / 2^32 loses at most one, the inverse at
    // most 6, and the product at most one.
    let first = b.mul_high_unsigned(dividend.high(), inverse);
    let [dividend, divisor] = [dividend, divisor].map(|significand| significand.shr(b, ABOVE));
    let remainder = rest(b, dividend, FIRST, first, divisor);
    let top = above(b, remainder);
    let second = b.mul_high_unsigned(top, inverse);
    let remainder = rest(b, remainder, SECOND, second, divisor);
    // The quotient is too small by less than eight. After this estimate it is too small by at most one.
    let top = above(b, remainder);
    let third = b.shr(b.mul_high_unsigned(top, inverse), SECOND);
    let remainder = rest(b, remainder, 0, third, divisor);
    let is_below = remainder.is_less(b, divisor);
    let zero = b.i32(0);
    let last = b.select(is_below, zero, b.i32(1));
    let excess = Words::select(b, is_below, Words([zero, zero]), divisor);
    let is_exact = remainder.zip(excess, |rest, excess| b.xor(rest, excess)).is_zero(b);
    let inexact = b.not(is_exact);

    let lower = b.add(b.add(second, third), last);
    let quotient = Words([first, zero]).shl(b, SECOND).plus_word(b, lower);
    (quotient, inexact)
}

/// `number * 2^shift - digit * divisor`, which is below 2^64.
fn rest(b: &Builder<'_>, number: Pair, shift: u32, digit: Value, divisor: Pair) -> Pair {
    let number = number.shl(b, shift);
    number.minus(b, divisor.times(b, digit))
}

/// Bits 24 to 55 of a number whose higher bits are zero.
fn above(b: &Builder<'_>, number: Pair) -> Value {
    number.shr(b, 24).low()
}

/// `2^63 / y` for a word whose highest bit is set, and two less: not above `2^95 / z` for any `z` that has `y` as its upper 32
/// bits of 64, nor below it by more than 6.
fn reciprocal(b: &Builder<'_>, y: Value) -> Value {
    // A first estimate of 16 bits, never too large.
    let guess = b.div_unsigned(b.i32(u32::MAX), b.add_const(b.shr(y, 16), 1));
    let mut inverse = b.shl(guess, 15);
    // Newton's method: an error of e becomes e^2. The constants make sure that the result is never too large.
    for _ in 0..2 {
        let product = b.mul_high_unsigned(y, inverse);
        let error = b.shl(b.sub(b.i32((1 << 31) - 1), product), 1);
        inverse = b.add(inverse, b.mul_high_unsigned(inverse, error));
    }
    b.sub_const(inverse, 2)
}
