//! Square root where the device doesn't round it correctly: `F32` from an inverse root where `Fma` rounds once, else through `F64` where
//! its root is correct, else on integers, from the device's approximation (`F32`) or as for devices without `F64`. NaNs are NVIDIA's.

use crate::ir::{Builder, Op, Rounding, Type, Unary, Value};
use crate::legalize::arithmetic::bits::negative;
use crate::legalize::arithmetic::convert::{narrow, widen};
use crate::legalize::arithmetic::doubles::root_of_bits;
use crate::legalize::arithmetic::singles::{RAISE, raise};
use crate::policy::{Floats, Policy};
use crate::soft::{Parts, SINGLE, leading, round_normal, stick, unless_nan};
use ptx2spv_target::Facts;

/// `Sqrt` on types where the target's is not correctly rounded.
pub fn expand_sqrt(b: &Builder<'_>, policy: &Policy, ty: Type, op: Op) -> Option<Value> {
    let Op::Unary(Unary::Sqrt, x) = op else { return None };
    let floats = &policy.floats;
    let facts = &floats.trusted;
    match ty {
        Type::F32 if facts.sqrt_f32_rounded => None,
        Type::F64 if facts.sqrt_f64_rounded => None,
        Type::F32 if facts.sqrt_f32_normal => Some(raised(b, x)),
        Type::F32 if floats.fma_f32_fused => Some(refined(b, floats, x)),
        _ => Some(root(b, floats, Rounding::NearestEven, x)),
    }
}

/// Least operand of [`corrected`].
const LEAST: f32 = f32::from_bits((127 - 101) << 23);

/// The bits of an operand less those of [`corrected`]'s least one: below [`RANGE`] if that is right.
pub fn above_least(b: &Builder<'_>, x: Value) -> Value {
    b.sub_const(b.bits(x), LEAST.to_bits().into())
}

/// See [`above_least`].
pub const RANGE: u32 = f32::INFINITY.to_bits() - LEAST.to_bits();

/// Whether [`corrected`] computes roots on `F32`, and need not stand in a branch.
pub fn is_refined(floats: &Floats) -> bool {
    let facts = &floats.trusted;
    !facts.sqrt_f32_rounded && !facts.sqrt_f32_normal && floats.fma_f32_fused && stands_alone(floats)
}

/// Whether [`corrected`] may get any operand: without the device's inverse root, or if that root is right at its ends
/// and `F64` doesn't serve.
fn stands_alone(floats: &Floats) -> bool {
    !floats.trusted.sqrt_f32_refined || (!has_double(floats) && floats.trusted.roots_f32_ends)
}

/// The root by [`corrected`] where that is right; others are computed in a branch that is hardly ever taken.
pub fn refined(b: &Builder<'_>, floats: &Floats, x: Value) -> Value {
    let facts = &floats.trusted;
    let above = above_least(b, x);
    let range = b.i32(RANGE);
    let of_extreme = |b: &Builder<'_>| {
        // Where denormals may be anything, no mode is declared that keeps them in the product which raises them.
        if facts.denormals_f32_kept && floats.flush && !has_double(floats) {
            extreme(b, floats, x)
        } else {
            root(b, floats, Rounding::NearestEven, x)
        }
    };
    if !stands_alone(floats) {
        let is_within = b.ult(above, range);
        return b.choose(is_within, |b| corrected(b, floats, x), of_extreme);
    }
    let root = corrected(b, floats, x);
    b.choose(b.ule(range, above), of_extreme, |_| root)
}

/// The product of an operand and its inverse root, corrected by half of its residual (Markstein, "Computation of Elementary Functions on the
/// IBM RISC System/6000", 1990). NVIDIA's own code does so too, from the device's inverse root. Where that isn't known to be accurate enough, it
/// comes from [`inverse_root`], and a step of Goldschmidt's method follows: all significands were tried. Right for operands that are not infinite,
/// negative or NaN, nor so small that the residual underflows.
pub fn corrected(b: &Builder<'_>, floats: &Floats, x: Value) -> Value {
    let facts = &floats.trusted;
    let inverse = if facts.sqrt_f32_refined { b.unary(Unary::InverseSqrtApprox, x) } else { inverse_root(b, facts, x) };
    let mut guess = b.fmul(x, inverse);
    let one_half = b.f32(0.5);
    let mut half = b.fmul(inverse, one_half);
    if !facts.sqrt_f32_refined {
        let error = b.fma(negative(b, facts, half), guess, one_half);
        half = b.fma(half, error, half);
        guess = b.fma(guess, error, guess);
    }
    b.fma(b.fma(negative(b, facts, guess), guess, x), half, guess)
}

/// The inverse root within 2^-14, from half of the operand's bits: these less than a constant are near the bits of the inverse root, up to a
/// factor. The operand times the square of that number is near 0.6, and the inverse root of this near a square and a constant. Where subnormals
/// are kept, AMD's compiler scales the operand of the device's own, which takes longer.
fn inverse_root(b: &Builder<'_>, facts: &Facts, x: Value) -> Value {
    const BITS: u32 = 0x5f12_0000;
    let [root, rest] = [1.127, 1.01285].map(|number| b.f32(number));
    let guess = b.bitcast(b.sub(b.i32(BITS), b.shr(b.bits(x), 1)), Type::F32);
    let error = b.fma(negative(b, facts, b.fmul(x, guess)), guess, root);
    b.fmul(guess, b.fma(error, error, rest))
}

