//! Instructions that only copy or negate a number. NVIDIA's compiler has replaced them when it fuses.

use super::candidates::Kind;
use crate::decode::program::{Instruction, Operand, Reg};
use crate::isa::modifiers::{Modifiers, Rounding};
use crate::isa::operation::{Action, Operation};
use crate::isa::types::ScalarType;
use crate::isa::word::Word;

/// A copy of a register, perhaps with the other sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Copy {
    pub(super) source: Reg,
    pub(super) negates: bool,
}

/// The register that an instruction copies or negates, if the instruction does nothing else to a number of a kind.
pub(super) fn copy(instruction: &Instruction, kind: Kind) -> Option<Copy> {
    let Action::Compute(operation) = instruction.form.row.action else { return None };
    let modifiers = &instruction.modifiers;
    let ty = modifiers.ty(0)?;
    if instruction.guard.is_some() || ty.bits() != kind.ty.bits() || modifiers.has(Word::Sat) {
        return None;
    }
    let [Operand::Reg(_), operands @ ..] = instruction.operands.as_slice() else { return None };
    let (source, negates) = match *operands {
        [Operand::Reg(a)] => (a, negates(operation, modifiers, ty, kind)?),
        [Operand::Reg(a), Operand::Reg(b)] if a == b && keeps_equal(operation, modifiers, ty, kind) => (a, false),
        [Operand::Reg(a), Operand::Reg(b), _] if a == b && operation == Operation::Selp => (a, false),
        [Operand::Reg(a), Operand::Imm(constant)] if operation != Operation::Selp => {
            (a, negates_with(operation, modifiers, ty, kind, constant)?)
        }
        [Operand::Imm(constant), Operand::Reg(a)] if is_commutative(operation) => {
            (a, negates_with(operation, modifiers, ty, kind, constant)?)
        }
        _ => return None,
    };
    Some(Copy { source, negates })
}

/// Whether an instruction with one operand negates it; `None` if the instruction does anything but copy or negate.
fn negates(operation: Operation, modifiers: &Modifiers, ty: ScalarType, kind: Kind) -> Option<bool> {
    match operation {
        Operation::Mov => Some(false),
        Operation::FloatNeg if ty == kind.ty && ty != ScalarType::Bf16x2 && !modifiers.has(Word::Ftz) => Some(true),
        _ => None,
    }
}

/// Whether an instruction with the same register twice gives the register's content.
fn keeps_equal(operation: Operation, modifiers: &Modifiers, ty: ScalarType, kind: Kind) -> bool {
    match operation {
        Operation::And | Operation::Or | Operation::IntegerMin | Operation::IntegerMax => true,
        Operation::FloatMin | Operation::FloatMax => {
            let plain = ![Word::Ftz, Word::NaN, Word::Xorsign].into_iter().any(|word| modifiers.has(word));
            plain && ty == kind.ty && matches!(ty, ScalarType::F16 | ScalarType::F32 | ScalarType::F64)
        }
        _ => false,
    }
}

/// Whether an instruction with a constant negates its other operand; `None` if the constant makes it neither a copy nor
/// a negation.
fn negates_with(
    operation: Operation,
    modifiers: &Modifiers,
    ty: ScalarType,
    kind: Kind,
    constant: u64,
) -> Option<bool> {
    use Operation::{And, FloatMul, IntegerAdd, IntegerMul, IntegerSub, Or, Shl, Shr, Xor};
    match operation {
        FloatMul if ty == kind.ty => {
            let negates = match (ty, constant) {
                (ScalarType::F32, 0x3f80_0000) | (ScalarType::F64, 0x3ff0_0000_0000_0000) => false,
                (ScalarType::F32, 0xbf80_0000) | (ScalarType::F64, 0xbff0_0000_0000_0000) => true,
                _ => return None,
            };
            let flushes = modifiers.has(Word::Ftz);
            let replaced = match modifiers.rounding() {
                None => !flushes,
                Some(Rounding::Rn) => ty == ScalarType::F32 && !negates && flushes == kind.flushes,
                Some(_) => false,
            };
            replaced.then_some(negates)
        }
        Or | Xor | IntegerAdd | IntegerSub | Shl | Shr => (constant == 0).then_some(false),
        And => (ty.bits() > 16 && constant == u64::MAX >> (64 - ty.bits())).then_some(false),
        IntegerMul => (ty.bits() == 32 && modifiers.has(Word::Lo) && constant == 1).then_some(false),
        _ => None,
    }
}

/// Whether the operands of an operation with a neutral constant may be exchanged.
fn is_commutative(operation: Operation) -> bool {
    !matches!(operation, Operation::IntegerSub | Operation::Shl | Operation::Shr)
}
