//! Suspends threads in long loops, for drivers that end the loops of an invocation after some rounds
//! ([`Quirks::loop_budget`](crate::target::Quirks)).
//!
//! A thread counts down the rounds that the host allows for a dispatch. When none is left, at the end of a round, the thread saves its live
//! variables and its local memory in the launch's [workspace], and ends. The host dispatches the grid again as long as any thread has done
//! so. Threads then go on where they were: at the head of that loop.
//!
//! A thread that has ended a dispatch takes part in no barrier and in no operation of its warp. So a kernel with such operations is changed
//! only if all its threads do the same rounds: then all of them are suspended at the same place. Threads don't count that have left for
//! the kernel's end without meeting others again.
//!
//! The same condition says how far a thread's count can be behind the driver's, which counts the rounds of all threads that run in lockstep
//! together. Where all do the same rounds, the counts are equal. Otherwise each round of the driver is one of some thread.

use rustc_hash::{FxHashMap, FxHashSet};

use super::barriers::suspension::{Block, GLOBAL, Numbers, head, live_at};
use super::barriers::{new_entry, push, set};
use crate::cfg::loops::{Edge, components, marked, ways_back};
use crate::cfg::switch::switch;
use crate::cfg::{BlockId, Cfg, End, dependence};
use crate::diagnostic::Span;
use crate::index::Index;
use crate::interface::workspace;
use crate::ir::{Access, Builder, Class, Compare, Function, MemoryOrder, Scope, Stmt, Type, Var, last_mark};

/// Several threads may write a block's status, all of them the same.
const STATUS: Access = Access { order: MemoryOrder::Relaxed(Scope::Cta), ..GLOBAL };

/// State of a thread that begins.
const START: u32 = 0;

/// What has become of a kernel whose threads are suspended in loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SuspendedLoops {
    /// Words that each thread saves.
    pub saved_words: u32,
    /// Whether all threads of a block do the same rounds.
    pub together: bool,
}

/// A loop of a graph.
#[derive(Clone, Debug)]
pub struct Loop {
    blocks: Vec<BlockId>,
    /// The edges back to its start.
    back: Vec<Edge>,
    /// The position of the loop around it in the list of all loops.
    around: Option<usize>,
}

/// The loops of a graph, each after the one around it.
pub fn loops(cfg: &Cfg) -> Vec<Loop> {
    let mut found: Vec<Loop> = Vec::new();
    let mut todo = vec![(cfg.blocks.indices().collect::<Vec<_>>(), FxHashSet::default(), None)];
    while let Some((part, cut, around)) = todo.pop() {
        for component in components(cfg, &part, &cut) {
            let back = ways_back(cfg, &component, &marked(cfg, &component));
            // Nothing leads to a loop in unreachable code.
            if !back.is_empty() {
                let cut = cut.iter().copied().chain(back.iter().copied()).collect();
                todo.push((component.clone(), cut, Some(found.len())));
                found.push(Loop { blocks: component, back, around });
            }
        }
    }
    found
}

