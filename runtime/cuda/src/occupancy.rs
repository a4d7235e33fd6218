//! Occupancy: forwards to [`ptx2spv_runtime::Kernel::occupancy`] and its relatives.

use std::ffi::{c_int, c_uint};

use crate::code::{Code, INVALID_VALUE};
use crate::context;
use crate::function::FunctionHandle;
use crate::raw::{Memory, Out, SizeFunction};

/// Bytes of shared memory. A block with more than 32 bits can hold fits nowhere, so a larger number may stand for the largest.
fn bytes(dynamic: usize) -> u32 {
    u32::try_from(dynamic).unwrap_or(u32::MAX)
}

pub(crate) fn active_blocks(
    count: Out<c_int>,
    function: FunctionHandle,
    threads: c_int,
    dynamic: usize,
) -> Result<(), Code> {
    let count = count.needed()?;
    context::current()?;
    let threads = u32::try_from(threads).ok().filter(|&threads| threads > 0).ok_or(INVALID_VALUE)?;
    count.set(function.get()?.kernel.active_blocks(threads, bytes(dynamic)) as c_int)
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

pub(crate) fn block_size(
    grid: Out<c_int>,
    block: Out<c_int>,
    function: FunctionHandle,
    size: SizeFunction,
    dynamic: usize,
    limit: c_int,
) -> Result<(), Code> {
    let (grid, block) = (grid.needed()?, block.needed()?);
    context::current()?;
    let limit = u32::try_from(limit).ok().filter(|&limit| limit > 0);
    let dynamic_of = |threads: u32| match size {
        // SAFETY: the caller's function accepts any block size.
        Some(size) => bytes(unsafe { size(threads as c_int) }),
        None => bytes(dynamic),
    };
    let sizes = function.get()?.kernel.occupancy(limit, dynamic_of).ok_or(INVALID_VALUE)?;
    block.set(sizes.block as c_int)?;
    grid.set(c_int::try_from(sizes.grid).unwrap_or(c_int::MAX))
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
    context::current()?;
    let blocks = u32::try_from(blocks).ok().filter(|&blocks| blocks > 0).ok_or(INVALID_VALUE)?;
    if threads <= 0 {
        return Err(INVALID_VALUE);
    }
    bytes.set(function.get()?.kernel.available_shared(blocks) as usize)
}

/// Maximum number of active clusters. Compute capability 8.6 has none.
pub(crate) fn clusters(count: Out<c_int>, function: FunctionHandle, _config: Memory) -> Result<(), Code> {
    let count = count.needed()?;
    context::current()?;
    function.get()?;
    count.set(0)
}
