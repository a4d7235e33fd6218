//! Scalar video instructions (PTX section 9.7.17.1): arithmetic on bytes, half-words and words of mixed signs, with
//! saturation, and with a second operation or a merge into another word. Those on several parts at once are in
//! [`super::simd`].
//!
//! They do what the manual says, which current NVIDIA hardware does not everywhere. Intermediate results are exact.

use super::integer::minimum;
use super::packed::part;
use super::{Lowering, Result};
use crate::decode::program::{Instruction, Operand, Parts, Selected};
use crate::decode::types::ScalarType;
use crate::diagnostic::Diagnostic;
use crate::ir::{Compare, Type, Value};

/// `vadd`
pub fn add(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    three_types(l, i, |l, a, b| {
        let sum = l.b.add(a.bits, b.bits);
        Exact::signed(l, sum)
    })
}

/// `vsub`
pub fn sub(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    three_types(l, i, |l, a, b| {
        let difference = l.b.sub(a.bits, b.bits);
        Exact::signed(l, difference)
    })
}

/// `vabsdiff`
pub fn abs_diff(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    three_types(l, i, |l, a, b| {
        let less = a.less(l, b);
        let up = l.b.sub(b.bits, a.bits);
        let down = l.b.sub(a.bits, b.bits);
        let distance = l.b.select(less, up, down);
        Exact::unsigned(l, distance)
    })
}

/// `vmin`
pub fn min(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    three_types(l, i, Exact::min)
}

/// `vmax`
pub fn max(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    three_types(l, i, Exact::max)
}

/// `vshl`
pub fn shl(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let wrap = i.modifiers.has("wrap");
    three_types(l, i, |l, a, b| {
        let amount = shift_amount(l, b, wrap);
        Exact { bits: l.b.shl_by(a.bits, amount), ..a }
    })
}

/// `vshr`
pub fn shr(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let wrap = i.modifiers.has("wrap");
    three_types(l, i, |l, a, b| {
        let amount = shift_amount(l, b, wrap);
        Exact { bits: l.b.sar_by(a.bits, amount), ..a }
    })
}

/// At most 32, or modulo 32.
fn shift_amount(l: &mut Lowering<'_, '_>, by: Exact, wrap: bool) -> Value {
    let by = l.b.truncate(by.bits);
    if wrap {
        return l.b.and_const(by, 31);
    }
    let most = l.b.i32(32);
    minimum(l, Compare::LessUnsigned, by, most)
}

/// `vset`: 1 where the comparison holds, else 0.
pub fn set(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let types = [ScalarType::U32, i.modifiers.ty(0), i.modifiers.ty(1)];
    scalar(l, i, types, |l, a, b| {
        let holds = compare(l, i, a, b);
        let bits = l.b.bool_to(Type::I64, holds);
        Exact::unsigned(l, bits)
    })
}

fn compare(l: &mut Lowering<'_, '_>, i: &Instruction, a: Exact, b: Exact) -> Value {
    let operator = i.modifiers.one_of(&["eq", "ne", "lt", "le", "gt", "ge"]);
    let holds = match operator {
        Some("eq") => l.b.eq(a.bits, b.bits),
        Some("ne") => l.b.ne(a.bits, b.bits),
        Some("lt" | "ge") => a.less(l, b),
        _ => b.less(l, a),
    };
    if matches!(operator, Some("le" | "ge")) { l.b.not(holds) } else { holds }
}

/// An exact integer of up to 65 bits: the low 64 in two's complement, and the sign.
#[derive(Clone, Copy)]
struct Exact {
    bits: Value,
    negative: Value,
}

impl Exact {
    /// 64 bits without sign.
    fn unsigned(l: &mut Lowering<'_, '_>, bits: Value) -> Self {
        Self { bits, negative: l.b.bool(false) }
    }

    /// 64 bits with their sign.
    fn signed(l: &mut Lowering<'_, '_>, bits: Value) -> Self {
        Self { bits, negative: l.b.compare_const(Compare::LessSigned, bits, 0) }
    }

