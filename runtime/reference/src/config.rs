//! The configuration of a reference device: the device it imitates, its checks, and how it chooses where Vulkan permits
//! several behaviors.

use ptx2spv_target::Target;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// The configuration of a reference device.
///
/// ```
/// use ptx2spv_reference::{Config, Device, Mode};
///
/// // Subgroups of 8, all checks, and the worst choices that Vulkan permits, the same ones in each run.
/// let mut config = Config { mode: Mode { check: true, seed: Some(7) }, step_budget: Some(1_000_000), ..Config::default() };
/// config.target.subgroups.size = 8;
/// let device = Device::new(config);
/// assert_eq!(device.config().target.subgroups.size, 8);
/// ```
#[derive(Clone, Debug)]
pub struct Config {
    /// The device to imitate: features, limits, subgroup sizes. Facts and quirks have no effect here.
    pub target: Target,
    /// The mode of execution.
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

/// The mode of execution: with or without checks, and the choices where Vulkan permits several behaviors.
///
/// ```
/// use ptx2spv_reference::{Config, Device, Mode};
///
/// let device = Device::new(Config { mode: Mode { check: true, seed: None }, ..Config::default() });
/// let buffer = device.allocate(4).unwrap();
/// // Checked mode knows that nothing has been written there, but copies are no findings.
/// device.read(buffer, &mut [0; 4]).unwrap();
/// assert!(device.take_findings().is_empty());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Mode {
    /// Detect undefined values, uninitialized memory, data races and the like.
    pub check: bool,
    /// The seed for choices where Vulkan permits several behaviors, which prefer the worst permitted one. `None` makes
    /// the choices of an exact device with a fixed order.
    pub seed: Option<u64>,
}

/// The invocation to trace: its workgroup, and its position in the workgroup.
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
