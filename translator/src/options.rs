//! Options of a translation.

use std::num::NonZeroUsize;

use ptx2spv_interface::ServiceSizes;
use ptx2spv_target::{Math, Target};

ptx2spv_target::options! {
    /// The kernels to translate, the device, and choices of the translation.
    #[derive(Clone, Debug)]
    Options<'a> {
        /// The device.
        target: &'a Target,
        /// Kernels to translate by name; `None` for all of them.
        entries: Option<&'a [String]> = None,
        /// Translate also the kernels that those named may launch: all whose addresses the module takes.
        launched: bool = true,
        /// Leave out kernels that can't be translated, and report them in [`crate::Translation::skipped`], instead of refusing all.
        keep_going: bool = false,
        /// The required exactness of float arithmetic.
        math: Math = Math::default(),
        /// Kernels must be able to take blocks of this many threads, of any shape. If a device's workgroups are smaller,
        /// each invocation runs several threads. With `None`, blocks are as large as `.reqntid` or `.maxntid` allow, and
        /// other kernels take as many threads as the device's workgroups hold. `.reqntid` always holds, and `.maxntid`
        /// bounds the number.
        block_threads: Option<u32> = None,
        /// Blocks in x, y and z of the clusters that kernels are launched in; `None` where the kernels say it themselves, or
        /// are launched without clusters.
        cluster: Option<[u32; 3]> = None,
        /// Translate for cooperative launches, as of `cuLaunchCooperativeKernel`: blocks may wait for each other, as `grid.sync()` does.
        cooperative: bool = false,
        /// Let the threads of ordinary launches end a dispatch before they reach the limit that the target's driver has for the rounds of
        /// loops, and go on in the next: see [`ptx2spv_interface::LoopSuspension`]. Without it, loops that reach the limit end the launch.
        suspend_in_loops: bool = false,
        /// Bytes of dynamic shared memory of the launches. Where the device's workgroups have less than these and the
        /// kernel's static bytes together, all its shared memory lies in device memory ([`ptx2spv_target::Scratch`]).
        dynamic_shared_bytes: u32 = 0,
        /// Sizes of the device memory for kernels' printed output, allocations and launches. They must be the same for
        /// all translations of a module.
        sizes: ServiceSizes = ServiceSizes::default(),
        /// Let the module say which line of the source each of its instructions comes from (`OpLine`).
        line_info: bool = false,
        /// Mark facts that the reference device's checks go by and SPIR-V doesn't say, in instructions that mean
        /// nothing elsewhere: the barrier instruction that a thread stops at.
        checks: bool = false,
        /// The number of threads that translate kernels side by side; `None` for as many as the machine runs at once.
        threads: Option<NonZeroUsize> = None,
        /// Add code that tests each access to global, shared and local memory, and reports those that hit nothing or
        /// are not aligned instead of performing them. The launch provides a table of allocations: see
        /// [`ptx2spv_interface::allocations`].
        check_accesses: bool = false,
    }
    /// All kernels, or none if one can't be translated, with exact arithmetic, without line information.
    new
}
