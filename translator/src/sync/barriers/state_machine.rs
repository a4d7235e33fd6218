//! Rebuilds a kernel as a loop. In each iteration every thread runs from where it is to its next stop, or to its end.
//!
//! Before it goes back to the loop's head, a thread notes where it will go on: its *state*. At the latch, threads synchronize in one of two
//! ways. Then each thread goes on in its state unless it still waits. The loop ends when all threads have ended.

use rustc_hash::FxHashMap;

use super::named::NamedBarriers;
use super::operations::store;
use super::suspension::{SavedLayout, Suspending};
use super::triple_buffer::{Sharing, TripleBuffer};
use crate::cfg::liveness::live_at;
use crate::cfg::switch::switch_among;
use crate::cfg::{Barrier, BasicBlock, BlockId, Cfg, End, Kind, Stop};
use crate::diagnostic::Span;
use crate::index::{Index, number};
use crate::ir::{Block, Builder, Compare, Function, Type, Var, last_mark};

/// State of a thread that has ended.
const ENDED: u32 = 0;

/// The ways in which threads wait for each other between iterations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// At one barrier; then all go on.
    Together,
    /// At two barriers, between which one thread decides which threads go on: [named barriers](super::named).
    Named,
}

/// The data that each kind of [`Wait`] needs.
enum Latch {
    Together(TripleBuffer),
    Named(NamedBarriers),
}

/// The loop.
struct StateMachine {
    latch_data: Latch,
    /// The thread's next step: [`ENDED`], or the number of a place in the list of continuations plus one.
    state: Var,
    /// The block at the end of the loop's body.
    latch: BlockId,
    /// Source position of the first stop, which the loop takes as its own.
    at: Option<Span>,
}

impl StateMachine {
    fn builder<'f>(&self, function: &'f mut Function) -> Builder<'f> {
        let b = Builder::new(function);
        b.at(self.at);
        b
    }
}

/// Rebuilds the kernel around its stops, and gives the blocks that end with them, each with the one where threads go
/// on. With `suspending`, its blocks can be suspended; then the result has the layout of their saved state.
pub fn merge(
    function: &mut Function,
    cfg: &mut Cfg,
    wait: Wait,
    suspending: Option<Suspending>,
) -> (FxHashMap<BlockId, BlockId>, Option<SavedLayout>) {
    let latch_data = match wait {
        Wait::Together => Latch::Together(TripleBuffer::new(function, Sharing::Workgroup)),
        Wait::Named => {
            let barriers = NamedBarriers::new(function, cfg, suspending);
            barriers.note_stores(function, cfg);
            Latch::Named(barriers)
        }
    };
    let at = cfg.blocks.iter().filter(|block| block.stop.is_some()).find_map(|block| last_mark(&block.body));
    let at = at.or_else(|| cfg.blocks.iter().find_map(|block| last_mark(&block.body)));
    let start = new_entry(cfg);
    let ends = cfg.blocks.enumerated().filter(|(id, block)| block.end == End::Exit && *id != BlockId::ENTRY);
    let ends: Vec<BlockId> = ends.map(|(id, _)| id).collect();
    let latch = push(cfg, Vec::new(), End::Exit);
    let machine = StateMachine { latch_data, state: function.var(Type::I32), latch, at: at.unwrap_or_default() };

    let end = push(cfg, Vec::new(), End::Exit);
    let b = machine.builder(function);
    set_state(&b, &machine, ENDED);
    if let Latch::Named(barriers) = &machine.latch_data {
        barriers.leave(&b);
    }
    let body = b.into_block();
    set(cfg, end, body, End::Goto(latch));
    for id in ends {
        if let Some(block) = cfg.blocks.at_mut(id) {
            block.end = End::Goto(end);
        }
    }

    let mut continuations = vec![start];
    let mut stops = FxHashMap::default();
    for id in cfg.blocks.indices() {
        let Some(stop) = cfg.blocks.at_mut(id).and_then(|block| block.stop.take()) else { continue };
        if let Some(next) = redirect(function, cfg, id, stop, &machine, continuations.len()) {
            stops.insert(id, next);
            continuations.push(next);
        }
    }

    let dispatch = dispatch(function, cfg, &machine, &continuations);
    let exit = push(cfg, Vec::new(), End::Exit);
    let b = machine.builder(function);
    let again = match &machine.latch_data {
        Latch::Together(words) => {
            // The word isn't zero while some thread has not ended.
            let alive = b.compare_const(Compare::NotEqual, b.get(machine.state), ENDED.into());
            let someone = words.exchange(&b, |b, word| {
                b.if_(alive, |b| {
                    store(b, word, b.i32(1));
                });
            });
            b.is_nonzero(someone)
        }
        Latch::Named(barriers) => barriers.synchronize(&b),
    };
    let body = b.into_block();
    set(cfg, latch, body, End::Branch { condition: again, then: dispatch, otherwise: exit });

    // Now that the loop is complete, the variables that are live around it are known.
    let suspended = match &machine.latch_data {
        Latch::Named(barriers) => {
            barriers.suspending().map(|suspending| suspending.block(function, live_at(function, cfg, dispatch)))
        }
        Latch::Together(_) => None,
    };
    if let Latch::Named(barriers) = &machine.latch_data {
        let b = machine.builder(function);
        barriers.report(&b);
        if let Some(suspended) = &suspended {
            barriers.end_dispatch(&b, suspended);
        }
        let body = b.into_block();
        set(cfg, exit, body, End::Exit);
    }

    let b = machine.builder(function);
    match &machine.latch_data {
        Latch::Together(words) => words.clear(&b),
        Latch::Named(barriers) => barriers.open(&b),
    }
    set_state(&b, &machine, 1);
    if let (Latch::Named(barriers), Some(suspended)) = (&machine.latch_data, &suspended) {
        let ended = barriers.begin_dispatch(&b, suspended);
        b.if_(ended, |b| {
            set_state(b, &machine, ENDED);
            barriers.leave(b);
        });
    }
    let body = b.into_block();
    set(cfg, BlockId::ENTRY, body, End::Goto(dispatch));
    (stops, suspended.map(|suspended| suspended.layout()))
}

