//! The configuration of a reference device: the device it imitates, its checks, and how it chooses where Vulkan permits
//! several behaviors.

use ptx2spv_target::Target;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// The configuration of a reference device.
#[derive(Clone, Debug)]
pub struct Config {
    /// The device to imitate: features, limits, subgroup sizes. Facts and quirks have no effect here.
    pub target: Target,
    /// How it runs.
    pub mode: Mode,
    /// Number of host threads for workgroups in plain mode, at least 1. The other modes use one thread.
    pub threads: usize,
    /// Maximum number of instructions of a dispatch; `None` for no limit.
    pub step_budget: Option<u64>,
    /// An invocation to trace.
    pub trace: Option<Trace>,
}

/// The preset `reference` in plain mode, on all processors of the host.
impl Default for Config {
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Self { target: Target::reference(), mode: Mode::default(), threads, step_budget: None, trace: None }
    }
}

/// How modules are run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Mode {
    /// Detect undefined values, uninitialized memory, data races and the like.
    pub check: bool,
    /// The seed for choices where Vulkan permits several behaviors, which prefer the worst permitted one. `None` makes
    /// the choices of an exact device with a fixed order.
    pub seed: Option<u64>,
}

/// The invocation to trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Trace {
    /// The invocation's workgroup.
    pub workgroup: [u32; 3],
    /// The invocation's position in the workgroup.
    pub local: [u32; 3],
}

/// Makes choices where Vulkan permits several behaviors.
pub trait Choice {
    /// Whether there are choices. `false` lets the compiler remove the code that depends on them.
    const OPEN: bool;

    /// Returns one of `0..count`, which is not empty. 0 is the choice of an exact device with a fixed order.
    fn pick(&mut self, count: u32) -> u32;

    /// Arbitrary bits for undefined values; 0 on an exact device.
    fn bits(&mut self) -> u64;
}

/// The choices of an exact device with a fixed order.
#[derive(Clone, Copy, Debug, Default)]
pub struct Plain;

impl Choice for Plain {
    const OPEN: bool = false;

    #[inline(always)]
    fn pick(&mut self, _count: u32) -> u32 {
        0
    }

    #[inline(always)]
    fn bits(&mut self) -> u64 {
        0
    }
}

/// Choices determined by a seed: the same seed makes the same choices.
#[derive(Clone, Debug)]
pub struct Seeded(SplitMix64);

impl Seeded {
    /// A sequence of choices.
    pub fn new(seed: u64) -> Self {
        Self(SplitMix64::seed_from_u64(seed))
    }
}

impl Choice for Seeded {
    const OPEN: bool = true;

    fn pick(&mut self, count: u32) -> u32 {
        // Multiply and shift: the upper half of a 32-bit fraction times the count, which is always below the count.
        (((self.bits() >> 32) * u64::from(count)) >> 32) as u32
    }

    fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }
}
