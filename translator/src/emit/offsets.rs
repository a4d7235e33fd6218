//! The 32-bit values of a function that are sums of another value and a constant, so that constant parts of indices
//! stay apart.

use rspirv::spirv::Word;
use rustc_hash::FxHashMap;

/// Sums with constants among the 32-bit values of a function, by their ids.
#[derive(Default)]
pub(super) struct Offsets {
    constants: FxHashMap<Word, u32>,
    sums: FxHashMap<Word, (Word, u32)>,
}

impl Offsets {
    pub(super) fn note_constant(&mut self, id: Word, bits: u64) {
        if let Ok(bits) = u32::try_from(bits) {
            self.constants.insert(id, bits);
        }
    }

    /// The bits of a constant.
    pub(super) fn constant(&self, id: Word) -> Option<u32> {
        self.constants.get(&id).copied()
    }

    /// Notes a sum, if one of its parts is a constant.
    pub(super) fn note_sum(&mut self, id: Word, a: Word, b: Word) {
        let part = match (self.constants.get(&a), self.constants.get(&b)) {
            (_, Some(constant)) => (a, *constant),
            (Some(constant), None) => (b, *constant),
            (None, None) => return,
        };
        self.sums.insert(id, part);
    }

    /// The value and the constant that a value is the sum of.
    pub(super) fn split(&self, id: Word) -> Option<(Word, u32)> {
        self.sums.get(&id).copied()
    }
}
