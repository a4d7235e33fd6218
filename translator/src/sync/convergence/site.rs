//! Warp operations that wait for the members of a mask, and the blocks around them.

use crate::cfg::{BasicBlock, BlockId, Cfg, End, Stop};
use crate::ir::{Block, Function, Stmt, Type, Value, Warp, WarpOp};

/// The warp operation that a statement is, with its mask of members.
pub(super) fn site(stmt: &Stmt) -> Option<(&Warp, Value)> {
    match stmt {
        Stmt::Warp(warp) => warp.members.map(|members| (warp, members)),
        _ => None,
    }
}

/// Whether one of the statements, guarded ones included, waits for members.
pub(super) fn has_site(block: &Block) -> bool {
    block.iter().any(|stmt| match stmt {
        Stmt::If { then, otherwise, .. } => has_site(then) || has_site(otherwise),
        stmt => site(stmt).is_some(),
    })
}

/// The kind of an operation: the instruction and its qualifiers. Operations of one kind synchronize with each other.
pub(super) fn kind(function: &Function, warp: &Warp) -> (WarpOp, Vec<Type>) {
    let mut types = Vec::new();
    let op = warp.op.map(|value| {
        types.push(function.type_of(value));
        Value(0)
    });
    (op, types)
}

/// Appends a block to the graph.
pub(super) fn push(cfg: &mut Cfg, body: Block, stop: Option<Stop>, end: End) -> BlockId {
    cfg.blocks.push(BasicBlock { body, stop, end })
}
