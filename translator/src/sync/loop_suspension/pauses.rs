//! Pauses in long loops, for kernels that are rebuilt as a loop of the whole workgroup.
//!
//! A thread without rounds stops at the end of a round, like one in a loop that waits. So the code after the loop may
//! run for other threads first: operations of warps wait for their members, barriers for their threads. Where the
//! workgroup's threads synchronize, the block is then suspended: [`resolve_barriers`](super::super::resolve_barriers).

use rustc_hash::FxHashSet;

use super::super::barriers::{RoundsLeft, push};
use super::loops::Loop;
use crate::cfg::{Barrier, BasicBlock, BlockId, Cfg, End, Kind, Stop};
use crate::ir::{Builder, Function, Stmt, any_stmt, last_mark};

/// Lets threads without rounds stop on the ways back to the starts of loops that are long: `is_long` tells which, by
/// positions in the list. `None` if there is no such loop, or if a thread may come late from there to what the threads
/// of a warp that happen to be somewhere do together.
pub fn pause_in_loops(
    function: &mut Function,
    cfg: &mut Cfg,
    loops: &[Loop],
    is_long: impl Fn(usize) -> bool,
) -> Option<RoundsLeft> {
    let long = loops.iter().enumerate().filter(|(position, _)| is_long(*position));
    let mut ways: Vec<(BlockId, BlockId)> = long.flat_map(|(_, one)| one.back.iter().copied()).collect();
    ways.sort_unstable();
    ways.dedup();
    if ways.is_empty() || may_come_apart(cfg, &ways) {
        return None;
    }
    let rounds = RoundsLeft::new(function);
    for (from, to) in ways {
        let Some(block) = cfg.blocks.at(from) else { continue };
        // Those that stop there anyway are suspended there too.
        if matches!(block.stop, Some(Stop::Yield { .. })) {
            continue;
        }
        let mark = last_mark(&block.body).flatten();
        let pause =
            cfg.blocks.push(BasicBlock { body: vec![Stmt::At(mark)], stop: Some(Stop::Pause), end: End::Goto(to) });
        let b = Builder::new(function);
        b.at(mark);
        rounds.count_own(&b);
        let condition = rounds.are_used_up(&b);
        let body = b.into_block();
        let middle = push(cfg, body, End::Branch { condition, then: pause, otherwise: to });
        if let Some(block) = cfg.blocks.at_mut(from) {
            block.end = block.end.redirected(|next| if next == to { middle } else { next });
        }
    }
    Some(rounds)
}

/// Whether one of these ways leads to an operation of those lanes of a warp that happen to be there, without a barrier
/// at which all threads of the block meet just before. Behind an operation that waits for its members, these lanes
/// would be apart from the others.
fn may_come_apart(cfg: &Cfg, ways: &[(BlockId, BlockId)]) -> bool {
    // `activemask` too: hardware might have more lanes there, and later operations take what it gives as their mask.
    let is_of_present = |stmt: &Stmt| matches!(stmt, Stmt::Warp(warp) if warp.members.is_none());
    let waits = |stmt: &Stmt| matches!(stmt, Stmt::Warp(warp) if warp.members.is_some());
    let before = cfg.predecessors();
    let mut todo: Vec<BlockId> = before
        .indices()
        .filter(|block| cfg.blocks.at(*block).is_some_and(|block| any_stmt(&block.body, &is_of_present)))
        .collect();
    let mut seen: FxHashSet<BlockId> = todo.iter().copied().collect();
    while let Some(block) = todo.pop() {
        if cfg.blocks.at(block).is_some_and(|block| any_stmt(&block.body, &waits)) {
            return true;
        }
        for from in before.at(block).into_iter().flatten().copied() {
            if ways.binary_search(&(from, block)).is_ok() {
                return true;
            }
            let meets = cfg.blocks.at(from).and_then(BasicBlock::barrier).is_some_and(is_of_block);
            if !meets && seen.insert(from) {
                todo.push(from);
            }
        }
    }
    false
}

/// Whether all threads of the block wait for each other at a barrier.
fn is_of_block(barrier: &Barrier) -> bool {
    matches!(barrier.kind, Kind::Sync | Kind::Red(_)) && barrier.count.is_none()
}
