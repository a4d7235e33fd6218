//! The operations on registers for instructions, and their operand types.

use rspirv::spirv::Op;

use super::layout::Scalar;
use crate::code::{Binary, Inst, Ternary, Unary, Wide};

/// The unary operation of an instruction.
pub(super) fn unary(op: Op) -> Option<Unary> {
    Some(match op {
        Op::SNegate => Unary::SNegate,
        Op::Not => Unary::Not,
        Op::LogicalNot => Unary::LogicalNot,
        Op::BitReverse => Unary::BitReverse,
        Op::BitCount => Unary::BitCount,
        Op::FNegate => Unary::FNegate,
        _ => return None,
    })
}

/// The binary operation of an instruction.
pub(super) fn binary(op: Op) -> Option<Binary> {
    Some(match op {
        Op::IAdd => Binary::IAdd,
        Op::ISub => Binary::ISub,
        Op::IMul => Binary::IMul,
        Op::UDiv => Binary::UDiv,
        Op::SDiv => Binary::SDiv,
        Op::UMod => Binary::UMod,
        Op::SMod => Binary::SMod,
        Op::FAdd => Binary::FAdd,
        Op::FSub => Binary::FSub,
        Op::FMul => Binary::FMul,
        Op::FDiv => Binary::FDiv,
        Op::BitwiseAnd => Binary::BitwiseAnd,
        Op::BitwiseOr => Binary::BitwiseOr,
        Op::BitwiseXor => Binary::BitwiseXor,
        Op::LogicalAnd => Binary::LogicalAnd,
        Op::LogicalOr => Binary::LogicalOr,
        Op::IEqual | Op::LogicalEqual => Binary::IEqual,
        Op::INotEqual | Op::LogicalNotEqual => Binary::INotEqual,
        Op::UGreaterThan => Binary::UGreaterThan,
        Op::UGreaterThanEqual => Binary::UGreaterThanEqual,
        Op::ULessThan => Binary::ULessThan,
        Op::ULessThanEqual => Binary::ULessThanEqual,
        Op::SGreaterThan => Binary::SGreaterThan,
        Op::SGreaterThanEqual => Binary::SGreaterThanEqual,
        Op::SLessThan => Binary::SLessThan,
        Op::SLessThanEqual => Binary::SLessThanEqual,
        Op::FOrdEqual => Binary::FOrdEqual,
        Op::FUnordNotEqual => Binary::FUnordNotEqual,
        Op::FOrdLessThan => Binary::FOrdLessThan,
        Op::FOrdLessThanEqual => Binary::FOrdLessThanEqual,
        Op::FOrdGreaterThan => Binary::FOrdGreaterThan,
        Op::FOrdGreaterThanEqual => Binary::FOrdGreaterThanEqual,
        _ => return None,
    })
}

/// The binary operation of an instruction whose second operand may have another width.
pub(super) fn shift(op: Op) -> Option<Binary> {
    Some(match op {
        Op::ShiftLeftLogical => Binary::ShiftLeftLogical,
        Op::ShiftRightLogical => Binary::ShiftRightLogical,
        Op::ShiftRightArithmetic => Binary::ShiftRightArithmetic,
        _ => return None,
    })
}

/// The operation of an instruction with two results.
pub(super) fn wide(op: Op) -> Option<Wide> {
    Some(match op {
        Op::UMulExtended => Wide::UMulExtended,
        Op::SMulExtended => Wide::SMulExtended,
        _ => return None,
    })
}

/// The types that an operation accepts.
pub(super) fn family(inst: Inst) -> fn(Scalar) -> bool {
    match inst {
        Inst::Unary { op: Unary::LogicalNot, .. } | Inst::Binary { op: Binary::LogicalAnd | Binary::LogicalOr, .. } => {
            |scalar| scalar == Scalar::Bool
        }
        // Also for logical equality.
        Inst::Binary { op: Binary::IEqual | Binary::INotEqual, .. } => |scalar| !scalar.is_float(),
        Inst::Unary {
            op: Unary::SNegate | Unary::Not | Unary::BitReverse | Unary::BitCount | Unary::FindUMsb, ..
        }
        | Inst::Binary {
            op:
                Binary::IAdd
                | Binary::ISub
                | Binary::IMul
                | Binary::UDiv
                | Binary::SDiv
                | Binary::UMod
                | Binary::SMod
                | Binary::BitwiseAnd
                | Binary::BitwiseOr
                | Binary::BitwiseXor
                | Binary::UGreaterThan
                | Binary::UGreaterThanEqual
                | Binary::ULessThan
                | Binary::ULessThanEqual
                | Binary::SGreaterThan
                | Binary::SGreaterThanEqual
                | Binary::SLessThan
                | Binary::SLessThanEqual
                | Binary::UMin
                | Binary::UMax
                | Binary::SMin
                | Binary::SMax,
            ..
        }
        | Inst::Ternary { op: Ternary::SClamp, .. } => Scalar::is_int,
        _ => Scalar::is_float,
    }
}
