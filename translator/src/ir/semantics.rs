//! Results of integer and `Bool` operations on known bits. There is no float arithmetic here: floats are moved, or converted to integers
//! where the result doesn't depend on rounding.

use super::{Binary, Compare, Type, Unary};

/// Width of a type's bits.
pub fn width(ty: Type) -> u32 {
    match ty {
        Type::Bool => 1,
        Type::I32 | Type::F32 => 32,
        Type::I64 | Type::F64 | Type::Pair => 64,
    }
}

/// All bits of a type.
pub fn mask(ty: Type) -> u64 {
    u64::MAX >> (64 - width(ty))
}

/// The signed number that bits of a type stand for.
fn signed(ty: Type, bits: u64) -> i64 {
    let unused = 64 - width(ty);
    (bits << unused) as i64 >> unused
}

/// Result of a unary operation from type `from` to type `to`; `None` for float arithmetic.
pub fn unary(op: Unary, from: Type, to: Type, a: u64) -> Option<u64> {
    let result = match op {
        Unary::Not => !a,
        Unary::Neg => a.wrapping_neg(),
        Unary::BitCount => u64::from(a.count_ones()),
        Unary::BitReverse => u64::from((a as u32).reverse_bits()),
        Unary::FindHighBit => a.checked_ilog2().map_or(mask(to), u64::from),
        Unary::ZeroExtend | Unary::Truncate | Unary::LowWord | Unary::Bitcast(_) => a,
        Unary::HighWord => a >> 32,
        Unary::SignExtend => signed(from, a) as u64,
        Unary::SaturateToSigned => f32::from_bits(a as u32) as i32 as u64,
        Unary::SaturateToUnsigned => u64::from(f32::from_bits(a as u32) as u32),
        _ => return None,
    };
    Some(result & mask(to))
}

/// Result of a binary operation on two operands of a type (but shift amounts, which are `I32`); `None` for float
/// arithmetic and where the operation's precondition fails.
pub fn binary(op: Binary, ty: Type, a: u64, b: u64) -> Option<u64> {
    let amount = || u32::try_from(b).ok().filter(|amount| *amount < width(ty));
    let result = match op {
        Binary::Add => a.wrapping_add(b),
        Binary::Sub => a.wrapping_sub(b),
        Binary::Mul => a.wrapping_mul(b),
        Binary::MulHighUnsigned => ((u128::from(a) * u128::from(b)) >> width(ty)) as u64,
        Binary::MulHighSigned => ((i128::from(signed(ty, a)) * i128::from(signed(ty, b))) >> width(ty)) as u64,
        Binary::DotSigned => dot(a, b, sign_extended, sign_extended),
        Binary::DotUnsigned => dot(a, b, i64::from, i64::from),
        Binary::DotMixed => dot(a, b, sign_extended, i64::from),
        Binary::DivUnsigned => a.checked_div(b)?,
        Binary::RemUnsigned => a.checked_rem(b)?,
        Binary::MinUnsigned => a.min(b),
        Binary::MaxUnsigned => a.max(b),
        Binary::MinSigned => signed(ty, a).min(signed(ty, b)) as u64,
        Binary::MaxSigned => signed(ty, a).max(signed(ty, b)) as u64,
        Binary::And => a & b,
        Binary::Or => a | b,
        Binary::Xor => a ^ b,
        Binary::Shl => a << amount()?,
        Binary::Shr => a >> amount()?,
        Binary::Sar => (signed(ty, a) >> amount()?) as u64,
        Binary::FAdd
        | Binary::FSub
        | Binary::FMul
        | Binary::FDiv
        | Binary::FDivApprox
        | Binary::FMin
        | Binary::FMax
        | Binary::OrNan => {
            return None;
        }
    };
    Some(result & mask(ty))
}

/// The sum of the products of bytes, each extended in its way.
fn dot(a: u64, b: u64, of_a: fn(u8) -> i64, of_b: fn(u8) -> i64) -> u64 {
    let pairs = (a as u32).to_le_bytes().into_iter().zip((b as u32).to_le_bytes());
    pairs.map(|(a, b)| of_a(a) * of_b(b)).sum::<i64>() as u64
}

fn sign_extended(byte: u8) -> i64 {
    i64::from(byte as i8)
}

/// Result of a comparison of two operands of a type; `None` for float ones.
pub fn compare(op: Compare, ty: Type, a: u64, b: u64) -> Option<bool> {
    match op {
        Compare::Equal => Some(a == b),
        Compare::NotEqual => Some(a != b),
        Compare::LessUnsigned => Some(a < b),
        Compare::LessEqualUnsigned => Some(a <= b),
        Compare::LessSigned => Some(signed(ty, a) < signed(ty, b)),
        Compare::LessEqualSigned => Some(signed(ty, a) <= signed(ty, b)),
        Compare::FEqual | Compare::FNotEqual | Compare::FLess | Compare::FLessEqual => None,
    }
}
