//! The values that a statement uses and defines. Lists nested in a statement are not entered.

use crate::index::IndexVec;
use crate::ir::{Block, Op, Stmt, Value, Warp};

/// The operation with every operand replaced by the result of `map`.
pub fn map_op_operands(op: Op, mut map: impl FnMut(Value) -> Value) -> Op {
    match op {
        Op::Const(_) | Op::Get(_) | Op::Builtin(_) => op,
        Op::Unary(op, a) => Op::Unary(op, map(a)),
        Op::Binary(op, a, b) => Op::Binary(op, map(a), map(b)),
        Op::Compare(op, a, b) => Op::Compare(op, map(a), map(b)),
        Op::Select(condition, a, b) => Op::Select(map(condition), map(a), map(b)),
        Op::Pair(low, high) => Op::Pair(map(low), map(high)),
        Op::Fma(a, b, c) => Op::Fma(map(a), map(b), map(c)),
        Op::DotFma(a, b, c) => Op::DotFma(map(a), map(b), map(c)),
        Op::Matrix(step, a, b, c) => Op::Matrix(step, map(a), map(b), map(c)),
        Op::Half(halves, arithmetic) => Op::Half(halves, arithmetic.map(map)),
        Op::Rounded(rounding, arithmetic) => Op::Rounded(rounding, arithmetic.map(map)),
        Op::Flushed(rounding, arithmetic) => Op::Flushed(rounding, arithmetic.map(map)),
        Op::Sample(sample) => Op::Sample(sample.map(map)),
        Op::Call(helper, operands) => Op::Call(helper, operands.map(|operand| operand.map(&mut map))),
    }
}

/// Replaces every value that the statement uses by the result of `map`.
pub fn map_operands(stmt: &mut Stmt, mut map: impl FnMut(Value) -> Value) {
    match stmt {
        Stmt::Let(_, op) => *op = map_op_operands(*op, map),
        Stmt::Set(_, value) | Stmt::Return(value) => *value = map(*value),
        Stmt::Load { address, .. } => *address = map(*address),
        Stmt::Store { values, address, .. } => {
            *address = map(*address);
            values.iter_mut().for_each(|value| *value = map(*value));
        }
        Stmt::Atomic(atomic) => {
            atomic.address = map(atomic.address);
            atomic.operand = map(atomic.operand);
            atomic.compare = atomic.compare.map(map);
        }
        Stmt::Arrive(thread) => *thread = map(*thread),
        Stmt::Report(_, details) => details.iter_mut().for_each(|value| *value = map(*value)),
        Stmt::Warp(warp) => {
            warp.op = warp.op.map(&mut map);
            warp.members = warp.members.map(map);
        }
        Stmt::Subgroup(_, op) => *op = op.map(map),
        Stmt::If { condition, .. } => *condition = map(*condition),
        Stmt::At(_) | Stmt::Barrier(_) | Stmt::Fence(_) | Stmt::Loop(_) | Stmt::Break => {}
    }
}

/// Visits the operands of an operation.
pub fn for_each_op_operand(op: Op, mut visit: impl FnMut(Value)) {
    map_op_operands(op, |value| {
        visit(value);
        value
    });
}

impl Op {
    /// Whether `holds` is true of one of the operands.
    pub fn any_operand(self, mut holds: impl FnMut(Value) -> bool) -> bool {
        let mut any = false;
        for_each_op_operand(self, |value| any |= holds(value));
        any
    }
}

/// Calls `visit` with every value that the statement uses.
pub fn for_each_operand(stmt: &Stmt, mut visit: impl FnMut(Value)) {
    let mut visited = |value| {
        visit(value);
        value
    };
    // One list of what statements use serves both; the copy is thrown away. Nested lists are not to be copied.
    match stmt {
        Stmt::Let(_, op) => _ = map_op_operands(*op, visited),
        Stmt::If { condition, .. } => _ = visited(*condition),
        Stmt::Loop(_) => {}
        _ => map_operands(&mut stmt.clone(), visited),
    }
}

/// Calls `visit` for every use of a value in a list, at any depth and in order.
pub fn for_each_use(block: &Block, visit: &mut impl FnMut(Value)) {
    for stmt in block {
        for_each_operand(stmt, &mut *visit);
        if let Stmt::If { .. } | Stmt::Loop(_) = stmt {
            stmt.lists().for_each(|list| for_each_use(list, visit));
        }
    }
}

/// The number of uses of each value in a list, for so many values.
pub fn uses(block: &Block, values: usize) -> IndexVec<Value, u32> {
    let mut uses = IndexVec::filled(0, values);
    for_each_use(block, &mut |value| uses[value] += 1);
    uses
}

/// Calls `visit` with every value that the statement defines.
pub fn for_each_result(stmt: &Stmt, mut visit: impl FnMut(Value)) {
    match stmt {
        Stmt::Let(value, _) => visit(*value),
        Stmt::Load { results, .. } => results.iter().copied().for_each(visit),
        Stmt::Atomic(atomic) => atomic.result.into_iter().for_each(visit),
        Stmt::Warp(Warp { results, .. }) | Stmt::Subgroup(results, _) => results.iter().copied().for_each(visit),
        Stmt::At(_)
        | Stmt::Set(..)
        | Stmt::Store { .. }
        | Stmt::Barrier(_)
        | Stmt::Report(..)
        | Stmt::Arrive(_)
        | Stmt::Fence(_)
        | Stmt::If { .. }
        | Stmt::Loop(_)
        | Stmt::Break
        | Stmt::Return(_) => {}
    }
}
