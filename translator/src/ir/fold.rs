//! Simplifies one operation from the definitions of its operands.
//!
//! Gives a constant or a value that exists already; it never asks for a new operation, reads no variables and does no
//! float arithmetic (the device's own rounding decides there). Floats are converted to integers by truncation, which rounds nothing.

use super::semantics::{binary, compare, mask, unary};
use super::{Binary, Compare, Function, Op, Unary, Value};

/// The result of simplifying an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Folded {
    /// These bits in the result's type.
    Const(u64),
    /// An operand, or an operand of an operand: visible wherever the operation is.
    Value(Value),
}

/// The constant or value that `op` simplifies to, if there is one. `definition` gives the operation that defines a
/// value, where that operation is known.
pub fn fold(function: &Function, op: &Op, definition: impl Fn(Value) -> Option<Op>) -> Option<Folded> {
    let constant = |value| match definition(value) {
        Some(Op::Const(bits)) => Some(bits),
        _ => None,
    };
    match *op {
        Op::Unary(op, a) => fold_unary(function, op, a, definition(a)),
        Op::Binary(op, a, b) => {
            if op == Binary::And
                && constant(a).is_none()
                && let Some(kept) = constant(b)
                && let Some(folded) = fold_mask(a, kept, possible_bits(function, a, &definition, MASKED_OPERATIONS))
            {
                return Some(folded);
            }
            fold_binary(function, op, (a, constant(a)), (b, constant(b)))
        }
        Op::Compare(op, a, b) => {
            let result = match (constant(a), constant(b)) {
                (Some(x), Some(y)) => compare(op, function.type_of(a), x, y)?,
                // Nothing is below zero.
                (_, Some(0)) if op == Compare::LessUnsigned => false,
                (Some(0), _) if op == Compare::LessEqualUnsigned => true,
                _ if a != b => return None,
                _ => match op {
                    Compare::Equal | Compare::LessEqualUnsigned | Compare::LessEqualSigned => true,
                    Compare::NotEqual | Compare::LessUnsigned | Compare::LessSigned => false,
                    Compare::FLess => false,
                    Compare::FEqual | Compare::FNotEqual | Compare::FLessEqual => return None,
                },
            };
            Some(Folded::Const(result.into()))
        }
        Op::Select(condition, a, b) => match constant(condition) {
            Some(0) => Some(Folded::Value(b)),
            Some(_) => Some(Folded::Value(a)),
            None if a == b || constant(a).is_some_and(|bits| constant(b) == Some(bits)) => Some(Folded::Value(a)),
            None => None,
        },
        _ => None,
    }
}

/// Whether [`fold`] asks for the definition of an operand that is the result of `op`.
pub fn looks_through(op: &Op) -> bool {
    use Binary::{And, Or, Shl, Shr, Xor};
    matches!(op, Op::Const(_) | Op::Unary(..) | Op::Binary(And | Or | Xor | Shl | Shr, ..) | Op::Select(..))
}

/// The result of a mask that leaves all the bits which a value can have, or none of them. Producers mask narrow
/// integers, and consumers often mask them again.
fn fold_mask(value: Value, kept: u64, possible: u64) -> Option<Folded> {
    match possible {
        _ if possible & kept == 0 => Some(Folded::Const(0)),
        _ if possible & !kept == 0 => Some(Folded::Value(value)),
        _ => None,
    }
}

/// The number of operations that [`possible_bits`] goes back.
const MASKED_OPERATIONS: u32 = 4;

