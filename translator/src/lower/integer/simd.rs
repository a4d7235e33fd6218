//! SIMD video instructions (PTX section 9.7.17.2): arithmetic on the two half-words or four bytes of words, with
//! selectors, saturation, and a merge into another word or the sum with it.

use crate::decode::program::{Instruction, Operand, Selected};
use crate::diagnostic::{Diagnostic, Result};
use crate::ir::{Compare, Type, Value};
use crate::isa::types::ScalarType;
use crate::isa::word::Word;
use crate::lower::integer::packed::{join, part};
use crate::lower::integer::video::{SignedComparison, range, signed_comparison};
use crate::lower::lowering::Lowering;

/// `vavrg2`, `vavrg4`: half the sum, halves rounded away from zero.
pub fn average(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    three_types(l, i, |l, a, b| {
        let sum = l.b.add(a, b);
        // Add one to sums that aren't negative.
        let sign = l.b.sar(sum, 31);
        let rounded = l.b.add(l.b.add_const(sum, 1), sign);
        l.b.sar(rounded, 1)
    })
}

/// `vabsdiff2`, `vabsdiff4`
pub fn abs_diff(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    if let Some(words) = Bytes::of(i)? {
        return abs_diff_of_bytes(l, i, &words);
    }
    three_types(l, i, |l, a, b| {
        let up = l.b.sub(b, a);
        let down = l.b.sub(a, b);
        l.b.maximum(Compare::LessSigned, up, down)
    })
}

/// The operands of an instruction on all four bytes of two words of the same type, each with the byte in its own place. The result is not
/// clamped to signed bytes.
struct Bytes<'i> {
    d: &'i Selected,
    words: [&'i Selected; 2],
    c: &'i Selected,
    are_signed: bool,
}

impl<'i> Bytes<'i> {
    /// `None` for other instructions.
    fn of(i: &'i Instruction) -> Result<Option<Self>> {
        let [Operand::Video(d), Operand::Video(a), Operand::Video(b), Operand::Video(c)] = i.operands.as_slice() else {
            return Err(Diagnostic::internal("a video instruction with other operands", i.span));
        };
        let is_in_order =
            |of: &Selected, numbers: [u32; 4]| of.parts.as_ref().is_none_or(|parts| parts.numbers == numbers);
        let are_bytes = i.form.operands.first().is_some_and(|word| word.starts_with("d.b"));
        let are_signed = i.ty(1)?.is_signed();
        let is_plain = are_bytes
            && are_signed == i.ty(2)?.is_signed()
            && !(i.modifiers.has(Word::Sat) && i.ty(0)?.is_signed())
            && is_in_order(d, [0, 1, 2, 3])
            && is_in_order(a, [0, 1, 2, 3])
            && is_in_order(b, [4, 5, 6, 7]);
        Ok(is_plain.then_some(Self { d, words: [a, b], c, are_signed }))
    }
}

/// `vabsdiff4` of all bytes at once, and their sum as a dot product.
fn abs_diff_of_bytes(l: &mut Lowering<'_, '_>, i: &Instruction, bytes: &Bytes<'_>) -> Result {
    const HIGHEST: u64 = 0x8080_8080;
    const ONES: u64 = 0x0101_0101;
    let mut words = [l.register(bytes.words[0].register)?, l.register(bytes.words[1].register)?];
    if bytes.are_signed {
        // The same differences, of unsigned bytes.
        words = words.map(|word| l.b.xor_const(word, HIGHEST));
    }
    let [a, b] = words;
    // Differences of the lower seven bits don't borrow from the next byte; the highest bits follow.
    let lower = l.b.sub(l.b.or_const(a, HIGHEST), l.b.and_const(b, HIGHEST ^ u64::from(u32::MAX)));
    let differ = l.b.xor(a, b);
    let agree = l.b.not(differ);
    let difference = l.b.xor(lower, l.b.and_const(agree, HIGHEST));
    // A byte is less if its highest bit says so, or if these are equal and that of the difference is set.
    let b_alone = l.b.and(differ, b);
    let negative = l.b.and(agree, difference);
    let is_less = l.b.shr(l.b.and_const(l.b.or(b_alone, negative), HIGHEST), 7);
    let magnitudes = l.b.add(l.b.xor(difference, l.b.mul_const(is_less, 0xff)), is_less);
    let result = if i.modifiers.has(Word::Add) {
        let sum = l.b.dot_unsigned_const(magnitudes, ONES);
        let c = l.register(bytes.c.register)?;
        l.b.add(c, sum)
    } else {
        magnitudes
    };
    l.assign(&Operand::Reg(bytes.d.register), ScalarType::U32, result)
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

/// An operation on bytes or half-words, each operand of its own type.
pub(crate) fn three_types(
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
    let to_high = l.b.sub(l.b.i32(span), from_low);
    let above = l.b.sar(to_high, 31);
    let not_below = l.b.not(below);
    let clamped = l.b.and_const(l.b.and(l.b.or(from_low, above), not_below), span.into());
    l.b.add_const(clamped, low)
}
