//! Extended-precision arithmetic (PTX section 9.7.2): sums and differences that hand a carry or borrow on in `CC.CF`.
//!
//! The flag is a variable of the function, as registers are. PTX promises it in straight-line code only; here it also
//! survives branches and barriers, and each call has its own.

use super::integer::product;
use super::{Lowering, Result};
use crate::decode::program::Instruction;
use crate::ir::{Binary, Value};

/// `add.cc`
pub fn add(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    pair(l, i, SUM, Start::Afresh)
}

/// `addc`
pub fn addc(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    pair(l, i, SUM, Start::FromFlag)
}

/// `sub.cc`
pub fn sub(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    pair(l, i, DIFFERENCE, Start::Afresh)
}

/// `subc`
pub fn subc(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    pair(l, i, DIFFERENCE, Start::FromFlag)
}

/// `mad.cc`: the flag is that of the addition.
pub fn mad(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    multiply(l, i, Start::Afresh)
}

/// `madc`
pub fn madc(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    multiply(l, i, Start::FromFlag)
}

/// Whether the flag takes part in the operation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Start {
    Afresh,
    FromFlag,
}

/// A step of an addition or subtraction.
#[derive(Clone, Copy)]
struct Step {
    op: Binary,
    /// Whether the step left its range, from the first operand and the result.
    wrapped: fn(&mut Lowering<'_, '_>, Value, Value) -> Value,
}

const SUM: Step = Step { op: Binary::Add, wrapped: |l, first, result| l.b.ult(result, first) };
const DIFFERENCE: Step = Step { op: Binary::Sub, wrapped: |l, first, result| l.b.ult(first, result) };

fn pair(l: &mut Lowering<'_, '_>, i: &Instruction, step: Step, start: Start) -> Result {
    let ty = i.modifiers.ty(0);
    let a = l.int(i, 1, ty)?;
    let b = l.int(i, 2, ty)?;
    chain(l, i, step, start, a, b)
}

fn multiply(l: &mut Lowering<'_, '_>, i: &Instruction, start: Start) -> Result {
    let (ty, value) = product(l, i)?;
    let c = l.int(i, 3, ty)?;
    chain(l, i, SUM, start, value, c)
}

/// Combines two values and, if asked for, the flag; writes the result, and the flag anew under `.cc`.
fn chain(l: &mut Lowering<'_, '_>, i: &Instruction, step: Step, start: Start, a: Value, b: Value) -> Result {
    let flag = l.carry();
    let mut result = l.b.binary(step.op, a, b);
    let mut out = (step.wrapped)(l, a, result);
    if start == Start::FromFlag {
        let carry = l.b.get(flag);
        let ty = l.b.type_of(result);
        let carry = l.b.bool_to(ty, carry);
        let before = result;
        result = l.b.binary(step.op, before, carry);
        // At most one of the two steps wraps.
        let again = (step.wrapped)(l, before, result);
        out = l.b.or(out, again);
    }
    if i.modifiers.has("cc") {
        l.b.set(flag, out);
    }
    l.set(i, 0, i.modifiers.ty(0), result)
}
