//! A launch as the back ends see it: push constants, and the dispatches that make up the grid.

use std::cell::RefCell;
use std::ops::{Deref, DerefMut, Range};
use std::sync::Arc;

use ptx2spv_translator::interface::{Cooperative, Entry, ParamLocation, push_constant, spec_id};
use ptx2spv_translator::target::{self, Cluster, Limits, Packing, Scratch};

use crate::backend::report::StatusRecord;
use crate::profile::Work;

/// Maximum bytes of scratch memory for a dispatch, unless a single workgroup needs more.
const MAX_SCRATCH: u64 = 512 << 20;

/// Maximum bytes of the workspace of a dispatch whose threads may be suspended in long loops, unless a single workgroup needs more.
const MAX_WORKSPACE: u64 = 16 << 20;
/// The maximum where blocks may wait for others: room for more blocks than any device runs at a time.
const MAX_WAITING_WORKSPACE: u64 = 1 << 30;

/// A box of blocks: the first block and the number of blocks in each dimension.
pub(crate) type Part = ([u32; 3], [u32; 3]);

/// The arguments of a launch, for reports that name them.
pub(crate) trait Arguments {
    fn count(&self) -> usize;

    /// The device address that an argument passes, if it passes one.
    fn address(&self, index: usize) -> Option<u64>;
}

/// A launch that has passed all checks.
pub(crate) struct Launch<'k> {
    /// The kernel's name.
    pub kernel: &'k str,
    grid: [u32; 3],
    block: [u32; 3],
    dynamic_shared_bytes: u32,
    /// The module's status record, if the kernel may report or print.
    pub status: Option<&'k Arc<StatusRecord>>,
    /// Whether the kernel may be stopped before its end.
    pub may_stop: bool,
    /// The arguments, unless the caller gave a complete parameter block.
    pub args: Option<&'k dyn Arguments>,
    /// The workgroups of this submission (blocks or clusters). The whole grid, unless the launch is split.
    pub part: Part,
    /// Maximum number of workgroups of one dispatch.
    max_count: [u32; 3],
    /// Device memory that the kernel uses as shared or local memory.
    scratch: Option<GroupScratch>,
    /// The offset in the push constants of the address of the table of live allocations, if the kernel checks its
    /// accesses.
    allocations: Option<u32>,
    /// The size of the workspace of a cooperative launch.
    workspace: Option<u64>,
    /// Parameters for threads that are suspended in long loops, if the kernel has such loops.
    long_loops: Option<LongLoops>,
    /// The push constants, and the parameter block.
    bytes: ReusedBytes,
    /// The range of the push constants in `bytes`.
    push: Range<usize>,
    /// The range of the parameter block in `bytes`.
    params: Range<usize>,
    params_location: ParamLocation,
    /// Offset of the parameter block in the workspace, if the launch has a workspace.
    params_in_workspace: Option<u64>,
}

/// Parameters of a launch whose threads are suspended in long loops.
#[derive(Clone, Copy)]
pub(crate) struct LongLoops {
    /// The most rounds of a thread in a dispatch.
    pub rounds: u32,
    /// Size of the workspace for the largest dispatch.
    pub bytes: u64,
    /// Whether blocks may wait for each other, or for the host.
    pub waits: bool,
}

/// Scratch memory of a launch.
#[derive(Clone, Copy)]
struct GroupScratch {
    /// The offset of the scratch memory's address in the push constants.
    address: u32,
    /// Bytes for each workgroup of a dispatch.
    bytes: u64,
}

