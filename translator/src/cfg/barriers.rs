//! Brings block barriers into control flow that is uniform over the CTA, as Vulkan demands.
//!
//! A CUDA barrier waits for the threads that have not exited, at whichever barrier instruction they arrive. Where the
//! divergence analysis shows that every barrier is reached by all threads together, nothing changes. Otherwise the kernel
//! becomes one loop around a single barrier: each turn, every thread runs from where it is to its next barrier or its
//! end, then all meet, threads that have ended included. Words of shared memory, used in turn, tell whether a thread is
//! left that hasn't ended. This costs one shared store and load a barrier, and registers that live across it.

use super::{BasicBlock, Cfg, End, uniform};
use crate::diagnostic::Span;
use crate::ir::{Access, Binary, Builder, Compare, Function, Order, Scope, Space, Stmt, Type, Value, Var};

/// State of a thread that has ended.
const ENDED: u32 = 0;
/// How many words take turns: one is read while another is written and a third cleared.
const FLAGS: u32 = 3;

/// Whether [`make_uniform`] had to rebuild the kernel around one barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Barriers {
    /// They stand where they stood.
    Kept,
    /// All are one now, in a loop of the whole block.
    Merged,
}

/// Makes every barrier of a kernel uniform.
pub fn make_uniform(function: &mut Function, cfg: &mut Cfg) -> Barriers {
    let barriers: Vec<u32> =
        (0..).zip(&cfg.blocks).filter(|(_, block)| block.body.contains(&Stmt::Barrier)).map(|(n, _)| n).collect();
    if barriers.is_empty() {
        return Barriers::Kept;
    }
    let divergent = uniform::divergent_blocks(function, cfg);
    if !barriers.iter().any(|barrier| divergent.get(*barrier as usize) == Some(&true)) {
        return Barriers::Kept;
    }
    merge(function, cfg, &barriers);
    Barriers::Merged
}

/// Variables and memory of the loop.
struct Machine {
    /// What the thread does next: [`ENDED`], or the number of a place in the list of continuations plus one.
    state: Var,
    /// Which flag this turn uses.
    turn: Var,
    /// Byte offset of the flags in shared memory.
    flags: u32,
    /// The first of the barriers, from which the loop comes.
    at: Span,
}

impl Machine {
    fn builder<'f>(&self, function: &'f mut Function) -> Builder<'f> {
        let mut b = Builder::new(function);
        b.at(self.at);
        b
    }
}

fn merge(function: &mut Function, cfg: &mut Cfg, barriers: &[u32]) {
    let flags = function.shared_bytes.next_multiple_of(4);
    function.shared_bytes = flags.saturating_add(4 * FLAGS);
    let at = barriers.first().and_then(|barrier| cfg.blocks.get(*barrier as usize)).map(|block| &block.body);
    let at = at.into_iter().flatten().find_map(|stmt| if let Stmt::At(at) = stmt { Some(*at) } else { None });
    let machine =
        Machine { state: function.var(Type::I32), turn: function.var(Type::I32), flags, at: at.unwrap_or_default() };

    // Block 0 must be the entry: move the old one behind.
    let start = push(cfg, BasicBlock::default());
    cfg.blocks.swap(0, start as usize);
    let moved = |block: u32| if block == 0 { start } else { block };
    for block in &mut cfg.blocks {
        block.end = block.end.redirected(moved);
    }

    let latch = push(cfg, BasicBlock::default());
    let mut continuations = vec![start];
    for number in barriers.iter().map(|barrier| moved(*barrier)) {
        continuations.extend(cfg.blocks.get(number as usize).into_iter().flat_map(|block| block.end.successors()));
        let state = u32::try_from(continuations.len()).unwrap_or(u32::MAX);
        redirect(function, cfg, number, &machine, state, latch);
    }
    let ends: Vec<u32> = (0..)
        .zip(&cfg.blocks)
        .filter(|(n, block)| block.end == End::Exit && *n != 0 && *n != latch)
        .map(|(n, _)| n)
        .collect();
    for number in ends {
        redirect(function, cfg, number, &machine, ENDED, latch);
    }

    let dispatch = dispatch(function, cfg, &machine, &continuations, latch);
    let exit = push(cfg, BasicBlock::default());
    let (body, again) = meet(function, &machine);
    set(cfg, latch, BasicBlock { body, end: End::Branch { condition: again, then: dispatch, otherwise: exit } });
    let body = prologue(function, &machine);
    set(cfg, 0, BasicBlock { body, end: End::Goto(dispatch) });
}

