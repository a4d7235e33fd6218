//! Sums.

use super::parts::{Double, SIGN, magnitude, round_aligned, unless_special};
use super::words::{Pair, Words};
use crate::ir::{Builder, Compare, Rounding};

/// The distance by which significands are shifted to the left, which leaves room for a carry.
const GUARD: u32 = 10;

/// The sum.
///
/// One addend's significand is shifted right, with a sticky lowest bit for the bits lost. The sticky bit stays below the bits that decide
/// the rounding: where the shift loses anything, cancellation removes at most one leading place of the sum.
pub(crate) fn add(b: &Builder<'_>, rounding: Rounding, x: Pair, y: Pair) -> Pair {
    let [x_magnitude, y_magnitude] = [x, y].map(|bits| magnitude(b, bits));
    let is_less = x_magnitude.is_less(b, y_magnitude);
    let large = Words::select(b, is_less, y, x);
    let small = Words::select(b, is_less, x, y);
    let [large, small] = [large, small].map(|bits| Double::of(b, bits));

    let distance = b.minimum(Compare::LessUnsigned, b.sub(large.exponent, small.exponent), b.i32(63));
    let [upper, lower] = [large, small].map(|addend| addend.significand.shl(b, GUARD));
    let lower = lower.shr_sticking(b, distance);
    let signs = b.xor(large.bits.high(), small.bits.high());
    let differ = b.sar(signs, 31);
    let lower = lower.map(|word| b.xor(word, differ));
    let one = b.and_const(differ, 1);
    let sum = upper.plus(b, lower, one);

    // The leading one moves to the highest bit, but no farther than the place for subnormals. Subnormal sums are exact.
    let zeros = sum.leading_zeros(b);
    let is_zero = sum.is_zero(b);
    let is_subnormal = b.ult(large.exponent, zeros);
    let stays = b.or(is_zero, is_subnormal);
    let shift = b.select(stays, large.exponent, zeros);
    let significand = sum.shl_by(b, shift);
    let exponent = b.add_const(b.sub(large.exponent, shift), 1);

    // Operands that cancel give plus zero, or minus zero when rounding down. Zeros of equal sign keep their sign.
    let differ = b.is_nonzero(differ);
    let cancels = b.and(is_zero, differ);
    let zero_sign = b.i32(if rounding == Rounding::Down { 1 << 31 } else { 0 });
    let large_sign = large.sign(b);
    let sign = b.select(cancels, zero_sign, large_sign);
    let finite = round_aligned(b, rounding, sign, exponent, significand);

    // A NaN counts as larger than all else, and infinity as larger than numbers.
    let is_special = large.is_special(b);
    let undefined = b.and(small.is_special(b), differ);
    let is_large_nan = large.is_nan(b);
    let is_nan = b.or(undefined, is_large_nan);
    unless_special(b, is_special, is_nan, large_sign, finite)
}

/// The opposite number.
pub(crate) fn negate(b: &Builder<'_>, x: Pair) -> Pair {
    Words([x.low(), b.xor_const(x.high(), SIGN)])
}

/// The difference.
pub(crate) fn subtract(b: &Builder<'_>, rounding: Rounding, x: Pair, y: Pair) -> Pair {
    add(b, rounding, x, negate(b, y))
}