impl<'k> Launch<'k> {
    /// A launch of a kernel by the pipeline of this key. The parameters and the other addresses are set later.
    pub fn new(kernel: &'k str, entry: &Entry, key: PipelineKey, grid: [u32; 3], limits: &Limits) -> Self {
        let extent = workgroups(entry, grid);
        let scratch = entry.scratch.map(|scratch| group_scratch(scratch, key));
        // No correct device reports zero. A wrong one must not cause an endless loop.
        let max_count = limits.max_compute_work_group_count.map(|count| count.max(1));
        // `check::interface` bounds the sizes.
        let params_size = (entry.params_size as usize).next_multiple_of(4);
        let push = 0..entry.push_constant_size as usize;
        let params_start = match entry.params_location {
            ParamLocation::PushConstant => push_constant::PARAMS as usize,
            ParamLocation::Buffer => push.end.max(push_constant::PARAMS as usize),
        };
        let params = params_start..params_start + params_size;
        let bytes = ReusedBytes::zeroes(params.end.max(push.end));
        let whole = entry.cooperative.or(entry.waits_for_launches);
        // Blocks that can be suspended don't need other blocks to run at the same time.
        let waits = entry.waits && whole.is_none();
        let blocks = entry.cluster.map_or(1, |cluster| cluster.blocks());
        let threads = key.block.into_iter().chain([blocks]).map(u64::from).fold(1, u64::saturating_mul);
        let workspace = |kind: Cooperative, groups| kind.workspace_bytes(groups, threads, key.shared_bytes.into());
        // The parameter block lies behind the rest.
        let start = |bytes: u64| bytes.checked_next_multiple_of(16).unwrap_or(u64::MAX);
        let in_loops = entry.workspace().zip(entry.suspends_in_loops);
        let max_count = match in_loops {
            Some((kind, _)) if whole.is_none() => {
                let most = if waits { MAX_WAITING_WORKSPACE } else { MAX_WORKSPACE };
                fitting(most, workspace(kind, 1), extent, max_count)
            }
            _ => max_count,
        };
        let mut launch = Self {
            kernel,
            grid,
            block: key.block,
            dynamic_shared_bytes: key.dynamic_shared_bytes,
            status: None,
            // A report without a place is of a driver that ends loops, which stops nothing.
            may_stop: entry.reports.iter().any(|place| place.line != 0),
            args: None,
            part: ([0; 3], extent),
            max_count: match scratch {
                Some(scratch) if !waits => scratch.max_count(extent, max_count),
                _ => max_count,
            },
            scratch,
            allocations: entry.allocations,
            workspace: whole
                .map(|kind| workspace(kind, extent.into_iter().map(u64::from).fold(1, u64::saturating_mul))),
            long_loops: None,
            bytes,
            push,
            params,
            params_location: entry.params_location,
            params_in_workspace: None,
        };
        let in_loops = in_loops.map(|(kind, suspension)| {
            let packed = key.packing.map_or(1, |packing| packing.lanes);
            let rounds = suspension.thread_rounds(threads, packed, key.shared_bytes.into());
            LongLoops { rounds, bytes: workspace(kind, launch.largest_dispatch()), waits }
        });
        launch.params_in_workspace = launch.workspace.or(in_loops.map(|loops| loops.bytes)).map(start);
        let whole = |bytes| start(bytes).saturating_add(params_size as u64);
        launch.workspace = launch.workspace.map(whole);
        launch.long_loops = in_loops.map(|loops| LongLoops { bytes: whole(loops.bytes), ..loops });
        launch.put(push_constant::GRID_SIZE, bytemuck::bytes_of(&grid));
        launch
    }

    /// Writes the bytes that fit: a kernel may have fewer push constants.
    fn put(&mut self, offset: u32, bytes: &[u8]) {
        let own = self.bytes.get_mut(self.push.clone()).unwrap_or_default();
        for (place, byte) in own.iter_mut().skip(offset as usize).zip(bytes) {
            *place = *byte;
        }
    }

    /// The launch's entry in the profile.
    pub fn work(&self) -> Work {
        let Self { grid, block, dynamic_shared_bytes: shared_bytes, .. } = *self;
        Work::Kernel { name: self.kernel.to_owned(), grid, block, shared_bytes }
    }

    /// The addresses among the arguments, with their positions.
    pub fn pointers(&self) -> impl Iterator<Item = (usize, u64)> {
        let count = self.args.map_or(0, |args| args.count());
        (0..count).filter_map(|index| Some((index, self.args?.address(index)?)))
    }

    /// The parameter block, to be filled in.
    pub fn params_mut(&mut self) -> &mut [u8] {
        self.bytes.get_mut(self.params.clone()).unwrap_or_default()
    }

    /// Sets the device address of the module's variables.
    pub fn set_variables_address(&mut self, address: u64) {
        self.put(push_constant::VARIABLES_ADDRESS, &address.to_le_bytes());
    }

    /// The parameter block, if the kernel expects it in device memory.
    pub fn params(&self) -> Option<&[u8]> {
        let is_elsewhere = self.params_location == ParamLocation::Buffer && self.params_in_workspace.is_none();
        self.bytes.get(self.params.clone()).filter(|_| is_elsewhere)
    }

    /// Sets the device address of the parameter block.
    pub fn set_params_address(&mut self, address: u64) {
        self.put(push_constant::PARAMS_ADDRESS, &address.to_le_bytes());
    }

