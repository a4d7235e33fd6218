//! Bugs of drivers.

use serde::{Deserialize, Serialize};

/// Bugs of the driver that emission works around. Features not known to be wrong are assumed to work as Vulkan says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Quirks {
    /// A value that a loop computes reaches the code after the loop wrong, for invocations that left it before others.
    pub loop_values_lost: bool,
    /// Where a workgroup doesn't fill its last vector, the vector's remaining lanes run loops too, on values that they
    /// don't have, and may never leave them.
    pub surplus_invocations_loop: bool,
    /// Memory barriers, also those that atomics and loads and stores imply, wait for the whole workgroup, as if none of
    /// them stood in divergent control flow. In return all atomics are sequentially consistent.
    pub memory_barriers_wait: bool,
    /// The host decides by a condition whether modules without the Vulkan memory model have memory barriers, since it
    /// isn't known whether they wait.
    pub memory_barriers_optional: bool,
    /// Barriers of a subgroup wait for the whole workgroup, and the code after a barrier that the workgroup doesn't
    /// reach is lost. A subgroup runs in lockstep, and needs no barrier.
    pub subgroup_barriers_wait: bool,
    /// Rounds of all its loops together after which an invocation's loops end, whether they are done or not; where
    /// invocations run side by side in one vector, a round of any of them counts for all. Mesa's llvmpipe has a limit of
    /// 65,535 (`LP_MAX_TGSI_LOOP_ITERATIONS` in `src/gallium/auxiliary/gallivm/lp_bld_limits.h`).
    pub loop_budget: Option<u32>,
    /// The driver runs all arms of conditions, under masks, and takes the longer to compile the more conditions follow each other
    /// within a loop, exponentially at worst.
    pub conditions_slow: bool,
    /// The time that the driver takes to compile a kernel grows with the product of its basic blocks and variables. llvmpipe makes coroutines,
    /// for which LLVM computes the dominators anew for each variable (`collectFrameAlloca` in `llvm/lib/Transforms/Coroutines/CoroFrame.cpp`).
    pub blocks_slow: bool,
    /// A barrier of the workgroup that orders device memory takes longer than one of shared memory alone.
    pub device_memory_barriers_slow: bool,
    /// Each value that lives across blocks has a slot of its own on a stack of 512 KiB, and a kernel that needs more crashes when
    /// it runs.
    pub stack_small: bool,
    /// Nested conditionals and loops that the driver gets right; it ignores deeper ones. llvmpipe stops at 80
    /// (`LP_MAX_TGSI_NESTING`), of which its own passes may take some.
    pub nesting: Option<u32>,
    /// The driver honours `DenormPreserve` for f32 and f64, and flushes f32 without it, but doesn't say that it has it
    /// (`shaderDenormPreserveFloat32`). Modules then declare it all the same, which validation layers complain of.
    pub denorm_preserve_unadvertised: bool,
    /// Bytes that change places within 16 bits come out wrong: `x << 8 | x >> 8`, stored as 16 bits, or `prmt` with
    /// 0x4401 of a 16-bit load. Seen in NVIDIA's driver 580.159, with any of several ways to write the shifts; a
    /// multiplication and an addition instead of them are right.
    pub byte_swaps_wrong: bool,
    /// Quotients and remainders of 64 bits, or operations beside them, come out wrong in some kernels. Seen in NVIDIA's
    /// driver 580.159.
    pub long_divisions_wrong: bool,
    /// Where a condition within a loop guards an `OpFDiv` on f64, other values of the loop come out wrong. Seen in
    /// NVIDIA's driver 580.159.
    pub double_divisions_wrong: bool,
    /// Operations that change, clear or set the sign bit of a float's bits become the float's negation or absolute value, which give another
    /// NaN. Seen in NVIDIA's driver 580.159.
    pub nan_signs_wrong: bool,
    /// A comparison of a number that `OpDot` made with itself takes a NaN for a number. Seen in NVIDIA's driver 580.159.
    pub dot_nans_lost: bool,
    /// The bits of a condition's 1, where float operations read them, become those of 1.0 in some kernels. Seen in NVIDIA's driver 580.159.
    pub condition_bits_wrong: bool,
    /// A word that is joined with its sign, `x >> 31`, to 64 bits, times a power of two, loses its upper half in some sums; conversions
    /// are right. Seen in NVIDIA's driver 580.159.
    pub joined_signs_lost: bool,
    /// The compiler adds zero-extended words of an address's sum on 32 bits, and loses the carry (`try_extract_additions` in Mesa's
    /// `src/amd/common/ac_nir_lower_global_access.c`).
    pub address_carries_lost: bool,
    /// Accesses past the end of a variable in workgroup, private or function memory hit other memory of the process,
    /// since the driver executes shaders in the program's process and checks no offsets.
    pub offsets_unchecked: bool,
    /// Subgroups are not as the device says: of other sizes, or not full. Kernels with operations of a warp do without
    /// them.
    pub subgroups_unreliable: bool,
    /// Modules that declare `MaximallyReconvergesKHR` are compiled wrong.
    pub maximal_reconvergence_wrong: bool,
    /// `OpAtomicStore` to workgroup memory is compiled wrong; `OpAtomicExchange` is right.
    pub workgroup_atomic_stores_wrong: bool,
    /// Most bytes of local memory for each invocation with which the driver makes pipelines.
    pub local_memory: Option<u32>,
}

impl Quirks {
    /// With at least this many variables of a type, modules for a driver with a small stack keep them in an array.
    pub const MANY_VARIABLES: usize = 100;
    /// NVIDIA's driver 580.159 makes pipelines of kernels with 12 KiB of local memory, and answers "unknown error" at 16 KiB.
    pub const NVIDIA_LOCAL_MEMORY: u32 = (16 << 10) - 4;
    /// llvmpipe compiles kernels with 400 KiB of local memory for minutes.
    pub const LLVMPIPE_LOCAL_MEMORY: u32 = 32 << 10;
    /// SwiftShader has a stack of 512 KiB for four invocations, of which other things take a little.
    pub const SWIFTSHADER_LOCAL_MEMORY: u32 = 127 << 10;
    /// RADV's field for a subgroup's scratch memory holds less than 8 MiB, which are 128 KiB for each of 64 invocations; registers that the
    /// compiler spills lie there too.
    pub const RADV_LOCAL_MEMORY: u32 = 112 << 10;
    /// ANV has 2 MiB for each subgroup of 32, with the registers that its compiler spills.
    pub const ANV_LOCAL_MEMORY: u32 = 56 << 10;
}
