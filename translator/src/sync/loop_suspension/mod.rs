//! Suspends threads in long loops, for drivers that end the loops of an invocation after some rounds
//! ([`Quirks::loop_budget`](ptx2spv_target::Quirks)).
//!
//! A thread counts down the rounds that the host allows for a dispatch. When none is left, at the end of a round, the thread saves its live
//! variables and its local memory in the launch's [workspace], and ends. The host dispatches the grid again as long as any thread has done
//! so. Threads then go on where they were: at the head of that loop.
//!
//! A thread that has ended a dispatch takes part in no barrier and in no operation of its warp. So in a kernel with such operations, threads
//! that do the same rounds are suspended together, at the same place. Where threads do rounds by themselves, those that have none left go to where
//! all meet again. There they ask each other, and all are suspended if one is ([`meetings`]). Threads don't count that have left for the
//! kernel's end without meeting others again.
//!
//! The lag of a thread's count behind the driver's, which counts the rounds of all threads that run in lockstep
//! together, depends on this too. Where all do the same rounds, the counts are equal. Otherwise each round of the
//! driver is a round of some thread. So a thread has two counts.

mod loops;
mod meetings;
mod pauses;
mod recomputation;
mod resumption;
mod rounds;

use rustc_hash::FxHashMap;

use super::barriers::operations::{GLOBAL, head};
use super::barriers::suspension::{Block, Numbers};
use super::barriers::{SavedLayout, new_entry, push, set};
use crate::cfg::liveness::live_at;
use crate::cfg::loops::Edge;
use crate::cfg::switch::switch;
use crate::cfg::{BasicBlock, BlockId, Cfg, End};
use crate::ir::{
    Access, Builder, Compare, Function, MemoryOrder, Scope, Stmt, Type, Var, any_stmt, has_collective, last_mark,
};
pub use loops::{Loop, loops, mark_loops};
use loops::{join_rounds, ways_in};
use meetings::Meetings;
pub use pauses::pause_in_loops;
use ptx2spv_interface::workspace;
use recomputation::recompute;
use resumption::{Resumption, START, set_state};
use rounds::{Pause, Round, pauses, reaching};

/// Several threads may write a block's status, all of them the same.
const STATUS: Access = Access { order: MemoryOrder::Relaxed(Scope::Cta), ..GLOBAL };

/// The result of suspending threads in a kernel's loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SuspendedLoops {
    /// The layout of the threads' saved state.
    pub saved: SavedLayout,
    pub kind: SuspensionKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SuspensionKind {
    /// Threads, which do the same rounds of some loops together, or rounds of some loops by themselves, or both.
    Threads { together: bool, apart: bool },
    /// Blocks, one of whose threads pauses.
    Blocks,
}

