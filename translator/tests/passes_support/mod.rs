//! What the tests of passes share: a seeded source of choices and ordinary accesses.

#![allow(dead_code, reason = "not every test uses all of it")]

use ptx2spv_translator::ir::{Access, MemoryOrder, Space};

/// A seeded source of choices (xorshift).
pub struct Random(pub u64);

impl Random {
    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
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
