//! The results of atomic operations in memory.

use crate::arithmetic;
use crate::code::{AtomicOp, Binary, FloatControls};
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
    let mut join = |op| arithmetic::binary(op, bits, old, value, floats, choice);
    match op {
        AtomicOp::Load => old,
        AtomicOp::Store | AtomicOp::Exchange => value,
        AtomicOp::CompareExchange => {
            if old == comparator {
                value
            } else {
                old
            }
        }
        AtomicOp::IAdd => join(Binary::IAdd),
        AtomicOp::SMin => join(Binary::SMin),
        AtomicOp::UMin => join(Binary::UMin),
        AtomicOp::SMax => join(Binary::SMax),
        AtomicOp::UMax => join(Binary::UMax),
        AtomicOp::And => join(Binary::BitwiseAnd),
        AtomicOp::Or => join(Binary::BitwiseOr),
        AtomicOp::Xor => join(Binary::BitwiseXor),
        AtomicOp::FAdd => join(Binary::FAdd),
    }
}
