//! Approximate roots of `F32` where the device's are not known to be as close as PTX demands: in `F64`, whose sums and
//! products are exact enough. Results are within half an ulp and a little. Without `F64` the device's own stay.
//!
//! Lowering deals with operands that are not positive, normal numbers.

use super::convert::{narrow, widen};
use crate::ir::{Builder, Function, Op, Rounding, Stmt, Type, Unary, Value};
use crate::passes::{Rewritten, rewrite};
use crate::target::{Feature, Target};

/// Replaces `SqrtApprox` and `InverseSqrtApprox` on `F32`. Other expansions use these too, within wider bounds: this one must
/// come before them.
pub fn expand_roots(function: &mut Function, target: &Target) {
    if target.facts.roots_f32_close || !target.has(Feature::ShaderFloat64) {
        return;
    }
    let facts = &target.facts;
    rewrite(function, |b, stmt| match *stmt {
        Stmt::Let(result, Op::Unary(op @ (Unary::SqrtApprox | Unary::InverseSqrtApprox), x))
            if b.type_of(result) == Type::F32 =>
        {
            let wide = widen(b, facts, x);
            let guess = b.unary(Unary::InverseSqrtApprox, x);
            let guess = widen(b, facts, guess);
            let inverse = inverse_root(b, wide, guess);
            let root = if op == Unary::SqrtApprox { b.fmul(wide, inverse) } else { inverse };
            Rewritten::By(narrow(b, facts, Rounding::NearestEven, root))
        }
        _ => Rewritten::Kept,
    });
}

/// One over the root of a positive number, by a step of Newton's method from a guess that is as close as Vulkan demands.
fn inverse_root(b: &mut Builder<'_>, x: Value, guess: Value) -> Value {
    let [half, three_halves] = [0.5, 1.5].map(|number| b.f64(number));
    let square = b.fmul(guess, guess);
    let error = b.fmul(x, square);
    let error = b.fmul(error, half);
    let factor = b.fsub(three_halves, error);
    b.fmul(guess, factor)
}
