//! Occupancy: how many blocks of a kernel a device runs at a time. Vulkan drivers don't report that, so the answers are
//! those of a card of compute capability 8.6 whose kernels use 32 registers, with the device's own shared memory.

use crate::device::Device;
use crate::device::attributes::{
    BLOCKS_PER_MULTIPROCESSOR, multiprocessors, shared_per_multiprocessor, threads_per_multiprocessor,
};
use crate::info::DeviceKind;
use crate::info::limits::MAX_BLOCK;
use crate::module::kernel::{Kernel, KernelAttributes};

/// Number of threads of a warp. Blocks occupy whole warps.
const WARP: u32 = 32;

/// On CPUs, the threads of a block run one after another, so that smaller blocks are better.
const MAX_SIZE_ON_CPU: u32 = 256;

/// Launch sizes that keep a device busy, from [`Kernel::occupancy`].
///
/// ```
/// use ptx2spv_runtime::{Config, Device, LaunchConfig, Source};
///
/// let device = Device::reference(Config::default());
/// let ptx = ".version 7.0 .target sm_50 .address_size 64 .visible .entry nothing() { ret; }";
/// let kernel = device.load(&Source::new("nothing.ptx", ptx))?.kernel("nothing")?;
/// let n = 1_000_000;
/// if let Some(sizes) = kernel.occupancy(None, |_threads| 0) {
///     // SAFETY: the kernel accesses nothing.
///     unsafe { kernel.launch(&LaunchConfig::linear(n, sizes.block), &[]) }?;
/// }
/// # Ok::<(), ptx2spv_runtime::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Occupancy {
    /// Number of threads of a block.
    pub block: u32,
    /// Number of blocks that run at a time. With fewer, a part of the device is idle.
    pub grid: u32,
}

/// The largest block to suggest for a kind of device.
fn largest_block(kind: DeviceKind) -> u32 {
    if kind == DeviceKind::Cpu { MAX_SIZE_ON_CPU } else { MAX_BLOCK }
}

impl Kernel {
    /// The number of blocks that a multiprocessor holds at a time, like
    /// `cuOccupancyMaxActiveBlocksPerMultiprocessor`: 0 if a block is too large.
    pub fn active_blocks(&self, threads: u32, dynamic_shared_bytes: u32) -> u32 {
        self.attributes().active_blocks(&self.module.device, threads, dynamic_shared_bytes)
    }

    /// The block size with most threads running at a time, like `cuOccupancyMaxPotentialBlockSize`. Blocks have at most
    /// `limit` threads, and as much dynamic shared memory as the function returns for a number of threads. `None` if no
    /// block can run.
    pub fn occupancy(&self, limit: Option<u32>, dynamic_shared_bytes: impl FnMut(u32) -> u32) -> Option<Occupancy> {
        self.attributes().occupancy(&self.module.device, limit, dynamic_shared_bytes)
    }

    /// Bytes of dynamic shared memory that each block can have if a multiprocessor holds this many blocks at a time, like
    /// `cuOccupancyAvailableDynamicSMemPerBlock`. 0 for no blocks.
    pub fn available_shared(&self, blocks: u32) -> u32 {
        self.attributes().available_shared(&self.module.device, blocks)
    }
}

impl KernelAttributes {
    /// [`Kernel::active_blocks`] of a kernel with these attributes.
    pub fn active_blocks(&self, device: &Device, threads: u32, dynamic_shared_bytes: u32) -> u32 {
        if threads == 0 || threads > self.max_threads {
            return 0;
        }
        let by_threads = threads_per_multiprocessor(device) / threads.next_multiple_of(WARP);
        let shared = dynamic_shared_bytes.saturating_add(self.static_shared_bytes);
        let most = by_threads.min(BLOCKS_PER_MULTIPROCESSOR);
        // Blocks without shared memory are no limit.
        shared_per_multiprocessor(device).checked_div(shared).map_or(most, |blocks| blocks.min(most))
    }

    /// [`Kernel::occupancy`] of a kernel with these attributes.
    pub fn occupancy(
        &self,
        device: &Device,
        limit: Option<u32>,
        mut dynamic_shared_bytes: impl FnMut(u32) -> u32,
    ) -> Option<Occupancy> {
        let largest = self.max_threads.min(largest_block(device.info().kind));
        let most = limit.map_or(largest, |limit| limit.min(largest));
        // Whole warps, unless the limit is below one warp.
        let sizes = (1..=most / WARP).rev().map(|warps| WARP * warps).chain((most < WARP).then_some(most));
        let threads = sizes.map(|size| (size * self.active_blocks(device, size, dynamic_shared_bytes(size)), size));
        // The largest size among those with most threads.
        let (threads, block) = threads.max().filter(|(threads, _)| *threads > 0)?;
        let grid = u32::try_from(multiprocessors(device)).ok()?.checked_mul(threads / block)?;
        Some(Occupancy { block, grid })
    }

    /// [`Kernel::available_shared`] of a kernel with these attributes.
    pub fn available_shared(&self, device: &Device, blocks: u32) -> u32 {
        let each = shared_per_multiprocessor(device).checked_div(blocks).unwrap_or(0);
        each.saturating_sub(self.static_shared_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_cpus_prefer_small_blocks() {
        assert_eq!(largest_block(DeviceKind::Cpu), 256);
        for kind in [DeviceKind::Integrated, DeviceKind::Discrete, DeviceKind::Virtual, DeviceKind::Reference] {
            assert_eq!(largest_block(kind), 1024);
        }
    }
}
