//! Bit fields, and the search for a numbered bit (PTX section 9.7.1): `bfe`, `bfi`, `bmsk`, `szext`, `fns`.

use crate::decode::program::Instruction;
use crate::diagnostic::Result;
use crate::ir::{Compare, Value};
use crate::isa::types::ScalarType;
use crate::isa::word::Word;
use crate::lower::integer::{magnitude, shift_left, shift_right, shift_right_signed};
use crate::lower::lowering::{Lowering, carrier};

/// `bfe`: a field of bits, extended by zeros or by its sign (PTX section 9.7.1.21).
pub fn bfe(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let ty = i.ty(0)?;
    let width = ty.bits();
    let a = l.int(i, 1, ty)?;
    let (position, length) = field(l, i, 2, width)?;
    if !ty.is_signed() {
        return l.set(i, 0, ty, l.b.and(shift_right(l, a, position), low_mask(l, ty, length)));
    }
    // The sign is the field's highest bit, or the operand's if the field reaches beyond it.
    let none = l.b.is_zero(length);
    let end = l.b.add(position, length);
    let last = l.b.sub_const(end, 1);
    let top = l.b.i32(width - 1);
    let up = l.b.sub(top, l.b.minimum(Compare::LessUnsigned, last, top));
    let aligned = shift_left(l, a, up);
    let down = l.b.add(position, up);
    let result = shift_right_signed(l, aligned, down);
    l.set(i, 0, ty, l.b.select(none, l.b.constant_like(a, 0), result))
}

/// `bfi`: inserts the low bits of `a` into `b`.
pub fn bfi(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let ty = i.ty(0)?;
    let a = l.int(i, 1, ty)?;
    let b = l.int(i, 2, ty)?;
    let (position, length) = field(l, i, 3, ty.bits())?;
    let mask = shift_left(l, low_mask(l, ty, length), position);
    let inserted = l.b.and(shift_left(l, a, position), mask);
    let kept = l.b.and(b, l.b.not(mask));
    l.set(i, 0, ty, l.b.or(inserted, kept))
}

/// Position and length of a bit field. The 32-bit forms take their low 8 bits only; the 64-bit forms take all bits.
fn field(l: &mut Lowering<'_, '_>, i: &Instruction, first: usize, width: u32) -> Result<(Value, Value)> {
    let mut operand = |index| -> Result<Value> {
        let value = l.int(i, index, ScalarType::U32)?;
        if width == 32 {
            return Ok(l.b.and_const(value, 0xff));
        }
        // Values from 128 on act like 128, so limit both to 128, and their sum can't wrap.
        Ok(l.b.minimum(Compare::LessUnsigned, value, l.b.i32(128)))
    };
    Ok((operand(first)?, operand(first + 1)?))
}

/// A mask of the `length` lowest bits; all ones if `length` is the width or more.
fn low_mask(l: &Lowering<'_, '_>, ty: ScalarType, length: Value) -> Value {
    let above = shift_left(l, l.b.constant(carrier(ty), u64::MAX), length);
    l.b.not(above)
}

/// `bmsk`: a mask of `b` bits from position `a` on.
pub fn bmsk(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let position = wrapped(l, i, 1)?;
    let length = wrapped(l, i, 2)?;
    l.set(i, 0, ScalarType::B32, shift_left(l, low_mask(l, ScalarType::B32, length), position))
}

/// `szext`: the low bits of a value, extended by zeros or by their sign.
pub fn szext(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let ty = i.ty(0)?;
    let a = l.int(i, 1, ty)?;
    let length = wrapped(l, i, 2)?;
    let result = if ty.is_signed() {
        let width = l.b.i32(32);
        let above = l.b.sub(width, l.b.minimum(Compare::LessUnsigned, length, width));
        shift_right_signed(l, shift_left(l, a, above), above)
    } else {
        l.b.and(a, low_mask(l, ty, length))
    };
    l.set(i, 0, ty, result)
}

/// An operand that counts bits: modulo 32 under `.wrap`.
fn wrapped(l: &mut Lowering<'_, '_>, i: &Instruction, index: usize) -> Result<Value> {
    let value = l.int(i, index, ScalarType::U32)?;
    Ok(if i.modifiers.has(Word::Wrap) { l.b.and_const(value, 31) } else { value })
}

/// `fns`: the position of the n-th set bit from a base on, upwards or (`n` below zero) downwards; all ones if there is
/// none. For `n` = 0 only the base itself counts. With a base above 31, which PTX leaves undefined, nothing is found.
pub fn fns(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let mask = l.int(i, 1, ScalarType::B32)?;
    let base = l.int(i, 2, ScalarType::B32)?;
    let offset = l.int(i, 3, ScalarType::B32)?;
    // A downward search is an upward search on the reversed mask.
    let (count, down) = magnitude(l, offset);
    let top = l.b.i32(31);
    let reversed = l.b.bit_reverse(mask);
    let mirrored = l.b.sub(top, base);
    let mask = l.b.select(down, reversed, mask);
    let base = l.b.select(down, mirrored, base);
    let here = l.b.is_zero(offset);
    let one = l.b.i32(1);
    let all = l.b.i32(u32::MAX);
    let reach = shift_left(l, l.b.select(here, one, all), base);
    let mask = l.b.and(mask, reach);
    let wanted = l.b.select(here, one, count);
    let skipped = l.b.sub_const(wanted, 1);
    let ones = l.b.bit_count(mask);
    // The least offset has no positive magnitude. As a signed number it counts as found, and the bisection ends at the
    // last bit.
    let missing = l.b.compare(Compare::LessSigned, ones, wanted);
    let position = numbered_bit(l, mask, skipped);
    let mirrored = l.b.sub(top, position);
    l.set(i, 0, ScalarType::B32, l.b.select(missing, all, l.b.select(down, mirrored, position)))
}

/// The position of the set bit that has `skipped` set bits below it, by bisection.
fn numbered_bit(l: &mut Lowering<'_, '_>, mask: Value, mut skipped: Value) -> Value {
    let mut rest = mask;
    let mut position = l.b.i32(0);
    for half in [16, 8, 4, 2, 1] {
        let ones = l.b.bit_count(l.b.and_const(rest, (1 << half) - 1));
        let above = l.b.ule(ones, skipped);
        let without = l.b.sub(skipped, ones);
        skipped = l.b.select(above, without, skipped);
        rest = l.b.select(above, l.b.shr(rest, half), rest);
        position = l.b.select(above, l.b.add_const(position, half.into()), position);
    }
    position
}
