//! Double-precision floats taken apart into words, rounded and put together.

use super::words::{Pair, Words};
use crate::ir::{Builder, Compare, Rounding, Type, Value};
use crate::soft::{DOUBLE, Overflow, increment, overflows_to_infinity};

/// The sign in the higher word.
pub(crate) const SIGN: u64 = DOUBLE.sign() >> 32;
/// The higher word of infinity; the lower one is zero.
pub(crate) const INFINITY: u32 = TOP << PLACE;
/// The least normal number's higher word.
const HIDDEN: u64 = DOUBLE.hidden() >> 32;
/// Bit of the higher word at which exponents begin.
pub(crate) const PLACE: u32 = DOUBLE.precision - 1 - 32;
/// The exponent of infinities and NaNs.
const TOP: u32 = 2 * DOUBLE.bias + 1;
/// The distance of a significand's leading one from the highest bit.
pub(crate) const ABOVE: u32 = u64::BITS - DOUBLE.precision;

/// A float taken apart. Its value is `significand * 2^(exponent - bias - precision + 1)` if it is finite.
#[derive(Clone, Copy)]
pub(crate) struct Double {
    pub(crate) bits: Pair,
    /// Biased; one for subnormals.
    pub(crate) exponent: Value,
    /// At most 53 bits.
    pub(crate) significand: Pair,
}

impl Double {
    pub(crate) fn of(b: &Builder<'_>, bits: Pair) -> Double {
        let exponent = b.and_const(b.shr(bits.high(), PLACE), u64::from(TOP));
        let is_subnormal = b.is_zero(exponent);
        let [zero, one, hidden] = [0, 1, HIDDEN].map(|bits| b.constant(Type::I32, bits));
        let exponent = b.select(is_subnormal, one, exponent);
        let hidden = b.select(is_subnormal, zero, hidden);
        let fraction = b.and_const(bits.high(), HIDDEN - 1);
        let significand = Words([bits.low(), b.or(fraction, hidden)]);
        Double { bits, exponent, significand }
    }

    /// The significand shifted so that its leading one is the highest bit, and the exponent for that; meaningless for
    /// zero.
    pub(crate) fn normalised(self, b: &Builder<'_>) -> (Pair, Value) {
        let (significand, shift) = self.significand.normalised(b);
        (significand, b.add_const(b.sub(self.exponent, shift), ABOVE.into()))
    }

    pub(crate) fn is_zero(self, b: &Builder<'_>) -> Value {
        self.significand.is_zero(b)
    }

    /// Whether the number is infinite or NaN.
    pub(crate) fn is_special(self, b: &Builder<'_>) -> Value {
        b.compare_const(Compare::Equal, self.exponent, TOP.into())
    }

    /// Whether the number is NaN.
    pub(crate) fn is_nan(self, b: &Builder<'_>) -> Value {
        is_nan(b, self.bits)
    }

    /// The sign in its place.
    pub(crate) fn sign(self, b: &Builder<'_>) -> Value {
        b.and_const(self.bits.high(), SIGN)
    }
}

/// The sign bit cleared.
pub(crate) fn magnitude(b: &Builder<'_>, bits: Pair) -> Pair {
    Words([bits.low(), b.and_const(bits.high(), SIGN - 1)])
}

/// Whether a float is NaN.
pub(crate) fn is_nan(b: &Builder<'_>, bits: Pair) -> Value {
    let magnitude = magnitude(b, bits);
    let infinity = b.i32(INFINITY);
    let [zero, one] = [0, 1].map(|bits| b.i32(bits));
    let is_low_zero = b.eq(magnitude.low(), zero);
    let low = b.select(is_low_zero, zero, one);
    b.ult(infinity, b.or(magnitude.high(), low))
}

/// The sign of a product or quotient, in its place.
pub(crate) fn product_sign(b: &Builder<'_>, x: Double, y: Double) -> Value {
    b.and_const(b.xor(x.bits.high(), y.bits.high()), SIGN)
}

/// `sign * significand * 2^(exponent - bias - 63)`, rounded, where the significand's leading one is its highest bit and its lowest bit
/// stands for all that are lost. If the significand is zero, the exponent must be at most one. Exponents must be below 4096.
pub(crate) fn round(b: &Builder<'_>, rounding: Rounding, sign: Value, exponent: Value, significand: Pair) -> Pair {
    let [zero, one, limit] = [0, 1, 63].map(|bits| b.i32(bits));
    let missing = b.sub(one, exponent);
    let is_subnormal = b.slt(zero, missing);
    let missing = b.select(is_subnormal, missing, zero);
    let exponent = b.select(is_subnormal, one, exponent);
    let missing = b.minimum(Compare::LessUnsigned, missing, limit);
    round_aligned(b, rounding, sign, exponent, significand.shr_sticking(b, missing))
}

/// The same for an exponent of at least one. If it is one, the significand's highest bit need not be set.
pub(crate) fn round_aligned(
    b: &Builder<'_>,
    rounding: Rounding,
    sign: Value,
    exponent: Value,
    significand: Pair,
) -> Pair {
    let negative = b.is_nonzero(sign);
    let kept = significand.shr(b, ABOVE);
    let lost = b.shl(significand.low(), 32 - ABOVE);
    let kept = match increment(b, rounding, negative, kept.low(), lost) {
        Some(increment) => kept.plus_word(b, increment),
        None => kept,
    };
    // The leading one, which isn't masked out, adds one to the exponent, and so does a carry out of rounding.
    let exponent = b.shl(b.sub_const(exponent, 1), PLACE);
    let high = b.add(kept.high(), exponent);
    let overflows = b.ule(b.i32(INFINITY), high);
    let to_infinity = overflows_to_infinity(b, rounding, Overflow::Rounded, negative);
    let [infinity, largest] = [DOUBLE.infinity(), DOUBLE.largest()].map(|bits| Pair::constant(b, bits));
    let beyond = Words::select(b, to_infinity, infinity, largest);
    let result = Words::select(b, overflows, beyond, Words([kept.low(), high]));
    signed(b, sign, result)
}

pub(crate) fn signed(b: &Builder<'_>, sign: Value, magnitude: Pair) -> Pair {
    Words([magnitude.low(), b.or(magnitude.high(), sign)])
}

/// A result, or infinity with a sign, or NVIDIA's NaN.
pub(crate) fn unless_special(b: &Builder<'_>, is_infinite: Value, is_nan: Value, sign: Value, result: Pair) -> Pair {
    let infinity = b.or(b.i32(INFINITY), sign);
    let result = Words::select(b, is_infinite, Words([b.i32(0), infinity]), result);
    Words::select(b, is_nan, Pair::constant(b, DOUBLE.nan), result)
}
