//! Products on integers, and code that products and quotients share.

use super::{Parts, leading, round, stick, unless_nan};
use crate::ir::{Builder, Rounding, Value};

/// The product of two floats of one type.
pub fn product(b: &Builder<'_>, rounding: Rounding, x: Value, y: Value) -> Value {
    let x = Parts::of(b, x).normalised(b);
    let y = Parts::of(b, y).normalised(b);
    let format = x.format;
    // With one factor's leading one at the top bit and the other's one below, the product's leading one is at the place for rounding or one
    // below.
    let up = format.bits - format.precision;
    let [left, right] = [b.shl(x.significand, up), b.shl(y.significand, up - 1)];
    let high = b.mul_high_unsigned(left, right);
    let significand = stick(b, high, b.mul(left, right));
    let is_low = b.ult(significand, b.constant_like(high, 1 << leading(b.type_of(high))));
    let significand = b.select(is_low, b.shl(significand, 1), significand);
    let exponent = b.sub_const(b.add(x.exponent, y.exponent), u64::from(format.bias - 1));
    let exponent = b.select(is_low, b.sub_const(exponent, 1), exponent);
    let sign = product_sign(b, &x, &y);
    let magnitude = round(b, format, rounding, b.is_nonzero(sign), exponent, significand);

    let [x_zero, y_zero] = [&x, &y].map(|parts| parts.is_zero(b));
    let [x_infinite, y_infinite] = [&x, &y].map(|parts| parts.is_infinite(b));
    let is_zero = b.or(x_zero, y_zero);
    let is_infinite = b.or(x_infinite, y_infinite);
    with_extremes(b, [&x, &y], magnitude, is_zero, is_infinite)
}

/// The sign bit that two floats' product or quotient has.
pub fn product_sign(b: &Builder<'_>, x: &Parts, y: &Parts) -> Value {
    let sign = b.xor(x.bits, y.bits);
    b.and_const(sign, x.format.sign())
}

/// Two floats' product or quotient: of this magnitude, but zero or infinite if `is_zero` or `is_infinite` holds, and NaN if both hold or an
/// operand is NaN.
pub fn with_extremes(
    b: &Builder<'_>,
    operands: [&Parts; 2],
    magnitude: Value,
    is_zero: Value,
    is_infinite: Value,
) -> Value {
    let [x, y] = operands;
    let sign = product_sign(b, x, y);
    let [zero, infinity] = [0, x.format.infinity()].map(|bits| b.constant_like(magnitude, bits));
    let result = b.or(b.select(is_infinite, infinity, b.select(is_zero, zero, magnitude)), sign);
    let undefined = b.and(is_zero, is_infinite);
    let [x_nan, y_nan] = operands.map(|parts| parts.is_nan(b));
    let is_nan = b.or(b.or(x_nan, y_nan), undefined);
    unless_nan(b, x.format, is_nan, result)
}
