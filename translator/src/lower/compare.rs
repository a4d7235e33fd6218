//! Comparison and selection (PTX section 9.7.6).

use super::float::{float_of, flush_if, format, is_pair, operand};
use super::lowering::{Lowering, carrier, float_type};
use crate::decode::program::{Instruction, Operand};
use crate::diagnostic::{Diagnostic, Result};
use crate::ir::{Compare, Value};
use crate::isa::modifiers::{Boolean, Comparison};
use crate::isa::types::ScalarType;
use crate::isa::word::Word;
use crate::lower::integer::packed::{join, part};
use crate::soft::{self, Format, SINGLE};

/// `setp`: `p` gets the comparison and `q` its negation. For packed types they get the comparisons of the lower and the upper halves. Each
/// is combined with `c` if there is one.
pub fn setp(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let ty = i.ty(0)?;
    let Operand::Pair(pair) = l.operand(i, 0) else {
        return Err(Diagnostic::internal("`setp` without its destinations", i.span));
    };
    let [first, second] = pair.as_ref();
    if matches!(ty, ScalarType::F16 | ScalarType::Bf16) && !matches!(second, Operand::Sink) {
        return Err(Diagnostic::invalid(format!("`setp` on {ty} has one destination"), i.span));
    }
    let [p, q] = if is_pair(ty) {
        compare_halves(l, i, ty)?
    } else {
        let result = compare(l, i, ty)?;
        [result, l.b.not(result)]
    };
    let p = combine(l, i, p, 3)?;
    let q = combine(l, i, q, 3)?;
    l.assign(first, ScalarType::Pred, p)?;
    l.assign(second, ScalarType::Pred, q)
}

/// `set`: all ones or 1.0 where the comparison holds, else zero; for packed types in each half.
pub fn set(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let (ty, from) = (i.ty(0)?, i.ty(1)?);
    let value = if is_pair(from) {
        let [low, high] = compare_halves(l, i, from)?;
        let lanes = [chosen(l, i, low)?, chosen(l, i, high)?];
        join(l, &lanes, 16)
    } else {
        let result = compare(l, i, from)?;
        chosen(l, i, result)?
    };
    l.set(i, 0, ty, value)
}

/// The value that `set` writes for a comparison.
fn chosen(l: &mut Lowering<'_, '_>, i: &Instruction, holds: Value) -> Result<Value> {
    let ty = i.ty(0)?;
    let holds = combine(l, i, holds, 3)?;
    let yes = if ty.is_float() || is_pair(ty) { format(ty)?.one() } else { u64::MAX };
    let yes = l.b.constant(carrier(ty), yes);
    let no = l.b.constant(carrier(ty), 0);
    Ok(l.b.select(holds, yes, no))
}

fn combine(l: &mut Lowering<'_, '_>, i: &Instruction, value: Value, index: usize) -> Result<Value> {
    let Some(op) = i.modifiers.boolean() else { return Ok(value) };
    let c = l.int(i, index, ScalarType::Pred)?;
    Ok(match op {
        Boolean::And => l.b.and(value, c),
        Boolean::Or => l.b.or(value, c),
        Boolean::Xor => l.b.xor(value, c),
    })
}

/// Compares the lower and the upper halves of the two operands after the destination.
fn compare_halves(l: &mut Lowering<'_, '_>, i: &Instruction, ty: ScalarType) -> Result<[Value; 2]> {
    let comparison = i.required(i.modifiers.comparison())?;
    let operands = [l.int(i, 1, ty)?, l.int(i, 2, ty)?];
    let format = format(ty)?;
    let [low, high] = [0, 16].map(|position| {
        let [a, b] = operands.map(|operand| {
            let bits = part(l, operand, position, 16, false);
            float_of(l, format, flush_if(l, i.modifiers.has(Word::Ftz), format, bits))
        });
        floats(l, i, comparison, a, b)
    });
    Ok([low?, high?])
}

/// Compares the two operands after the destination by the instruction's operator.
fn compare(l: &mut Lowering<'_, '_>, i: &Instruction, ty: ScalarType) -> Result<Value> {
    let comparison = i.required(i.modifiers.comparison())?;
    if !ty.is_float() {
        let a = l.signed(i, 1, ty)?;
        let b = l.signed(i, 2, ty)?;
        return integers(l, i, comparison, ty.is_signed(), a, b);
    }
    let flush = i.modifiers.has(Word::Ftz);
    let a = operand(l, i, 1, ty, flush)?;
    let b = operand(l, i, 2, ty, flush)?;
    floats(l, i, comparison, a, b)
}

