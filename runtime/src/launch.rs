//! Launching: checks sizes and arguments, packs them, and splits the grid into dispatches, and into submissions if asked to.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ptx2spv_translator::interface::{self, Entry, ParamLocation, Scratch, push_constant};
use ptx2spv_translator::target::Limits;

use crate::args::{self, Arg};
use crate::backend::StatusRecord;
use crate::error::Error;
use crate::kernel::{Kernel, Prepared, Variant};
use crate::lock;
use crate::pace::{self, Part};

/// How many threads to launch, and with how much shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchConfig {
    /// Blocks (CTAs) in x, y and z: up to 2^31 - 1, 65,535 and 65,535 on every device.
    pub grid: [u32; 3],
    /// Threads per block in x, y and z.
    pub block: [u32; 3],
    /// Bytes of dynamic (`.extern .shared`) shared memory.
    pub dynamic_shared_bytes: u32,
}

impl LaunchConfig {
    /// A grid of blocks without dynamic shared memory.
    pub fn new(grid: [u32; 3], block: [u32; 3]) -> Self {
        Self { grid, block, dynamic_shared_bytes: 0 }
    }

    /// As many blocks of `block` threads in x as it takes for `threads` threads.
    pub fn linear(threads: u32, block: u32) -> Self {
        Self::new([threads.div_ceil(block.max(1)), 1, 1], [block, 1, 1])
    }
}

/// CUDA's grid limits.
const MAX_GRID: [u32; 3] = [i32::MAX as u32, 65_535, 65_535];

/// CUDA's limit of a block in z; those in x and y are that of its threads.
const MAX_BLOCK_Z: u32 = 64;

/// CUDA's limit for the threads of a block; devices may take more.
pub(crate) const MAX_BLOCK: u32 = 1024;

/// CUDA's limit for the shared memory of a block in bytes: that of sm_90, on which modules for older targets run too.
const MAX_SHARED: u32 = 227 << 10;

/// The most scratch memory for a dispatch in bytes, unless one workgroup takes more.
const MAX_SCRATCH: u64 = 512 << 20;

/// The largest parameter block, above what any PTX version allows (32,764 bytes).
pub(crate) const MAX_PARAM_BLOCK: u32 = 32 << 10;

/// A launch that has passed all checks.
pub(crate) struct Launch<'k> {
    /// The kernel's name.
    pub kernel: &'k str,
    /// Where the kernel may report or print something, if it may.
    pub status: Option<&'k StatusRecord>,
    /// The addresses among the arguments, with their positions.
    pub pointers: Vec<(usize, u64)>,
    /// The workgroups of this submission, which are blocks or clusters of them: the whole grid, if it isn't split.
    part: Part,
    /// Most of them in one dispatch.
    max_count: [u32; 3],
    /// Device memory that the kernel uses as shared or local memory.
    scratch: Option<GroupScratch>,
    /// The push constants up to the parameters, and then the parameter block.
    data: Vec<u8>,
    push_size: usize,
    params: ParamLocation,
}

/// Scratch memory of a launch.
#[derive(Clone, Copy)]
struct GroupScratch {
    /// Where the push constants have its address.
    address: u32,
    /// Bytes for each workgroup of a dispatch.
    bytes: u64,
}

