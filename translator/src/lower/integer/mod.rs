//! Integer arithmetic (PTX section 9.7.1).

pub mod extended;
pub mod fields;
pub mod logic;
pub mod packed;
pub mod simd;
pub mod video;

use crate::decode::program::Instruction;
use crate::diagnostic::Result;
use crate::ir::{Binary, Compare, Type, Unary, Value};
use crate::isa::modifiers::Part;
use crate::isa::types::ScalarType;
use crate::isa::word::Word;
use crate::lower::lowering::{Lowering, carrier};

/// `add` or `sub`, with `.sat`.
pub(super) fn sum(l: &mut Lowering<'_, '_>, i: &Instruction, op: Binary) -> Result {
    let ty = i.ty(0)?;
    let a = l.int(i, 1, ty)?;
    let b = l.int(i, 2, ty)?;
    let result = match (i.modifiers.has(Word::Sat), ty.is_signed()) {
        (false, _) => l.b.binary(op, a, b),
        (true, true) => saturating(l, op, a, b),
        // No difference of unsigned numbers saturates.
        (true, false) => {
            let sum = l.b.binary(op, a, b);
            let is_beyond = l.b.ult(sum, a);
            l.b.select(is_beyond, l.b.constant_like(a, u64::MAX), sum)
        }
    };
    l.set(i, 0, ty, result)
}

/// A 32-bit signed sum, clamped.
pub(crate) fn saturating_add(l: &Lowering<'_, '_>, a: Value, b: Value) -> Value {
    saturating(l, Binary::Add, a, b)
}

/// A 32-bit signed sum or difference, computed in 64 bits and clamped.
fn saturating(l: &Lowering<'_, '_>, op: Binary, a: Value, b: Value) -> Value {
    let wide = l.b.binary(op, l.b.sign_extend(a), l.b.sign_extend(b));
    let clamped = clamp_signed(l, wide, i64::from(i32::MIN), i64::from(i32::MAX));
    l.b.truncate(clamped)
}

/// Clamps a signed value of either width.
pub fn clamp_signed(l: &Lowering<'_, '_>, value: Value, low: i64, high: i64) -> Value {
    let low = l.b.constant_like(value, low.cast_unsigned());
    let value = l.b.minimum(Compare::LessSigned, value, l.b.constant_like(value, high.cast_unsigned()));
    l.b.maximum(Compare::LessSigned, value, low)
}

/// `min` or `max`, with `.relu` for s32.
pub(super) fn extremum(l: &mut Lowering<'_, '_>, i: &Instruction, is_max: bool) -> Result {
    let ty = i.ty(0)?;
    let a = l.signed(i, 1, ty)?;
    let b = l.signed(i, 2, ty)?;
    let less = less(ty.is_signed());
    let mut result = match (is_max, ty.is_signed()) {
        (false, _) if ty.bits() == 64 => l.b.minimum(less, a, b),
        (true, _) if ty.bits() == 64 => l.b.maximum(less, a, b),
        (false, false) => l.b.binary(Binary::MinUnsigned, a, b),
        (false, true) => l.b.binary(Binary::MinSigned, a, b),
        (true, false) => l.b.binary(Binary::MaxUnsigned, a, b),
        (true, true) => l.b.binary(Binary::MaxSigned, a, b),
    };
    if i.modifiers.has(Word::Relu) {
        result = relu(l, result);
    }
    l.set(i, 0, ty, result)
}

/// "Less than" of signed or unsigned values.
pub(crate) fn less(signed: bool) -> Compare {
    if signed { Compare::LessSigned } else { Compare::LessUnsigned }
}

/// Zero for negative values.
pub(crate) fn relu(l: &Lowering<'_, '_>, value: Value) -> Value {
    l.b.maximum(Compare::LessSigned, value, l.b.constant_like(value, 0))
}

