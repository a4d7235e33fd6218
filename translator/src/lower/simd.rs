//! SIMD video instructions (PTX section 9.7.17.2): arithmetic on the two half-words or four bytes of words, with
//! selectors, saturation, and a merge into another word or the sum with it.

use super::integer::{maximum, minimum};
use super::lowering::{Lowering, Result};
use super::packed::{join, part};
use super::video::{SignedComparison, range, signed_comparison};
use crate::decode::program::{Instruction, Operand, Selected};
use crate::diagnostic::Diagnostic;
use crate::ir::{Compare, Type, Value};
use crate::isa::types::ScalarType;
use crate::isa::word::Word;

/// `vadd2`, `vadd4`
pub fn add(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    three_types(l, i, |l, a, b| l.b.add(a, b))
}

/// `vsub2`, `vsub4`
pub fn sub(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    three_types(l, i, |l, a, b| l.b.sub(a, b))
}

/// `vavrg2`, `vavrg4`: half the sum, halves rounded away from zero.
pub fn average(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    three_types(l, i, |l, a, b| {
        let sum = l.b.add(a, b);
        // Add one to sums that aren't negative.
        let sign = l.b.sar(sum, 31);
        let up = l.b.add_const(sum, 1);
        let rounded = l.b.add(up, sign);
        l.b.sar(rounded, 1)
    })
}

/// `vabsdiff2`, `vabsdiff4`
pub fn abs_diff(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    three_types(l, i, |l, a, b| {
        let up = l.b.sub(b, a);
        let down = l.b.sub(a, b);
        maximum(l, Compare::LessSigned, up, down)
    })
}

/// `vmin2`, `vmin4`
pub fn min(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    three_types(l, i, |l, a, b| minimum(l, Compare::LessSigned, a, b))
}

/// `vmax2`, `vmax4`
pub fn max(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    three_types(l, i, |l, a, b| maximum(l, Compare::LessSigned, a, b))
}

/// `vset2`, `vset4`: 1 where the comparison holds, else 0.
pub fn set(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let types = [ScalarType::U32, i.ty(0)?, i.ty(1)?];
    let comparison = signed_comparison(i)?;
    simd(l, i, types, |l, a, b| {
        let holds = match comparison {
            SignedComparison::Eq => l.b.eq(a, b),
            SignedComparison::Ne => l.b.ne(a, b),
            SignedComparison::Lt => l.b.slt(a, b),
            SignedComparison::Le => l.b.sle(a, b),
            SignedComparison::Gt => l.b.slt(b, a),
            SignedComparison::Ge => l.b.sle(b, a),
        };
        l.b.bool_to(Type::I32, holds)
    })
}

fn three_types(
    l: &mut Lowering<'_, '_>,
    i: &Instruction,
    operation: fn(&mut Lowering<'_, '_>, Value, Value) -> Value,
) -> Result {
    simd(l, i, [i.ty(0)?, i.ty(1)?, i.ty(2)?], operation)
}

/// The common part of all these instructions. Operations get parts extended to 32 bits, so that nothing overflows and
/// all comparisons are signed.
fn simd(
    l: &mut Lowering<'_, '_>,
    i: &Instruction,
    [ty, a_type, b_type]: [ScalarType; 3],
    operation: impl Fn(&mut Lowering<'_, '_>, Value, Value) -> Value,
) -> Result {
    let bits = if i.form.operands.first().is_some_and(|word| word.starts_with("d.h")) { 16 } else { 8 };
    let lanes = 32 / bits;
    let [Operand::Video(d), Operand::Video(a), Operand::Video(b), Operand::Video(c)] = i.operands.as_slice() else {
        return Err(Diagnostic::internal("a video instruction with other operands", i.span));
    };
    // The parts of both words are numbered in sequence. Without selectors, `a` uses the parts of its own word, and so
    // does `b`.
    let own = |first: u32| (first..first + lanes).collect::<Vec<_>>();
    let numbers = |of: &Selected, default| of.parts.as_ref().map_or(default, |parts| parts.numbers.clone());
    let words = [l.register(a.register)?, l.register(b.register)?];
    let element = |l: &mut Lowering<'_, '_>, number: u32, ty: ScalarType| {
        let [a, b] = words;
        part(l, if number < lanes { a } else { b }, number % lanes * bits, bits, ty.is_signed())
    };
    let pairs = numbers(a, own(0)).into_iter().zip(numbers(b, own(lanes)));
    let results: Vec<Value> = pairs
        .map(|(a, b)| {
            let a = element(l, a, a_type);
            let b = element(l, b, b_type);
            let value = operation(l, a, b);
            if i.modifiers.has(Word::Sat) {
                let (low, _) = range(bits, ty.is_signed());
                clamp(l, value, bits, low)
            } else {
                value
            }
        })
        .collect();

    let mask = numbers(d, own(0));
    let c = l.register(c.register)?;
    let result = if i.modifiers.has(Word::Add) {
        (0..).zip(results).filter(|(lane, _)| mask.contains(lane)).fold(c, |sum, (_, value)| l.b.add(sum, value))
    } else {
        let merged: Vec<Value> = (0..)
            .zip(results)
            .map(|(lane, value)| if mask.contains(&lane) { value } else { part(l, c, lane * bits, bits, false) })
            .collect();
        join(l, &merged, bits)
    };
    l.assign(&Operand::Reg(d.register), ScalarType::U32, result)
}

/// Clamps to the range of `bits` bits that begins at `low`. By bit operations, since NVIDIA's driver drops the comparisons and selections
/// for this in kernels that divide 64-bit numbers.
fn clamp(l: &mut Lowering<'_, '_>, value: Value, bits: u32, low: i64) -> Value {
    let span = (1 << bits) - 1;
    let low = low.cast_unsigned();
    let from_low = l.b.sub_const(value, low);
    let below = l.b.sar(from_low, 31);
    let limit = l.b.i32(span);
    let to_high = l.b.sub(limit, from_low);
    let above = l.b.sar(to_high, 31);
    let not_below = l.b.not(below);
    let clamped = l.b.or(from_low, above);
    let clamped = l.b.and(clamped, not_below);
    let clamped = l.b.and_const(clamped, span.into());
    l.b.add_const(clamped, low)
}
