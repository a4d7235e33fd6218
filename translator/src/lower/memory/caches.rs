//! `createpolicy`, `applypriority` and `discard` (PTX sections 9.7.9.15 to 9.7.9.18): advice to NVIDIA's caches, which has no
//! effect here.

use crate::decode::program::{Instruction, Operand};
use crate::diagnostic::{Diagnostic, Result};
use crate::isa::types::ScalarType;
use crate::lower::lowering::Lowering;

/// Bytes to which `applypriority` and `discard` apply.
const LINE: u64 = 128;

/// `createpolicy`: gives an arbitrary number, since instructions with a policy ignore it.
pub fn policy(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    l.set(i, 0, ScalarType::B64, l.b.i64(0))
}

/// `applypriority` and `discard`: memory keeps its content, though `discard` would allow its loss.
pub fn line(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    match l.operand(i, 1) {
        Operand::Imm(LINE) => Ok(()),
        _ => Err(Diagnostic::invalid(format!("the size must be the constant {LINE}"), i.span)),
    }
}
