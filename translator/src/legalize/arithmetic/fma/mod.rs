//! Fused multiply-add where the device rounds the product, or flushes `F32` denormals.
//!
//! On `F32` the first that applies is used: a dot product that is known to be fused; where branches are cheap, as on graphics cards, whose `F64` is
//! slow, the rounding errors of products and sums, tested together; `F64`, if the device has it; those errors, tested one by one; integers. A device that only flushes uses its own `Fma` where flushing can't have
//! mattered. Exact in all cases; NaNs are NVIDIA's where the device doesn't round once.

mod groups;
mod integers;
mod multiply_add;
mod runs;

pub use groups::group_fma;
pub use integers::sum_on_integers;
pub use multiply_add::{multiply_add, sum_to_narrow, wide_sum};

use crate::ir::{Function, Op, Rounding, Type, rewrite_ops};
use crate::policy::Floats;
use runs::expand_runs;

/// Replaces `Fma` on types where the target's own is not correct.
pub fn expand_fma(function: &mut Function, floats: &Floats) {
    let facts = &floats.trusted;
    let f32_exact = facts.fma_f32_fused && facts.fma_f32_denormals;
    if f32_exact && facts.fma_f64_fused {
        return;
    }
    let by_dot = !f32_exact && floats.dot_fma;
    if facts.fma_f32_fused && !f32_exact && !by_dot {
        expand_runs(function, floats);
    }
    rewrite_ops(function, |b, result, op| match op {
        Op::Fma(x, y, z) => match b.type_of(result) {
            Type::F32 if by_dot => Some(b.op(Type::F32, Op::DotFma(x, y, z))),
            // Exact, or made so above.
            Type::F32 if facts.fma_f32_fused => None,
            Type::F64 if facts.fma_f64_fused => None,
            _ => Some(multiply_add(b, floats, Rounding::NearestEven, [x, y, z])),
        },
        _ => None,
    });
}
