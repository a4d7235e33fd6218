//! Keeps fused multiply-adds in their places where a compiler could still move them.
//!
//! [`sink_fused`](super::sink_fused) moves a dot product to where its result is needed, as far as the statements tell. A
//! driver's compiler can move it further: out of a loop after which it is needed, or into the arm of a condition if it knows
//! that the other one is never taken. There the result passes through a shuffle from the invocation's own lane: operations of a
//! subgroup aren't moved into conditions.
//!
//! The place of a dot product is final if all paths from there need its result. That some do through each arm of a condition is
//! not enough: where both arms go on in one place that needs the result, a compiler can move the sum there. In a loop, a path must
//! need it before it leaves the loop, or in the next round. That must hold whether a compiler follows what is known on each path or not.

use rustc_hash::FxHashMap;

use super::dependents::Dependents;
use super::needs::{Compiler, unsettled};
use crate::ir::{Block, Builtin, Function, Op, Stmt, SubgroupOp, Type, Unary, Value, map_operands};

/// Has every dot product pass through a shuffle that some path doesn't need.
pub fn pin_fused(function: &mut Function) {
    let dependents = Dependents::new(function);
    if dependents.is_empty() {
        return;
    }
    let mut movable = unsettled(function, &dependents, Compiler::Pathless);
    movable.extend(unsettled(function, &dependents, Compiler::Folding));
    if movable.is_empty() {
        return;
    }
    let is_pinned = |value| dependents.value(value).is_some_and(|item| movable.contains(&item));
    let mut body = std::mem::take(&mut function.body);
    pin(function, &mut body, &is_pinned, &mut FxHashMap::default());
    function.body = body;
}

/// Has these values pass through a shuffle, and renames their uses.
fn pin(
    function: &mut Function,
    block: &mut Block,
    is_pinned: &impl Fn(Value) -> bool,
    renamed: &mut FxHashMap<Value, Value>,
) {
    for mut stmt in std::mem::take(block) {
        map_operands(&mut stmt, |value| renamed.get(&value).copied().unwrap_or(value));
        stmt.lists_mut().for_each(|list| pin(function, list, is_pinned, renamed));
        let pinned = match stmt {
            Stmt::Let(value, _) if is_pinned(value) => Some(value),
            _ => None,
        };
        block.push(stmt);
        if let Some(value) = pinned {
            let lane = function.value(Type::I32);
            block.push(Stmt::Let(lane, Op::Builtin(Builtin::SubgroupLane)));
            let bits = function.value(Type::I32);
            block.push(Stmt::Let(bits, Op::Unary(Unary::Bitcast(Type::I32), value)));
            let same = function.value(Type::I32);
            block.push(Stmt::Subgroup(vec![same], SubgroupOp::Shuffle(bits, lane)));
            let result = function.value(Type::F32);
            block.push(Stmt::Let(result, Op::Unary(Unary::Bitcast(Type::F32), same)));
            renamed.insert(value, result);
        }
    }
}
