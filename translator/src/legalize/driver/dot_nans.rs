//! Tells NaNs by their bits where a driver takes an `OpDot` for a number ([`Quirks::dot_nans_lost`](ptx2spv_target::Quirks)): such a driver
//! answers a comparison of a dot product with itself without looking.

use crate::ir::{Access, Binary, Compare, Function, Marks, Op, Space, Stmt, Type, Unary, rewrite_ops};
use crate::soft;

/// Replaces comparisons with themselves of values that may be dot products, also by way of variables and local memory.
pub fn test_dot_nans(function: &mut Function) {
    let dots = Marks::forward(function, |dots, _, stmt| match *stmt {
        Stmt::Load { access: Access { space: Space::Local, .. }, .. } | Stmt::Let(_, Op::DotFma(..) | Op::Call(..)) => {
            true
        }
        Stmt::Let(_, Op::Unary(Unary::Bitcast(_) | Unary::Widen | Unary::Narrow | Unary::FNeg, x)) => dots.value(x),
        // These can be changes of a sign.
        Stmt::Let(_, Op::Binary(Binary::And | Binary::Or | Binary::Xor, x, y) | Op::Select(_, x, y)) => {
            dots.value(x) || dots.value(y)
        }
        _ => false,
    });
    rewrite_ops(function, |b, _, op| match op {
        Op::Compare(op @ (Compare::FEqual | Compare::FNotEqual | Compare::FLessEqual), x, y)
            if x == y && matches!(b.type_of(x), Type::F32 | Type::F64) && dots.value(x) =>
        {
            Some(soft::compared_with_itself(b, op, x))
        }
        _ => None,
    });
}