/// Marks where loops start by their positions in the list, for an analysis of the tree that the graph becomes.
pub fn mark_loops(function: &mut Function, cfg: &mut Cfg, loops: &[Loop]) {
    for (position, one) in (0..).zip(loops) {
        for (_, start) in &one.back {
            let mut b = Builder::new(function);
            let position = b.i32(position);
            b.push(Stmt::Arrive(position));
            let mark = b.block;
            if let Some(block) = cfg.blocks.at_mut(*start) {
                block.body.splice(0..0, mark);
            }
        }
    }
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
    let long: Vec<usize> = (0..loops.len()).filter(|position| is_long(*position)).collect();
    let edges: Vec<Edge> =
        long.iter().filter_map(|position| loops.get(*position)).flat_map(|one| one.back.clone()).collect();
    let collective: Vec<bool> = cfg.blocks.iter().map(|block| is_collective(&block.body)).collect();
    let together = is_together(function, cfg, &edges, &collective);
    if edges.is_empty() || !together && collective.contains(&true) {
        return None;
    }
    let at = cfg.blocks.iter().find_map(|block| last_mark(&block.body)).flatten();
    let start = new_entry(cfg);
    let state = function.var(Type::I32);
    let mut resumption = Resumption { at, state, first: Vec::new(), inside: FxHashMap::default(), states: 0 };
    let moved = |block: BlockId| if block == BlockId::ENTRY { start } else { block };
    // Where each long loop's rounds start, with the number of the state of threads that are suspended there.
    let mut places: FxHashMap<BlockId, u32> = FxHashMap::default();
    for &position in &long {
        for head in loops.get(position).into_iter().flat_map(|one| &one.back).map(|(_, head)| moved(*head)) {
            places.entry(head).or_insert_with(|| resumption.add(function, cfg, &ways_in(loops, position, moved), head));
        }
    }
    let bodies = resumption.go_inside(function, cfg);
    let moved_out = |block: BlockId| bodies.get(&moved(block)).copied().unwrap_or(moved(block));
    let ends: Vec<BlockId> =
        cfg.blocks.enumerated().filter(|(_, block)| block.end == End::Exit).map(|(id, _)| id).collect();
    let left = function.var(Type::I32);
    let save = push(cfg, Vec::new(), End::Exit);
    let mut pauses: FxHashMap<u32, BlockId> = FxHashMap::default();
    let backs = long
        .iter()
        .filter_map(|position| loops.get(*position))
        .flat_map(|one| one.back.iter().map(move |edge| (one, edge)));
    for (one, (from, to)) in backs.map(|(one, (from, to))| (one, (moved_out(*from), moved(*to)))) {
        let Some(&number) = places.get(&to) else { continue };
        let pause = *pauses.entry(number).or_insert_with(|| set_state(function, cfg, at, (state, number), save));
        let is_inside = |block: BlockId| one.blocks.iter().any(|inside| moved(*inside) == block);
        count(function, cfg, (from, to), is_inside, left, pause);
    }
    let ended = resumption.states + 1;
    let end = set_state(function, cfg, at, (state, ended), save);
    for id in ends.into_iter().filter(|id| *id != BlockId::ENTRY) {
        if let Some(block) = cfg.blocks.at_mut(id) {
            block.end = End::Goto(end);
        }
    }
    resumption.first.push((ended.into(), end));
    let dispatch = switch(function, &mut cfg.blocks, at, state, &resumption.first, start);

    let mut live = live_at(function, cfg, dispatch);
    live.remove(state);
    live.remove(left);
    let saved = Block::with_words(workspace, Numbers::Dispatch, function, &live, 1);
    let has_shared = function.shared_bytes > 0 || function.dynamic_shared || function.cluster.is_some();
    let suspension = Suspension { workspace, state, ended, saved, has_shared };
    let mut b = Builder::new(function);
    b.at(at);
    suspension.end_dispatch(&mut b);
    let body = b.block;
    set(cfg, save, body, End::Exit);
    let mut b = Builder::new(function);
    b.at(at);
    let rounds = head(&mut b, workspace, workspace::ROUNDS);
    b.set(left, rounds);
    suspension.begin_dispatch(&mut b);
    let body = b.block;
    set(cfg, BlockId::ENTRY, body, End::Goto(dispatch));
    Some(SuspendedLoops { saved_words: suspension.saved.words(), together })
}

/// The starts of the loops around a loop, from the outermost in. Empty if one of them, or the loop itself, has several, so that a thread
/// can't go on through them.
fn ways_in(loops: &[Loop], position: usize, moved: impl Fn(BlockId) -> BlockId) -> Vec<BlockId> {
    let mut ways = Vec::new();
    let mut next = loops.get(position);
    while let Some(one) = next {
        let Some((_, start)) = one.back.first() else { return Vec::new() };
        if one.back.iter().any(|(_, other)| other != start) {
            return Vec::new();
        }
        ways.push(moved(*start));
        next = one.around.and_then(|around| loops.get(around));
    }
    ways.reverse();
    ways.pop();
    ways
}

