//! Words of shared memory by which all threads of a block or workgroup learn one number at a single barrier of the workgroup.
//!
//! Three take turns: one is read while another is written and a third cleared.

use super::WORD;
use crate::ir::{Binary, Builder, Compare, Function, OwnShared, Type, Value, Var};
use crate::target::Cluster;

/// How many words take turns.
const WORDS: u32 = 3;

/// The threads that share a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// The threads of a block.
    Block,
    /// Those of a workgroup, which may be a cluster of several blocks.
    Workgroup,
}

/// The words.
pub struct TripleBuffer {
    /// Where they are.
    memory: OwnShared,
    /// Whose they are: each block has its own, or all have the same.
    sharing: Sharing,
    /// Number of the one that this iteration uses.
    turn: Var,
}

impl TripleBuffer {
    /// Takes their place in shared memory.
    pub fn new(function: &mut Function, sharing: Sharing) -> Self {
        let groups = match sharing {
            Sharing::Block => function.cluster.map_or(1, Cluster::blocks),
            Sharing::Workgroup => 1,
        };
        Self { memory: function.take_shared(WORDS * groups), sharing, turn: function.var(Type::I32) }
    }

    fn word(&self, b: &mut Builder<'_>, turn: Value) -> Value {
        let offset = b.shl(turn, 2);
        let first = b.own_shared(self.memory, 0);
        let word = b.add(first, offset);
        if self.sharing == Sharing::Workgroup {
            return word;
        }
        let rank = b.cluster_rank();
        let group = b.mul_const(rank, u64::from(4 * WORDS));
        b.add(word, group)
    }

    /// Clears all, before the first turn.
    pub fn clear(&self, b: &mut Builder<'_>) {
        let zero = b.i32(0);
        for turn in 0..WORDS {
            let turn = b.i32(turn);
            let word = self.word(b, turn);
            b.store(WORD, word, vec![zero]);
        }
        b.barrier();
        b.set(self.turn, zero);
    }

    /// A turn: threads write to the word whose address `write` gets, then all meet. Gives what the word holds then.
    pub fn meet(&self, b: &mut Builder<'_>, write: impl FnOnce(&mut Builder<'_>, Value)) -> Value {
        let turn = b.get(self.turn);
        let own = self.word(b, turn);
        write(b, own);
        let up = b.binary_const(Binary::Add, turn, 1);
        let last = b.compare_const(Compare::Equal, up, WORDS.into());
        let zero = b.i32(0);
        let next = b.select(last, zero, up);
        // All have read it: they did so before the last barrier.
        let cleared = self.word(b, next);
        b.store(WORD, cleared, vec![zero]);
        b.barrier();
        b.set(self.turn, next);
        b.load_one(WORD, own)
    }
}