fn set_state(b: &Builder<'_>, machine: &StateMachine, state: u32) {
    b.set(machine.state, b.i32(state));
}

/// Makes block 0, the entry, an empty block; gives the new number of the old entry.
pub fn new_entry(cfg: &mut Cfg) -> BlockId {
    let start = push(cfg, Vec::new(), End::Exit);
    cfg.blocks.swap(BlockId::ENTRY.position(), start.position());
    let moved = |block| if block == BlockId::ENTRY { start } else { block };
    for block in &mut cfg.blocks {
        block.end = block.end.redirected(moved);
    }
    start
}

pub fn push(cfg: &mut Cfg, body: Block, end: End) -> BlockId {
    cfg.blocks.push(BasicBlock { body, stop: None, end })
}

/// Fills a block.
pub fn set(cfg: &mut Cfg, id: BlockId, body: Block, end: End) {
    if let Some(slot) = cfg.blocks.at_mut(id) {
        *slot = BasicBlock { body, stop: None, end };
    }
}

/// Replaces a block's stop by the arrival, the assignment of the new state and a branch to the latch. The block has one successor. If threads wait
/// there, the result is the block where they go on.
fn redirect(
    function: &mut Function,
    cfg: &mut Cfg,
    id: BlockId,
    stop: Stop,
    machine: &StateMachine,
    continuations: usize,
) -> Option<BlockId> {
    let mut next = cfg.blocks.at(id)?.end.successors().next()?;
    let b = Builder::new(function);
    if cfg.blocks.at(id).is_some_and(|block| last_mark(&block.body).is_none()) {
        b.at(machine.at);
    }
    match (&stop, &machine.latch_data) {
        (Stop::Barrier(barrier), Latch::Named(barriers)) => barriers.arrive(&b, barrier),
        (Stop::Yield { global }, Latch::Named(barriers)) => barriers.look_again(&b, *global),
        (Stop::Pause, Latch::Named(barriers)) => barriers.stay_ready(&b),
        _ => {}
    }
    let waits = !matches!(stop, Stop::Barrier(Barrier { kind: Kind::Arrive, .. }));
    if waits {
        let state = number(continuations + 1);
        set_state(&b, machine, state);
    }
    let mut code = b.into_block();
    let block = cfg.blocks.at_mut(id)?;
    block.body.append(&mut code);
    if !waits {
        return None;
    }
    block.end = End::Goto(machine.latch);
    if let (Stop::Barrier(Barrier { kind: Kind::Red(red), .. }), Latch::Named(barriers)) = (&stop, &machine.latch_data)
    {
        let b = machine.builder(function);
        barriers.result(&b, *red);
        let body = b.into_block();
        next = push(cfg, body, End::Goto(next));
    }
    Some(next)
}

/// Creates the blocks that branch to the continuation which the state names; gives the first of them.
fn dispatch(function: &mut Function, cfg: &mut Cfg, machine: &StateMachine, continuations: &[BlockId]) -> BlockId {
    let latch = machine.latch;
    let mut states = vec![(ENDED.into(), latch)];
    states.extend((1..).zip(continuations.iter().copied()));
    let first = switch_among(function, &mut cfg.blocks, machine.at, machine.state, &states).unwrap_or(latch);
    let Latch::Named(barriers) = &machine.latch_data else { return first };
    let b = machine.builder(function);
    let condition = barriers.is_waiting(&b);
    let body = b.into_block();
    push(cfg, body, End::Branch { condition, then: latch, otherwise: first })
}
