//! `atom` and `red` (PTX sections 9.7.12.5 and 9.7.12.6).

use crate::decode::program::{Instruction, Operand};
use crate::diagnostic::{Diagnostic, Result};
use crate::ir::{Access, Atomic, AtomicOp, HalfFormat, HalfOp, MemoryOrder, Scope, Value};
use crate::isa::modifiers::Operator;
use crate::isa::types::ScalarType;
use crate::lower::integer::packed::{join, part};
use crate::lower::lowering::{Lowering, carrier};
use crate::lower::memory;
use crate::lower::memory::atomics128;
use crate::lower::memory_order::order;

/// `atom`, with its first operand as the result, or `red`.
pub(crate) fn atomic(l: &mut Lowering<'_, '_>, i: &Instruction, destination: Option<usize>) -> Result {
    let ty = i.ty(0)?;
    let first = destination.map_or(0, |index| index + 1);
    let op = operation(i, ty)?;
    let place = memory::place(l, i, first)?;
    if place.read_only {
        return Err(Diagnostic::invalid("an atomic on memory that is only read", i.span));
    }
    if ty == ScalarType::B128 {
        return atomics128::atomic(l, i, (place.space, place.address));
    }
    let bytes = u8::try_from(ty.bytes()).unwrap_or(4);
    let order = order(i, MemoryOrder::Relaxed(Scope::Device));
    let access = Access { space: place.space, bytes, order, read_only: false };
    if let Operand::Vector(elements) = l.operand(i, first + 1) {
        return vector(l, i, destination, elements, op, access, place.address);
    }
    let mut operand = l.int(i, first + 1, ty)?;
    let mut compare = None;
    if op == AtomicOp::CompareExchange {
        compare = Some(operand);
        operand = l.int(i, first + 2, ty)?;
    }
    let result = destination.map(|_| l.b.value(carrier(ty)));
    l.b.atomic(Atomic { result, op, access, address: place.address, operand, compare });
    match (result, destination) {
        (Some(result), Some(index)) => l.set(i, index, ty, result),
        _ => Ok(()),
    }
}

/// A vector atomic: each element by itself, since PTX promises no more. 16-bit elements go in pairs, which are aligned
/// to words.
fn vector(
    l: &mut Lowering<'_, '_>,
    i: &Instruction,
    destination: Option<usize>,
    elements: &[Operand],
    op: AtomicOp,
    access: Access,
    address: Value,
) -> Result {
    let ty = i.ty(0)?;
    let operands = elements.iter().map(|element| l.source(element, ty)).collect::<Result<Vec<_>>>()?;
    let in_pairs = access.bytes == 2;
    let mut old = Vec::new();
    for (operands, place) in operands.chunks(if in_pairs { 2 } else { 1 }).zip(0u64..) {
        let operand = match operands {
            [single] => *single,
            pair => join(l, pair, 16),
        };
        let address = l.b.add_const(address, 4 * place);
        let result = destination.map(|_| l.b.value(carrier(ty)));
        l.b.atomic(Atomic { result, op, access: Access { bytes: 4, ..access }, address, operand, compare: None });
        match result {
            Some(word) if in_pairs => old.extend([0, 16].map(|position| part(l, word, position, 16, false))),
            result => old.extend(result),
        }
    }
    match destination.map(|index| l.operand(i, index)) {
        Some(Operand::Vector(into)) => into.iter().zip(old).try_for_each(|(into, old)| l.assign(into, ty, old)),
        _ => Ok(()),
    }
}

/// The operation of an atomic or reduction, from the modifiers.
pub fn operation(i: &Instruction, ty: ScalarType) -> Result<AtomicOp> {
    let half = match ty {
        ScalarType::F16 | ScalarType::F16x2 => Some(HalfFormat::F16),
        ScalarType::Bf16 | ScalarType::Bf16x2 => Some(HalfFormat::Bf16),
        _ => None,
    };
    Ok(match (i.required(i.modifiers.operator())?, half) {
        (Operator::Add, Some(half)) => AtomicOp::Half(half, HalfOp::Add),
        (Operator::Min, Some(half)) => AtomicOp::Half(half, HalfOp::Min),
        (Operator::Max, Some(half)) => AtomicOp::Half(half, HalfOp::Max),
        (Operator::Add, None) if ty.is_float() => AtomicOp::FAdd,
        (Operator::Add, None) => AtomicOp::Add,
        (Operator::Inc, _) => AtomicOp::Increment,
        (Operator::Dec, _) => AtomicOp::Decrement,
        (Operator::Min, None) if ty.is_signed() => AtomicOp::MinSigned,
        (Operator::Min, None) => AtomicOp::MinUnsigned,
        (Operator::Max, None) if ty.is_signed() => AtomicOp::MaxSigned,
        (Operator::Max, None) => AtomicOp::MaxUnsigned,
        (Operator::And, _) => AtomicOp::And,
        (Operator::Or, _) => AtomicOp::Or,
        (Operator::Xor, _) => AtomicOp::Xor,
        (Operator::Exch, _) => AtomicOp::Exchange,
        (Operator::Cas, _) => AtomicOp::CompareExchange,
    })
}
