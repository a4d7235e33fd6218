//! Undefined bits of results (1), given the operands and their undefined bits.
//!
//! The masks are conservative: a bit counts as defined only if no choice of the undefined bits changes it. For float
//! operations, any undefined bit makes the whole result undefined, and so do operands for which the specification
//! leaves the result undefined ([`super::domain`]).

use super::integer::{mask, signed};
use super::{domain, integer};
use crate::code::{Binary, Conversion, Ternary, Unary};

/// All bits of the width if any bit is undefined.
fn any(undefined: u64, bits: u8) -> u64 {
    if undefined == 0 { 0 } else { mask(bits) }
}

/// The lowest undefined bit and all above it, where carries may propagate.
fn upward(undefined: u64, bits: u8) -> u64 {
    (undefined | undefined.wrapping_neg()) & mask(bits)
}

/// Undefined bits of [`super::unary`].
#[inline]
pub fn unary(op: Unary, bits: u8, a: u64, ua: u64) -> u64 {
    if domain::unary(op, bits, a) {
        mask(bits)
    } else if ua == 0 {
        0
    } else {
        through_unary(op, bits, a, ua)
    }
}

fn through_unary(op: Unary, bits: u8, a: u64, ua: u64) -> u64 {
    let defined_ones = a & !ua;
    match op {
        Unary::Not | Unary::LogicalNot => ua,
        Unary::SNegate => upward(ua, bits),
        Unary::BitReverse => integer::reverse(bits, ua),
        // The count is at most the width.
        Unary::BitCount => u64::MAX >> u64::from(bits).leading_zeros() & mask(bits),
        // A defined 1 above all undefined bits decides the result.
        Unary::FindUMsb if defined_ones.leading_zeros() < ua.leading_zeros() => 0,
        _ => mask(bits),
    }
}

/// Undefined bits of [`super::binary`].
#[inline]
pub fn binary(op: Binary, bits: u8, [a, b]: [u64; 2], [ua, ub]: [u64; 2]) -> u64 {
    if domain::binary(op, bits, a, b) {
        mask(op.result_bits(bits))
    } else if ua | ub == 0 {
        0
    } else {
        through_binary(op, bits, [a, b], [ua, ub])
    }
}

fn through_binary(op: Binary, bits: u8, [a, b]: [u64; 2], [ua, ub]: [u64; 2]) -> u64 {
    use Binary as B;
    let either = ua | ub;
    // Maps the order of signed values to that of unsigned ones.
    let sign = mask(bits) ^ (mask(bits) >> 1);
    let decided = |less: Option<bool>| u64::from(less.is_none());
    match op {
        B::BitwiseXor => either,
        // A defined 0 (for and) or 1 (for or) decides the result.
        B::BitwiseAnd | B::LogicalAnd => either & (a | ua) & (b | ub),
        B::BitwiseOr | B::LogicalOr => either & (!a | ua) & (!b | ub),
        B::IAdd | B::ISub | B::IMul => upward(either, bits),
        B::ShiftLeftLogical if ub == 0 => integer::shift_left(bits, ua, b),
        B::ShiftRightLogical if ub == 0 => integer::shift_right(ua, b),
        B::ShiftRightArithmetic if ub == 0 => integer::shift_right_arithmetic(bits, ua, b),
        B::IEqual | B::INotEqual => u64::from((a ^ b) & !either == 0),
        B::ULessThan | B::UGreaterThanEqual => decided(less([a, b], [ua, ub])),
        B::UGreaterThan | B::ULessThanEqual => decided(less([b, a], [ub, ua])),
        B::SLessThan | B::SGreaterThanEqual => decided(less([a ^ sign, b ^ sign], [ua, ub])),
        B::SGreaterThan | B::SLessThanEqual => decided(less([b ^ sign, a ^ sign], [ub, ua])),
        B::UMin => chosen(less([b, a], [ub, ua]), [b, a], [ub, ua]),
        B::UMax => chosen(less([a, b], [ua, ub]), [b, a], [ub, ua]),
        B::SMin => chosen(less([b ^ sign, a ^ sign], [ub, ua]), [b, a], [ub, ua]),
        B::SMax => chosen(less([a ^ sign, b ^ sign], [ua, ub]), [b, a], [ub, ua]),
        _ => mask(op.result_bits(bits)),
    }
}

/// Whether `a` is less than `b`; `None` if undefined bits decide.
fn less([a, b]: [u64; 2], [ua, ub]: [u64; 2]) -> Option<bool> {
    if a | ua < b & !ub {
        Some(true)
    } else if a & !ua >= b | ub {
        Some(false)
    } else {
        None
    }
}

/// The undefined bits of a selection: of the first value if the condition is true, else of the second. If the condition
/// is undefined, only bits that are equal in both are defined.
fn chosen(first: Option<bool>, [a, b]: [u64; 2], [ua, ub]: [u64; 2]) -> u64 {
    match first {
        Some(true) => ua,
        Some(false) => ub,
        None => ua | ub | (a ^ b),
    }
}

/// Undefined bits of [`super::ternary`].
#[inline]
pub fn ternary(op: Ternary, bits: u8, a: [u64; 3], u: [u64; 3]) -> u64 {
    if domain::ternary(op, bits, a) {
        mask(bits)
    } else if u == [0; 3] {
        0
    } else {
        through_ternary(op, bits, a, u)
    }
}

fn through_ternary(op: Ternary, bits: u8, [a, b, c]: [u64; 3], [ua, ub, uc]: [u64; 3]) -> u64 {
    match op {
        Ternary::Select => chosen((ua == 0).then_some(a != 0), [b, c], [ub, uc]),
        Ternary::SClamp => {
            let raised = binary(Binary::SMax, bits, [a, b], [ua, ub]);
            let greater = integer::max(bits, a, b);
            any(ub | uc, bits) | binary(Binary::SMin, bits, [greater, c], [raised, uc])
        }
        Ternary::BitFieldUExtract if ub | uc == 0 => integer::extract_unsigned(bits, ua, b, c),
        _ => any(ua | ub | uc, bits),
    }
}

/// Undefined bits of [`super::wide`].
pub fn wide(bits: u8, [ua, ub]: [u64; 2]) -> [u64; 2] {
    [upward(ua | ub, bits), any(ua | ub, bits)]
}

/// Undefined bits of [`super::convert`].
pub fn convert(op: Conversion, from: u8, to: u8, a: u64, ua: u64) -> u64 {
    match op {
        Conversion::UConvert => ua & mask(to),
        Conversion::SConvert => signed(ua, from) as u64 & mask(to),
        _ if domain::convert(op, from, to, a) => mask(to),
        _ => any(ua, to),
    }
}

/// Undefined bits of [`super::insert_bits`]: base, insert, offset, count.
pub fn insert_bits(bits: u8, [_, _, offset, count]: [u64; 4], [base, insert, of_offset, of_count]: [u64; 4]) -> u64 {
    if of_offset | of_count != 0 || domain::bit_field(bits, offset, count) {
        return mask(bits);
    }
    integer::insert(bits, base, insert, offset, count)
}
