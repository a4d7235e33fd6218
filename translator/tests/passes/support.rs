//! What the tests of passes share: a seeded source of choices and ordinary accesses.

use ptx2spv_translator::ir::{Access, MemoryOrder, Space};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// A seeded source of choices.
pub struct Random(SplitMix64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(SplitMix64::seed_from_u64(seed))
    }

    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    pub fn below(&mut self, limit: usize) -> usize {
        (self.bits() >> 33) as usize % limit
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

pub fn access(space: Space, bytes: u8) -> Access {
    Access { space, bytes, order: MemoryOrder::Weak, read_only: false }
}
