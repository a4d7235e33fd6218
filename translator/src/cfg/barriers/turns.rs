//! Words of shared memory by which all threads of a block learn one number at a single barrier.
//!
//! Three take turns: one is read while another is written and a third cleared.

use super::WORD;
use crate::ir::{Binary, Builder, Compare, Function, OwnShared, Type, Value, Var};

/// How many words take turns.
const WORDS: u32 = 3;

/// The words.
pub struct Turns {
    /// Where they are.
    memory: OwnShared,
    /// Number of the one that this turn uses.
    turn: Var,
}

impl Turns {
    /// Takes their place in shared memory.
    pub fn new(function: &mut Function) -> Self {
        Self { memory: function.take_shared(WORDS), turn: function.var(Type::I32) }
    }

    fn word(&self, b: &mut Builder<'_>, turn: Value) -> Value {
        let offset = b.shl(turn, 2);
        let first = b.own_shared(self.memory, 0);
        b.add(first, offset)
    }

    /// Clears all, before the first turn.
    pub fn clear(&self, b: &mut Builder<'_>) {
        let zero = b.i32(0);
        for turn in 0..WORDS {
            let word = b.own_shared(self.memory, 4 * turn);
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
