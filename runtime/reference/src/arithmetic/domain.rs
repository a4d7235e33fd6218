//! Defined operands whose result is undefined.
//!
//! The rules are those of the SPIR-V specification, of the specification of `GLSL.std.450`, and of Vulkan's "Precision and Operation of
//! SPIR-V Instructions".

use super::bits::{mask, signed};
use super::convert::widen;
use crate::code::{Binary, Convert, Ternary, Unary, Wide};

/// Undefined results of [`super::unary`].
#[inline]
pub fn unary(op: Unary, bits: u8, a: u64) -> bool {
    match op {
        // "Result is undefined if x <= 0."
        Unary::Log | Unary::Log2 | Unary::InverseSqrt => widen(bits, a) <= 0.0,
        // "Result is undefined if x < 0."
        Unary::Sqrt => widen(bits, a) < 0.0,
        // "Result is undefined if abs x > 1."
        Unary::Asin | Unary::Acos => widen(bits, a).abs() > 1.0,
        _ => false,
    }
}

/// Undefined results of [`super::binary`].
#[inline]
pub fn binary(op: Binary, bits: u8, a: u64, b: u64) -> bool {
    let least = mask(bits) ^ (mask(bits) >> 1);
    match op {
        Binary::UDiv | Binary::UMod => b == 0,
        Binary::SDiv => b == 0 || (b == mask(bits) && a == least),
        // Vulkan: "If […] either operand to OpSRem and OpSMod instructions is negative the result is poison."
        Binary::SRem | Binary::SMod => b == 0 || signed(a, bits) < 0 || signed(b, bits) < 0,
        // "The resulting value is undefined if Operand 2 is 0."
        Binary::FRem | Binary::FMod => widen(bits, b) == 0.0,
        // "The resulting value is undefined if Shift is greater than or equal to the bit width of the components of Base."
        Binary::ShiftLeftLogical | Binary::ShiftRightLogical | Binary::ShiftRightArithmetic => b >= bits.into(),
        // "Result is undefined if x < 0. Result is undefined if x = 0 and y ≤ 0."
        Binary::Pow => widen(bits, a) < 0.0 || (widen(bits, a) == 0.0 && widen(bits, b) <= 0.0),
        // "Result is undefined if x and y are both 0."
        Binary::Atan2 => widen(bits, a) == 0.0 && widen(bits, b) == 0.0,
        Binary::Ldexp => ldexp(bits, a, b as u32 as i32),
        _ => false,
    }
}

/// "If this product is too large to be represented in the floating-point type, the resulting value is undefined. If exp is
/// greater than +128 (single precision) or +1024 (double precision), the resulting value is undefined."
fn ldexp(bits: u8, a: u64, exponent: i32) -> bool {
    let greatest = match bits {
        16 => 16,
        32 => 128,
        _ => 1024,
    };
    let a = widen(bits, a);
    // Two factors, since 2^1024 is not a double; where it matters, neither product is denormal.
    exponent > greatest
        || (exponent > 0
            && a.is_finite()
            && (a * power(exponent / 2) * power(exponent - exponent / 2)).abs() >= limit(bits))
}

/// The smallest power of two that is too large for a float of width `bits`.
fn limit(bits: u8) -> f64 {
    match bits {
        16 => power(16),
        32 => power(128),
        _ => f64::INFINITY,
    }
}

/// Undefined results of [`super::ternary`].
#[inline]
pub fn ternary(op: Ternary, bits: u8, [a, b, c]: [u64; 3]) -> bool {
    match op {
        // "Result is undefined if minVal > maxVal."
        Ternary::FClamp | Ternary::NClamp => widen(bits, b) > widen(bits, c),
        Ternary::UClamp => b > c,
        Ternary::SClamp => signed(b, bits) > signed(c, bits),
        // "Result is undefined if edge0 ≥ edge1."
        Ternary::SmoothStep => widen(bits, a) >= widen(bits, b),
        Ternary::BitFieldSExtract | Ternary::BitFieldUExtract => bit_field(bits, b, c),
        Ternary::Select | Ternary::Fma | Ternary::FMix => false,
    }
}

/// Undefined results of [`super::wide`].
pub fn wide(op: Wide, bits: u8, a: u64) -> bool {
    // "If x is an infinity or a NaN, the resulting values are undefined."
    op == Wide::Frexp && !widen(bits, a).is_finite()
}

/// Undefined results of bit field operations: "The resulting value is undefined if Count or Offset or their sum is
/// greater than the number of bits in the result."
pub fn bit_field(bits: u8, offset: u64, count: u64) -> bool {
    offset.saturating_add(count) > bits.into()
}

/// Undefined results of [`super::convert`]: "Behavior is undefined if Result Type is not wide enough to hold the
/// converted value."
pub fn convert(op: Convert, from: u8, to: u8, a: u64) -> bool {
    let within = |low: f64, high: f64| (low..high).contains(&widen(from, a).trunc());
    match op {
        Convert::FToU => !within(0.0, power(to)),
        Convert::FToS => !within(-power(to - 1), power(to - 1)),
        Convert::UToF | Convert::SToF | Convert::FToF(_) | Convert::UToU | Convert::SToS => false,
    }
}

/// `2^exponent`
fn power(exponent: impl Into<i32>) -> f64 {
    f64::from_bits(((exponent.into() + 1023) as u64) << 52)
}