/// The bits that may be set in a value, as some operations before tell.
fn possible_bits(function: &Function, value: Value, definition: &dyn Fn(Value) -> Option<Op>, operations: u32) -> u64 {
    let all = mask(function.type_of(value));
    let Some(earlier) = operations.checked_sub(1) else { return all };
    let of = |operand| possible_bits(function, operand, definition, earlier);
    let amount = |operand| match definition(operand) {
        Some(Op::Const(amount)) => u32::try_from(amount).ok(),
        _ => None,
    };
    let bits = match definition(value) {
        Some(Op::Const(bits)) => Some(bits),
        Some(Op::Unary(Unary::ZeroExtend | Unary::Truncate, a)) => Some(of(a)),
        Some(Op::Binary(Binary::And, a, b)) => Some(of(a) & of(b)),
        Some(Op::Binary(Binary::Or | Binary::Xor, a, b)) => Some(of(a) | of(b)),
        Some(Op::Binary(Binary::Shl, a, b)) => amount(b).and_then(|amount| of(a).checked_shl(amount)),
        Some(Op::Binary(Binary::Shr, a, b)) => amount(b).and_then(|amount| of(a).checked_shr(amount)),
        Some(Op::Select(_, a, b)) => Some(of(a) | of(b)),
        _ => None,
    };
    bits.map_or(all, |bits| bits & all)
}

fn fold_unary(function: &Function, op: Unary, a: Value, definition: Option<Op>) -> Option<Folded> {
    let from = function.type_of(a);
    let to = match op {
        Unary::ZeroExtend | Unary::SignExtend => super::Type::I64,
        Unary::Truncate | Unary::LowWord | Unary::HighWord => super::Type::I32,
        Unary::Bitcast(ty) => ty,
        _ => from,
    };
    match (op, definition?) {
        (_, Op::Const(bits)) => unary(op, from, to, bits).map(Folded::Const),
        (Unary::Truncate, Op::Unary(Unary::ZeroExtend | Unary::SignExtend, inner))
        | (Unary::Not, Op::Unary(Unary::Not, inner))
        | (Unary::Neg, Op::Unary(Unary::Neg, inner)) => Some(Folded::Value(inner)),
        (Unary::Bitcast(ty), Op::Unary(Unary::Bitcast(_), inner)) if function.type_of(inner) == ty => {
            Some(Folded::Value(inner))
        }
        _ => None,
    }
}

type Operand = (Value, Option<u64>);

fn fold_binary(function: &Function, op: Binary, (a, x): Operand, (b, y): Operand) -> Option<Folded> {
    let ty = function.type_of(a);
    if let (Some(x), Some(y)) = (x, y) {
        return binary(op, ty, x, y).map(Folded::Const);
    }
    use Binary::{Add, And, Mul, MulHighUnsigned, Or, Xor};
    let commutes = matches!(op, Add | Mul | MulHighUnsigned | And | Or | Xor);
    match (x, y) {
        (_, Some(known)) => with_constant(op, a, known, mask(ty)),
        (Some(known), None) if commutes => with_constant(op, b, known, mask(ty)),
        (Some(0), None) if matches!(op, Binary::Shl | Binary::Shr | Binary::Sar) => Some(Folded::Value(a)),
        (None, None) if a == b => match op {
            Binary::And | Binary::Or => Some(Folded::Value(a)),
            Binary::Sub | Binary::Xor => Some(Folded::Const(0)),
            _ => None,
        },
        _ => None,
    }
}

/// `other op known`, where `ones` has all bits of the type.
fn with_constant(op: Binary, other: Value, known: u64, ones: u64) -> Option<Folded> {
    match (op, known) {
        (Binary::Add | Binary::Sub | Binary::Or | Binary::Xor | Binary::Shl | Binary::Shr | Binary::Sar, 0)
        | (Binary::Mul | Binary::DivUnsigned, 1) => Some(Folded::Value(other)),
        (Binary::And | Binary::Mul | Binary::MulHighUnsigned | Binary::MulHighSigned, 0)
        | (Binary::MulHighUnsigned, 1) => Some(Folded::Const(0)),
        (Binary::And, _) if known == ones => Some(Folded::Value(other)),
        (Binary::Or, _) if known == ones => Some(Folded::Const(ones)),
        _ => None,
    }
}
