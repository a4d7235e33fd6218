//! Narrows operations to 32 bits whose results are only needed there: a 64-bit sum, product or shift whose result is
//! truncated becomes the same operation on truncated operands. PTX forms addresses of shared memory in 64-bit
//! registers, of which the access takes the lower half. The 64-bit form stays for its other uses, else
//! [`remove_dead`](super::remove_dead) drops it.
//!
//! Variables of which only the lower half matters, such as an address of shared memory that a loop advances, become variables of 32 bits.
//! NVIDIA's compiler unrolls loops with such a variable of 64 bits whole, however long they are.
//!
//! A signed comparison of a sign-extended number with a constant or another such number is one of 32 bits too. That is
//! more than a shortcut: llvmpipe 22.3 gets `cvt.s64.s32` followed by `setp.lt.s64` with a constant wrong.

use crate::index::IndexVec;
use crate::ir::{
    Binary, Builder, Compare, Function, Op, Rewritten, Stmt, Type, Unary, Value, Var, for_each_operand, for_each_stmt,
    rewrite,
};

/// The number of operations that are repeated on 32 bits before the rest is truncated.
pub(super) const STEPS: u32 = 6;

/// Narrows truncated operations; see the module.
pub fn narrow_truncated(function: &mut Function) {
    let halves = lower_halves(function);
    for var in halves.indices().filter(|&var| halves[var]) {
        function.vars[var] = Type::I32;
    }
    // What defines the values so far, in terms of values that are still there.
    let mut definition = IndexVec::filled(None, function.values.len());
    rewrite(function, |b, stmt| match *stmt {
        Stmt::Let(_, Op::Get(var)) if halves[var] => {
            let whole = b.op(Type::I64, Op::Unary(Unary::ZeroExtend, b.get(var)));
            Rewritten::By(whole)
        }
        Stmt::Set(var, value) if halves[var] => {
            b.set(var, narrow(b, &definition, value, STEPS));
            Rewritten::Replaced
        }
        Stmt::Let(_, Op::Unary(Unary::Truncate, value)) => Rewritten::By(narrow(b, &definition, value, STEPS)),
        Stmt::Let(_, Op::Compare(op, left, right)) => match narrow_comparison(b, &definition, op, left, right) {
            Some(narrow) => Rewritten::By(narrow),
            None => Rewritten::Kept,
        },
        Stmt::Let(result, op @ Op::Select(condition, then, otherwise)) => match b.known(condition) {
            // A comparison that has just become known.
            Some(bits) => Rewritten::By(if bits == 0 { otherwise } else { then }),
            None => {
                definition[result] = Some(op);
                Rewritten::Kept
            }
        },
        Stmt::Let(result, op) => {
            definition[result] = Some(op); // the verifier has checked the number
            Rewritten::Kept
        }
        _ => Rewritten::Kept,
    });
}

/// For each variable, whether it has 64 bits of which only the lower half matters.
fn lower_halves(function: &Function) -> IndexVec<Var, bool> {
    let (definition, mut contents) = (function.definitions(), function.sets());
    // Values whose upper half matters.
    let mut whole = Vec::new();
    for_each_stmt(&function.body, |stmt| match *stmt {
        Stmt::Let(_, op) if halves_suffice(op, &definition) => {}
        Stmt::Set(..) => {}
        _ => for_each_operand(stmt, |operand| whole.push(operand)),
    });
    let is_candidate = |&ty: &Type| ty == Type::I64;
    let mut halves: IndexVec<Var, bool> = function.vars.iter().map(is_candidate).collect::<Vec<_>>().into();
    let mut seen = IndexVec::filled(false, function.values.len());
    while let Some(value) = whole.pop() {
        if function.type_of(value) != Type::I64 || std::mem::replace(&mut seen[value], true) {
            continue;
        }
        match definition[value] {
            Some(Op::Get(var)) => {
                halves[var] = false;
                whole.append(&mut contents[var]);
            }
            Some(op @ Op::Binary(_, a, b)) if halves_suffice(op, &definition) => whole.extend([a, b]),
            _ => {}
        }
    }
    halves
}

/// Whether the lower half of an operation's result, which [`narrow`] computes, needs only the lower halves of its operands.
fn halves_suffice(op: Op, definition: &IndexVec<Value, Option<Op>>) -> bool {
    match op {
        Op::Get(_) | Op::Unary(Unary::Truncate, _) => true,
        Op::Binary(op, _, amount) => match op {
            Binary::Add | Binary::Sub | Binary::Mul | Binary::And | Binary::Or | Binary::Xor => true,
            Binary::Shl => matches!(definition.at(amount), Some(Some(Op::Const(0..32)))),
            _ => false,
        },
        _ => false,
    }
}

/// The lower half of a value, computed from the lower halves of its operands.
pub(super) fn narrow(b: &Builder<'_>, definition: &IndexVec<Value, Option<Op>>, value: Value, steps: u32) -> Value {
    let Some(steps) = steps.checked_sub(1) else { return b.truncate(value) };
    match definition.of(value) {
        Some(Op::Const(bits)) => b.constant(Type::I32, bits),
        Some(Op::Unary(Unary::ZeroExtend | Unary::SignExtend, inner)) => inner,
        Some(Op::Binary(
            op @ (Binary::Add | Binary::Sub | Binary::Mul | Binary::And | Binary::Or | Binary::Xor),
            left,
            right,
        )) => b.binary(op, narrow(b, definition, left, steps), narrow(b, definition, right, steps)),
        Some(Op::Binary(Binary::Shl, inner, amount))
            if matches!(definition.at(amount), Some(Some(Op::Const(0..32)))) =>
        {
            b.shl_by(narrow(b, definition, inner, steps), amount)
        }
        _ => b.truncate(value),
    }
}

/// The comparison on 32 bits, if each side is a 32-bit number or a constant.
fn narrow_comparison(
    b: &Builder<'_>,
    definition: &IndexVec<Value, Option<Op>>,
    op: Compare,
    left: Value,
    right: Value,
) -> Option<Value> {
    let or_equal = match op {
        Compare::LessSigned => false,
        Compare::LessEqualSigned => true,
        _ => return None,
    };
    let defined = |value: Value| definition.of(value);
    let in_range = |bits: u64| i32::try_from(bits.cast_signed()).ok().map(i32::cast_unsigned);
    let below_range = |bits: u64| bits.cast_signed() < 0;
    let (left, right) = match (defined(left)?, defined(right)?) {
        (Op::Unary(Unary::SignExtend, left), Op::Unary(Unary::SignExtend, right)) => (left, right),
        (Op::Unary(Unary::SignExtend, left), Op::Const(bits)) if b.type_of(right) == Type::I64 => {
            match in_range(bits) {
                Some(bits) => (left, b.i32(bits)),
                None => return Some(b.bool(!below_range(bits))),
            }
        }
        (Op::Const(bits), Op::Unary(Unary::SignExtend, right)) => match in_range(bits) {
            Some(bits) => (b.i32(bits), right),
            None => return Some(b.bool(below_range(bits))),
        },
        _ => return None,
    };
    Some(if or_equal { b.sle(left, right) } else { b.slt(left, right) })
}
