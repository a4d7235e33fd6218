//! Meetings of threads that do rounds of a long loop by themselves: they are suspended there, and all others with them.
//!
//! A thread without rounds notes its continuation, and goes to the meeting. There all threads vote: those of the block
//! if a barrier follows, else those of the warp. If one of them has no rounds left, all are suspended. In the next
//! dispatch that thread goes on in its loop, and the others wait for it at the meeting, where all vote again.

use super::super::barriers::triple_buffer::{Sharing, TripleBuffer};
use super::super::barriers::{operations::store, push, set};
use super::loops::{Loop, gather_inside, gather_outside, innermost, starts};
use super::resumption::Resumption;
use super::rounds::{Pause, Round};
use crate::cfg::{BlockId, Cfg, End};
use crate::index::Index;
use crate::ir::{Builder, Compare, Function, Stmt, Type, Var, Vote, Warp, WarpOp};

/// The meetings of a kernel.
pub struct Meetings {
    /// The continuation of a thread that has no rounds left; zero for others.
    pub pending: Var,
    places: Vec<Meeting>,
    /// For votes of the block.
    votes: Option<TripleBuffer>,
}

/// A block before the one where all threads meet.
struct Meeting {
    block: BlockId,
    /// Whether all threads of the block vote, and not only those of a warp.
    of_block: bool,
}

impl Meetings {
    /// Adds the blocks of the meetings. `before_barriers` says which blocks a barrier follows.
    pub fn new(
        function: &mut Function,
        cfg: &mut Cfg,
        loops: &mut [Loop],
        rounds: &mut [Round],
        before_barriers: &[bool],
    ) -> Self {
        let mut places: Vec<(BlockId, Option<usize>, Meeting)> = Vec::new();
        for number in 0..rounds.len() {
            let Some(Round { edge: (from, _), pause: Pause::At(join), .. }) = rounds.get(number).copied() else {
                continue;
            };
            // The loop that starts there, if this thread is in it.
            let turn = loops
                .iter()
                .position(|one| one.back.iter().any(|(_, start)| *start == join) && one.blocks.contains(&from));
            let known = places.iter().find(|(known, inside, _)| *known == join && *inside == turn);
            let block = match (known, turn) {
                (Some((.., meeting)), _) => meeting.block,
                (None, Some(position)) => gather_inside(cfg, loops, position, join),
                (None, None) => gather_outside(cfg, loops, join),
            };
            if known.is_none() {
                let of_block = before_barriers.get(join.position()) == Some(&true);
                places.push((join, turn, Meeting { block, of_block }));
            }
            for round in rounds.iter_mut().filter(|round| Some(round.position) == turn && round.edge.1 == join) {
                round.edge.0 = block;
            }
            if let Some(round) = rounds.get_mut(number) {
                round.pause = Pause::At(block);
            }
        }
        let places: Vec<Meeting> = places.into_iter().map(|(.., meeting)| meeting).collect();
        let any_of_block = places.iter().any(|meeting| meeting.of_block);
        let votes = any_of_block.then(|| TripleBuffer::new(function, Sharing::Workgroup));
        Self { pending: function.var(Type::I32), places, votes }
    }

    /// Writes the votes. Threads are suspended in `save`.
    pub fn vote(
        &self,
        function: &mut Function,
        cfg: &mut Cfg,
        loops: &[Loop],
        resumption: &mut Resumption,
        save: BlockId,
    ) {
        for meeting in &self.places {
            let around = starts(loops, innermost(loops, meeting.block));
            let number = resumption.add(function, cfg, &around, meeting.block);
            let b = Builder::new(function);
            b.at(resumption.at);
            let pending = b.get(self.pending);
            b.set(resumption.state, b.select(b.is_zero(pending), b.i32(number), pending));
            let body = b.into_block();
            let suspended = push(cfg, body, End::Goto(save));
            let b = Builder::new(function);
            b.at(resumption.at);
            let paused = b.is_nonzero(b.get(self.pending));
            let condition = match &self.votes {
                Some(votes) if meeting.of_block => {
                    let sum = votes.exchange(&b, |b, word| {
                        b.if_(paused, |b| {
                            store(b, word, b.i32(1));
                        });
                    });
                    b.compare_const(Compare::NotEqual, sum, 0)
                }
                _ => {
                    let any = b.value(Type::Bool);
                    let op = WarpOp::Vote(Vote::Any, paused);
                    b.push(Stmt::Warp(Warp { results: vec![any], op, members: None }));
                    any
                }
            };
            let body = b.into_block();
            let Some(End::Goto(otherwise)) = cfg.blocks.at(meeting.block).map(|block| block.end) else { continue };
            set(cfg, meeting.block, body, End::Branch { condition, then: suspended, otherwise });
        }
    }

    /// Prepares a dispatch.
    pub fn open(&self, b: &Builder<'_>) {
        b.set(self.pending, b.i32(0));
        if let Some(votes) = &self.votes {
            votes.clear(b);
        }
    }
}
