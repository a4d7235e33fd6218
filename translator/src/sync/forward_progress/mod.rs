//! Finds loops in which a thread waits for another, and puts a stop into each of their iterations.
//!
//! PTX guarantees forward progress for every thread, so such a loop ends. A device that runs threads in lockstep, or one subgroup until it
//! ends, guarantees none: the thread that holds a lock may wait for those that spin on it. So each iteration of the loop gets a stop, where
//! other threads run on.
//!
//! A loop waits if its exit depends on a value that it reads by atomics or by volatile, relaxed or acquire loads. Loops around a
//! compare-and-swap with a value that the loop has read do not wait: the compare-and-swap fails only if another thread has made progress.
//! Nor do loops with atomics that are left by a counter, whether it is their own or in memory: see [`counters`].

mod counters;
mod facts;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::cfg::loops::{components, marked, ways_back};
use crate::cfg::{BasicBlock, BlockId, Cfg, End, Stop, dependence};
use crate::index::Index;
use crate::ir::{Function, Stmt};
use counters::Search;
use facts::{Kernel, Loop, assignments, operations, reads_others, unread_results};

/// Puts a stop on the back edge of each loop that waits for other threads. Returns whether a loop may wait for threads of other blocks,
/// that is, for what it reads in global memory. Waiting for a lock doesn't count, since the lock's holder will run on.
pub fn yield_in_loops(function: &Function, cfg: &mut Cfg) -> bool {
    let unread = unread_results(function, cfg);
    let reading: Vec<bool> = cfg.blocks.iter().map(|block| reads_others(&block.body, &unread)).collect();
    if !reading.contains(&true) {
        return false;
    }
    let reads = |block: BlockId| reading.get(block.position()) == Some(&true);
    let mut among_blocks = false;
    let all = vec![true; cfg.blocks.len()];
    let kernel = Kernel { function, values: operations(cfg), assigned: assignments(cfg, &all), unread };
    let mut found: FxHashMap<(BlockId, BlockId), bool> = FxHashMap::default();
    // Parts of the graph: their blocks, and the ignored edges, which are back edges of enclosing loops.
    let mut todo = vec![(cfg.blocks.indices().collect::<Vec<_>>(), FxHashSet::default())];
    while let Some((part, cut)) = todo.pop() {
        for component in components(cfg, &part, &cut) {
            let inside = marked(cfg, &component);
            if !component.iter().any(|block| reads(*block)) {
                continue;
            }
            let back = ways_back(cfg, &component, &inside);
            let loops = Loop::new(&kernel, cfg, &inside);
            if loops.is_left_by(cfg, &inside, &|stmt| loops.learns(stmt)) {
                let global = loops.is_left_by(cfg, &inside, &|stmt| loops.learns_of_global(stmt));
                for edge in &back {
                    *found.entry(*edge).or_default() |= global;
                }
                among_blocks |= loops.is_left_by(cfg, &inside, &|stmt| loops.learns_of_blocks(stmt));
            }
            for (edge, inside) in ways_round(cfg, &component, &back, reads) {
                let inner = Loop::new(&kernel, cfg, &inside);
                if inner.is_left_by_others_alone(cfg, &inside) {
                    let global = inner.is_left_by(cfg, &inside, &|stmt| inner.learns_of_global(stmt));
                    *found.entry(edge).or_default() |= global;
                    among_blocks |= inner.is_left_by(cfg, &inside, &|stmt| inner.learns_of_blocks(stmt));
                }
            }
            let cut = cut.iter().copied().chain(back).collect();
            todo.push((component, cut));
        }
    }
    let mut found: Vec<((BlockId, BlockId), bool)> = found.into_iter().collect();
    found.sort_unstable();
    for ((from, to), global) in found {
        stop_between(cfg, from, to, global);
    }
    among_blocks
}

