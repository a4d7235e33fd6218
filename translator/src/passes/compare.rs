//! Compares on 32 bits what was extended from there: two values extended alike, or one and a constant in their range.
//!
//! Most devices compare 64 bits in several steps, and Mesa's lavapipe up to 22.3 gets the order of a sign-extended value
//! and a constant wrong.

use super::rewrite::{Rewritten, rewrite};
use crate::ir::{Builder, Compare, Function, Op, Stmt, Type, Unary, Value, mask};

/// Narrows comparisons; see the module.
pub fn narrow_comparisons(function: &mut Function) {
    // What defines the values so far, in terms of values that are still there.
    let mut definition = vec![None; function.values.len()];
    rewrite(function, |b, stmt| match *stmt {
        Stmt::Let(_, Op::Compare(op, left, right)) => {
            let of = |value: Value| definition.get(value.0 as usize).copied().flatten();
            narrow(b, op, of(left), of(right)).map_or(Rewritten::Kept, Rewritten::By)
        }
        Stmt::Let(result, op) => {
            definition[result.0 as usize] = Some(op); // the verifier has checked the number
            Rewritten::Kept
        }
        _ => Rewritten::Kept,
    });
}

/// The comparison on 32 bits, if the operands allow it.
fn narrow(b: &mut Builder<'_>, op: Compare, left: Option<Op>, right: Option<Op>) -> Option<Value> {
    let (left, right) = (left?, right?);
    let extension = [left, right].into_iter().find_map(|op| match op {
        Op::Unary(extension @ (Unary::SignExtend | Unary::ZeroExtend), _) => Some(extension),
        _ => None,
    })?;
    let mut word = |op| match op {
        Op::Unary(other, inner) if other == extension => Some(inner),
        Op::Const(bits) => {
            // In range is what the extension of its low half gives back.
            let low = mask(Type::I32) & bits;
            let sign = if extension == Unary::SignExtend { 1 << 31 } else { 0 };
            ((low ^ sign).wrapping_sub(sign) == bits).then(|| b.constant(Type::I32, low))
        }
        _ => None,
    };
    let (left, right) = (word(left)?, word(right)?);
    // Neither extension changes the unsigned order; zeros make the signed one of 64 bits unsigned.
    let op = match (op, extension) {
        (Compare::LessSigned, Unary::ZeroExtend) => Compare::LessUnsigned,
        (Compare::LessEqualSigned, Unary::ZeroExtend) => Compare::LessEqualUnsigned,
        _ => op,
    };
    Some(b.compare(op, left, right))
}
