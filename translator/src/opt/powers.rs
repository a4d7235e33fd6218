//! Unsigned quotients and remainders by powers of two as shifts and masks. That is more than a shortcut: NVIDIA's driver 580.159 gets
//! some remainders of 64 bits wrong.

use crate::ir::{Binary, Function, Op, rewrite_ops};

/// Replaces divisions by powers of two.
pub fn divide_by_powers(function: &mut Function) {
    rewrite_ops(function, |b, _, op| {
        let Op::Binary(op @ (Binary::DivUnsigned | Binary::RemUnsigned), a, divisor) = op else { return None };
        let divisor = b.known(divisor).filter(|divisor| divisor.is_power_of_two())?;
        Some(if op == Binary::DivUnsigned { b.shr(a, divisor.trailing_zeros()) } else { b.and_const(a, divisor - 1) })
    });
}
