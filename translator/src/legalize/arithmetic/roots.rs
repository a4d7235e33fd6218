//! Approximate roots of `F32` where the device's are not known to be as accurate as PTX requires: by `Fma` where that rounds once, in `F64`,
//! whose sums and products are exact enough, or without `F64` from the rounding errors of sums and products. Results are within half an ulp
//! and a little.
//!
//! [`root_ends`](crate::legalize::arithmetic::root_ends) deals with operands that are not positive, normal numbers.

use crate::ir::{Builder, Op, Rounding, Type, Unary, Value};
use crate::legalize::arithmetic::bits::negative;
use crate::legalize::arithmetic::convert::{narrow, widen};
use crate::policy::Policy;
use crate::soft::{SINGLE, two_product};
use ptx2spv_target::Facts;

/// `SqrtApprox` and `InverseSqrtApprox` on `F32`. Other expansions also create these operations and need less accuracy, so this must
/// run before them.
pub fn expand_root(b: &Builder<'_>, policy: &Policy, ty: Type, op: Op) -> Option<Value> {
    let Op::Unary(op @ (Unary::SqrtApprox | Unary::InverseSqrtApprox), x) = op else { return None };
    if ty != Type::F32 {
        return None;
    }
    if policy.floats.fma_f32_fused {
        return Some(fused(b, &policy.floats.trusted, op, x));
    }
    if !policy.floats.doubles {
        // A correctly rounded root is accurate enough too.
        return Some(if op == Unary::SqrtApprox { b.sqrt(x) } else { inverse_single(b, x) });
    }
    let facts = &policy.floats.trusted;
    let wide = widen(b, facts, x);
    let guess = widen(b, facts, b.unary(Unary::InverseSqrtApprox, x));
    let inverse = inverse_root(b, wide, guess);
    let root = if op == Unary::SqrtApprox { b.fmul(wide, inverse) } else { inverse };
    Some(narrow(b, facts, Rounding::NearestEven, root))
}

/// A root of a positive, normal number by a step of Newton's method from the device's inverse root, which is within the two units that Vulkan
/// requires. The number times that is a root with a known error, `Fma` gives what is missing of their product to 1, of which half is missing of
/// the root: only the last sum has a rounding error that matters. No product here underflows that isn't negligible.
fn fused(b: &Builder<'_>, facts: &Facts, op: Unary, x: Value) -> Value {
    let guess = b.unary(Unary::InverseSqrtApprox, x);
    let root = b.fmul(x, guess);
    let root_error = b.fma(x, guess, negative(b, facts, root));
    let [one, half] = [1.0, 0.5].map(|number| b.f32(number));
    let rest = b.fma(negative(b, facts, root), guess, one);
    let rest = b.fma(negative(b, facts, root_error), guess, rest);
    let half_rest = b.fmul(rest, half);
    if op == Unary::SqrtApprox {
        b.fadd(root, b.fma(root, half_rest, root_error))
    } else {
        b.fma(guess, half_rest, guess)
    }
}

/// One over the root of a positive, normal number without `F64`: by a step of Newton's method from the device's, on a number from 1 to 4.
/// Only the last sum has a rounding error that matters.
fn inverse_single(b: &Builder<'_>, x: Value) -> Value {
    let bits = b.bits(x);
    let exponent = b.sar(b.sub_const(bits, SINGLE.one()), SINGLE.precision);
    let number = b.bitcast(b.sub(bits, b.shl(exponent, SINGLE.precision)), Type::F32);
    let guess = b.unary(Unary::InverseSqrtApprox, number);
    let (square, square_error) = two_product(b, guess, guess);
    let (whole, whole_error) = two_product(b, number, square);
    // One minus the guess's square times the number.
    let [one, half] = [1.0, 0.5].map(|number| b.f32(number));
    let rest = b.fsub(b.fsub(b.fsub(one, whole), whole_error), b.fmul(number, square_error));
    let step = b.fmul(b.fmul(guess, half), rest);
    let root = b.sub(b.bits(b.fadd(guess, step)), b.shl(exponent, SINGLE.precision - 1));
    b.bitcast(root, Type::F32)
}

/// One over the root of a positive number, by a step of Newton's method from a guess that is as accurate as Vulkan requires.
fn inverse_root(b: &Builder<'_>, x: Value, guess: Value) -> Value {
    let [half, three_halves] = [0.5, 1.5].map(|number| b.f64(number));
    let square = b.fmul(guess, guess);
    let error = b.fmul(b.fmul(x, square), half);
    b.fmul(guess, b.fsub(three_halves, error))
}