    /// A word with or without sign.
    fn word(l: &mut Lowering<'_, '_>, word: Value, signed: bool) -> Self {
        if signed {
            let bits = l.b.sign_extend(word);
            Self::signed(l, bits)
        } else {
            let bits = l.b.zero_extend(word);
            Self::unsigned(l, bits)
        }
    }

    fn constant(l: &mut Lowering<'_, '_>, value: i64) -> Self {
        Self { bits: l.b.i64(value.cast_unsigned()), negative: l.b.bool(value < 0) }
    }

    fn less(self, l: &mut Lowering<'_, '_>, other: Self) -> Value {
        let differ = l.b.xor(self.negative, other.negative);
        let below = l.b.ult(self.bits, other.bits);
        l.b.select(differ, self.negative, below)
    }

    fn min(l: &mut Lowering<'_, '_>, a: Self, b: Self) -> Self {
        let less = a.less(l, b);
        Self::select(l, less, a, b)
    }

    fn max(l: &mut Lowering<'_, '_>, a: Self, b: Self) -> Self {
        let less = a.less(l, b);
        Self::select(l, less, b, a)
    }

    fn select(l: &mut Lowering<'_, '_>, condition: Value, then: Self, otherwise: Self) -> Self {
        Self {
            bits: l.b.select(condition, then.bits, otherwise.bits),
            negative: l.b.select(condition, then.negative, otherwise.negative),
        }
    }

    /// Clamped to the range of a type of that width.
    fn saturated(self, l: &mut Lowering<'_, '_>, bits: u32, signed: bool) -> Self {
        let (low, high) = range(bits, signed);
        let (low, high) = (Self::constant(l, low), Self::constant(l, high));
        let value = Self::max(l, self, low);
        Self::min(l, value, high)
    }
}

/// The least and the greatest number of an integer type.
pub(super) fn range(bits: u32, signed: bool) -> (i64, i64) {
    if signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}

/// A source operand, taken apart as its selector says.
fn source(l: &mut Lowering<'_, '_>, i: &Instruction, index: usize, ty: ScalarType) -> Result<Exact> {
    let word = match l.operand(i, index) {
        Operand::Video(Selected { register, parts, .. }) => {
            let word = l.register(*register);
            match parts {
                Some(parts) => part(l, word, parts.position(), parts.bits, ty.is_signed()),
                None => word,
            }
        }
        constant => l.source(constant, ty)?,
    };
    Ok(Exact::word(l, word, ty.is_signed()))
}

fn three_types(
    l: &mut Lowering<'_, '_>,
    i: &Instruction,
    operation: impl FnOnce(&mut Lowering<'_, '_>, Exact, Exact) -> Exact,
) -> Result {
    scalar(l, i, [0, 1, 2].map(|index| i.modifiers.ty(index)), operation)
}

/// What all but `vmad` share. The types are those of the destination (and of `c`) and of the sources.
fn scalar(
    l: &mut Lowering<'_, '_>,
    i: &Instruction,
    [ty, a_type, b_type]: [ScalarType; 3],
    operation: impl FnOnce(&mut Lowering<'_, '_>, Exact, Exact) -> Exact,
) -> Result {
    let Operand::Video(Selected { register, parts, .. }) = l.operand(i, 0) else {
        return Err(Diagnostic::internal("a video instruction without a destination", i.span));
    };
    let a = source(l, i, 1, a_type)?;
    let b = source(l, i, 2, b_type)?;
    let mut value = operation(l, a, b);
    if i.modifiers.has("sat") {
        let bits = parts.as_ref().map_or(32, |parts| parts.bits);
        value = value.saturated(l, bits, ty.is_signed());
    }
    let second = i.modifiers.one_of(&["add", "min", "max"]);
    let result = match (second, parts, i.operands.len() > 3) {
        (None, None, false) => l.b.truncate(value.bits),
        (Some(second), None, true) => {
            let c = source(l, i, 3, ty)?;
            let bits = match second {
                "add" => l.b.add(value.bits, c.bits),
                "min" => Exact::min(l, value, c).bits,
                _ => Exact::max(l, value, c).bits,
            };
            l.b.truncate(bits)
        }
        (None, Some(parts), true) => {
            let low = l.b.truncate(value.bits);
            let c = source(l, i, 3, ty)?;
            let c = l.b.truncate(c.bits);
            merge(l, parts, low, c)
        }
        (Some(_), Some(_), _) => {
            return Err(Diagnostic::invalid("a second operation goes with no selector of the destination", i.span));
        }
        (None, None, true) => {
            let message = "an operand `c` goes with a second operation or a selector of the destination";
            return Err(Diagnostic::invalid(message, i.span));
        }
        (_, _, false) => return Err(Diagnostic::invalid("an operand `c` is missing", i.span)),
    };
    l.assign(&Operand::Reg(*register), ScalarType::U32, result)
}

