//! Unpacking, rounding and packing of floats.
//!
//! Everything is computed on integers of the format's width (or wider ones, where they are given), and everything is exact:
//! nothing here relies on the device's float arithmetic. Exponents are biased and in `I32`.

use super::rounding::{Overflow, overflowed, round_truncated};
use super::{Format, SINGLE};
use crate::ir::{Builder, Compare, Rounding, Type, Value};

/// Bits of an integer of this type.
pub fn width(ty: Type) -> u32 {
    if ty == Type::I64 { 64 } else { 32 }
}

/// Bit at which [`round`] takes the leading one of significands of this type.
pub fn leading(ty: Type) -> u32 {
    width(ty) - 2
}

/// An unpacked float. Its value is `significand * 2^(exponent - bias - precision + 1)` if it is finite.
pub struct Parts {
    /// The format.
    pub format: Format,
    /// All bits.
    pub bits: Value,
    /// Without the sign.
    pub magnitude: Value,
    /// Biased, zero for subnormals.
    pub exponent: Value,
    /// At most `precision` bits; even for subnormals, which have no leading one.
    pub significand: Value,
}

impl Parts {
    /// Unpacks a float.
    pub fn of(b: &Builder<'_>, float: Value) -> Parts {
        let format = Format::of(b.type_of(float));
        let bits = b.bits(float);
        let magnitude = b.and_const(bits, format.sign() - 1);
        let exponent = b.shr(magnitude, format.precision - 1);
        let exponent = if format == SINGLE { exponent } else { b.truncate(exponent) };
        let fraction = b.and_const(bits, format.hidden() - 1);
        let normal = b.or_const(fraction, format.hidden());
        let subnormal = b.shl(fraction, 1);
        let significand = b.select(b.is_zero(exponent), subnormal, normal);
        Parts { format, bits, magnitude, exponent, significand }
    }

    /// Shifts a subnormal's leading one to where normal numbers have it; zero has none.
    pub fn normalised(self, b: &Builder<'_>) -> Parts {
        let zeros = leading_zeros(b, self.significand);
        let shift = b.sub_const(zeros, u64::from(self.format.bits - self.format.precision));
        let significand = b.shl_by(self.significand, shift);
        let exponent = b.sub(self.exponent, shift);
        Parts { significand, exponent, ..self }
    }

    /// Whether the number is zero.
    pub fn is_zero(&self, b: &Builder<'_>) -> Value {
        b.is_zero(self.magnitude)
    }

    /// Whether the number is infinite.
    pub fn is_infinite(&self, b: &Builder<'_>) -> Value {
        b.eq(self.magnitude, b.constant_like(self.bits, self.format.infinity()))
    }

    /// Whether the number is NaN.
    pub fn is_nan(&self, b: &Builder<'_>) -> Value {
        b.ult(b.constant_like(self.bits, self.format.infinity()), self.magnitude)
    }
}

/// The float of these bits, or NaN.
pub fn unless_nan(b: &Builder<'_>, format: Format, is_nan: Value, bits: Value) -> Value {
    let bits = b.select(is_nan, b.constant_like(bits, format.nan), bits);
    b.bitcast(bits, if format == SINGLE { Type::F32 } else { Type::F64 })
}

/// Number of leading zeros of an integer, in `I32`; its width for zero.
pub fn leading_zeros(b: &Builder<'_>, value: Value) -> Value {
    if b.type_of(value) != Type::I64 {
        let top = b.i32(31);
        let highest = b.find_high_bit(value);
        return b.sub(top, highest);
    }
    let (low, high) = b.halves(value);
    let is_low = b.is_zero(high);
    let highest = b.find_high_bit(b.select(is_low, low, high));
    let [of_low, of_high] = [b.i32(63), b.i32(31)];
    b.sub(b.select(is_low, of_low, of_high), highest)
}

/// Sets the lowest bit if the other value isn't zero, so that rounding takes the lost bits into account.
pub fn stick(b: &Builder<'_>, value: Value, lost: Value) -> Value {
    let lost = b.is_nonzero(lost);
    let ty = b.type_of(value);
    b.or(value, b.bool_to(ty, lost))
}

/// The magnitude bits of `significand * 2^(exponent - bias - leading)`, rounded, where the significand's leading one is
/// bit [`leading`], its lowest bit stands for all that are lost, and the result is normal. `negative` is the sign.
pub fn round_normal(
    b: &Builder<'_>,
    format: Format,
    rounding: Rounding,
    negative: Value,
    exponent: Value,
    significand: Value,
) -> Value {
    // The leading one, which isn't masked out, adds one to the exponent.
    round_above(b, format, rounding, negative, b.sub_const(exponent, 1), significand)
}

/// The same for any exponent, giving subnormals and infinities too. If the significand is zero, the exponent must be at
/// most zero.
pub fn round(
    b: &Builder<'_>,
    format: Format,
    rounding: Rounding,
    negative: Value,
    exponent: Value,
    significand: Value,
) -> Value {
    let one = b.i32(1);
    let zero = b.i32(0);
    let is_subnormal = b.slt(exponent, one);
    let missing = b.select(is_subnormal, b.sub(one, exponent), zero);
    let significand = shift_right_sticking(b, significand, missing);
    let below = b.select(is_subnormal, zero, b.sub_const(exponent, 1));
    let finite = round_above(b, format, rounding, negative, below, significand);
    let overflows = b.sle(b.i32(format.top_exponent()), exponent);
    let infinity = overflowed(b, format, rounding, Overflow::Rounded, negative, finite);
    b.select(overflows, infinity, finite)
}

/// `value >> amount` with everything lost in the lowest bit; for any amount that isn't negative, if the value's top bit is
/// clear.
fn shift_right_sticking(b: &Builder<'_>, value: Value, amount: Value) -> Value {
    let limit = b.i32(width(b.type_of(value)) - 1);
    let amount = b.minimum(Compare::LessUnsigned, amount, limit);
    let shifted = b.shr_by(value, amount);
    stick(b, shifted, b.sub(value, b.shl_by(shifted, amount)))
}

/// Rounds a significand and adds it to an exponent that is one too low, so that the leading one (and a carry out of
/// rounding) increments the exponent.
fn round_above(
    b: &Builder<'_>,
    format: Format,
    rounding: Rounding,
    negative: Value,
    exponent: Value,
    significand: Value,
) -> Value {
    let ty = b.type_of(significand);
    let dropped = leading(ty) + 1 - format.precision;
    let kept = b.shr(significand, dropped);
    let lost = b.shl(significand, width(ty) - dropped);
    let exponent = if ty == Type::I64 { b.zero_extend(exponent) } else { exponent };
    round_truncated(b, rounding, negative, b.add(b.shl(exponent, format.precision - 1), kept), lost)
}