impl Kernel {
    /// Launches the kernel after everything launched before, and returns without waiting for it. (The reference device runs
    /// it at once.) With [`Device::set_max_dispatch_time`] it is submitted part by part, and waited for.
    ///
    /// A block that is larger than the device's workgroups has the kernel translated anew at its first launch, so that each
    /// invocation runs several threads. Of kernels loaded from SPIR-V that variant is taken which holds the block.
    ///
    /// [`Device::set_max_dispatch_time`]: crate::Device::set_max_dispatch_time
    ///
    /// # Safety
    /// A kernel is foreign code that computes addresses: nothing checks these on a Vulkan device, where a wrong one may end or
    /// corrupt the process. The caller makes sure that
    /// * the arguments have the types that the kernel takes (only their number and sizes are checked), and are values that it
    ///   was written for;
    /// * what the kernel reads and writes with them lies inside of live buffers of this device, until it has ended: a buffer
    ///   must not be dropped while a launch is still to come that reaches it through an address stored elsewhere;
    /// * its threads don't race with each other, and a kernel that waits for something sees that happen.
    ///
    /// The reference device checks all of this.
    ///
    /// # Errors
    /// [`Error::ArgumentCount`], [`Error::ArgumentSize`], [`Error::ArgumentPointer`], [`Error::ForeignBuffer`],
    /// [`Error::Block`], [`Error::Grid`], [`Error::SharedMemory`], [`Error::Translation`] if it can't be launched like this;
    /// [`Error::OutOfMemory`], [`Error::DeviceLost`], [`Error::Refused`], [`Error::Vulkan`].
    pub unsafe fn launch(&self, config: &LaunchConfig, args: &[Arg<'_>]) -> Result<(), Error> {
        let (prepared, mut launch) = self.prepare(config, args)?;
        let Some(most) = self.shared.device.max_dispatch_time() else {
            return prepared.pipeline.launch(&mut launch).map(|_| ());
        };
        // Held from the first part to the last, so that no other launch comes in between.
        let _alone = lock(&self.shared.device.shared.split);
        let backend = &self.shared.device.shared.backend;
        backend.synchronize()?;
        pace::run_in_parts(workgroups(self.entry(), config.grid), most, &mut lock(&prepared.pace), |part| {
            launch.part = part;
            let start = Instant::now();
            let goes_on = prepared.pipeline.launch(&mut launch)?;
            backend.synchronize()?;
            Ok(goes_on.then(|| start.elapsed()))
        })
    }

    /// Launches the kernel `repeats` times, one after another, and returns how long each took, from the end of everything
    /// before it to its own end: by the device's own clock, or the host's on the reference device. Grids are not split here.
    ///
    /// # Safety
    /// As for [`Kernel::launch`].
    ///
    /// # Errors
    /// [`Error::NoTimestamps`] if the device can't measure, [`Error::Aborted`], [`Error::Fault`], and those of
    /// [`Kernel::launch`].
    pub unsafe fn time(&self, config: &LaunchConfig, args: &[Arg<'_>], repeats: u32) -> Result<Vec<Duration>, Error> {
        let (prepared, mut launch) = self.prepare(config, args)?;
        prepared.pipeline.time(&mut launch, repeats)
    }

    fn prepare(&self, config: &LaunchConfig, args: &[Arg<'_>]) -> Result<(Arc<Prepared>, Launch<'_>), Error> {
        let shared = &*self.shared;
        check_grid(self.entry(), config.grid)?;
        check_block(self.entry(), config.block)?;
        let LaunchConfig { block, dynamic_shared_bytes, .. } = *config;
        let version = shared.version(block, dynamic_shared_bytes)?;
        let (entry, limits) = (&version.entry, &shared.device.target().limits);
        let shared_bytes = shared_bytes(entry, limits, dynamic_shared_bytes)?;
        let variant =
            Variant { block, shared_bytes, dynamic_shared_bytes, packing: entry.packing, cluster: entry.cluster };
        let extent = workgroups(self.entry(), config.grid);
        let scratch = entry.scratch.map(|scratch| group_scratch(scratch, variant));
        // No device has zero here, but a wrong one must not make us loop.
        let max_count = limits.max_compute_work_group_count.map(|count| count.max(1));
        let params = push_constant::PARAMS as usize;
        // `check::interface` bounds `params_size`, and `push_constant_size` by this length.
        let mut data = vec![0; params + (entry.params_size as usize).next_multiple_of(4)];
        args::pack(&shared.device, entry, args, &mut data[params..])?;
        put(&mut data, push_constant::VARIABLES_ADDRESS, &shared.variables.address().to_le_bytes());
        put(&mut data, push_constant::GRID_SIZE, bytemuck::bytes_of(&config.grid));
        let launch = Launch {
            kernel: self.name(),
            status: shared.variables.status.as_ref().filter(|_| !entry.reports.is_empty() || entry.prints),
            pointers: args.iter().enumerate().filter_map(|(i, arg)| Some((i, arg.address()?))).collect(),
            part: ([0; 3], extent),
            max_count: scratch.map_or(max_count, |scratch| scratch.max_count(extent, max_count)),
            scratch,
            data,
            push_size: entry.push_constant_size as usize,
            params: entry.params_location,
        };
        Ok((version.prepare(variant)?, launch))
    }
}

impl Launch<'_> {
    /// The parameter block, if the kernel expects it in device memory.
    pub fn params(&self) -> Option<&[u8]> {
        (self.params == ParamLocation::Buffer).then(|| &self.data[push_constant::PARAMS as usize..])
    }

    /// Says where in device memory the parameter block lies.
    pub fn set_params_address(&mut self, address: u64) {
        put(&mut self.data, push_constant::PARAMS_ADDRESS, &address.to_le_bytes());
    }

    /// Bytes of scratch memory for the largest dispatch, if the kernel uses any. The dispatches run one after the other, with a
    /// barrier in between.
    pub fn scratch_bytes(&self) -> Option<u64> {
        let scratch = self.scratch?;
        let groups = self.part.1.iter().zip(self.max_count).map(|(&extent, most)| u64::from(extent.min(most)));
        Some(groups.fold(scratch.bytes, u64::saturating_mul))
    }

    /// Says where in device memory the scratch memory lies.
    pub fn set_scratch_address(&mut self, address: u64) {
        if let Some(scratch) = self.scratch {
            put(&mut self.data, scratch.address, &address.to_le_bytes());
        }
    }

    /// The dispatches that together are the grid, or the present part of it: the push constants and the number of workgroups
    /// of each.
    pub fn dispatches(&self) -> impl Iterator<Item = (Vec<u8>, [u32; 3])> {
        let (first, extent) = self.part;
        parts(extent, self.max_count).map(move |(base, count)| {
            // Within the grid, whose sizes are below 2^31.
            let base = [0, 1, 2].map(|i| first[i] + base[i]);
            let mut push = self.data[..self.push_size].to_vec();
            put(&mut push, push_constant::GRID_BASE, bytemuck::bytes_of(&base));
            (push, count)
        })
    }
}

impl GroupScratch {
    /// Most workgroups of a dispatch, where each of them takes its part of the scratch memory.
    fn max_count(self, extent: [u32; 3], max_count: [u32; 3]) -> [u32; 3] {
        let mut left = (MAX_SCRATCH / self.bytes.max(1)).max(1);
        [0, 1, 2].map(|i| {
            let most = u32::try_from(left).unwrap_or(u32::MAX).min(max_count[i]);
            // A part of a row is no more than that, a part of a layer whole rows.
            left = if most < extent[i] { 1 } else { (left / u64::from(extent[i].max(1))).max(1) };
            most
        })
    }
}

/// The scratch memory of the workgroups of a variant.
fn group_scratch(scratch: Scratch, variant: Variant) -> GroupScratch {
    // `Shared::version` keeps it within the device's limits.
    let invocations = variant.workgroup().into_iter().fold(1, u32::saturating_mul);
    GroupScratch { address: scratch.address, bytes: scratch.bytes(invocations, variant.shared_bytes) }
}

/// Writes what fits: a kernel's push constants may end before.
fn put(data: &mut [u8], offset: u32, bytes: &[u8]) {
    for (place, byte) in data.iter_mut().skip(offset as usize).zip(bytes) {
        *place = *byte;
    }
}

/// Splits a grid into dispatches of at most `max` blocks per dimension: base and count of each.
fn parts(grid: [u32; 3], max: [u32; 3]) -> impl Iterator<Item = ([u32; 3], [u32; 3])> {
    let ranges =
        move |i: usize| (0..grid[i]).step_by(max[i] as usize).map(move |base| (base, max[i].min(grid[i] - base)));
    ranges(2).flat_map(move |(z, nz)| {
        ranges(1).flat_map(move |(y, ny)| ranges(0).map(move |(x, nx)| ([x, y, z], [nx, ny, nz])))
    })
}

fn check_grid(entry: &Entry, grid: [u32; 3]) -> Result<(), Error> {
    let refuse = |reason| Err(Error::Grid { kernel: entry.name.clone(), grid, reason });
    if grid.contains(&0) {
        return refuse("no dimension may be zero".to_owned());
    }
    if grid.iter().zip(MAX_GRID).any(|(&size, max)| size > max) {
        return refuse("CUDA allows 2147483647 x 65535 x 65535".to_owned());
    }
    match entry.cluster.map(|cluster| cluster.size) {
        Some([x, y, z]) if !grid.iter().zip([x, y, z]).all(|(&size, cluster)| size.is_multiple_of(cluster)) => {
            refuse(format!("it must be a multiple of the clusters, {x} x {y} x {z} blocks"))
        }
        _ => Ok(()),
    }
}

/// Workgroups of a grid.
fn workgroups(entry: &Entry, grid: [u32; 3]) -> [u32; 3] {
    let [x, y, z] = entry.cluster.map_or([1; 3], |cluster| cluster.size);
    // `check::interface` refuses clusters of no blocks.
    [grid[0] / x.max(1), grid[1] / y.max(1), grid[2] / z.max(1)]
}

/// Whether the kernel takes such blocks, apart from the device.
fn check_block(entry: &Entry, block: [u32; 3]) -> Result<(), Error> {
    let refuse = |reason: String| Err(Error::Block { kernel: entry.name.clone(), block, reason });
    // Can't overflow: a product of three u32 has 96 bits.
    let product = |size: [u32; 3]| size.iter().map(|&n| u128::from(n)).product::<u128>();
    let threads = product(block);
    if threads == 0 {
        return refuse("no dimension may be zero".to_owned());
    }
    if let Some(required) = entry.block.required.filter(|&required| required != block) {
        return refuse(format!("its .reqntid demands {} x {} x {}", required[0], required[1], required[2]));
    }
    if let Some(max) = entry.block.max.filter(|&max| threads > product(max)) {
        return refuse(format!("its .maxntid allows {} threads, not {threads}", product(max)));
    }
    if threads > u128::from(MAX_BLOCK) {
        return refuse(format!("CUDA allows {MAX_BLOCK} threads, not {threads}"));
    }
    if block[2] > MAX_BLOCK_Z {
        return refuse(format!("CUDA allows {MAX_BLOCK} x {MAX_BLOCK} x {MAX_BLOCK_Z}"));
    }
    // Barriers count whole warps.
    if let Some(group) = entry.block.threads.filter(|&n| !threads.next_multiple_of(32).is_multiple_of(n.into())) {
        return refuse(format!("its barriers wait for {group} threads, of which {threads} are no multiple"));
    }
    Ok(())
}

/// The value of `SHARED_BYTES`: never zero, since arrays of no elements don't exist in SPIR-V.
fn shared_bytes(entry: &Entry, limits: &Limits, dynamic: u32) -> Result<u32, Error> {
    let interface::Shared { static_bytes, own_bytes, .. } = entry.shared;
    let refuse =
        |needed, own, available| Err(Error::SharedMemory { kernel: entry.name.clone(), needed, own, available });
    let needed = interface::shared_bytes(static_bytes, dynamic, entry.cluster);
    if lacks_shared(entry, limits, dynamic) {
        return refuse(needed, own_bytes, limits.max_compute_shared_memory_size);
    }
    // The translator's own bytes of a cluster are not among a block's.
    let own = if entry.cluster.is_some() { 0 } else { own_bytes };
    let block = u64::from(static_bytes.saturating_sub(own)) + u64::from(dynamic);
    match u32::try_from(needed.next_multiple_of(16).max(16)) {
        Ok(bytes) if block <= MAX_SHARED.into() => Ok(bytes),
        _ => refuse(block, 0, MAX_SHARED),
    }
}

/// Whether a kernel has no room for a launch's shared memory in the device's workgroups.
pub(crate) fn lacks_shared(entry: &Entry, limits: &Limits, dynamic: u32) -> bool {
    let needed = interface::shared_bytes(entry.shared.static_bytes, dynamic, entry.cluster).next_multiple_of(16);
    entry.scratch.is_none_or(|scratch| !scratch.shared) && needed > limits.max_compute_shared_memory_size.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_the_grid_once() {
        for (grid, max) in
            [([1, 1, 1], [65_535; 3]), ([7, 5, 3], [3, 2, 2]), ([4, 4, 4], [2, 4, 1]), ([9, 1, 2], [u32::MAX; 3])]
        {
            let mut seen = std::collections::BTreeSet::new();
            for (base, count) in parts(grid, max) {
                assert!(count.iter().zip(max).all(|(&n, max)| n >= 1 && n <= max));
                for z in 0..count[2] {
                    for y in 0..count[1] {
                        for x in 0..count[0] {
                            assert!(seen.insert([base[0] + x, base[1] + y, base[2] + z]));
                        }
                    }
                }
            }
            assert_eq!(seen.len() as u32, grid[0] * grid[1] * grid[2]);
            assert!(seen.iter().all(|id| id.iter().zip(grid).all(|(&at, size)| at < size)));
        }
        assert_eq!(parts([i32::MAX as u32, 1, 1], [65_535; 3]).count(), 32_769);
    }

    #[test]
    fn scratch_memory_bounds_the_parts() {
        let count = |groups: u64, extent, max| {
            let scratch = GroupScratch { address: 8, bytes: MAX_SCRATCH / groups };
            scratch.max_count(extent, max)
        };
        assert_eq!(count(10, [100, 7, 1], [65_535; 3]), [10, 1, 1]);
        assert_eq!(count(10, [4, 7, 3], [65_535; 3]), [10, 2, 1]);
        assert_eq!(count(60, [4, 7, 3], [65_535; 3]), [60, 15, 2]);
        assert_eq!(count(60, [4, 7, 3], [3, 2, 2]), [3, 1, 1]);
        assert_eq!(GroupScratch { address: 8, bytes: u64::MAX }.max_count([9, 9, 9], [65_535; 3]), [1, 1, 1]);
        // Never more than there is room for.
        for groups in 1..200 {
            let (extent, max) = ([6, 5, 4], [7, 3, 9]);
            let counts = count(groups, extent, max);
            let most: u64 = counts.iter().zip(extent).map(|(&count, extent)| u64::from(count.min(extent))).product();
            assert!(most <= groups, "{groups}: {counts:?}");
        }
    }

    #[test]
    fn linear_rounds_up() {
        assert_eq!(LaunchConfig::linear(1000, 256).grid, [4, 1, 1]);
        assert_eq!(LaunchConfig::linear(u32::MAX, 256).grid, [16_777_216, 1, 1]);
        assert_eq!(LaunchConfig::linear(5, 0).grid, [5, 1, 1]);
    }
}