/// The factor by which operands below [`LEAST`] are raised, as a power of two.
const RAISED: i32 = 64;

/// The root of a number for which [`corrected`] isn't right. Tiny numbers are raised; no root is subnormal.
fn extreme(b: &Builder<'_>, floats: &Floats, x: Value) -> Value {
    let bits = b.bits(x);
    let is_tiny = b.ult(b.sub_const(bits, 1), b.i32(LEAST.to_bits() - 1));
    let [factor, back, one] = [2f32.powi(RAISED), 2f32.powi(-RAISED / 2), 1.0].map(|factor| b.f32(factor));
    let raised = b.select(is_tiny, b.fmul(x, factor), one);
    let root = b.fmul(corrected(b, floats, raised), back);
    let is_zero = b.is_zero(b.magnitude(bits));
    let is_infinity = b.eq(bits, b.i32(SINGLE.infinity() as u32));
    let is_own_root = b.or(is_zero, is_infinity);
    let other = b.select(is_own_root, x, b.constant(Type::F32, SINGLE.nan));
    b.select(is_tiny, root, other)
}

/// The device's root. Subnormal operands are scaled up and their roots down; no root is subnormal.
fn raised(b: &Builder<'_>, x: Value) -> Value {
    let (raised, is_subnormal) = raise(b, x);
    let root = b.sqrt(b.select(is_subnormal, raised, x));
    let [factor, one] = [2f32.powi(-(RAISE as i32) / 2), 1.0].map(|factor| b.f32(factor));
    b.fmul(root, b.select(is_subnormal, factor, one))
}

/// Whether the device's root on `F64` serves `F32`.
fn has_double(floats: &Floats) -> bool {
    floats.doubles && floats.trusted.sqrt_f64_rounded
}

/// A square root without the device's on its type.
pub fn root(b: &Builder<'_>, floats: &Floats, rounding: Rounding, x: Value) -> Value {
    match b.type_of(x) {
        Type::F32 if has_double(floats) => through_double(b, &floats.trusted, rounding, x),
        Type::F32 => on_integers(b, rounding, x),
        _ => b.bitcast(root_of_bits(b, rounding, b.bits(x)), Type::F64),
    }
}

/// As for division, `F64` has more than twice the bits, so that rounding twice is harmless.
fn through_double(b: &Builder<'_>, facts: &Facts, rounding: Rounding, x: Value) -> Value {
    narrow(b, facts, rounding, b.sqrt(widen(b, facts, x)))
}

/// On `F32`.
fn on_integers(b: &Builder<'_>, rounding: Rounding, x: Value) -> Value {
    let x = Parts::of(b, x).normalised(b);
    // An even exponent, with a significand of 1 to 4.
    let exponent = b.sub_const(x.exponent, SINGLE.bias.into());
    let significand = b.shl_by(x.significand, b.and_const(exponent, 1));
    let exponent = b.add_const(b.sar(exponent, 1), SINGLE.bias.into());

    let (root, remainder) = root_of_single(b, significand);
    let place = leading(b.type_of(root));
    let root = stick(b, b.shl(root, place - SINGLE.precision), remainder);
    let root = round_normal(b, SINGLE, rounding, b.bool(false), exponent, root);

    let is_zero = x.is_zero(b);
    let infinity = b.constant_like(x.bits, SINGLE.infinity());
    let is_infinity = b.eq(x.bits, infinity);
    let is_own_root = b.or(is_zero, is_infinity);
    let result = b.select(is_own_root, x.bits, root);
    // NaNs and negative operands except minus zero.
    let is_above = b.ult(infinity, x.bits);
    let is_nan = b.and(is_above, b.not(is_zero));
    unless_nan(b, SINGLE, is_nan, result)
}

/// The integer root of `significand << 25` and the remainder: the device's approximation, corrected until it is right.
///
/// The root has 25 bits, of which the approximation gets all but the last few right (Vulkan: five units of 24 bits at most).
/// So the differences of squares, which are small, are known from their lower halves.
fn root_of_single(b: &Builder<'_>, significand: Value) -> (Value, Value) {
    let shift = SINGLE.precision + 1;
    let approximation = b.unary(Unary::UnsignedToFloat(Type::F32), significand);
    let approximation = b.fmul(approximation, b.f32(2f32.powi(shift as i32)));
    let approximation = b.unary(Unary::SqrtApprox, approximation);
    let approximation = b.unary(Unary::FloatToUnsigned(Type::I32), approximation);
    let square = b.shl(significand, shift);
    let [root, rest] = [(); 2].map(|()| b.var(Type::I32));
    b.set(root, approximation);
    let [zero, minus_one] = [b.i32(0), b.i32(u32::MAX)];
    // Down while the root is too large, then up while the next integer is not.
    b.loop_(|b| {
        let candidate = b.get(root);
        let its_square = b.mul(candidate, candidate);
        let left = b.sub(square, its_square);
        b.set(rest, left);
        let fits = b.sle(zero, left);
        b.if_(fits, Builder::break_);
        b.set(root, b.add(candidate, minus_one));
    });
    b.loop_(|b| {
        let [candidate, left] = [root, rest].map(|var| b.get(var));
        let left = b.sub(left, b.add_const(b.shl(candidate, 1), 1));
        b.if_(b.slt(left, zero), Builder::break_);
        b.set(root, b.add_const(candidate, 1));
        b.set(rest, left);
    });
    (b.get(root), b.get(rest))
}
