//! Products and fused multiply-adds.

use super::parts::{ABOVE, Double, product_sign, round, unless_special};
use super::words::{Pair, Words};
use crate::ir::{Builder, Compare, Rounding, Value};
use crate::soft::DOUBLE;

pub(crate) fn multiply(b: &Builder<'_>, rounding: Rounding, x: Pair, y: Pair) -> Pair {
    let [x, y] = [x, y].map(|bits| Double::of(b, bits));
    // If both factors are subnormal, the product is far below the least number. So only one of them needs to be
    // normalised.
    let is_lower = b.ult(x.exponent, y.exponent);
    let low = Words::select(b, is_lower, x.significand, y.significand);
    let high = Words::select(b, is_lower, y.significand, x.significand);
    let [x_zero, y_zero] = [x, y].map(|factor| factor.is_zero(b));
    let is_zero = b.or(x_zero, y_zero);
    let (low, shift) = low.normalised(b);
    let high = high.shl(b, ABOVE);

    let Words([lost, more_lost, third, fourth]) = low.product(b, high);
    let lost = b.or(lost, more_lost);
    let (significand, carried) = leading(b, Words([third, fourth]));
    let significand = significand.stick(b, lost);
    let exponent = b.add(b.sub(b.add(x.exponent, y.exponent), shift), carried);
    // The shift counts from the highest bit.
    let exponent = b.sub_const(exponent, u64::from(DOUBLE.bias - ABOVE));
    let exponent = b.select(is_zero, b.i32(0), exponent);
    let sign = product_sign(b, x, y);
    let finite = round(b, rounding, sign, exponent, significand);

    let is_infinite = either(b, x, y, Double::is_special);
    let is_nan = either(b, x, y, Double::is_nan);
    let undefined = b.and(is_infinite, is_zero);
    unless_special(b, is_infinite, b.or(is_nan, undefined), sign, finite)
}

/// Whether `holds` is true of at least one of two floats.
pub(crate) fn either(b: &Builder<'_>, x: Double, y: Double, holds: fn(Double, &Builder<'_>) -> Value) -> Value {
    let [x, y] = [x, y].map(|float| holds(float, b));
    b.or(x, y)
}

/// The upper half of a product of numbers whose highest bits are set, shifted so that its own is, and 1 if it was.
fn leading(b: &Builder<'_>, product: Pair) -> (Pair, Value) {
    let carried = b.shr(product.high(), 31);
    let shift = b.xor_const(carried, 1);
    (product.shl_within(b, shift), carried)
}

/// Bit of the upper half of 128 at which addends have their leading one; products may have it one higher.
const PLACE: u32 = 60;
/// The distance by which both factors are shifted for that place.
const FACTORS: u32 = (64 + PLACE - 2 * (DOUBLE.precision - 1)) / 2;

/// The product of the first two operands plus the third, rounded once.
///
/// Product and addend are placed in a fixed-point number whose upper bits hold either significand without loss. The one
/// with the lower exponent is shifted right, with a sticky lowest bit for the bits lost. Subnormals need no
/// normalisation: bits that cancellation uncovers below them are far below the result's last place, or were not lost.
pub(crate) fn multiply_add(b: &Builder<'_>, rounding: Rounding, operands: [Pair; 3]) -> Pair {
    let [x, y, z] = operands.map(|bits| Double::of(b, bits));
    let is_zero_product = either(b, x, y, Double::is_zero);
    let zero = b.i32(0);

    // Exponents of the place of addends. A zero product must not shift the addend.
    let exponent = b.sub_const(b.add(x.exponent, y.exponent), DOUBLE.bias.into());
    let product_exponent = b.select(is_zero_product, zero, exponent);
    let [x_shifted, y_shifted] = [x, y].map(|factor| factor.significand.shl(b, FACTORS));
    let product = x_shifted.product(b, y_shifted);
    let Words([low, high]) = z.significand.shl(b, PLACE + 1 - DOUBLE.precision);
    let addend = Words([zero, zero, low, high]);
    let is_product_lower = b.sle(product_exponent, z.exponent);
    let upper = Words::select(b, is_product_lower, addend, product);
    let lower = Words::select(b, is_product_lower, product, addend);
    let exponent = b.select(is_product_lower, z.exponent, product_exponent);
    let lower_exponent = b.select(is_product_lower, product_exponent, z.exponent);
    let distance = b.sub(exponent, lower_exponent);
    let lower = lower.shr_sticking(b, b.minimum(Compare::LessUnsigned, distance, b.i32(127)));

    let product_sign = product_sign(b, x, y);
    let addend_sign = z.sign(b);
    let signs = b.xor(product_sign, addend_sign);
    let differ = b.sar(signs, 31);
    let lower = lower.map(|word| b.xor(word, differ));
    let sum = upper.plus(b, lower, b.and_const(differ, 1));
    let was_negative = b.sar(sum.0[3], 31);
    let sum = sum.negated_if(b, was_negative);
    let flipped = b.shl(was_negative, 31);
    let sign = b.xor(b.select(is_product_lower, addend_sign, product_sign), flipped);

    let (Words([lost, more_lost, third, fourth]), shift) = sum.normalised(b);
    let lost = b.or(lost, more_lost);
    let significand = Words([third, fourth]).stick(b, lost);
    let exponent = b.add_const(b.sub(exponent, shift), u64::from(63 - PLACE));
    // The highest word is zero only if the sum is, and then nothing was lost.
    let is_zero = b.is_zero(fourth);
    let exponent = b.select(is_zero, zero, exponent);
    // Operands that cancel give plus zero, or minus zero when rounding down. Zeros of equal sign keep their sign.
    let zero_sign = match rounding {
        Rounding::Down => b.or(product_sign, addend_sign),
        _ => b.and(product_sign, addend_sign),
    };
    let finite = round(b, rounding, b.select(is_zero, zero_sign, sign), exponent, significand);

    let is_infinite_product = either(b, x, y, Double::is_special);
    let is_infinite_addend = z.is_special(b);
    let is_infinite = b.or(is_infinite_product, is_infinite_addend);
    let infinity_sign = b.select(is_infinite_addend, addend_sign, product_sign);
    let undefined_product = b.and(is_infinite_product, is_zero_product);
    let undefined_sum = b.and(b.and(is_infinite_product, is_infinite_addend), b.is_nonzero(differ));
    let undefined = b.or(undefined_product, undefined_sum);
    let is_nan = [x, y, z].into_iter().fold(undefined, |any, float| b.or(any, float.is_nan(b)));
    unless_special(b, is_infinite, is_nan, infinity_sign, finite)
}