/// Of a loop with several back edges, what goes round by each of them without the others: a loop that waits may begin where the loop around
/// it does. Those are shown that read what others write, the smallest first, and of very many the smallest.
fn ways_round(
    cfg: &Cfg,
    component: &[BlockId],
    back: &[(BlockId, BlockId)],
    reads: impl Fn(BlockId) -> bool,
) -> Vec<((BlockId, BlockId), Vec<bool>)> {
    const MOST: usize = 100;
    if back.len() < 2 {
        return Vec::new();
    }
    let mut before: FxHashMap<BlockId, Vec<BlockId>> = FxHashMap::default();
    for from in component {
        for to in cfg.blocks.at(*from).into_iter().flat_map(|block| block.end.successors()) {
            before.entry(to).or_default().push(*from);
        }
    }
    let known: FxHashSet<BlockId> = component.iter().copied().collect();
    let mut all = Vec::new();
    for &(last, first) in back {
        let mut round = FxHashSet::from_iter([first, last]);
        let mut todo = vec![last];
        while let Some(block) = todo.pop().filter(|block| *block != first) {
            let new = before.get(&block).into_iter().flatten().filter(|from| known.contains(from));
            todo.extend(new.copied().filter(|from| round.insert(*from)));
        }
        if round.len() < component.len() && round.iter().any(|block| reads(*block)) {
            all.push(((last, first), round));
        }
    }
    all.sort_by_key(|(edge, round)| (round.len(), *edge));
    let flags = |round: &FxHashSet<BlockId>| cfg.blocks.indices().map(|block| round.contains(&block)).collect();
    all.iter().take(MOST).map(|(edge, round)| (*edge, flags(round))).collect()
}

/// Why a loop is left at one of its branches.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Exit {
    /// Other threads have done something.
    Others,
    /// The thread has got so far.
    Own,
    /// In the first iteration, or never.
    Fixed,
}

impl Loop<'_> {
    /// Whether an exit of the loop depends on what statements learn from other threads, which the thread doesn't bring about by itself.
    fn is_left_by(&self, cfg: &Cfg, inside: &[bool], learns: &dyn Fn(&Stmt) -> bool) -> bool {
        self.exits(cfg, inside, learns).contains(&Exit::Others)
    }

    /// Whether all exits of the loop do, but for those that are taken at once or never.
    fn is_left_by_others_alone(&self, cfg: &Cfg, inside: &[bool]) -> bool {
        let exits = self.exits(cfg, inside, &|stmt| self.learns(stmt));
        exits.contains(&Exit::Others) && !exits.contains(&Exit::Own)
    }

    fn exits(&self, cfg: &Cfg, inside: &[bool], learns: &dyn Fn(&Stmt) -> bool) -> Vec<Exit> {
        let others = dependence::on_others(self.kernel.function, cfg, inside, learns);
        let search = Search::new(self, &others);
        let stays = |block: BlockId| inside.get(block.position()) == Some(&true);
        let exit = |(number, block): (BlockId, &BasicBlock)| {
            let End::Branch { condition, then, otherwise } = block.end else { return None };
            let (stays_then, stays_otherwise) = (stays(then), stays(otherwise));
            if !stays(number) || (stays_then && stays_otherwise) {
                return None;
            }
            let counted = || stays_then != stays_otherwise && search.ends_by_counter(condition, !stays_then);
            Some(if others.executes(number) || (others.decides(condition) && !counted()) {
                Exit::Others
            } else if search.is_constant(condition) {
                Exit::Fixed
            } else {
                Exit::Own
            })
        };
        cfg.blocks.enumerated().filter_map(exit).collect()
    }
}

/// Puts a stop on an edge.
fn stop_between(cfg: &mut Cfg, from: BlockId, to: BlockId, global: bool) {
    let middle = BlockId::new(cfg.blocks.len());
    let Some(block) = cfg.blocks.at_mut(from) else { return };
    let redirected = |next| if next == to { middle } else { next };
    block.end = block.end.redirected(redirected);
    let mark = block.body.iter().rev().find(|stmt| matches!(stmt, Stmt::At(_))).cloned();
    cfg.blocks.push(BasicBlock {
        body: mark.into_iter().collect(),
        stop: Some(Stop::Yield { global }),
        end: End::Goto(to),
    });
}
