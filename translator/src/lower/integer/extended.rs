//! Extended-precision arithmetic (PTX section 9.7.2): sums and differences that pass on a carry in `CC.CF`.
//!
//! The flag is a variable of the function, as registers are, and each call has its own. PTX promises the flag only in straight-line code;
//! here, as on NVIDIA hardware, it also survives branches. It is the carry of the adder: a difference is a sum with the complement plus
//! one, so after a subtraction the flag is set if nothing was borrowed. Only code that mixes sums and differences can observe that.

use crate::decode::program::Instruction;
use crate::diagnostic::Result;
use crate::ir::Value;
use crate::isa::word::Word;
use crate::lower::integer::product;
use crate::lower::lowering::Lowering;

/// The carry into the adder.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    Clear,
    One,
    FromFlag,
}

/// A sum with a carry: `add.cc` or `addc`.
pub(crate) fn sum(l: &mut Lowering<'_, '_>, i: &Instruction, start: Start) -> Result {
    let ty = i.ty(0)?;
    let a = l.int(i, 1, ty)?;
    let b = l.int(i, 2, ty)?;
    chain(l, i, start, a, b)
}

/// A difference with a borrow: `sub.cc` or `subc`.
pub(crate) fn difference(l: &mut Lowering<'_, '_>, i: &Instruction, start: Start) -> Result {
    let ty = i.ty(0)?;
    let a = l.int(i, 1, ty)?;
    let b = l.int(i, 2, ty)?;
    chain(l, i, start, a, l.b.not(b))
}

/// A product and a sum with a carry: `mad.cc` or `madc`.
pub(crate) fn multiply(l: &mut Lowering<'_, '_>, i: &Instruction, start: Start) -> Result {
    let (ty, value) = product(l, i)?;
    let c = l.int(i, 3, ty)?;
    chain(l, i, start, value, c)
}

/// Adds two values and the carry in; writes the result, and with `.cc` the flag.
fn chain(l: &mut Lowering<'_, '_>, i: &Instruction, start: Start, a: Value, b: Value) -> Result {
    let flag = l.carry();
    let mut result = l.b.add(a, b);
    let mut out = l.b.ult(result, a);
    let carry = match start {
        Start::Clear => None,
        Start::One => Some(l.b.bool(true)),
        Start::FromFlag => Some(l.b.get(flag)),
    };
    if let Some(carry) = carry {
        let carry = l.b.bool_to(l.b.type_of(result), carry);
        let before = result;
        result = l.b.add(before, carry);
        // At most one of the two additions wraps.
        let again = l.b.ult(result, before);
        out = l.b.or(out, again);
    }
    if i.modifiers.has(Word::Cc) {
        l.b.set(flag, out);
    }
    l.set(i, 0, i.ty(0)?, result)
}