fn integers(
    l: &Lowering<'_, '_>,
    i: &Instruction,
    comparison: Comparison,
    signed: bool,
    a: Value,
    b: Value,
) -> Result<Value> {
    use Comparison::{Eq, Equ, Ge, Geu, Gt, Gtu, Hi, Hs, Le, Leu, Lo, Ls, Lt, Ltu, Nan, Ne, Neu, Num};
    let (less, less_equal) = if signed {
        (Compare::LessSigned, Compare::LessEqualSigned)
    } else {
        (Compare::LessUnsigned, Compare::LessEqualUnsigned)
    };
    Ok(match comparison {
        Eq => l.b.eq(a, b),
        Ne => l.b.ne(a, b),
        Lt => l.b.compare(less, a, b),
        Le => l.b.compare(less_equal, a, b),
        Gt => l.b.compare(less, b, a),
        Ge => l.b.compare(less_equal, b, a),
        Lo => l.b.ult(a, b),
        Ls => l.b.ule(a, b),
        Hi => l.b.ult(b, a),
        Hs => l.b.ule(b, a),
        Equ | Neu | Ltu | Leu | Gtu | Geu | Num | Nan => return Err(i.unexpected(comparison.word())),
    })
}

fn floats(l: &mut Lowering<'_, '_>, i: &Instruction, comparison: Comparison, a: Value, b: Value) -> Result<Value> {
    use Comparison::{Eq, Equ, Ge, Geu, Gt, Gtu, Hi, Hs, Le, Leu, Lo, Ls, Lt, Ltu, Nan, Ne, Neu, Num};
    // Unordered operators are the negations of the opposite ordered ones.
    Ok(match comparison {
        Eq => l.b.feq(a, b),
        Lt => l.b.flt(a, b),
        Le => l.b.fle(a, b),
        Gt => l.b.flt(b, a),
        Ge => l.b.fle(b, a),
        Neu => l.b.fne(a, b),
        Num => ordered(l, a, b),
        Ne => l.b.or(l.b.flt(a, b), l.b.flt(b, a)),
        Equ => {
            let less = l.b.flt(a, b);
            let greater = l.b.flt(b, a);
            l.b.not(l.b.or(less, greater))
        }
        Ltu => l.b.not(l.b.fle(b, a)),
        Leu => l.b.not(l.b.flt(b, a)),
        Gtu => l.b.not(l.b.fle(a, b)),
        Geu => l.b.not(l.b.flt(a, b)),
        Nan => l.b.not(ordered(l, a, b)),
        Lo | Ls | Hi | Hs => return Err(i.unexpected(comparison.word())),
    })
}

fn ordered(l: &Lowering<'_, '_>, a: Value, b: Value) -> Value {
    let [a, b] = [a, b].map(|float| {
        let format = Format::of(l.b.type_of(float));
        soft::is_nan(&l.b, format, l.b.bits(float))
    });
    l.b.not(l.b.or(a, b))
}

pub fn selp(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let ty = i.ty(0)?;
    let a = l.int(i, 1, ty)?;
    let b = l.int(i, 2, ty)?;
    let c = l.int(i, 3, ScalarType::Pred)?;
    l.set(i, 0, ty, l.b.select(c, a, b))
}

/// `slct`: `c >= 0 ? a : b`; negative zero counts as zero, NaN selects `b`.
pub fn slct(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let ty = i.ty(0)?;
    let by = i.ty(1)?;
    let a = l.int(i, 1, ty)?;
    let b = l.int(i, 2, ty)?;
    let c = l.int(i, 3, by)?;
    let condition = if by.is_float() {
        let c = l.b.bitcast(flush_if(l, i.modifiers.has(Word::Ftz), SINGLE, c), float_type(by));
        l.b.fle(l.b.f32(0.0), c)
    } else {
        l.b.sle(l.b.constant_like(c, 0), c)
    };
    l.set(i, 0, ty, l.b.select(condition, a, b))
}
