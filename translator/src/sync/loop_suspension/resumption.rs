//! Resumes threads in the next dispatch where they were suspended.

use rustc_hash::FxHashMap;

use super::super::barriers::{push, set};
use crate::cfg::switch::switch;
use crate::cfg::{BlockId, Cfg, End};
use crate::diagnostic::Span;
use crate::ir::{Builder, Function, Var};

/// State of a thread that begins.
pub const START: u32 = 0;

/// The blocks by which threads come back into loops. A loop inside of others is reached through their starts, so that
/// each loop keeps its single start.
pub struct Resumption {
    pub at: Option<Span>,
    pub state: Var,
    /// The first block of a dispatch, by the thread's state.
    pub first: Vec<(u64, BlockId)>,
    /// The next block from the start of a loop that others lie in, by the threads' states.
    pub inside: FxHashMap<BlockId, Vec<(u64, BlockId)>>,
    /// The number of states so far.
    pub states: u32,
}

impl Resumption {
    /// Adds a loop by its start, with the starts of those around it. Gives the number of its state.
    pub fn add(&mut self, function: &mut Function, cfg: &mut Cfg, around: &[BlockId], head: BlockId) -> u32 {
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
    pub fn go_inside(&self, function: &mut Function, cfg: &mut Cfg) -> FxHashMap<BlockId, BlockId> {
        let mut heads: Vec<_> = self.inside.iter().collect();
        heads.sort_unstable();
        let mut bodies = FxHashMap::default();
        for (head, states) in heads {
            let Some(block) = cfg.blocks.at_mut(*head).map(std::mem::take) else { continue };
            let body = cfg.blocks.push(block);
            let inside = switch(function, &mut cfg.blocks, self.at, self.state, states, body);
            let b = Builder::new(function);
            b.at(self.at);
            let goes_on = b.is_nonzero(b.get(self.state));
            let test = b.into_block();
            set(cfg, *head, test, End::Branch { condition: goes_on, then: inside, otherwise: body });
            bodies.insert(*head, body);
        }
        bodies
    }
}

/// Appends a block that sets the state and goes on there.
pub fn set_state(
    function: &mut Function,
    cfg: &mut Cfg,
    at: Option<Span>,
    (state, number): (Var, u32),
    next: BlockId,
) -> BlockId {
    let b = Builder::new(function);
    b.at(at);
    b.set(state, b.i32(number));
    let body = b.into_block();
    push(cfg, body, End::Goto(next))
}
