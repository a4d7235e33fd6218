//! Conversions between formats on bits.

use super::formats::{BFLOAT, DOUBLE, Format, HALF, SINGLE};
use super::rounding::{Overflow, overflowed, round_truncated};
use crate::ir::{Builder, Compare, Rounding, Type, Unary, Value};

/// An `F32` from the bits of a narrower format, exactly; a NaN becomes some NaN. f16 is left to an operation that a device may have.
pub fn widen(b: &Builder<'_>, from: Format, bits: Value) -> Value {
    match from {
        BFLOAT => b.bitcast(b.shl(bits, SINGLE.bits - BFLOAT.bits), Type::F32),
        HALF => b.unary(Unary::WidenHalf, bits),
        _ => widen_bits(b, from, bits),
    }
}

/// The same by integer operations, of formats with fewer exponents than `F32`; a NaN keeps its sign and fraction.
///
/// Relies on `F32` arithmetic only for normal numbers.
pub fn widen_bits(b: &Builder<'_>, from: Format, bits: Value) -> Value {
    let magnitude = b.and_const(bits, from.sign() - 1);
    let sign = b.shl(b.and_const(bits, from.sign()), SINGLE.bits - from.bits);
    let place = SINGLE.precision - 1;
    let wide = b.shl(magnitude, SINGLE.precision - from.precision);
    let rebias = u64::from(SINGLE.bias - from.bias) << place;

    // A subnormal has the exponent of the least normal number, without the implied bit. So set that bit and subtract it again.
    let implied = b.bitcast(b.add_const(wide, rebias + SINGLE.hidden()), Type::F32);
    let subnormal = b.bits(b.fsub(implied, b.constant(Type::F32, rebias + SINGLE.hidden())));

    let is_subnormal = b.ult(magnitude, b.i32(from.hidden() as u32));
    // Infinities and NaNs get the top exponent.
    let is_finite = b.ult(magnitude, b.i32(from.infinity() as u32));
    let [once, top] = [b.i32(rebias as u32), b.i32(SINGLE.infinity() as u32)];
    let normal = b.add(wide, once);
    let special = b.or(wide, top);
    let normal = b.select(is_finite, normal, special);
    b.bitcast(b.or(b.select(is_subnormal, subnormal, normal), sign), Type::F32)
}

/// The bits, in `I32`, of the number of a narrower format that an `F32` or `F64` is rounded to. NaN becomes NVIDIA's. The f16 nearest to an
/// `F32` is left to an operation that a device may have.
pub fn narrow(b: &Builder<'_>, to: Format, rounding: Rounding, overflow: Overflow, float: Value) -> Value {
    match (to, rounding, overflow, b.type_of(float)) {
        (HALF, Rounding::NearestEven, Overflow::Rounded, Type::F32) => b.unary(Unary::NarrowHalf, float),
        _ => narrow_bits(b, to, rounding, overflow, float),
    }
}

/// The same by integer operations.
pub fn narrow_bits(b: &Builder<'_>, to: Format, rounding: Rounding, overflow: Overflow, float: Value) -> Value {
    let from = Format::of(b.type_of(float));
    let bits = b.bits(float);
    let magnitude = b.and_const(bits, from.sign() - 1);
    let negative = b.is_nonzero(b.and_const(bits, from.sign()));

    let (kept, lost) = cut(b, from, to, magnitude);
    let rounded = round_truncated(b, rounding, negative, kept, lost);
    let is_beyond = b.ult(b.constant_like(bits, to.largest()), rounded);
    let beyond = overflowed(b, to, rounding, overflow, negative, bits);
    let result = b.select(is_beyond, beyond, rounded);

    let infinity = b.constant_like(bits, from.infinity());
    let result = if overflow == Overflow::Rounded && !matches!(rounding, Rounding::NearestEven) {
        let is_infinite = b.eq(magnitude, infinity);
        let narrow_infinity = b.constant_like(bits, to.infinity());
        b.select(is_infinite, narrow_infinity, result)
    } else {
        result
    };
    let result = signed(b, from, to, bits, result);
    if from == DOUBLE { b.truncate(result) } else { result }
}

