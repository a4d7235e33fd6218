//! Scalar operations on the 64 bits of registers: what they compute, and which bits of the result are undefined.
//!
//! No memory, no control flow, no SPIR-V ids in here: pure functions, as [`crate::code`] describes the bits.

use crate::code::{Binary, Convert, FloatControls, Ternary, Unary, Wide};
use crate::config::Choice;

/// The result of an operation of one operand.
#[inline]
pub fn unary<C: Choice>(op: Unary, bits: u8, a: u64, floats: &FloatControls, choice: &mut C) -> u64 {
    todo!()
}

/// The result of an operation of two operands.
#[inline]
pub fn binary<C: Choice>(op: Binary, bits: u8, a: u64, b: u64, floats: &FloatControls, choice: &mut C) -> u64 {
    todo!()
}

/// The result of an operation of three operands.
#[inline]
pub fn ternary<C: Choice>(op: Ternary, bits: u8, operands: [u64; 3], floats: &FloatControls, choice: &mut C) -> u64 {
    todo!()
}

/// The results of an operation that has two.
#[inline]
pub fn wide<C: Choice>(op: Wide, bits: u8, a: u64, b: u64, floats: &FloatControls, choice: &mut C) -> [u64; 2] {
    todo!()
}

/// The result of a conversion.
#[inline]
pub fn convert<C: Choice>(op: Convert, from: u8, to: u8, a: u64, floats: &FloatControls, choice: &mut C) -> u64 {
    todo!()
}

/// `OpBitFieldInsert`.
#[inline]
pub fn insert_bits<C: Choice>(bits: u8, base: u64, insert: u64, offset: u64, count: u64, choice: &mut C) -> u64 {
    todo!()
}

/// Which bits of results are undefined (1), given the operands and which of their bits are.
pub mod undefined {
    use super::*;

    /// Of [`super::unary`].
    pub fn unary(op: Unary, bits: u8, a: u64, ua: u64) -> u64 {
        todo!()
    }

    /// Of [`super::binary`].
    pub fn binary(op: Binary, bits: u8, a: [u64; 2], u: [u64; 2]) -> u64 {
        todo!()
    }

    /// Of [`super::ternary`].
    pub fn ternary(op: Ternary, bits: u8, a: [u64; 3], u: [u64; 3]) -> u64 {
        todo!()
    }

    /// Of [`super::wide`].
    pub fn wide(op: Wide, bits: u8, a: [u64; 2], u: [u64; 2]) -> [u64; 2] {
        todo!()
    }

    /// Of [`super::convert`].
    pub fn convert(op: Convert, from: u8, to: u8, a: u64, ua: u64) -> u64 {
        todo!()
    }

    /// Of [`super::insert_bits`]: base, insert, offset, count.
    pub fn insert_bits(bits: u8, a: [u64; 4], u: [u64; 4]) -> u64 {
        todo!()
    }
}
