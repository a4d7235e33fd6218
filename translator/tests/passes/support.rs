//! Helpers of the tests of passes: a seeded source of choices, ordinary accesses, and devices.

use ptx2spv_translator::Target;
use ptx2spv_translator::internals::ir::{Access, MemoryOrder, Space};
use ptx2spv_translator::target::{Facts, Feature};
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

/// An ordinary access.
pub fn access(space: Space, bytes: u8) -> Access {
    Access { space, bytes, order: MemoryOrder::Weak, read_only: false }
}

/// A device with `F64`, or without, about whose arithmetic these facts are known.
pub fn target(name: &str, has_double: bool, facts: Facts) -> Target {
    let mut target = Target::preset("lavapipe").expect("a preset");
    target.name = name.into();
    target.facts = Facts { denormals_f64_kept: has_double, ..facts };
    if !has_double {
        target.features.remove(&Feature::ShaderFloat64);
    }
    target
}
