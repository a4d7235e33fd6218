//! Floats from integers with any rounding.

use super::{Format, LEADING, leading_zeros, round, stick};
use crate::ir::{Builder, Compare, Rounding, Type, Value};

/// The bits, in `I64`, of the number of a format that an integer is rounded to.
pub fn from_integer(b: &mut Builder<'_>, format: Format, rounding: Rounding, signed: bool, integer: Value) -> Value {
    let negative = if signed { b.compare_const(Compare::LessSigned, integer, 0) } else { b.bool(false) };
    let opposite = b.neg(integer);
    let magnitude = b.select(negative, opposite, integer);
    // Extended behind the change of sign: llvmpipe 22.3 gets the magnitude of a sign-extended number wrong.
    let magnitude = if b.type_of(magnitude) == Type::I32 { b.zero_extend(magnitude) } else { magnitude };
    let is_zero = b.is_zero(magnitude);
    let zeros = leading_zeros(b, magnitude);
    let shift = b.and_const(zeros, 63);
    let normalised = b.shl_by(magnitude, shift);
    // The leading one goes from bit 63 to its place.
    let significand = b.shr(normalised, 63 - LEADING);
    let lost = b.and_const(normalised, (1 << (63 - LEADING)) - 1);
    let significand = stick(b, significand, lost);
    let most = b.i32(format.bias + 63);
    let exponent = b.sub(most, shift);
    let zero = b.i32(0);
    let exponent = b.select(is_zero, zero, exponent);
    let magnitude = round(b, format, rounding, negative, exponent, significand);
    let [sign, none] = [b.i64(format.sign()), b.i64(0)];
    let sign = b.select(negative, sign, none);
    b.or(magnitude, sign)
}