    /// Bytes of scratch memory for the largest dispatch, if the kernel uses any. Dispatches run one after another, with
    /// a barrier in between.
    pub fn scratch_bytes(&self) -> Option<u64> {
        self.scratch.map(|scratch| scratch.bytes.saturating_mul(self.largest_dispatch()))
    }

    /// Workgroups of the largest dispatch.
    fn largest_dispatch(&self) -> u64 {
        let groups = self.part.1.iter().zip(self.max_count).map(|(&extent, most)| u64::from(extent.min(most)));
        groups.fold(1, u64::saturating_mul)
    }

    /// Sets the device address of the scratch memory.
    pub fn set_scratch_address(&mut self, address: u64) {
        if let Some(scratch) = self.scratch {
            self.put(scratch.address, &address.to_le_bytes());
        }
    }

    /// Whether the kernel checks its accesses, which requires a table of the live allocations.
    pub fn checks_accesses(&self) -> bool {
        self.allocations.is_some()
    }

    /// Sets the device address of the table of live allocations.
    pub fn set_allocations_address(&mut self, address: u64) {
        if let Some(offset) = self.allocations {
            self.put(offset, &address.to_le_bytes());
        }
    }

    /// Bytes of the workspace that a cooperative launch needs.
    pub fn workspace_bytes(&self) -> Option<u64> {
        self.workspace
    }

    /// Parameters for threads that are suspended in long loops, if the kernel has such loops.
    pub fn long_loops(&self) -> Option<LongLoops> {
        self.long_loops
    }

    /// Sets the device address of the workspace. Gives the parameter block, and the offset in the workspace where the caller puts it: threads
    /// that go on in another dispatch may hold its address.
    pub fn set_workspace_address(&mut self, address: u64) -> (u64, &[u8]) {
        self.put(push_constant::WORKSPACE_ADDRESS, &address.to_le_bytes());
        let offset = self.params_in_workspace.unwrap_or(0);
        self.set_params_address(address + offset);
        (offset, self.bytes.get(self.params.clone()).unwrap_or_default())
    }

    /// The dispatches that make up the grid, or the current part of it: first workgroup and number of workgroups of each.
    pub fn dispatches(&self) -> impl Iterator<Item = ([u32; 3], [u32; 3])> + use<> {
        let (first, extent) = self.part;
        // No overflow: the sizes of the grid are below 2^31.
        parts(extent, self.max_count).map(move |(base, count)| ([0, 1, 2].map(|i| first[i] + base[i]), count))
    }

    /// The push constants of the dispatch that begins with the workgroup `base`.
    pub fn push_constants(&mut self, base: [u32; 3]) -> &[u8] {
        self.put(push_constant::GRID_BASE, bytemuck::bytes_of(&base));
        self.bytes.get(self.push.clone()).unwrap_or_default()
    }
}

impl GroupScratch {
    /// Maximum number of workgroups of a dispatch, each of which uses its own part of the scratch memory.
    fn max_count(self, extent: [u32; 3], max_count: [u32; 3]) -> [u32; 3] {
        fitting(MAX_SCRATCH, self.bytes, extent, max_count)
    }
}

/// Maximum number of workgroups of a dispatch, each of which uses `bytes` of `most` bytes.
fn fitting(most: u64, bytes: u64, extent: [u32; 3], max_count: [u32; 3]) -> [u32; 3] {
    let mut left = (most / bytes.max(1)).max(1);
    [0, 1, 2].map(|i| {
        let most = u32::try_from(left).map_or(max_count[i], |left| left.min(max_count[i]));
        // A dispatch covers part of a row, or whole rows of part of a layer, or whole layers.
        left = if most < extent[i] { 1 } else { (left / u64::from(extent[i].max(1))).max(1) };
        most
    })
}

/// The scratch memory for workgroups of a pipeline.
fn group_scratch(scratch: Scratch, key: PipelineKey) -> GroupScratch {
    // `Shared::version` keeps the product within the device's limits.
    let invocations = key.workgroup().into_iter().fold(1, u32::saturating_mul);
    GroupScratch { address: scratch.address, bytes: scratch.bytes(invocations, key.shared_bytes) }
}