/// Suspends threads at the ends of rounds of the loops that are long: `is_long` says that of positions in the list. `workspace` is the offset of the
/// workspace's address in the push constants. `None` if the kernel doesn't allow that.
pub fn suspend_in_loops(
    function: &mut Function,
    cfg: &mut Cfg,
    loops: &[Loop],
    is_long: impl Fn(usize) -> bool,
    workspace: u32,
) -> Option<SuspendedLoops> {
    let mut loops = loops.to_vec();
    let long: Vec<usize> = (0..loops.len()).filter(|position| is_long(*position)).collect();
    let heads = |position: &usize| loops.get(*position).into_iter().flat_map(|one| &one.back).map(|(_, head)| *head);
    recompute(function, cfg, &long.iter().flat_map(heads).collect::<Vec<_>>());
    let is_collective = |block: &BasicBlock| has_collective(&block.body);
    let collective: Vec<bool> = cfg.blocks.iter().map(is_collective).collect();
    if collective.contains(&true) {
        for position in &long {
            join_rounds(cfg, &mut loops, *position);
        }
    }
    let mut rounds = pauses(function, cfg, &loops, &long, &collective)?;
    let meets = rounds.iter().any(|round| matches!(round.pause, Pause::At(_)));
    // Threads that go on in a loop of several starts and threads that go on where they meet would not take the same turns.
    if rounds.is_empty() || meets && loops.iter().any(Loop::has_several_starts) {
        return None;
    }
    let has_barrier = |block: &BasicBlock| any_stmt(&block.body, &|stmt| matches!(stmt, Stmt::Barrier(_)));
    let mut before_barriers =
        reaching(cfg, cfg.blocks.enumerated().filter(|(_, block)| has_barrier(block)).map(|(id, _)| id));
    let at = cfg.blocks.iter().find_map(|block| last_mark(&block.body)).flatten();
    let start = new_entry(cfg);
    before_barriers.push(before_barriers.first() == Some(&true));
    let moved = |block: BlockId| if block == BlockId::ENTRY { start } else { block };
    for one in &mut loops {
        one.blocks.iter_mut().for_each(|block| *block = moved(*block));
        one.back.iter_mut().for_each(|(from, to)| (*from, *to) = (moved(*from), moved(*to)));
    }
    for round in &mut rounds {
        round.edge = (moved(round.edge.0), moved(round.edge.1));
        if let Pause::At(join) = &mut round.pause {
            *join = moved(*join);
        }
    }
    let state = function.var(Type::I32);
    let mut resumption = Resumption { at, state, first: Vec::new(), inside: FxHashMap::default(), states: 0 };
    let save = push(cfg, Vec::new(), End::Exit);
    let meetings = Meetings::new(function, cfg, &mut loops, &mut rounds, &before_barriers);
    meetings.vote(function, cfg, &loops, &mut resumption, save);
    // Where each long loop's rounds start, with the number of the state of threads that are suspended there.
    let mut places: FxHashMap<BlockId, u32> = FxHashMap::default();
    for &position in &long {
        for (_, head) in loops.get(position).into_iter().flat_map(|one| &one.back) {
            let around = || ways_in(&loops, position);
            places.entry(*head).or_insert_with(|| resumption.add(function, cfg, &around(), *head));
        }
    }
    let bodies = resumption.go_inside(function, cfg);
    let ends: Vec<BlockId> =
        cfg.blocks.enumerated().filter(|(_, block)| block.end == End::Exit).map(|(id, _)| id).collect();
    let together = rounds.iter().any(|round| round.pause == Pause::Together);
    let apart = rounds.iter().any(|round| round.pause != Pause::Together);
    // Those that all threads of a block have left, and those that a thread has left by itself.
    let left = [together, apart].map(|used| used.then(|| function.var(Type::I32)));
    let mut pauses: FxHashMap<(u32, Pause), BlockId> = FxHashMap::default();
    for Round { position, edge: (from, to), pause } in rounds {
        let from = bodies.get(&from).copied().unwrap_or(from);
        let (Some(&number), Some(one)) = (places.get(&to), loops.get(position)) else { continue };
        let Some(left) = (if pause == Pause::Together { left[0] } else { left[1] }) else { continue };
        let elsewhere = *pauses.entry((number, pause)).or_insert_with(|| match pause {
            Pause::Together | Pause::Alone => set_state(function, cfg, at, (state, number), save),
            Pause::At(meeting) => set_state(function, cfg, at, (meetings.pending, number), meeting),
        });
        count(function, cfg, (from, to), |block| one.blocks.contains(&block), left, elsewhere);
    }
    let ended = resumption.states + 1;
    let end = set_state(function, cfg, at, (state, ended), save);
    for id in ends.into_iter().filter(|id| ![BlockId::ENTRY, save].contains(id)) {
        if let Some(block) = cfg.blocks.at_mut(id) {
            block.end = End::Goto(end);
        }
    }
    resumption.first.push((ended.into(), end));
    let dispatch = switch(function, &mut cfg.blocks, at, state, &resumption.first, start);

    let mut live = live_at(function, cfg, dispatch);
    for own in [state, meetings.pending].into_iter().chain(left.into_iter().flatten()) {
        live.remove(own);
    }
    let saved = Block::with_words(workspace, Numbers::Dispatch, function, &live, 1);
    let has_shared = function.shared_bytes > 0 || function.dynamic_shared || function.cluster.is_some();
    let suspension = Suspension { workspace, state, ended, saved, has_shared };
    let b = Builder::new(function);
    b.at(at);
    suspension.end_dispatch(&b);
    let body = b.into_block();
    set(cfg, save, body, End::Exit);
    let b = Builder::new(function);
    b.at(at);
    let rounds = head(&b, workspace, workspace::ROUNDS);
    for left in left.into_iter().flatten() {
        b.set(left, rounds);
    }
    suspension.begin_dispatch(&b);
    meetings.open(&b);
    let body = b.into_block();
    set(cfg, BlockId::ENTRY, body, End::Goto(dispatch));
    let kind = SuspensionKind::Threads { together, apart };
    Some(SuspendedLoops { saved: suspension.saved.layout(), kind })
}

