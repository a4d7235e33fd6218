//! Types of operands and results, as operations have them.

use super::memory::Access;
use super::op::Unary;
use super::types::Type;

pub(super) fn element(access: &Access) -> Type {
    if access.bytes == 8 { Type::I64 } else { Type::I32 }
}

/// Operand and result type of a unary operation, given the actual types.
pub(super) fn unary_types(op: Unary, operand: Type, result: Type) -> Result<(Type, Type), String> {
    use Type::*;
    let integer = |ty| matches!(ty, I32 | I64);
    let float = |ty| matches!(ty, F32 | F64);
    let ok = match op {
        Unary::Not => operand == result && !float(operand),
        Unary::Neg => operand == result && integer(operand),
        Unary::BitCount | Unary::BitReverse | Unary::FindHighBit => operand == I32 && result == I32,
        Unary::ZeroExtend | Unary::SignExtend => operand == I32 && result == I64,
        Unary::Truncate => operand == I64 && result == I32,
        Unary::LowWord | Unary::HighWord => matches!(operand, F64 | Pair) && result == I32,
        Unary::Bitcast(ty) => {
            result == ty && matches!((operand, ty), (I32, F32) | (F32, I32) | (I64, F64) | (F64, I64))
        }
        Unary::SignedToFloat(ty) | Unary::UnsignedToFloat(ty) => result == ty && integer(operand) && float(ty),
        Unary::FloatToSigned(ty) | Unary::FloatToUnsigned(ty) => result == ty && float(operand) && integer(ty),
        Unary::SaturateToSigned | Unary::SaturateToUnsigned => operand == F32 && result == I32,
        Unary::Widen => operand == F32 && result == F64,
        Unary::Narrow => operand == F64 && result == F32,
        Unary::WidenHalf => operand == I32 && result == F32,
        Unary::NarrowHalf => operand == F32 && result == I32,
        Unary::Exp2Approx
        | Unary::Exp2Flushed
        | Unary::Log2Approx
        | Unary::SinApprox
        | Unary::CosApprox
        | Unary::TanhApprox
        | Unary::InverseSqrtApprox
        | Unary::FNeg
        | Unary::Saturate
        | Unary::Clamp
        | Unary::Root(_) => operand == F32 && result == F32,
        Unary::Trunc | Unary::RoundEven | Unary::Floor | Unary::Ceil | Unary::Sqrt | Unary::SqrtApprox => {
            operand == result && float(operand)
        }
    };
    if ok { Ok((operand, result)) } else { Err(format!("{operand:?} to {result:?}")) }
}
