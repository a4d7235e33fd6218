//! Computes on 32 bits what is only needed there: a 64-bit sum, product or shift whose result is truncated becomes the
//! same operation on truncated operands. PTX forms addresses of shared memory in 64-bit registers, of which the access
//! takes the lower half. The 64-bit form stays for its other uses, else [`remove_dead`](super::remove_dead) drops it.

use super::rewrite::{Rewritten, rewrite};
use crate::ir::{Binary, Builder, Function, Op, Stmt, Type, Unary, Value};

/// How many operations are repeated on 32 bits before the rest is truncated.
pub(super) const STEPS: u32 = 6;

/// Narrows truncated operations; see the module.
pub fn narrow_truncated(function: &mut Function) {
    // What defines the values so far, in terms of values that are still there.
    let mut definition = vec![None; function.values.len()];
    rewrite(function, |b, stmt| match *stmt {
        Stmt::Let(_, Op::Unary(Unary::Truncate, value)) => Rewritten::By(narrow(b, &definition, value, STEPS)),
        Stmt::Let(result, op) => {
            definition[result.0 as usize] = Some(op); // the verifier has checked the number
            Rewritten::Kept
        }
        _ => Rewritten::Kept,
    });
}

/// The lower half of a value, computed from the lower halves of what it was computed from.
pub(super) fn narrow(b: &mut Builder<'_>, definition: &[Option<Op>], value: Value, steps: u32) -> Value {
    let Some(steps) = steps.checked_sub(1) else { return b.truncate(value) };
    match definition.get(value.0 as usize).copied().flatten() {
        Some(Op::Const(bits)) => b.constant(Type::I32, bits),
        Some(Op::Unary(Unary::ZeroExtend | Unary::SignExtend, inner)) => inner,
        Some(Op::Binary(
            op @ (Binary::Add | Binary::Sub | Binary::Mul | Binary::And | Binary::Or | Binary::Xor),
            left,
            right,
        )) => {
            let left = narrow(b, definition, left, steps);
            let right = narrow(b, definition, right, steps);
            b.binary(op, left, right)
        }
        Some(Op::Binary(Binary::Shl, inner, amount))
            if matches!(definition.get(amount.0 as usize), Some(Some(Op::Const(0..32)))) =>
        {
            let inner = narrow(b, definition, inner, steps);
            b.shl_by(inner, amount)
        }
        _ => b.truncate(value),
    }
}
