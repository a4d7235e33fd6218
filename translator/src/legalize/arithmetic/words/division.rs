//! Unsigned division of two words by two words, without a loop.
//!
//! A divisor of one word is a division of three digits of base 2^32. For others, the quotient of half the dividend by the
//! divisor's leading 32 bits is at most one too large once it is shifted to its place (Warren, "Hacker's Delight", section
//! 9-5). Both come down to one division of two words by one word with a one-word quotient, which goes by digits of 16 bits
//! (Knuth, "The Art of Computer Programming", volume 2, section 4.3.1, algorithm D).

use super::arithmetic::{add, compare, sub};
use super::halves::Words;
use super::products;
use super::shifts::{by_constant, shift};
use crate::ir::{Binary, Builder, Compare, Type, Value};

/// Quotient and remainder.
pub(crate) struct Division {
    pub(crate) quotient: Words,
    pub(crate) remainder: Words,
}

/// `x` divided by `y`, which isn't zero.
pub(crate) fn divide(b: &Builder<'_>, x: Words, y: Words) -> Division {
    if b.known(y.high) == Some(0) {
        return by_word(b, x, y.low);
    }
    let is_short = b.is_zero(y.high);

    // The divisor's leading one is shifted to bit 31 of its upper word.
    let zeros = b.and_const(leading_zeros(b, y.high), 31);
    let leading = shift(b, Binary::Shl, y, zeros).high;
    let half = by_constant(b, Binary::Shr, x, 1);

    let dividend = Words::select(b, is_short, x, half);
    let divisor = b.select(is_short, y.low, leading);
    let Division { quotient, remainder } = by_word(b, dividend, divisor);

    // The estimate is right or one too large. Subtract one unless it is zero, so that it is right or one too small.
    let estimate = b.shr_by(quotient.low, b.xor_const(zeros, 31));
    let is_some = b.is_nonzero(estimate);
    let estimate = Words::zero_extended(b, b.sub(estimate, b.bool_to(Type::I32, is_some)));
    let rest = sub(b, x, products::low(b, estimate, y));
    let is_small = compare(b, Compare::LessUnsigned, rest, y);
    let less = sub(b, rest, y);
    let more = add(b, estimate, Words::constant(b, 1));
    let long_quotient = Words::select(b, is_small, estimate, more);
    let long_remainder = Words::select(b, is_small, rest, less);
    Division {
        quotient: Words::select(b, is_short, quotient, long_quotient),
        remainder: Words::select(b, is_short, remainder, long_remainder),
    }
}

/// Two words divided by one.
fn by_word(b: &Builder<'_>, x: Words, divisor: Value) -> Division {
    if b.known(x.high) == Some(0) {
        let (quotient, remainder) = (b.div_unsigned(x.low, divisor), b.rem_unsigned(x.low, divisor));
        return Division { quotient: Words::zero_extended(b, quotient), remainder: Words::zero_extended(b, remainder) };
    }
    let first = b.div_unsigned(x.high, divisor);
    let rest = b.sub(x.high, b.mul(first, divisor));

    // The divisor's leading one is shifted to bit 31.
    let zeros = leading_zeros(b, divisor);
    let divisor = b.shl_by(divisor, zeros);
    let rest = shift(b, Binary::Shl, Words::new(x.low, rest), zeros);
    let digits = [b.shr(rest.low, 16), b.and_const(rest.low, 0xffff)];
    let mut remainder = rest.high;
    let mut second = b.i32(0);
    for digit in digits {
        let found;
        (found, remainder) = next_digit(b, remainder, digit, divisor);
        second = b.shl(second, 16);
        second = b.or(second, found);
    }
    let remainder = b.shr_by(remainder, zeros);
    Division { quotient: Words::new(second, first), remainder: Words::zero_extended(b, remainder) }
}

/// One more 16-bit digit of a quotient, and the remainder. `rest` is below the divisor, whose leading bit is one.
fn next_digit(b: &Builder<'_>, rest: Value, digit: Value, divisor: Value) -> (Value, Value) {
    let (leading, trailing) = (b.shr(divisor, 16), b.and_const(divisor, 0xffff));
    let mut quotient = b.div_unsigned(rest, leading);
    let product = b.mul(quotient, leading);
    let mut left = b.sub(rest, product);
    // The estimate is at most two too large.
    for _ in 0..2 {
        let product = b.mul(quotient, trailing);
        let available = b.or(b.shl(left, 16), digit);
        let exceeds = b.ult(available, product);
        let [limit, zero] = [b.i32(0xffff), b.i32(0)];
        let is_beyond = b.ult(limit, quotient);
        let is_more = b.or(exceeds, is_beyond);
        let can_be = b.ule(left, limit);
        let is_more = b.and(is_more, can_be);
        quotient = b.sub(quotient, b.bool_to(Type::I32, is_more));
        let added = b.select(is_more, leading, zero);
        left = b.add(left, added);
    }
    let above = b.or(b.shl(rest, 16), digit);
    (quotient, b.sub(above, b.mul(quotient, divisor)))
}

/// Leading zeros of a word; 32 for zero.
fn leading_zeros(b: &Builder<'_>, word: Value) -> Value {
    let highest = b.find_high_bit(word);
    b.sub(b.i32(31), highest)
}
