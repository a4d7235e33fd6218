//! Defined operands whose result is undefined.
//!
//! The rules are those of the SPIR-V specification, of the specification of `GLSL.std.450`, and of Vulkan's "Precision and Operation of
//! SPIR-V Instructions".

use super::convert::widen;
use super::integer::{mask, signed};
use crate::code::{Binary, Conversion, Ternary, Unary};

/// Undefined results of [`super::unary`].
#[inline]
pub fn unary(op: Unary, bits: u8, a: u64) -> bool {
    match op {
        // "Result is undefined if x <= 0."
        Unary::Log | Unary::Log2 | Unary::InverseSqrt => widen(bits, a) <= 0.0,
        // "Result is undefined if x < 0."
        Unary::Sqrt => widen(bits, a) < 0.0,
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
        Binary::SMod => b == 0 || signed(a, bits) < 0 || signed(b, bits) < 0,
        // "The resulting value is undefined if Shift is greater than or equal to the bit width of the components of Base."
        Binary::ShiftLeftLogical | Binary::ShiftRightLogical | Binary::ShiftRightArithmetic => b >= bits.into(),
        _ => false,
    }
}

/// Undefined results of [`super::ternary`].
#[inline]
pub fn ternary(op: Ternary, bits: u8, [_, b, c]: [u64; 3]) -> bool {
    match op {
        // "Result is undefined if minVal > maxVal."
        Ternary::NClamp => widen(bits, b) > widen(bits, c),
        Ternary::SClamp => signed(b, bits) > signed(c, bits),
        Ternary::BitFieldUExtract => bit_field(bits, b, c),
        Ternary::Select | Ternary::Fma | Ternary::FmaKHR => false,
    }
}

/// Undefined results of bit field operations: "The resulting value is undefined if Count or Offset or their sum is
/// greater than the number of bits in the result."
pub fn bit_field(bits: u8, offset: u64, count: u64) -> bool {
    offset.saturating_add(count) > bits.into()
}

/// Undefined results of [`super::convert`]: "Behavior is undefined if Result Type is not wide enough to hold the
/// converted value."
pub fn convert(op: Conversion, from: u8, to: u8, a: u64) -> bool {
    let within = |low: f64, high: f64| (low..high).contains(&widen(from, a).trunc());
    match op {
        Conversion::ConvertFToU => !within(0.0, power(to)),
        Conversion::ConvertFToS => !within(-power(to - 1), power(to - 1)),
        Conversion::ConvertUToF
        | Conversion::ConvertSToF
        | Conversion::FConvert
        | Conversion::UConvert
        | Conversion::SConvert => false,
    }
}

/// `2^exponent`
fn power(exponent: impl Into<i32>) -> f64 {
    f64::from_bits(((exponent.into() + 1023) as u64) << 52)
}
