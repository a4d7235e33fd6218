//! Scalar video instructions (PTX section 9.7.17.1): arithmetic on bytes, half-words and words of mixed signs, with
//! saturation, and with a second operation or a merge into another word. Instructions on several parts at once are in
//! [`crate::lower::integer::simd`].
//!
//! They behave like the code that NVIDIA's compiler has emitted for them since sm_50, which departs from the manual in
//! places (docs/numerics.md). Operands are extended to 64 bits, each by its own type, and all computation is in 64
//! bits.

use crate::decode::program::{Instruction, Operand, Parts, Selected};
use crate::diagnostic::{Diagnostic, Result};
use crate::ir::{Compare, Type, Value};
use crate::isa::modifiers::{Comparison, Operator, Scale};
use crate::isa::types::ScalarType;
use crate::isa::word::Word;
use crate::lower::integer::packed::part;
use crate::lower::integer::{clamp_signed, less, magnitude};
use crate::lower::lowering::Lowering;

/// `vabsdiff`
pub fn abs_diff(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    three_types(l, i, Kind::Other, |l, a, b| magnitude(l, l.b.sub(a, b)).0)
}

/// `vshl`
pub fn shl(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let wrap = i.modifiers.has(Word::Wrap);
    three_types(l, i, Kind::Shift, |l, a, b| l.b.shl_by(a, shift_amount(l, b, wrap)))
}

/// `vshr`
pub fn shr(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let wrap = i.modifiers.has(Word::Wrap);
    three_types(l, i, Kind::Shift, |l, a, b| l.b.sar_by(a, shift_amount(l, b, wrap)))
}

/// At most 32, or modulo 32.
fn shift_amount(l: &Lowering<'_, '_>, by: Value, wrap: bool) -> Value {
    let by = l.b.truncate(by);
    if wrap {
        return l.b.and_const(by, 31);
    }
    l.b.minimum(Compare::LessUnsigned, by, l.b.i32(32))
}

/// `vset`: 1 where the comparison holds, else 0. The operand `c` has the signedness of `a`.
pub fn set(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let types = [i.ty(0)?, i.ty(0)?, i.ty(1)?];
    let comparison = signed_comparison(i)?;
    scalar(l, i, types, Kind::Other, |l, a, b| {
        let holds = compare(l, comparison, a, b);
        l.b.bool_to(Type::I64, holds)
    })
}

#[derive(Clone, Copy)]
pub(crate) enum SignedComparison {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// The comparison that the modifiers name.
pub(crate) fn signed_comparison(i: &Instruction) -> Result<SignedComparison> {
    use Comparison::{Eq, Equ, Ge, Geu, Gt, Gtu, Hi, Hs, Le, Leu, Lo, Ls, Lt, Ltu, Nan, Ne, Neu, Num};
    match i.required(i.modifiers.comparison())? {
        Eq => Ok(SignedComparison::Eq),
        Ne => Ok(SignedComparison::Ne),
        Lt => Ok(SignedComparison::Lt),
        Le => Ok(SignedComparison::Le),
        Gt => Ok(SignedComparison::Gt),
        Ge => Ok(SignedComparison::Ge),
        other @ (Lo | Ls | Hi | Hs | Equ | Neu | Ltu | Leu | Gtu | Geu | Num | Nan) => Err(i.unexpected(other.word())),
    }
}

fn compare(l: &mut Lowering<'_, '_>, comparison: SignedComparison, a: Value, b: Value) -> Value {
    match comparison {
        SignedComparison::Eq => l.b.eq(a, b),
        SignedComparison::Ne => l.b.ne(a, b),
        SignedComparison::Lt => l.b.compare(Compare::LessSigned, a, b),
        SignedComparison::Gt => l.b.compare(Compare::LessSigned, b, a),
        SignedComparison::Le => l.b.not(l.b.compare(Compare::LessSigned, b, a)),
        SignedComparison::Ge => l.b.not(l.b.compare(Compare::LessSigned, a, b)),
    }
}

/// The kinds of operation that saturation and a second operation treat differently.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Sum,
    Shift,
    Other,
}

/// `.sat`, on the whole result or, where a selector has `bits`, on that part.
fn saturate(l: &mut Lowering<'_, '_>, value: Value, kind: Kind, bits: Option<u32>, signed: bool) -> Value {
    let (low, high) = range(bits.unwrap_or(32), signed);
    match (kind, bits) {
        (Kind::Shift, _) => {
            // Bits shifted beyond bit 33 are lost. Parts get the low bits of the saturated word.
            let value = l.b.sar(l.b.shl(value, 30), 30);
            let (low, high) = range(32, signed);
            clamp_signed(l, value, low, high)
        }
        (_, Some(_)) => {
            // An unsigned comparison: negative results give the upper bound too.
            l.b.minimum(Compare::LessUnsigned, value, l.b.i64(high.cast_unsigned()))
        }
        (_, None) if signed => clamp_signed(l, value, low, high),
        (_, None) => l.b.maximum(Compare::LessSigned, value, l.b.i64(0)),
    }
}

/// The least and the greatest number of an integer type.
pub(crate) fn range(bits: u32, signed: bool) -> (i64, i64) {
    if signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}

/// The part of a source operand that its selector names, extended to 64 bits.
fn source(l: &mut Lowering<'_, '_>, i: &Instruction, index: usize, ty: ScalarType) -> Result<Value> {
    let word = match l.operand(i, index) {
        Operand::Video(selected) => {
            let Selected { register, parts, .. } = &**selected;
            let word = l.register(*register)?;
            match parts {
                Some(parts) => part(l, word, parts.position(), parts.bits, ty.is_signed()),
                None => word,
            }
        }
        constant => l.source(constant, ty)?,
    };
    Ok(extended(l, word, ty.is_signed()))
}

