//! Floats from integers with any rounding.

use super::{DOUBLE, Format, leading_zeros, round, stick, width};
use crate::ir::{Builder, Compare, Rounding, Type, Value};

/// The bits of the number of a format that an integer is rounded to: in `I64` for double precision, else in `I32`.
pub fn from_integer(b: &Builder<'_>, format: Format, rounding: Rounding, signed: bool, integer: Value) -> Value {
    let negative = if signed { b.compare_const(Compare::LessSigned, integer, 0) } else { b.bool(false) };
    let magnitude = b.select(negative, b.neg(integer), integer);
    // Extended after the negation, since llvmpipe 22.3 gets the magnitude of a sign-extended number wrong.
    let is_narrow = b.type_of(magnitude) == Type::I32;
    let magnitude = if is_narrow && format == DOUBLE { b.zero_extend(magnitude) } else { magnitude };
    let bits = width(b.type_of(magnitude));
    let is_zero = b.is_zero(magnitude);
    let shift = b.and_const(leading_zeros(b, magnitude), u64::from(bits - 1));
    let mut normalised = b.shl_by(magnitude, shift);
    if bits == 64 && format != DOUBLE {
        // The lower half is below any last place.
        let (low, high) = b.halves(normalised);
        normalised = stick(b, high, low);
    }
    // The leading one moves from the top bit to its place.
    let significand = b.or(b.shr(normalised, 1), b.and_const(normalised, 1));
    let exponent = b.sub(b.i32(format.bias + bits - 1), shift);
    let exponent = b.select(is_zero, b.i32(0), exponent);
    let magnitude = round(b, format, rounding, negative, exponent, significand);
    let [sign, none] = [format.sign(), 0].map(|sign| b.constant_like(magnitude, sign));
    b.or(magnitude, b.select(negative, sign, none))
}