/// Counts a round at an edge back to a loop's start, and goes elsewhere if that was the last. A block that may also leave the loop does both at
/// once, since each way out of a loop costs time in each round.
fn count(
    function: &mut Function,
    cfg: &mut Cfg,
    (from, to): Edge,
    is_inside: impl Fn(BlockId) -> bool,
    left: Var,
    elsewhere: BlockId,
) {
    let Some(block) = cfg.blocks.at(from) else { return };
    let mark = last_mark(&block.body).flatten();
    let end = block.end;
    let b = Builder::new(function);
    b.at(mark);
    let now = b.sub_const(b.get(left), 1);
    b.set(left, now);
    let goes_on = b.compare(Compare::LessSigned, b.i32(0), now);
    let (counted, end) = match end {
        End::Branch { condition, then, otherwise }
            if then != otherwise && !(is_inside(then) && is_inside(otherwise)) =>
        {
            let again = if then == to { condition } else { b.not(condition) };
            let out = if then == to { otherwise } else { then };
            let is_again = b.var(Type::Bool);
            b.set(is_again, again);
            let goes_on = b.and(again, goes_on);
            let counted = b.into_block();
            let b = Builder::new(function);
            b.at(mark);
            let again = b.get(is_again);
            let body = b.into_block();
            let left_by = push(cfg, body, End::Branch { condition: again, then: elsewhere, otherwise: out });
            (counted, End::Branch { condition: goes_on, then: to, otherwise: left_by })
        }
        end => {
            let middle = push(cfg, b.into_block(), End::Branch { condition: goes_on, then: to, otherwise: elsewhere });
            (Vec::new(), end.redirected(|next| if next == to { middle } else { next }))
        }
    };
    if let Some(block) = cfg.blocks.at_mut(from) {
        block.body.extend(counted);
        block.end = end;
    }
}

/// The variables and the saved state by which threads of a kernel end a dispatch and begin the next.
struct Suspension {
    /// Offset of the workspace's address in the push constants.
    workspace: u32,
    /// The thread's continuation.
    state: Var,
    /// The state of a thread that has ended.
    ended: u32,
    saved: Block,
    /// Whether the block has shared memory, which is saved and restored by all its threads together.
    has_shared: bool,
}

impl Suspension {
    fn end_dispatch(&self, b: &Builder<'_>) {
        let place = self.saved.place(b);
        let state = b.get(self.state);
        b.store(GLOBAL, Block::word(b, &place, 0), vec![state]);
        let goes_on = b.compare_const(Compare::NotEqual, state, self.ended.into());
        // The block's status is the number of the dispatch in which it goes on.
        let next = self.has_shared.then(|| {
            let dispatch = head(b, self.workspace, workspace::DISPATCH);
            b.add_const(dispatch, 1)
        });
        b.if_(goes_on, |b| {
            self.saved.save_own(b, &place);
            self.saved.count(b, workspace::SUSPENDED);
            if let Some(next) = next {
                b.store(STATUS, place.status, vec![next]);
            }
        });
        if let Some(next) = next {
            b.barrier();
            let saves = b.compare(Compare::Equal, b.load_one(STATUS, place.status), next);
            b.if_(saves, |b| Block::shared(b, &place, true));
        }
    }

    fn begin_dispatch(&self, b: &Builder<'_>) {
        b.set(self.state, b.i32(START));
        let dispatch = head(b, self.workspace, workspace::DISPATCH);
        b.if_(b.is_nonzero(dispatch), |b| {
            let place = self.saved.place(b);
            let state = b.load_one(GLOBAL, Block::word(b, &place, 0));
            b.set(self.state, state);
            let goes_on = b.compare_const(Compare::NotEqual, state, self.ended.into());
            b.if_(goes_on, |b| self.saved.restore_own(b, &place));
            // Others ask, although it has ended in an earlier dispatch.
            if let Some(exited) = b.function(|function| function.exited) {
                let has_exited = b.not(goes_on);
                b.if_(has_exited, |b| b.set(exited, has_exited));
            }
            if self.has_shared {
                let restores = b.compare(Compare::Equal, b.load_one(STATUS, place.status), dispatch);
                b.if_(restores, |b| Block::shared(b, &place, false));
            }
        });
        if self.has_shared {
            b.barrier();
        }
    }
}