fn extended(l: &Lowering<'_, '_>, word: Value, signed: bool) -> Value {
    if signed { l.b.sign_extend(word) } else { l.b.zero_extend(word) }
}

/// An operation whose operands have types of their own.
pub(crate) fn three_types(
    l: &mut Lowering<'_, '_>,
    i: &Instruction,
    kind: Kind,
    operation: impl FnOnce(&mut Lowering<'_, '_>, Value, Value) -> Value,
) -> Result {
    scalar(l, i, [i.ty(0)?, i.ty(1)?, i.ty(2)?], kind, operation)
}

/// The common part of all instructions but `vmad`. The types are those of the destination (and of `c`) and of the
/// sources.
fn scalar(
    l: &mut Lowering<'_, '_>,
    i: &Instruction,
    [ty, a_type, b_type]: [ScalarType; 3],
    kind: Kind,
    operation: impl FnOnce(&mut Lowering<'_, '_>, Value, Value) -> Value,
) -> Result {
    use Operator::{Add, And, Cas, Dec, Exch, Inc, Max, Min, Or, Xor};
    let Operand::Video(selected) = l.operand(i, 0) else {
        return Err(Diagnostic::internal("a video instruction without a destination", i.span));
    };
    let Selected { register, parts, .. } = &**selected;
    let a = source(l, i, 1, a_type)?;
    let b = source(l, i, 2, b_type)?;
    let mut value = operation(l, a, b);
    if i.modifiers.has(Word::Sat) {
        let bits = parts.as_ref().map(|parts| parts.bits);
        value = saturate(l, value, kind, bits, ty.is_signed());
    }
    let result = match (i.modifiers.operator(), parts, i.operands.len() > 3) {
        (None, None, false) => l.b.truncate(value),
        (Some(second), None, true) => {
            let c = source(l, i, 3, ty)?;
            // Sums and saturated shifts are words by now. They are sign-extended even if their type is unsigned.
            if kind == Kind::Sum || kind == Kind::Shift && i.modifiers.has(Word::Sat) {
                value = l.b.sign_extend(l.b.truncate(value));
            }
            let bits = match second {
                Add => l.b.add(value, c),
                Min => l.b.minimum(less(ty.is_signed()), value, c),
                Max => l.b.maximum(less(ty.is_signed()), value, c),
                Inc | Dec | And | Or | Xor | Exch | Cas => return Err(i.unexpected(second.word())),
            };
            l.b.truncate(bits)
        }
        (None, Some(parts), true) => {
            let low = l.b.truncate(value);
            let c = source(l, i, 3, ty)?;
            merge(l, parts, low, l.b.truncate(c))
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

/// `c` with one part replaced: the upper half by the value's upper half, other parts by the value's low bits.
fn merge(l: &mut Lowering<'_, '_>, parts: &Parts, value: Value, c: Value) -> Value {
    let mask = ((1 << parts.bits) - 1) << parts.position();
    let upper = parts.bits == 16 && parts.position() == 16;
    let placed = if upper { value } else { l.b.shl(value, parts.position()) };
    l.b.or(l.b.and_const(placed, mask), l.b.and_const(c, !mask))
}

/// `vmad`: `a * b + c`, with one operand negated or with one added, then shifted right and saturated.
pub fn mad(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let (a_type, b_type) = (i.ty(1)?, i.ty(2)?);
    let negated = |index| matches!(l.operand(i, index), Operand::Video(selected) if selected.negated);
    let minus_product = negated(1) != negated(2);
    let minus_c = negated(3);
    if minus_product && minus_c {
        return Err(Diagnostic::invalid("only one of the product and `c` may be negated", i.span));
    }
    let signed = a_type.is_signed() || b_type.is_signed() || minus_product || minus_c;

    // The factors and `c` count as signed words, whatever their types.
    let a = factor(l, i, 1, a_type)?;
    let b = factor(l, i, 2, b_type)?;
    let product = l.b.mul(a, b);
    let c = match l.operand(i, 3) {
        Operand::Video(selected) => l.register(selected.register)?,
        constant => l.source(constant, ScalarType::U32)?,
    };
    let c = l.b.sign_extend(c);
    let mut sum = match (minus_product, minus_c) {
        (true, _) => l.b.sub(c, product),
        (_, true) => l.b.sub(product, c),
        _ => l.b.add(product, c),
    };
    if i.modifiers.has(Word::Po) {
        sum = l.b.add_const(sum, 1);
    }
    let scale = match i.modifiers.scale() {
        Some(Scale::Shr7) => 7,
        Some(Scale::Shr15) => 15,
        None => 0,
    };
    if scale > 0 {
        sum = if signed { l.b.sar(sum, scale) } else { l.b.shr(sum, scale) };
    }
    if i.modifiers.has(Word::Sat) {
        let (low, high) = range(32, signed);
        sum = clamp_signed(l, sum, low, high);
    }
    l.set(i, 0, ScalarType::U32, l.b.truncate(sum))
}

/// A factor of `vmad`, as a signed word on 64 bits.
fn factor(l: &mut Lowering<'_, '_>, i: &Instruction, index: usize, ty: ScalarType) -> Result<Value> {
    let value = source(l, i, index, ty)?;
    Ok(l.b.sign_extend(l.b.truncate(value)))
}
