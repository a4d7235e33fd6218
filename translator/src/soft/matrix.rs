//! Sums as matrix units compute them (docs/numerics.md).

use crate::ir::{Accumulator, Builder, Factors, MatrixStep, Op, Type, Unary, Value};

/// An addend and the products of pairs of words, added at once.
pub fn fused_sum(
    b: &mut Builder<'_>,
    factors: Factors,
    accumulator: Accumulator,
    pairs: &[(Value, Value)],
    addend: Value,
) -> Op {
    let mut step = |step, x, y, z| b.op(Type::I32, Op::Matrix(step, x, y, z));
    let mut scale = step(MatrixStep::Start(accumulator), addend, addend, addend);
    for &(x, y) in pairs {
        scale = step(MatrixStep::Scale(factors), x, y, scale);
    }
    let terms: Vec<Value> = pairs.iter().map(|&(x, y)| step(MatrixStep::Sum(factors), x, y, scale)).collect();
    // A term is below 2^28, so that four fit.
    let mut total = b.i64(0);
    for terms in terms.chunks(4) {
        let mut part = b.i32(0);
        for &term in terms {
            part = b.add(part, term);
        }
        let part = b.unary(Unary::SignExtend, part);
        total = b.add(total, part);
    }
    Op::Matrix(MatrixStep::Round(accumulator), addend, scale, total)
}
