//! Occupancy: forwards to [`ptx2spv_runtime::KernelAttributes::occupancy`] and its relatives.

use std::ffi::{c_int, c_uint};

use crate::abi::{INVALID_VALUE, In, Out, Result, SizeFunction};
use crate::context::{self, device};
use crate::launch::Config;
use crate::module::function::FunctionHandle;

/// Bytes of shared memory. A block with more than 32 bits can hold fits nowhere, so a larger number may stand for the largest.
fn bytes(dynamic: usize) -> u32 {
    u32::try_from(dynamic).unwrap_or(u32::MAX)
}

/// Fails unless the flags are those of occupancy: none, or the one about global caching, which changes nothing here.
fn check_flags(flags: c_uint) -> Result {
    if flags > 1 { Err(INVALID_VALUE) } else { Ok(()) }
}

pub(crate) fn active_blocks(function: FunctionHandle, threads: c_int, dynamic: usize, flags: c_uint) -> Result<c_int> {
    check_flags(flags)?;
    let context = context::current()?;
    let threads = u32::try_from(threads).ok().filter(|&threads| threads > 0).ok_or(INVALID_VALUE)?;
    Ok(function.get()?.kernel.attributes().active_blocks(&context.device, threads, bytes(dynamic)) as c_int)
}

pub(crate) fn block_size(
    grid: Out<c_int>,
    block: Out<c_int>,
    function: FunctionHandle,
    size: SizeFunction,
    dynamic: usize,
    limit: c_int,
    flags: c_uint,
) -> Result {
    check_flags(flags)?;
    let (grid, block) = (grid.needed()?, block.needed()?);
    let context = context::current()?;
    let limit = u32::try_from(limit).ok().filter(|&limit| limit > 0);
    let dynamic_of = |threads: u32| match size {
        // SAFETY: the caller's function accepts any block size.
        Some(size) => bytes(unsafe { size(threads as c_int) }),
        None => bytes(dynamic),
    };
    let sizes =
        function.get()?.kernel.attributes().occupancy(&context.device, limit, dynamic_of).ok_or(INVALID_VALUE)?;
    block.set(sizes.block as c_int)?;
    grid.set(c_int::try_from(sizes.grid).unwrap_or(c_int::MAX))
}

pub(crate) fn available_shared(function: FunctionHandle, blocks: c_int, threads: c_int) -> Result<usize> {
    let context = context::current()?;
    let blocks = u32::try_from(blocks).ok().filter(|&blocks| blocks > 0).ok_or(INVALID_VALUE)?;
    if threads <= 0 {
        return Err(INVALID_VALUE);
    }
    Ok(function.get()?.kernel.attributes().available_shared(&context.device, blocks) as usize)
}

/// Blocks of the largest cluster that every device with clusters has.
const LARGEST_CLUSTER: c_int = 8;

/// The compute capability that has clusters.
const CLUSTERS_SINCE: (c_int, c_int) = (9, 0);

/// Number of clusters that can be active at once. Compute capabilities before 9.0 have none.
pub(crate) fn clusters(function: FunctionHandle, config: In<Config>) -> Result<c_int> {
    /// The attribute for the number of multiprocessors.
    const MULTIPROCESSORS: c_uint = 16;
    let context = context::current()?;
    let (function, config) = (function.get()?, config.get()?);
    let cluster = config.attributes()?.cluster().unwrap_or([1; 3]);
    if device::capability() < CLUSTERS_SINCE {
        return Ok(0);
    }
    let product = |sizes: [c_uint; 3]| sizes.into_iter().try_fold(1, u32::checked_mul).ok_or(INVALID_VALUE);
    let (threads, blocks) = (product(config.block)?, product(cluster)?);
    if threads == 0 || blocks == 0 {
        return Err(INVALID_VALUE);
    }
    let each = function.kernel.attributes().active_blocks(&context.device, threads, config.shared_bytes);
    let all =
        device::attribute_value(&context.device, MULTIPROCESSORS).unwrap_or(1).cast_unsigned().saturating_mul(each);
    Ok((all / blocks) as c_int)
}

/// Blocks of the largest cluster for a launch.
pub(crate) fn cluster_size(function: FunctionHandle, config: In<Config>) -> Result<c_int> {
    context::current()?;
    function.get()?;
    config.get()?;
    let has_clusters = device::capability() >= CLUSTERS_SINCE;
    Ok(if has_clusters { LARGEST_CLUSTER } else { 1 })
}
