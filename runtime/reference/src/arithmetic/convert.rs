//! Conversions that involve floats.

use super::env::{Env, with_env};
use super::format::{F16, F32, F64, Format};
use super::integer::mask;
use crate::code::FloatControls;
use crate::config::Choice;

impl<F: Format, C: Choice> Env<'_, F, C> {
    /// `OpConvertUToF`, `OpConvertSToF`. Vulkan: "Correctly rounded".
    #[inline]
    pub fn integer_to_float(&mut self, negative: bool, magnitude: u64) -> u64 {
        if !C::OPEN && F::BITS >= 32 {
            let sign = if negative { F::SIGN } else { 0 };
            let value = if F::BITS == 32 { (magnitude as f32).to_bits().into() } else { (magnitude as f64).to_bits() };
            return sign | value;
        }
        let direction = self.direction();
        // The integer 0 has no sign, but without sign preservation the result may have either.
        let result = F::round(negative, magnitude, 0, direction);
        self.result(result)
    }

    /// Converts a value to this format. A NaN has the operand's payload.
    fn deliver(&mut self, value: f64) -> u64 {
        let direction = self.direction();
        let result = F::narrow(value, direction);
        if F::is_nan(result) { self.nan([result]) } else { self.result(result) }
    }
}

/// `OpFConvert`. Vulkan: "Correctly rounded". Specials are preserved if the entry point requires it for both widths.
pub fn between_floats<C: Choice>(from: u8, to: u8, a: u64, floats: &FloatControls, choice: &mut C) -> u64 {
    let (a, preserved) =
        with_env!(Both, from, floats, choice, env => (env.operand(a), env.control.signed_zero_inf_nan));
    let value = widen(from, a);
    with_env!(Both, to, floats, choice, env => {
        env.control.signed_zero_inf_nan &= preserved;
        env.deliver(value)
    })
}

/// The value of a float of width `bits`.
pub fn widen(bits: u8, a: u64) -> f64 {
    match bits {
        16 => F16::widen(a),
        32 => F32::widen(a),
        _ => F64::widen(a),
    }
}

/// `OpConvertFToU`; a value out of range becomes the nearest integer, a NaN becomes 0.
#[inline]
pub fn to_unsigned(from: u8, to: u8, a: u64) -> u64 {
    (widen(from, a) as u64).min(mask(to))
}

/// `OpConvertFToS`, likewise.
#[inline]
pub fn to_signed(from: u8, to: u8, a: u64) -> u64 {
    let greatest = (mask(to) >> 1) as i64;
    (widen(from, a) as i64).clamp(-greatest - 1, greatest) as u64 & mask(to)
}