/// Splits a grid into dispatches of at most `max` blocks per dimension: base and count of each.
fn parts(grid: [u32; 3], max: [u32; 3]) -> impl Iterator<Item = ([u32; 3], [u32; 3])> {
    let ranges =
        move |i: usize| (0..grid[i]).step_by(max[i] as usize).map(move |base| (base, max[i].min(grid[i] - base)));
    ranges(2).flat_map(move |(z, nz)| {
        ranges(1).flat_map(move |(y, ny)| ranges(0).map(move |(x, nx)| ([x, y, z], [nx, ny, nz])))
    })
}

fn workgroups(entry: &Entry, grid: [u32; 3]) -> [u32; 3] {
    let [x, y, z] = entry.cluster.map_or([1; 3], |cluster| cluster.size);
    // `check::interface` refuses clusters without blocks.
    [grid[0] / x.max(1), grid[1] / y.max(1), grid[2] / z.max(1)]
}

/// The differences between pipelines of one kernel.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct PipelineKey {
    /// Threads of a block.
    pub block: [u32; 3],
    pub shared_bytes: u32,
    /// The dynamic part of the shared memory, in addition to the kernel's own.
    pub dynamic_shared_bytes: u32,
    /// The image bits that all textures have in common ([`TextureBits`](crate::texture::TextureBits)), for kernels that ask for them.
    pub texture_bits: u32,
    /// The mapping of threads to invocations, unless each thread is an invocation.
    pub packing: Option<Packing>,
    /// The blocks of a workgroup, if there are several.
    pub cluster: Option<Cluster>,
}

impl PipelineKey {
    /// Values of the specialization constants. `memory_barriers` says whether the driver's memory barriers work.
    pub fn specialization(self, memory_barriers: bool) -> [(u32, u32); 10] {
        let [x, y, z] = self.workgroup();
        let [nx, ny, nz] = self.block;
        [
            (spec_id::BLOCK_X, x),
            (spec_id::BLOCK_Y, y),
            (spec_id::BLOCK_Z, z),
            (spec_id::SHARED_BYTES, self.shared_bytes),
            (spec_id::NTID_X, nx),
            (spec_id::NTID_Y, ny),
            (spec_id::NTID_Z, nz),
            (spec_id::DYNAMIC_SHARED_BYTES, self.dynamic_shared_bytes),
            (spec_id::MEMORY_BARRIERS, memory_barriers.into()),
            (spec_id::TEXTURE_BITS, self.texture_bits),
        ]
    }

    /// Invocations of a workgroup.
    pub fn workgroup(self) -> [u32; 3] {
        target::workgroup(self.block, self.packing, self.cluster)
    }

    /// The subgroup size that the kernel was made for, if it matters.
    pub fn subgroup_size(self) -> Option<u32> {
        self.packing.map(|packing| packing.subgroup_size).filter(|&size| size > 1)
    }
}

/// Number of spare buffers that a thread keeps.
const KEPT: usize = 4;

thread_local! {
    static SPARE: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// A byte buffer. It needs no allocation if the thread had one of this size before.
pub(crate) struct ReusedBytes(Vec<u8>);

impl ReusedBytes {
    /// A buffer of `count` zeroes.
    pub fn zeroes(count: usize) -> Self {
        let spare = SPARE.try_with(|spare| spare.borrow_mut().pop()).ok().flatten();
        let mut bytes = spare.unwrap_or_default();
        bytes.clear();
        bytes.resize(count, 0);
        Self(bytes)
    }
}

impl Deref for ReusedBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl DerefMut for ReusedBytes {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

impl Drop for ReusedBytes {
    fn drop(&mut self) {
        let bytes = std::mem::take(&mut self.0);
        // At the end of the thread the list may already be gone.
        let _ = SPARE.try_with(|spare| {
            let mut spare = spare.borrow_mut();
            if spare.len() < KEPT {
                spare.push(bytes);
            }
        });
    }
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
        // Never more than fit in the scratch memory.
        for groups in 1..200 {
            let (extent, max) = ([6, 5, 4], [7, 3, 9]);
            let counts = count(groups, extent, max);
            let most: u64 = counts.iter().zip(extent).map(|(&count, extent)| u64::from(count.min(extent))).product();
            assert!(most <= groups, "{groups}: {counts:?}");
        }
    }

    #[test]
    fn memory_is_used_again_and_zero() {
        let mut first = ReusedBytes::zeroes(100);
        first.fill(7);
        let place = first.as_ptr();
        drop(first);
        let (second, third) = (ReusedBytes::zeroes(90), ReusedBytes::zeroes(90));
        assert_eq!((second.as_ptr(), &*second, &*third), (place, &[0; 90][..], &[0; 90][..]));
    }
}
