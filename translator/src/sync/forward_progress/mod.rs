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
mod rounds;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::cfg::loops::{components, marked, ways_back};
use crate::cfg::{BasicBlock, BlockId, Cfg, End, Stop, dependence};
use crate::index::Index;
use crate::ir::{Function, Stmt};
use counters::Search;
use facts::{Kernel, Loop, reads_others, unread_results};
use rounds::Rounds;

/// Puts a stop on the back edge of each loop that waits for other threads. Returns whether a loop may wait for threads
/// of other blocks, that is, for a change of global memory. Waiting for a lock doesn't count, since the lock's holder
/// will run on.
pub fn yield_in_loops(function: &Function, cfg: &mut Cfg) -> bool {
    let unread = unread_results(function, cfg);
    let reading: Vec<bool> = cfg.blocks.iter().map(|block| reads_others(&block.body, &unread)).collect();
    if !reading.contains(&true) {
        return false;
    }
    let reads = |block: BlockId| reading.get(block.position()) == Some(&true);
    let mut among_blocks = false;
    let kernel = Kernel::new(function, cfg, unread);
    let predecessors = cfg.predecessors();
    let mut found: FxHashMap<(BlockId, BlockId), bool> = FxHashMap::default();
    // Parts of the graph: their blocks, and the ignored edges, which are back edges of enclosing loops.
    let mut todo = vec![(cfg.blocks.indices().collect::<Vec<_>>(), FxHashSet::default())];
    while let Some((part, cut)) = todo.pop() {
        for component in components(cfg, &part, &cut) {
            let inside = marked(cfg, &component);
            if !component.iter().any(|block| reads(*block)) {
                continue;
            }
            let back = ways_back(cfg, &predecessors, &component, &inside);
            if back.is_empty() {
                // Nothing leads to the loop, so no thread waits there.
                continue;
            }
            let whole = Loop::new(&kernel, &component, &inside);
            if whole.is_left_by(&|stmt| whole.learns(stmt)) {
                let global = whole.waits_for_global(&mut among_blocks);
                for edge in &back {
                    *found.entry(*edge).or_default() |= global;
                }
            }
            let rounds = Rounds { predecessors: &predecessors, component: &component, inside: &inside };
            for (edge, inside) in rounds.that_read(&back, reads) {
                let inner = whole.within(&inside);
                if inner.is_left_by_others_alone() {
                    *found.entry(edge).or_default() |= inner.waits_for_global(&mut among_blocks);
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
    /// Whether an exit of the loop depends on results of statements that learn from other threads, unless the thread
    /// brings the exit about by itself.
    fn is_left_by(&self, learns: &dyn Fn(&Stmt) -> bool) -> bool {
        let mut found = false;
        self.look_at_exits(learns, |exit| {
            found = exit == Exit::Others;
            !found
        });
        found
    }

    /// Whether the loop, which waits, waits for a change of global memory. `among_blocks` is set if threads of other
    /// blocks may have to make the change.
    fn waits_for_global(&self, among_blocks: &mut bool) -> bool {
        let waits_for = |learns: &dyn Fn(&Stmt) -> bool| self.learns_only_by(learns) || self.is_left_by(learns);
        let for_blocks = waits_for(&|stmt| self.learns_of_blocks(stmt));
        *among_blocks |= for_blocks;
        for_blocks || waits_for(&|stmt| self.learns_of_global(stmt))
    }

    /// Whether all exits of the loop depend on other threads, but for exits that are taken at once or never.
    fn is_left_by_others_alone(&self) -> bool {
        let (mut others, mut own) = (false, false);
        self.look_at_exits(&|stmt| self.learns(stmt), |exit| {
            others |= exit == Exit::Others;
            own = exit == Exit::Own;
            !own
        });
        others && !own
    }

    /// Looks at the loop's exits in order, as long as `look` wants more.
    fn look_at_exits(&self, learns: &dyn Fn(&Stmt) -> bool, look: impl FnMut(Exit) -> bool) {
        let Kernel { function, cfg, joins, sources, .. } = self.kernel;
        let others = dependence::on_others(function, cfg, joins, &self.part, sources, learns);
        let search = Search::new(self, &others);
        let exit = |number: BlockId| {
            let End::Branch { condition, then, otherwise } = cfg.blocks.at(number)?.end else { return None };
            let (stays_then, stays_otherwise) = (self.part.has(then), self.part.has(otherwise));
            if stays_then && stays_otherwise {
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
        let _ = self.part.blocks().filter_map(exit).all(look);
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
