//! `atom` and `red` (PTX sections 9.7.12.5 and 9.7.12.6).

use super::{Lowering, Result, memory};
use crate::decode::program::Instruction;
use crate::decode::types::ScalarType;
use crate::diagnostic::Diagnostic;
use crate::ir::{Access, Atomic, AtomicOp, Order, Scope};

/// `atom`: gives the old content.
pub fn atom(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    atomic(l, i, Some(0))
}

/// `red`: gives nothing.
pub fn red(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    atomic(l, i, None)
}

fn atomic(l: &mut Lowering<'_, '_>, i: &Instruction, destination: Option<usize>) -> Result {
    let ty = i.modifiers.ty(0);
    let first = destination.map_or(0, |index| index + 1);
    let op = operation(i, ty)?;
    let place = memory::place(l, i, first)?;
    if place.read_only {
        return Err(Diagnostic::invalid("an atomic on memory that is only read", i.span));
    }
    let mut operand = l.int(i, first + 1, ty)?;
    let mut compare = None;
    if op == AtomicOp::CompareExchange {
        compare = Some(operand);
        operand = l.int(i, first + 2, ty)?;
    }
    let bytes = u8::try_from(ty.bytes()).unwrap_or(4);
    let order = memory::order(i, Order::Relaxed(Scope::Device));
    let access = Access { space: place.space, bytes, order, read_only: false };
    let result = destination.map(|_| l.b.function.value(super::carrier(ty)));
    l.b.atomic(Atomic { result, op, access, address: place.address, operand, compare });
    match (result, destination) {
        (Some(result), Some(index)) => l.set(i, index, ty, result),
        _ => Ok(()),
    }
}

/// What the modifiers of an atomic or reduction say.
pub fn operation(i: &Instruction, ty: ScalarType) -> Result<AtomicOp> {
    let words = ["add", "inc", "dec", "min", "max", "and", "or", "xor", "exch", "cas"];
    Ok(match i.modifiers.one_of(&words) {
        Some("add") if ty.is_float() => AtomicOp::FAdd,
        Some("add") => AtomicOp::Add,
        Some("inc") => AtomicOp::Increment,
        Some("dec") => AtomicOp::Decrement,
        Some("min") if ty.is_signed() => AtomicOp::MinSigned,
        Some("min") => AtomicOp::MinUnsigned,
        Some("max") if ty.is_signed() => AtomicOp::MaxSigned,
        Some("max") => AtomicOp::MaxUnsigned,
        Some("and") => AtomicOp::And,
        Some("or") => AtomicOp::Or,
        Some("xor") => AtomicOp::Xor,
        Some("exch") => AtomicOp::Exchange,
        Some("cas") => AtomicOp::CompareExchange,
        _ => return Err(Diagnostic::internal("an atomic without an operation", i.span)),
    })
}