/// How threads go on in loops. A loop inside of others is reached through their starts, so that each loop keeps its single start.
struct Resumption {
    at: Option<Span>,
    state: Var,
    /// Where a dispatch begins, by the thread's state.
    first: Vec<(u64, BlockId)>,
    /// Where threads go on from the start of a loop that others lie in, by their states.
    inside: FxHashMap<BlockId, Vec<(u64, BlockId)>>,
    /// The number of states so far.
    states: u32,
}

impl Resumption {
    /// Adds a loop by its start, with the starts of those around it. Gives the number of its state.
    fn add(&mut self, function: &mut Function, cfg: &mut Cfg, around: &[BlockId], head: BlockId) -> u32 {
        self.states += 1;
        let number = self.states;
        let running = set_state(function, cfg, self.at, (self.state, START), head);
        let steps = around.iter().skip(1).copied().chain([running]);
        for (outer, next) in around.iter().zip(steps) {
            self.inside.entry(*outer).or_default().push((number.into(), next));
        }
        self.first.push((number.into(), around.first().copied().unwrap_or(running)));
        number
    }

    /// Puts branches before the rounds of loops that others lie in. Gives the blocks where these rounds start now.
    fn go_inside(&self, function: &mut Function, cfg: &mut Cfg) -> FxHashMap<BlockId, BlockId> {
        let mut heads: Vec<_> = self.inside.iter().collect();
        heads.sort_unstable();
        let mut bodies = FxHashMap::default();
        for (head, states) in heads {
            let Some(block) = cfg.blocks.at_mut(*head).map(std::mem::take) else { continue };
            let body = cfg.blocks.push(block);
            let inside = switch(function, &mut cfg.blocks, self.at, self.state, states, body);
            let mut b = Builder::new(function);
            b.at(self.at);
            let state = b.get(self.state);
            let goes_on = b.is_nonzero(state);
            let test = b.block;
            set(cfg, *head, test, End::Branch { condition: goes_on, then: inside, otherwise: body });
            bodies.insert(*head, body);
        }
        bodies
    }
}

/// Whether threads execute a list, or lists in it, together.
fn is_collective(list: &[Stmt]) -> bool {
    list.iter().any(|stmt| matches!(stmt.class(), Class::Collective(_)) || stmt.lists().any(|list| is_collective(list)))
}

/// Whether all threads of a block take these edges together, but for those that have left for a part of the kernel that has neither such an
/// edge nor anything that threads execute together.
fn is_together(function: &Function, cfg: &Cfg, edges: &[Edge], collective: &[bool]) -> bool {
    let predecessors = cfg.predecessors();
    let mut reaches = collective.to_vec();
    let mut todo: Vec<BlockId> = edges.iter().map(|(from, _)| *from).collect();
    todo.extend(cfg.blocks.indices().filter(|block| collective.get(block.position()) == Some(&true)));
    let mut seen = FxHashSet::default();
    while let Some(block) = todo.pop() {
        if seen.insert(block) {
            if let Some(reaches) = reaches.get_mut(block.position()) {
                *reaches = true;
            }
            todo.extend(predecessors.at(block).into_iter().flatten());
        }
    }
    // Whether a thread leaves does not concern those that stay.
    let (mut function, mut cfg) = (function.clone(), cfg.clone());
    let stays = |block: BlockId| reaches.get(block.position()) == Some(&true);
    for block in &mut cfg.blocks {
        if let End::Branch { condition, then, otherwise } = &mut block.end
            && stays(*then) != stays(*otherwise)
        {
            let mut b = Builder::new(&mut function);
            *condition = b.bool(true);
            block.body.append(&mut b.block);
        }
    }
    let divergent = dependence::divergent_blocks(&function, &cfg);
    edges.iter().all(|(from, _)| divergent.get(from.position()) == Some(&false))
}

