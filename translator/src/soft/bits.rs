//! Tests and changes of floats that need only their bits.

use super::{DOUBLE, Format};
use crate::ir::{Builder, Compare, Rounding, Type, Value, mask};

/// The sign bit cleared.
pub fn magnitude(b: &Builder<'_>, format: Format, bits: Value) -> Value {
    b.and_const(bits, format.sign() - 1)
}

/// A float of the opposite sign.
pub fn negated(b: &Builder<'_>, float: Value) -> Value {
    let ty = b.type_of(float);
    b.bitcast(b.xor_const(b.bits(float), Format::of(ty).sign()), ty)
}

/// Whether a float is NaN.
pub fn is_nan(b: &Builder<'_>, format: Format, bits: Value) -> Value {
    let magnitude = magnitude(b, format, bits);
    b.ult(b.constant_like(bits, format.infinity()), magnitude)
}

/// The result of comparing a float with itself, a test for NaN, by the float's bits: `FEqual`, `FLessEqual` or
/// `FNotEqual`.
pub fn compared_with_itself(b: &Builder<'_>, op: Compare, float: Value) -> Value {
    let format = Format::of(b.type_of(float));
    let is_nan = is_nan(b, format, b.bits(float));
    if op == Compare::FNotEqual { is_nan } else { b.not(is_nan) }
}

/// A subnormal replaced by zero of its sign.
pub fn flush(b: &Builder<'_>, format: Format, bits: Value) -> Value {
    let is_tiny = b.is_zero(b.and_const(bits, format.hidden() * u64::from(format.top_exponent())));
    b.select(is_tiny, b.and_const(bits, format.sign()), bits)
}

/// A float on its way to a narrower format, replaced by zero of its sign if it is tiny: below the least normal number
/// of that format when rounded to its precision with any exponent. `.ftz` flushes these.
pub fn flush_tiny(b: &Builder<'_>, to: Format, rounding: Rounding, value: Value) -> Value {
    let ty = b.type_of(value);
    let from = Format::of(ty);
    let dropped = from.precision - to.precision;
    let least_normal = from.hidden() * u64::from(from.bias + 1 - to.bias);
    // The bound below which a magnitude is tiny: the least normal number; the midpoint before it, where a tie rounds up; or the number
    // before it.
    let toward_zero = least_normal;
    let to_nearest = least_normal - (1 << (dropped - 1));
    let away = least_normal - (1 << dropped) + 1;
    let bits = b.bits(value);
    let sign = b.and_const(bits, from.sign());
    let least = match rounding {
        Rounding::NearestEven => b.constant_like(bits, to_nearest),
        Rounding::TowardZero | Rounding::Odd => b.constant_like(bits, toward_zero),
        Rounding::Down | Rounding::Up => {
            let negative = b.is_nonzero(sign);
            let [away, toward_zero] = [away, toward_zero].map(|least| b.constant_like(bits, least));
            if rounding == Rounding::Down {
                b.select(negative, away, toward_zero)
            } else {
                b.select(negative, toward_zero, away)
            }
        }
    };
    let is_tiny = b.ult(b.magnitude(value), least);
    b.bitcast(b.select(is_tiny, sign, bits), ty)
}

/// Clamped to [0.0, 1.0]; NaN becomes +0.0.
pub fn saturate(b: &Builder<'_>, format: Format, bits: Value) -> Value {
    // Non-negative floats have the same order as their bits; bits above infinity are negative numbers or NaN.
    let zero = b.constant_like(bits, 0);
    let one = b.constant_like(bits, format.one());
    let infinity = b.constant_like(bits, format.infinity());
    let clamped = b.minimum(Compare::LessUnsigned, one, bits);
    let is_outside = b.ult(infinity, bits);
    b.select(is_outside, zero, clamped)
}

/// +0.0 for negative numbers; NaN becomes NVIDIA's.
pub fn relu(b: &Builder<'_>, format: Format, bits: Value) -> Value {
    let is_negative = b.is_nonzero(b.and_const(bits, format.sign()));
    let result = b.select(is_negative, b.constant_like(bits, 0), bits);
    b.select(is_nan(b, format, bits), b.constant_like(bits, format.nan), result)
}

/// The result for a NaN of an operation that only changes the sign: the one NaN of the hardware, but in double
/// precision the operand made quiet.
pub fn quiet(b: &Builder<'_>, format: Format, bits: Value) -> Value {
    if format == DOUBLE { b.or_const(bits, format.hidden() >> 1) } else { b.constant_like(bits, format.nan) }
}

/// Whether a number is less than another; minus zero is less than plus zero.
fn is_less(b: &Builder<'_>, format: Format, x: Value, y: Value) -> Value {
    let [x, y] = [x, y].map(|bits| order_key(b, format, bits));
    b.compare(Compare::LessSigned, x, y)
}

/// A signed integer with the same order as the float of these bits.
fn order_key(b: &Builder<'_>, format: Format, bits: Value) -> Value {
    let width = if b.type_of(bits) == Type::I64 { 64 } else { 32 };
    let wide = b.shl(bits, width - format.bits);
    let flip = b.and_const(b.sar(wide, width - 1), mask(b.type_of(bits)) >> 1);
    b.xor(wide, flip)
}

/// The larger of two floats, or the smaller one. A NaN loses against a number, unless `nan_wins`. Of two NaNs, double
/// precision gives the second made quiet, the others the one NaN of the hardware.
pub fn extremum(b: &Builder<'_>, format: Format, largest: bool, nan_wins: bool, x: Value, y: Value) -> Value {
    let less = is_less(b, format, x, y);
    let result = if largest { b.select(less, y, x) } else { b.select(less, x, y) };
    let [x_nan, y_nan] = [x, y].map(|bits| is_nan(b, format, bits));
    let nan = quiet(b, format, y);
    if nan_wins {
        return b.select(b.or(x_nan, y_nan), nan, result);
    }
    let result = b.select(y_nan, x, b.select(x_nan, y, result));
    b.select(b.and(x_nan, y_nan), nan, result)
}
