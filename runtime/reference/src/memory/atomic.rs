//! The results of atomic operations in memory.

use crate::code::{AtomicOp, FloatControls};
use crate::config::Choice;

/// The value that an operation stores to memory of width `bits`, given the old value.
pub(crate) fn apply<C: Choice>(
    op: AtomicOp,
    bits: u8,
    old: u64,
    value: u64,
    comparator: u64,
    floats: &FloatControls,
    choice: &mut C,
) -> u64 {
    match op {
        AtomicOp::Load => old,
        AtomicOp::CompareExchange if old != comparator => old,
        AtomicOp::Store | AtomicOp::Exchange | AtomicOp::CompareExchange => value,
        AtomicOp::Update(op) => op.apply(bits, [old, value], floats, choice),
    }
}
