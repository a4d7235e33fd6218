//! What is asked of a translation.

use std::num::NonZeroUsize;

use ptx2spv_interface::ServiceSizes;
use ptx2spv_target::{Math, Target};

/// What to translate, and for which device.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options<'a> {
    /// The device.
    pub target: &'a Target,
    /// Kernels to translate by name; `None` for all of them.
    pub entries: Option<&'a [String]>,
    /// Translate also the kernels that those named may launch: all whose addresses the module takes.
    pub launched: bool,
    /// Leave out kernels that can't be translated, and report them in [`crate::Translation::skipped`], instead of refusing all.
    pub keep_going: bool,
    /// How exact float arithmetic must be.
    pub math: Math,
    /// Kernels must be able to take blocks of this many threads, of any shape. If a device's workgroups are smaller,
    /// each invocation runs several threads. With `None`, blocks are as large as `.reqntid` or `.maxntid` allow, and
    /// other kernels take as many threads as the device's workgroups hold. `.reqntid` always holds, and `.maxntid`
    /// bounds the number.
    pub block_threads: Option<u32>,
    /// Blocks in x, y and z of the clusters that kernels are launched in; `None` where the kernels say it themselves, or
    /// are launched without clusters.
    pub cluster: Option<[u32; 3]>,
    /// Translate for cooperative launches, as of `cuLaunchCooperativeKernel`: blocks may wait for each other, as `grid.sync()` does.
    pub cooperative: bool,
    /// Let the threads of ordinary launches end a dispatch before they reach the limit that the target's driver has for the rounds of
    /// loops, and go on in the next: see [`ptx2spv_interface::LoopSuspension`]. Without it, loops that reach the limit end the launch.
    pub suspend_in_loops: bool,
    /// Bytes of dynamic shared memory of the launches. Where the device's workgroups have less than that and what the kernel
    /// declares, all its shared memory lies in device memory ([`ptx2spv_target::Scratch`]).
    pub dynamic_shared_bytes: u32,
    /// How much device memory kernels have for what they print, allocate and launch. It must be the same for all translations of a module.
    pub sizes: ServiceSizes,
    /// Let the module say which line of the source each of its instructions comes from (`OpLine`).
    pub line_info: bool,
    /// Mark what the reference device's checks go by and SPIR-V doesn't say, in instructions that mean nothing elsewhere: which
    /// barrier instruction a thread stops at.
    pub checks: bool,
    /// How many threads translate kernels side by side; `None` for as many as the machine runs at once.
    pub threads: Option<NonZeroUsize>,
    /// Add code that tests each access to global, shared and local memory, and reports those that hit nothing or are not aligned
    /// instead of performing them. The launch provides a table of what is allocated: see [`ptx2spv_interface::allocations`].
    pub check_accesses: bool,
}

impl<'a> Options<'a> {
    /// All kernels, or none if one can't be translated, with exact arithmetic, without line information.
    pub fn new(target: &'a Target) -> Self {
        Self {
            target,
            entries: None,
            launched: true,
            keep_going: false,
            math: Math::default(),
            block_threads: None,
            cluster: None,
            cooperative: false,
            suspend_in_loops: false,
            dynamic_shared_bytes: 0,
            sizes: ServiceSizes::default(),
            line_info: false,
            checks: false,
            threads: None,
            check_accesses: false,
        }
    }

    ptx2spv_target::setters! {
        entries: Option<&'a [String]>,
        launched: bool,
        keep_going: bool,
        math: Math,
        block_threads: Option<u32>,
        cluster: Option<[u32; 3]>,
        cooperative: bool,
        suspend_in_loops: bool,
        dynamic_shared_bytes: u32,
        sizes: ServiceSizes,
        line_info: bool,
        checks: bool,
        threads: Option<NonZeroUsize>,
        check_accesses: bool,
    }
}
