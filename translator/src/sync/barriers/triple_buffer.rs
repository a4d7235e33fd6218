//! Words of shared memory through which all threads of a block or workgroup learn one number, with a single barrier of the workgroup.
//!
//! There are three words in rotation: one is read while another is written and the third is cleared.

use super::operations::WORD;
use crate::ir::{Binary, Builder, Compare, Function, OwnShared, Type, Value, Var};
use ptx2spv_target::Cluster;

/// Number of words in the rotation.
const WORDS: u32 = 3;

/// The threads that share a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// The threads of a block.
    Block,
    /// The threads of a workgroup, which may be a cluster of several blocks.
    Workgroup,
}

/// The words.
pub struct TripleBuffer {
    /// The shared memory of the words.
    memory: OwnShared,
    /// The threads that share the words: each block has words of its own, or all blocks have the same.
    sharing: Sharing,
    /// Index of the word that this iteration uses.
    phase: Var,
}

impl TripleBuffer {
    /// Allocates the words in shared memory.
    pub fn new(function: &mut Function, sharing: Sharing) -> Self {
        let groups = match sharing {
            Sharing::Block => function.cluster.map_or(1, Cluster::blocks),
            Sharing::Workgroup => 1,
        };
        Self { memory: function.take_shared(WORDS * groups), sharing, phase: function.var(Type::I32) }
    }

    fn word(&self, b: &Builder<'_>, phase: Value) -> Value {
        let offset = b.shl(phase, 2);
        let word = b.add(b.own_shared(self.memory, 0), offset);
        if self.sharing == Sharing::Workgroup {
            return word;
        }
        b.add(word, b.mul_const(b.cluster_rank(), u64::from(4 * WORDS)))
    }

    /// Clears all words, before the first iteration.
    pub fn clear(&self, b: &Builder<'_>) {
        let zero = b.i32(0);
        for phase in 0..WORDS {
            b.store(WORD, self.word(b, b.i32(phase)), vec![zero]);
        }
        b.barrier();
        b.set(self.phase, zero);
    }

    /// One iteration: threads write to the word whose address `write` gets, then all synchronize. Gives the word's
    /// value after the barrier.
    pub fn exchange(&self, b: &Builder<'_>, write: impl FnOnce(&Builder<'_>, Value)) -> Value {
        let phase = b.get(self.phase);
        let own = self.word(b, phase);
        write(b, own);
        let up = b.binary_const(Binary::Add, phase, 1);
        let last = b.compare_const(Compare::Equal, up, WORDS.into());
        let zero = b.i32(0);
        let next = b.select(last, zero, up);
        // All threads have read this word before the last barrier.
        let cleared = self.word(b, next);
        b.store(WORD, cleared, vec![zero]);
        b.barrier();
        b.set(self.phase, next);
        b.load_one(WORD, own)
    }
}