/// The bits of the number of a narrower format that an `F32` becomes by stochastic rounding: it rounds up if the sum of the fraction cut
/// off and `random` carries, where `random` is an integer below `1 << width` that stands for a fraction of the last place. NaN becomes
/// NVIDIA's.
pub fn narrow_stochastic(
    b: &Builder<'_>,
    to: Format,
    overflow: Overflow,
    random: Value,
    width: u32,
    float: Value,
) -> Value {
    let bits = b.bits(float);
    let magnitude = b.and_const(bits, SINGLE.sign() - 1);
    let dropped = SINGLE.precision - to.precision;
    let sum = |b: &Builder<'_>, number| b.shr(b.add(number, random), width);
    let rounded = if SINGLE.bias == to.bias {
        sum(b, b.shr(magnitude, dropped - width))
    } else {
        let Placed { significand, exponent, missing } = place(b, SINGLE, to, magnitude);
        let shift = b.add_const(missing, (dropped - width).into());
        let limit = b.i32(SINGLE.bits - 1);
        let kept = sum(b, b.shr_by(significand, b.minimum(Compare::LessUnsigned, shift, limit)));
        b.add(exponent, kept)
    };
    let most = if overflow == Overflow::Largest { to.largest() } else { to.infinity() };
    let most = b.i32(most as u32);
    signed(b, SINGLE, to, bits, b.minimum(Compare::LessUnsigned, most, rounded))
}

/// The number of a narrower format with a known magnitude: with the sign of `bits`, or NaN if `bits` is NaN.
fn signed(b: &Builder<'_>, from: Format, to: Format, bits: Value, magnitude: Value) -> Value {
    let sign = b.shr(b.and_const(bits, from.sign()), from.bits - to.bits);
    let result = b.or(magnitude, sign);
    let wide = b.and_const(bits, from.sign() - 1);
    let is_nan = b.ult(b.constant_like(bits, from.infinity()), wide);
    b.select(is_nan, b.constant_like(bits, to.nan), result)
}

/// A finite magnitude in a narrower format, truncated towards zero, with the part lost in the form that [`round_truncated`] takes. Magnitudes
/// beyond the format's exponents give bits above its infinity.
fn cut(b: &Builder<'_>, from: Format, to: Format, magnitude: Value) -> (Value, Value) {
    let dropped = from.precision - to.precision;
    if from.bias == to.bias {
        return (b.shr(magnitude, dropped), b.shl(magnitude, from.bits - dropped));
    }
    let Placed { significand, exponent, missing } = place(b, from, to, magnitude);
    // A shift by one less than the width leaves nothing, and loses less than one half.
    let limit = b.i32(from.bits - 1 - dropped);
    let shift = b.add_const(b.minimum(Compare::LessUnsigned, missing, limit), dropped.into());
    let kept = b.shr_by(significand, shift);
    let back = b.sub(b.i32(from.bits), shift);
    let lost = b.shl_by(significand, back);
    (b.add(exponent, kept), lost)
}

/// A finite magnitude on the way to a format of narrower exponents.
struct Placed {
    /// With the bit that normal numbers imply.
    significand: Value,
    /// The exponent in its place, which the significand's leading one, after truncation to the format's precision, will
    /// increment.
    exponent: Value,
    /// The number of further places of a subnormal number's significand that are cut off, in `I32`.
    missing: Value,
}

fn place(b: &Builder<'_>, from: Format, to: Format, magnitude: Value) -> Placed {
    let fraction = b.and_const(magnitude, from.hidden() - 1);
    let normal = b.or_const(fraction, from.hidden());
    let exponent = b.shr(magnitude, from.precision - 1);
    let exponent = if from == DOUBLE { b.truncate(exponent) } else { exponent };
    // Off by one for subnormals, whose exponent is far too low for that to matter.
    let significand = b.select(b.is_nonzero(exponent), normal, fraction);

    // One below the biased exponent, which the leading one will increment.
    let exponent = b.sub_const(exponent, u64::from(from.bias - to.bias + 1));
    let zero = b.i32(0);
    let is_subnormal = b.slt(exponent, zero);
    let missing = b.select(is_subnormal, b.neg(exponent), zero);
    let exponent = b.select(is_subnormal, zero, exponent);
    let exponent = if from == DOUBLE { b.zero_extend(exponent) } else { exponent };
    let exponent = b.shl(exponent, to.precision - 1);
    Placed { significand, exponent, missing }
}