/// Appends a block that sets the state and goes on there.
fn set_state(
    function: &mut Function,
    cfg: &mut Cfg,
    at: Option<Span>,
    (state, number): (Var, u32),
    next: BlockId,
) -> BlockId {
    let mut b = Builder::new(function);
    b.at(at);
    let number = b.i32(number);
    b.set(state, number);
    let body = b.block;
    push(cfg, body, End::Goto(next))
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
    let mut b = Builder::new(function);
    b.at(mark);
    let before = b.get(left);
    let now = b.sub_const(before, 1);
    b.set(left, now);
    let zero = b.i32(0);
    let goes_on = b.compare(Compare::LessSigned, zero, now);
    let (counted, end) = match end {
        End::Branch { condition, then, otherwise }
            if then != otherwise && !(is_inside(then) && is_inside(otherwise)) =>
        {
            let again = if then == to { condition } else { b.not(condition) };
            let out = if then == to { otherwise } else { then };
            let is_again = b.function.var(Type::Bool);
            b.set(is_again, again);
            let goes_on = b.and(again, goes_on);
            let counted = b.block;
            let mut b = Builder::new(function);
            b.at(mark);
            let again = b.get(is_again);
            let body = b.block;
            let left_by = push(cfg, body, End::Branch { condition: again, then: elsewhere, otherwise: out });
            (counted, End::Branch { condition: goes_on, then: to, otherwise: left_by })
        }
        end => {
            let middle = push(cfg, b.block, End::Branch { condition: goes_on, then: to, otherwise: elsewhere });
            (Vec::new(), end.redirected(|next| if next == to { middle } else { next }))
        }
    };
    if let Some(block) = cfg.blocks.at_mut(from) {
        block.body.extend(counted);
        block.end = end;
    }
}

/// How threads of a kernel end a dispatch and begin the next.
struct Suspension {
    /// Offset of the workspace's address in the push constants.
    workspace: u32,
    /// Where the thread goes on.
    state: Var,
    /// The state of a thread that has ended.
    ended: u32,
    saved: Block,
    /// Whether the block has shared memory, which is saved and restored by all its threads together.
    has_shared: bool,
}

impl Suspension {
    fn end_dispatch(&self, b: &mut Builder<'_>) {
        let place = self.saved.place(b);
        let state = b.get(self.state);
        let word = Block::word(b, &place, 0);
        b.store(GLOBAL, word, vec![state]);
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
            let status = b.load_one(STATUS, place.status);
            let saves = b.compare(Compare::Equal, status, next);
            b.if_(saves, |b| Block::shared(b, &place, true));
        }
    }

    fn begin_dispatch(&self, b: &mut Builder<'_>) {
        let start = b.i32(START);
        b.set(self.state, start);
        let dispatch = head(b, self.workspace, workspace::DISPATCH);
        let again = b.is_nonzero(dispatch);
        b.if_(again, |b| {
            let place = self.saved.place(b);
            let word = Block::word(b, &place, 0);
            let state = b.load_one(GLOBAL, word);
            b.set(self.state, state);
            let goes_on = b.compare_const(Compare::NotEqual, state, self.ended.into());
            b.if_(goes_on, |b| self.saved.restore_own(b, &place));
            // Others ask, although it has ended in an earlier dispatch.
            if let Some(exited) = b.function.exited {
                let has_exited = b.not(goes_on);
                b.if_(has_exited, |b| b.set(exited, has_exited));
            }
            if self.has_shared {
                let status = b.load_one(STATUS, place.status);
                let restores = b.compare(Compare::Equal, status, dispatch);
                b.if_(restores, |b| Block::shared(b, &place, false));
            }
        });
        if self.has_shared {
            b.barrier();
        }
    }
}