fn push(cfg: &mut Cfg, block: BasicBlock) -> u32 {
    cfg.blocks.push(block);
    u32::try_from(cfg.blocks.len() - 1).unwrap_or(u32::MAX)
}

fn set(cfg: &mut Cfg, number: u32, block: BasicBlock) {
    if let Some(slot) = cfg.blocks.get_mut(number as usize) {
        *slot = block;
    }
}

/// Replaces a block's barrier or end by a new state and the way to the latch.
fn redirect(function: &mut Function, cfg: &mut Cfg, number: u32, machine: &Machine, state: u32, latch: u32) {
    let Some(block) = cfg.blocks.get_mut(number as usize) else { return };
    block.body.retain(|stmt| *stmt != Stmt::Barrier);
    let mut b = Builder::new(function);
    let state = b.i32(state);
    b.set(machine.state, state);
    block.body.append(&mut b.block);
    block.end = End::Goto(latch);
}

/// Blocks that go on where the state says, by halves; gives the first of them.
fn dispatch(function: &mut Function, cfg: &mut Cfg, machine: &Machine, continuations: &[u32], latch: u32) -> u32 {
    let mut targets = vec![latch];
    targets.extend(continuations);
    // Each item is a block still to be filled, and the range of states that arrive there.
    let first = push(cfg, BasicBlock::default());
    let mut todo = vec![(first, 0, targets.len())];
    while let Some((number, from, to)) = todo.pop() {
        if to - from <= 1 {
            let target = targets.get(from).copied().unwrap_or(latch);
            set(cfg, number, BasicBlock { body: Vec::new(), end: End::Goto(target) });
            continue;
        }
        let middle = from + (to - from) / 2;
        let mut b = machine.builder(function);
        let state = b.get(machine.state);
        let below = b.compare_const(Compare::LessUnsigned, state, middle as u64);
        let body = b.block;
        let then = push(cfg, BasicBlock::default());
        let otherwise = push(cfg, BasicBlock::default());
        set(cfg, number, BasicBlock { body, end: End::Branch { condition: below, then, otherwise } });
        todo.push((then, from, middle));
        todo.push((otherwise, middle, to));
    }
    first
}

const FLAG: Access = Access { space: Space::Shared, bytes: 4, order: Order::Relaxed(Scope::Cta), read_only: false };

/// Byte offset of flag number `turn`.
fn flag(b: &mut Builder<'_>, machine: &Machine, turn: Value) -> Value {
    let offset = b.shl(turn, 2);
    b.add_const(offset, u64::from(machine.flags))
}

/// Clears the flags and enters the first state.
fn prologue(function: &mut Function, machine: &Machine) -> Vec<Stmt> {
    let mut b = machine.builder(function);
    let zero = b.i32(0);
    for turn in 0..FLAGS {
        let turn = b.i32(turn);
        let address = flag(&mut b, machine, turn);
        b.store(FLAG, address, vec![zero]);
    }
    b.barrier();
    b.set(machine.turn, zero);
    let one = b.i32(1);
    b.set(machine.state, one);
    b.block
}

/// The meeting of all threads; gives whether one of them has not ended.
fn meet(function: &mut Function, machine: &Machine) -> (Vec<Stmt>, Value) {
    let mut b = machine.builder(function);
    let turn = b.get(machine.turn);
    let state = b.get(machine.state);
    let alive = b.compare_const(Compare::NotEqual, state, u64::from(ENDED));
    let own = flag(&mut b, machine, turn);
    b.if_(alive, |b| {
        let one = b.i32(1);
        b.store(FLAG, own, vec![one]);
    });
    let up = b.binary_const(Binary::Add, turn, 1);
    let last = b.compare_const(Compare::Equal, up, u64::from(FLAGS));
    let zero = b.i32(0);
    let next = b.select(last, zero, up);
    let cleared = flag(&mut b, machine, next);
    b.store(FLAG, cleared, vec![zero]);
    b.barrier();
    let someone = b.load_one(FLAG, own);
    b.set(machine.turn, next);
    let again = b.is_nonzero(someone);
    (b.block, again)
}
