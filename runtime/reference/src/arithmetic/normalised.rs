//! Normalized integers (`PackSnorm4x8` and similar).

use super::bits::{mask, signed};
use super::env::{Env, Listed, with_env};
use super::format::{Direction, F32, Format};
use crate::code::{FloatControls, Unary};
use crate::config::Choice;

/// The width, and the integer that stands for 1.
fn scale(op: Unary) -> (u8, f64) {
    match op {
        Unary::PackSnorm8 | Unary::UnpackSnorm8 => (8, 127.0),
        Unary::PackSnorm16 | Unary::UnpackSnorm16 => (16, 32767.0),
        Unary::PackUnorm8 | Unary::UnpackUnorm8 => (8, 255.0),
        _ => (16, 65535.0),
    }
}

/// Whether the integers have a sign.
fn is_signed(op: Unary) -> bool {
    matches!(op, Unary::PackSnorm8 | Unary::PackSnorm16 | Unary::UnpackSnorm8 | Unary::UnpackSnorm16)
}

/// GLSL.std.450, PackSnorm4x8: "round(clamp(c, −1, +1) * 127.0)", and with 0 instead of -1 if unsigned.
pub fn pack<C: Choice>(op: Unary, bits: u8, a: u64, floats: &FloatControls, choice: &mut C) -> u64 {
    let (width, one) = scale(op);
    with_env!(Neither, bits, floats, choice, env => {
        let low = if is_signed(op) { -1.0 } else { 0.0 };
        let clamped = super::convert::widen(bits, env.operand(a)).clamp(low, 1.0);
        // The product is exact. `round` may round ties either way: up is the alternative to even.
        let product = clamped * one;
        let even = product.round_ties_even();
        let tie = (product - product.trunc()).abs() == 0.5;
        let rounded = if tie && env.once_in(2) { 2.0 * product - even } else { even };
        rounded as i64 as u64 & mask(width)
    })
}

/// GLSL.std.450, UnpackSnorm4x8: "clamp(f / 127.0, −1, +1)", and without the clamp if unsigned. The division is
/// `OpFDiv`.
pub fn unpack<C: Choice>(op: Unary, a: u64, floats: &FloatControls, choice: &mut C) -> u64 {
    let (width, one) = scale(op);
    let a = a & mask(width);
    let value = if is_signed(op) { signed(a, width) as f64 } else { a as f64 };
    let mut env = Env::<F32, C>::new(Listed::Neither, floats, choice);
    let [value, one] = [value, one].map(|value| F32::narrow(value, Direction::NearestEven));
    let quotient = env.divide(value, one);
    if is_signed(op) { env.clamp([quotient, F32::ONE | F32::SIGN, F32::ONE], false) } else { quotient }
}