/// The part of the product that `.lo`, `.hi` or `.wide` names, and the type of the result.
pub(crate) fn product(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result<(ScalarType, Value)> {
    let ty = i.ty(0)?;
    let a = l.signed(i, 1, ty)?;
    let b = l.signed(i, 2, ty)?;
    Ok(match i.required(i.modifiers.part())? {
        Part::Lo => (ty, l.b.mul(a, b)),
        Part::Hi if ty.bits() == 16 => (ty, l.b.shr(l.b.mul(a, b), 16)),
        Part::Hi if ty.is_signed() => (ty, l.b.mul_high_signed(a, b)),
        Part::Hi => (ty, l.b.mul_high_unsigned(a, b)),
        Part::Wide if ty.bits() == 16 => (i.required(ty.widened())?, l.b.mul(a, b)),
        Part::Wide => {
            let extend = if ty.is_signed() { Unary::SignExtend } else { Unary::ZeroExtend };
            let [a, b] = [a, b].map(|factor| l.b.unary(extend, factor));
            (i.required(ty.widened())?, l.b.mul(a, b))
        }
    })
}

/// `mul` in `.lo`, `.hi` and `.wide`.
pub fn mul(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let (ty, value) = product(l, i)?;
    l.set(i, 0, ty, value)
}

/// `mad` in `.lo`, `.hi` and `.wide`, with `.hi.sat` for s32.
pub fn mad(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let (ty, value) = product(l, i)?;
    let c = l.int(i, 3, ty)?;
    let result = if i.modifiers.has(Word::Sat) { saturating(l, Binary::Add, value, c) } else { l.b.add(value, c) };
    l.set(i, 0, ty, result)
}

/// The low or high 32 bits of the 48-bit product of 24-bit factors.
fn product24(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result<Value> {
    let ty = i.ty(0)?;
    let (narrow, extend) =
        if ty.is_signed() { (Binary::Sar, Unary::SignExtend) } else { (Binary::Shr, Unary::ZeroExtend) };
    let mut factor = |index| -> Result<Value> {
        let value = l.int(i, index, ty)?;
        let value = l.b.binary_const(narrow, l.b.shl(value, 8), 8);
        Ok(l.b.unary(extend, value))
    };
    let a = factor(1)?;
    let b = factor(2)?;
    let wide = l.b.mul(a, b);
    let wide = if i.modifiers.has(Word::Hi) { l.b.shr(wide, 16) } else { wide };
    Ok(l.b.truncate(wide))
}

pub fn mul24(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let value = product24(l, i)?;
    l.set(i, 0, i.ty(0)?, value)
}

/// `mad24`, with `.hi.sat` for s32.
pub fn mad24(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let ty = i.ty(0)?;
    let value = product24(l, i)?;
    let c = l.int(i, 3, ty)?;
    let result = if i.modifiers.has(Word::Sat) { saturating(l, Binary::Add, value, c) } else { l.b.add(value, c) };
    l.set(i, 0, ty, result)
}

/// `sad`: `c + |a - b|`.
pub fn sad(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let ty = i.ty(0)?;
    let a = l.signed(i, 1, ty)?;
    let b = l.signed(i, 2, ty)?;
    let c = l.int(i, 3, ty)?;
    let less = l.b.compare(less(ty.is_signed()), a, b);
    let up = l.b.sub(b, a);
    let down = l.b.sub(a, b);
    let distance = l.b.select(less, up, down);
    l.set(i, 0, ty, l.b.add(c, distance))
}

pub fn abs(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let ty = i.ty(0)?;
    let a = l.signed(i, 1, ty)?;
    let result = magnitude(l, a).0;
    l.set(i, 0, ty, result)
}

pub fn neg(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let ty = i.ty(0)?;
    let a = l.int(i, 1, ty)?;
    l.set(i, 0, ty, l.b.neg(a))
}

/// The magnitude of a signed value, and whether it is negative.
pub(crate) fn magnitude(l: &mut Lowering<'_, '_>, value: Value) -> (Value, Value) {
    let negative = l.b.compare_const(Compare::LessSigned, value, 0);
    // Less twice the value if that is negative. NVIDIA's driver takes a selection, and the usual `(x ^ signs) - signs`, for magnitudes that
    // are never negative, and divides that of the least integer wrong.
    let signs = l.b.sar(value, if l.b.type_of(value) == Type::I64 { 63 } else { 31 });
    let twice = l.b.shl(l.b.and(value, signs), 1);
    (l.b.sub(value, twice), negative)
}

/// Division on magnitudes: SPIR-V leaves signed remainders of negative operands and all division by zero undefined.
pub(super) fn divide(l: &mut Lowering<'_, '_>, i: &Instruction, quotient: bool) -> Result {
    let ty = i.ty(0)?;
    let a = l.signed(i, 1, ty)?;
    let b = l.signed(i, 2, ty)?;
    if ty.is_signed()
        && let Some(bits) = l.b.known(b)
        && let divisor = if l.b.type_of(b) == Type::I64 { bits.cast_signed() } else { (bits as i32).into() }
        && divisor.unsigned_abs().is_power_of_two()
    {
        let result = divide_by_power(l, a, divisor, quotient);
        return l.set(i, 0, ty, result);
    }
    let zero = l.b.is_zero(b);
    let by = l.b.select(zero, l.b.constant_like(b, 1), b);
    let result = if ty.is_signed() {
        let (a, a_negative) = magnitude(l, a);
        let (by, by_negative) = magnitude(l, by);
        let unsigned = l.b.binary(if quotient { Binary::DivUnsigned } else { Binary::RemUnsigned }, a, by);
        let negative = if quotient { l.b.xor(a_negative, by_negative) } else { a_negative };
        l.b.select(negative, l.b.neg(unsigned), unsigned)
    } else {
        l.b.binary(if quotient { Binary::DivUnsigned } else { Binary::RemUnsigned }, a, by)
    };
    l.set(i, 0, ty, l.b.select(zero, l.b.constant_like(a, u64::MAX), result))
}

/// The signed quotient or remainder by a power of two or its negative, without a division, since divisions by NVIDIA's driver are not
/// always right.
fn divide_by_power(l: &mut Lowering<'_, '_>, a: Value, divisor: i64, quotient: bool) -> Value {
    let width = if l.b.type_of(a) == Type::I64 { 64 } else { 32 };
    let power = divisor.unsigned_abs().trailing_zeros();
    // Round negative numbers up to a multiple, others down.
    let up = match power {
        0 => l.b.constant_like(a, 0),
        _ => l.b.shr(l.b.sar(a, width - 1), width - power),
    };
    let biased = l.b.add(a, up);
    if quotient {
        let magnitude = l.b.sar(biased, power);
        return if divisor < 0 { l.b.neg(magnitude) } else { magnitude };
    }
    l.b.sub(a, l.b.and_const(biased, divisor.unsigned_abs().wrapping_neg()))
}

pub fn popc(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let a = l.int(i, 1, i.ty(0)?)?;
    let count = match l.b.type_of(a) {
        Type::I64 => {
            let (low, high) = l.b.halves(a);
            l.b.add(l.b.bit_count(low), l.b.bit_count(high))
        }
        _ => l.b.bit_count(a),
    };
    l.set(i, 0, ScalarType::U32, count)
}

/// Number of the highest set bit of an integer of either width; all ones if there is none.
pub fn highest_bit(l: &mut Lowering<'_, '_>, value: Value) -> Value {
    if l.b.type_of(value) != Type::I64 {
        return l.b.find_high_bit(value);
    }
    let (low, high) = l.b.halves(value);
    let in_low = l.b.find_high_bit(low);
    let in_high = l.b.add_const(l.b.find_high_bit(high), 32);
    l.b.select(l.b.is_nonzero(high), in_high, in_low)
}

pub fn clz(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let ty = i.ty(0)?;
    let a = l.int(i, 1, ty)?;
    let highest = highest_bit(l, a);
    let top = l.b.i32(ty.bits() - 1);
    // If no bit is set, the result is -1, which gives the width.
    l.set(i, 0, ScalarType::U32, l.b.sub(top, highest))
}

/// `bfind`, with `.shiftamt`.
pub fn bfind(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let ty = i.ty(0)?;
    let mut a = l.int(i, 1, ty)?;
    if ty.is_signed() {
        // The highest bit that differs from the sign.
        a = l.b.xor(a, l.b.sar(a, ty.bits() - 1));
    }
    let found = highest_bit(l, a);
    let result = if i.modifiers.has(Word::Shiftamt) {
        let shift = l.b.sub(l.b.i32(ty.bits() - 1), found);
        l.b.select(l.b.compare_const(Compare::Equal, found, u64::from(u32::MAX)), found, shift)
    } else {
        found
    };
    l.set(i, 0, ScalarType::U32, result)
}

pub fn brev(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let ty = i.ty(0)?;
    let a = l.int(i, 1, ty)?;
    let result = match carrier(ty) {
        Type::I64 => {
            let (low, high) = l.b.halves(a);
            let low = l.b.bit_reverse(low);
            l.b.join(l.b.bit_reverse(high), low)
        }
        _ => l.b.bit_reverse(a),
    };
    l.set(i, 0, ty, result)
}

/// Shifts left, giving 0 for amounts of the width and more.
pub fn shift_left(l: &Lowering<'_, '_>, value: Value, amount: Value) -> Value {
    shift(l, Binary::Shl, value, amount)
}

/// Shifts right by zeros, giving 0 for amounts of the width and more.
pub fn shift_right(l: &Lowering<'_, '_>, value: Value, amount: Value) -> Value {
    shift(l, Binary::Shr, value, amount)
}

fn shift(l: &Lowering<'_, '_>, op: Binary, value: Value, amount: Value) -> Value {
    let width = if l.b.type_of(value) == Type::I64 { 64 } else { 32 };
    let inside = l.b.compare_const(Compare::LessUnsigned, amount, width);
    l.b.select(inside, l.b.binary(op, value, l.b.and_const(amount, width - 1)), l.b.constant_like(value, 0))
}

/// Shifts right by the sign, giving only signs for amounts of the width and more.
pub fn shift_right_signed(l: &Lowering<'_, '_>, value: Value, amount: Value) -> Value {
    let most = if l.b.type_of(value) == Type::I64 { 63 } else { 31 };
    l.b.binary(Binary::Sar, value, l.b.minimum(Compare::LessUnsigned, amount, l.b.i32(most)))
}
