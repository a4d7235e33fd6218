//! Occupancy. Vulkan drivers don't report how many workgroups a device holds, so the answers are those of a card of
//! compute capability 8.6 whose kernels use 32 registers.

use std::ffi::{c_int, c_uint};

use crate::attributes::{
    blocks_per_multiprocessor, is_unified, multiprocessors, shared_per_multiprocessor, threads_per_multiprocessor,
};
use crate::code::{Code, INVALID_VALUE};
use crate::context::{self, Context};
use crate::function::{Function, FunctionHandle};
use crate::raw::{Memory, Out, SizeFunction};

/// Blocks of a kernel that fit on a multiprocessor.
fn blocks(context: &Context, function: &Function, threads: u32, dynamic: usize) -> u32 {
    let known = function.kernel.attributes();
    if threads == 0 || threads > known.max_threads {
        return 0;
    }
    let by_threads = threads_per_multiprocessor(&context.device) / threads.next_multiple_of(32);
    let shared = dynamic.saturating_add(known.static_shared_bytes as usize);
    let most = by_threads.min(blocks_per_multiprocessor(&context.device));
    let by_shared = (shared_per_multiprocessor(&context.device) as usize).checked_div(shared);
    // Shared memory is no limit for blocks without any, or if the quotient exceeds 32 bits.
    by_shared.and_then(|blocks| u32::try_from(blocks).ok()).map_or(most, |blocks| blocks.min(most))
}

pub(crate) fn active_blocks(
    count: Out<c_int>,
    function: FunctionHandle,
    threads: c_int,
    dynamic: usize,
) -> Result<(), Code> {
    let count = count.needed()?;
    let context = context::current()?;
    let threads = u32::try_from(threads).ok().filter(|&threads| threads > 0).ok_or(INVALID_VALUE)?;
    count.set(blocks(&context, &*function.get()?, threads, dynamic) as c_int)
}

pub(crate) fn active_blocks_with_flags(
    count: Out<c_int>,
    function: FunctionHandle,
    threads: c_int,
    dynamic: usize,
    flags: c_uint,
) -> Result<(), Code> {
    if flags > 1 {
        return Err(INVALID_VALUE);
    }
    active_blocks(count, function, threads, dynamic)
}

/// On CPUs, the threads of a block run one after another, so that smaller blocks are better.
const MAX_SIZE_ON_CPU: u32 = 256;

pub(crate) fn block_size(
    grid: Out<c_int>,
    block: Out<c_int>,
    function: FunctionHandle,
    size: SizeFunction,
    dynamic: usize,
    limit: c_int,
) -> Result<(), Code> {
    let (grid, block) = (grid.needed()?, block.needed()?);
    let context = context::current()?;
    let function = function.get()?;
    let mut most = function.kernel.attributes().max_threads;
    if let Ok(limit @ 1..) = u32::try_from(limit) {
        most = most.min(limit);
    }
    if is_unified(&context.device) {
        most = most.min(MAX_SIZE_ON_CPU);
    }
    let dynamic_of = |threads: u32| match size {
        // SAFETY: the caller's function accepts any block size.
        Some(size) => unsafe { size(threads as c_int) },
        None => dynamic,
    };
    // Whole warps, unless the limit is below one warp.
    let sizes = (1..=most / 32).rev().map(|warps| 32 * warps).chain((most < 32).then_some(most));
    let threads = |size: u32| size * blocks(&context, &function, size, dynamic_of(size));
    // The largest size among those with most threads.
    let best = sizes.map(|size| (threads(size), size)).max().ok_or(INVALID_VALUE)?;
    if best.0 == 0 {
        return Err(INVALID_VALUE);
    }
    block.set(best.1 as c_int)?;
    let resident = (best.0 / best.1).saturating_mul(multiprocessors(&context.device));
    grid.set(c_int::try_from(resident).unwrap_or(c_int::MAX))
}

#[allow(clippy::too_many_arguments, reason = "CUDA's arguments")]
pub(crate) fn block_size_with_flags(
    grid: Out<c_int>,
    block: Out<c_int>,
    function: FunctionHandle,
    size: SizeFunction,
    dynamic: usize,
    limit: c_int,
    flags: c_uint,
) -> Result<(), Code> {
    if flags > 1 {
        return Err(INVALID_VALUE);
    }
    block_size(grid, block, function, size, dynamic, limit)
}

pub(crate) fn available_shared(
    bytes: Out<usize>,
    function: FunctionHandle,
    blocks: c_int,
    threads: c_int,
) -> Result<(), Code> {
    let bytes = bytes.needed()?;
    let context = context::current()?;
    let function = function.get()?;
    let blocks = usize::try_from(blocks).ok().filter(|&blocks| blocks > 0).ok_or(INVALID_VALUE)?;
    if threads <= 0 {
        return Err(INVALID_VALUE);
    }
    let each = shared_per_multiprocessor(&context.device) as usize / blocks;
    bytes.set(each.saturating_sub(function.kernel.attributes().static_shared_bytes as usize))
}

/// Maximum number of active clusters. Compute capability 8.6 has none.
pub(crate) fn clusters(count: Out<c_int>, function: FunctionHandle, _config: Memory) -> Result<(), Code> {
    let count = count.needed()?;
    context::current()?;
    function.get()?;
    count.set(0)
}
