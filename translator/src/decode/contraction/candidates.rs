//! The products and sums that may be fused, each by itself.

use crate::decode::program::{Instruction, Operand};
use crate::isa::operation::{Action, Operation};
use crate::isa::types::ScalarType;
use crate::isa::word::Word;

/// The properties that a product and a sum must share: the type, and whether subnormal numbers are flushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kind {
    pub(super) ty: ScalarType,
    pub(super) flushes: bool,
}

/// The kind of an operation without a rounding modifier, of a type that is fused.
fn kind(instruction: &Instruction) -> Option<Kind> {
    use ScalarType::{Bf16, Bf16x2, F16, F16x2, F32, F64};
    let modifiers = &instruction.modifiers;
    let ty = modifiers.ty(0)?;
    let fused = matches!(ty, F16 | F16x2 | Bf16 | Bf16x2 | F32 | F64) && modifiers.rounding().is_none();
    fused.then(|| Kind { ty, flushes: modifiers.has(Word::Ftz) })
}

/// The kind of a product that may be fused.
pub(super) fn product(instruction: &Instruction) -> Option<Kind> {
    let Action::Compute(Operation::FloatMul | Operation::HalfMul) = instruction.form.row.action else { return None };
    let constant = instruction.operands.iter().skip(1).all(|operand| matches!(operand, Operand::Imm(_)));
    let apart = instruction.guard.is_some() || instruction.modifiers.has(Word::Sat) || constant;
    kind(instruction).filter(|_| !apart)
}

/// The kind of a sum or difference that may be fused.
pub(super) fn sum(instruction: &Instruction) -> Option<Kind> {
    use Operation::{FloatAdd, FloatSub, HalfAdd, HalfSub};
    let Action::Compute(FloatAdd | FloatSub | HalfAdd | HalfSub) = instruction.form.row.action else { return None };
    kind(instruction)
}

/// Whether a sum is a difference.
pub(super) fn is_difference(instruction: &Instruction) -> bool {
    matches!(instruction.form.row.action, Action::Compute(Operation::FloatSub | Operation::HalfSub))
}
