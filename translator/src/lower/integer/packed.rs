//! Integers packed in 32-bit words: arithmetic on half-words and bytes, dot products, and `cvt.pack` (PTX sections 9.7.1
//! and 9.7.9). Video instructions are in [`crate::lower::integer::video`].

use crate::decode::program::Instruction;
use crate::diagnostic::Result;
use crate::ir::{Compare, Value};
use crate::isa::modifiers::{Limit, PackedInteger};
use crate::isa::types::ScalarType;
use crate::isa::word::Word;
use crate::lower::integer::{clamp_signed, less, relu};
use crate::lower::lowering::Lowering;

/// The part of a word from bit `position` on, extended to 32 bits by zeros or by its sign.
pub(crate) fn part(l: &mut Lowering<'_, '_>, word: Value, position: u32, bits: u32, signed: bool) -> Value {
    let above = 32 - position - bits;
    if signed {
        return l.b.sar(l.b.shl(word, above), 32 - bits);
    }
    let low = l.b.shr(word, position);
    if above == 0 { low } else { l.b.and_const(low, (1 << bits) - 1) }
}

/// A word of equally wide parts, the lowest first; bits above the width are dropped.
pub(crate) fn join(l: &mut Lowering<'_, '_>, parts: &[Value], bits: u32) -> Value {
    let mut word = l.b.i32(0);
    for (place, part) in (0..).zip(parts) {
        let low = l.zero_extend_narrow(*part, bits);
        word = l.b.or(word, l.b.shl(low, place * bits));
    }
    word
}

/// `neg` on bytes.
pub fn neg(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let ty = i.ty(0)?;
    let a = l.int(i, 1, ty)?;
    let bytes = [0, 8, 16, 24].map(|position| {
        let byte = part(l, a, position, 8, true);
        l.b.neg(byte)
    });
    let result = join(l, &bytes, 8);
    l.set(i, 0, ty, result)
}

/// An operation on half-words or bytes, with `.sat` and, for signed ones, `.relu`. It also gets the comparison of its lanes.
pub(crate) fn lanewise(
    l: &mut Lowering<'_, '_>,
    i: &Instruction,
    operation: fn(&mut Lowering<'_, '_>, Compare, Value, Value) -> Value,
) -> Result {
    let ty = i.ty(0)?;
    let signed = matches!(ty, ScalarType::S16x2 | ScalarType::S8x4);
    let bits = if matches!(ty, ScalarType::U8x4 | ScalarType::S8x4) { 8 } else { 16 };
    let (low, high) = range(bits, signed);
    let a = l.int(i, 1, ty)?;
    let b = l.int(i, 2, ty)?;
    let lanes: Vec<Value> = (0..32)
        .step_by(bits as usize)
        .map(|position| {
            let a = part(l, a, position, bits, signed);
            let b = part(l, b, position, bits, signed);
            let result = operation(l, less(signed), a, b);
            match i.modifiers.limit() {
                Some(Limit::Sat) => clamp_signed(l, result, low, high),
                Some(Limit::Relu) => relu(l, result),
                None => result,
            }
        })
        .collect();
    let result = join(l, &lanes, bits);
    l.set(i, 0, ty, result)
}

/// The least and the largest integer of a width.
fn range(bits: u32, signed: bool) -> (i64, i64) {
    if signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}

/// `dp4a`: the products of four pairs of bytes, added to `c`.
pub fn dp4a(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let signs = [i.ty(0)?.is_signed(), i.ty(1)?.is_signed()];
    let a = l.int(i, 1, ScalarType::B32)?;
    let b = l.int(i, 2, ScalarType::B32)?;
    let c = l.int(i, 3, ScalarType::B32)?;
    l.set(i, 0, ScalarType::B32, l.b.add(l.b.dot_of_bytes(a, b, signs), c))
}

/// `dp2a`: the products of two half-words of `a` and two bytes of `b`, added to `c`.
pub fn dp2a(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let first = if i.modifiers.has(Word::Hi) { 2 } else { 0 };
    let (a_signed, b_signed) = (i.ty(0)?.is_signed(), i.ty(1)?.is_signed());
    let a = l.int(i, 1, ScalarType::B32)?;
    let b = l.int(i, 2, ScalarType::B32)?;
    let mut sum = l.int(i, 3, ScalarType::B32)?;
    for place in 0..2 {
        let a = part(l, a, place * 16, 16, a_signed);
        let b = part(l, b, (first + place) * 8, 8, b_signed);
        sum = l.b.add(sum, l.b.mul(a, b));
    }
    l.set(i, 0, ScalarType::B32, sum)
}

/// `cvt.pack`: two numbers saturated to a narrow type, `b` lowest, then `a`, then the low bits of `c`.
pub fn pack(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let (bits, signed) = match i.modifiers.packed_integer() {
        Some(PackedInteger::U2) => (2, false),
        Some(PackedInteger::S2) => (2, true),
        Some(PackedInteger::U4) => (4, false),
        Some(PackedInteger::S4) => (4, true),
        Some(PackedInteger::U8) => (8, false),
        Some(PackedInteger::S8) => (8, true),
        None => (16, i.ty(0)?.is_signed()),
    };
    let (low, high) = range(bits, signed);
    let mut narrow = |index| -> Result<Value> {
        let value = l.int(i, index, ScalarType::S32)?;
        Ok(clamp_signed(l, value, low, high))
    };
    let a = narrow(1)?;
    let b = narrow(2)?;
    let mut result = join(l, &[b, a], bits);
    if bits < 16 {
        let c = l.int(i, 3, ScalarType::B32)?;
        result = l.b.or(result, l.b.shl(c, 2 * bits));
    }
    l.set(i, 0, ScalarType::U32, result)
}
