//! The configuration of a reference device: the device that it acts as, its checks, and how it makes choices that
//! Vulkan leaves open.

use ptx2spv_target::Target;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// A reference device.
#[derive(Clone, Debug)]
pub struct Config {
    /// Which device it is: features, limits, subgroup sizes. Its facts and quirks don't matter here.
    pub target: Target,
    /// How it runs.
    pub mode: Mode,
    /// Host threads that run workgroups in plain mode, at least 1. The other modes use one.
    pub threads: usize,
    /// Instructions that one dispatch may take before it is stopped; `None` for no limit.
    pub step_budget: Option<u64>,
    /// An invocation to follow.
    pub trace: Option<Trace>,
}

/// The preset `reference` in plain mode, on all of the host's processors.
impl Default for Config {
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Self { target: Target::reference(), mode: Mode::default(), threads, step_budget: None, trace: None }
    }
}

/// How modules are run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Mode {
    /// Look for undefined values, uninitialised memory, data races and the like.
    pub check: bool,
    /// Decide what Vulkan leaves open by this seed, in the worst permitted ways. `None`: as an exact, orderly device
    /// would.
    pub seed: Option<u64>,
}

/// Which invocation to follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Trace {
    /// Its workgroup.
    pub workgroup: [u32; 3],
    /// Its place in the workgroup.
    pub local: [u32; 3],
}

/// Decides where Vulkan leaves a choice.
pub trait Choice {
    /// Whether there is anything to decide; `false` lets the compiler drop the code after it.
    const OPEN: bool;

    /// One of `0..count`, where 0 is what an exact, orderly device does. `count` is not 0.
    fn pick(&mut self, count: u32) -> u32;

    /// Arbitrary bits, for values that are undefined; 0 of an orderly device.
    fn bits(&mut self) -> u64;
}

/// An exact, orderly device.
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

/// Decides by a seed: the same seed, the same decisions.
#[derive(Clone, Debug)]
pub struct Seeded(SplitMix64);

impl Seeded {
    /// A sequence of decisions.
    pub fn new(seed: u64) -> Self {
        Self(SplitMix64::seed_from_u64(seed))
    }
}

impl Choice for Seeded {
    const OPEN: bool = true;

    fn pick(&mut self, count: u32) -> u32 {
        // Multiply and shift: the high half of a 32-bit fraction times the count, always below the count.
        (((self.bits() >> 32) * u64::from(count)) >> 32) as u32
    }

    fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }
}