/// `c` with one of its parts replaced by the low bits of a value.
fn merge(l: &mut Lowering<'_, '_>, parts: &Parts, value: Value, c: Value) -> Value {
    let mask = ((1 << parts.bits) - 1) << parts.position();
    let placed = l.b.shl(value, parts.position());
    let placed = l.b.and_const(placed, mask);
    let kept = l.b.and_const(c, !mask);
    l.b.or(placed, kept)
}

/// `vmad`: `a * b + c` with one sign changed or one added, shifted right, saturated.
pub fn mad(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let (a_type, b_type) = (i.modifiers.ty(1), i.modifiers.ty(2));
    let negated = |index| matches!(l.operand(i, index), Operand::Video(selected) if selected.negated);
    let minus_product = negated(1) != negated(2);
    let minus_c = negated(3);
    if minus_product && minus_c {
        return Err(Diagnostic::invalid("only one of the product and `c` may be negated", i.span));
    }
    let signed_product = a_type.is_signed() || b_type.is_signed();
    let signed = signed_product || minus_product || minus_c;

    // The manual's steps: a negation is an inversion, and a one added at the end.
    let a = source(l, i, 1, a_type)?;
    let b = source(l, i, 2, b_type)?;
    let low = l.b.mul(a.bits, b.bits);
    let high = if signed_product { l.b.sar(low, 63) } else { l.b.i64(0) };
    let product = if minus_product { [l.b.not(low), l.b.not(high)] } else { [low, high] };
    let mut c = match l.operand(i, 3) {
        Operand::Video(selected) => l.register(selected.register),
        constant => l.source(constant, ScalarType::U32)?,
    };
    if minus_c {
        c = l.b.not(c);
    }
    let c = if signed { l.b.sign_extend(c) } else { l.b.zero_extend(c) };
    let above = if signed { l.b.sar(c, 63) } else { l.b.i64(0) };
    let mut sum = add_wide(l, product, [c, above]);
    if minus_product || minus_c || i.modifiers.has("po") {
        let one = [l.b.i64(1), l.b.i64(0)];
        sum = add_wide(l, sum, one);
    }

    let [mut bits, high] = sum;
    let scale = match i.modifiers.one_of(&["shr7", "shr15"]) {
        Some("shr7") => 7,
        Some(_) => 15,
        None => 0,
    };
    if scale > 0 {
        let low = l.b.shr(bits, scale);
        let shifted = l.b.shl(high, 64 - scale);
        bits = l.b.or(low, shifted);
    }
    if i.modifiers.has("sat") {
        let negative = l.b.compare_const(Compare::LessSigned, high, 0);
        bits = Exact { bits, negative }.saturated(l, 32, signed).bits;
    }
    let result = l.b.truncate(bits);
    l.set(i, 0, ScalarType::U32, result)
}

/// The sum of two 128-bit numbers, low halves first.
fn add_wide(l: &mut Lowering<'_, '_>, [a, a_high]: [Value; 2], [b, b_high]: [Value; 2]) -> [Value; 2] {
    let low = l.b.add(a, b);
    let carry = l.b.ult(low, a);
    let carry = l.b.bool_to(Type::I64, carry);
    let high = l.b.add(a_high, b_high);
    [low, l.b.add(high, carry)]
}
