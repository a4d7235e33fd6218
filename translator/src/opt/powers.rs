//! Unsigned quotients and remainders by powers of two as shifts and masks. That is more than a shortcut: NVIDIA's driver 580.159 gets
//! some remainders of 64 bits wrong.

use crate::ir::{Binary, Function, Op, Rewritten, Stmt, rewrite};

/// Replaces divisions by powers of two.
pub fn divide_by_powers(function: &mut Function) {
    rewrite(function, |b, stmt| {
        let &Stmt::Let(_, Op::Binary(op @ (Binary::DivUnsigned | Binary::RemUnsigned), a, divisor)) = stmt else {
            return Rewritten::Kept;
        };
        match b.known(divisor) {
            Some(divisor) if divisor.is_power_of_two() => Rewritten::By(match op {
                Binary::DivUnsigned => b.shr(a, divisor.trailing_zeros()),
                _ => b.and_const(a, divisor - 1),
            }),
            _ => Rewritten::Kept,
        }
    });
}
