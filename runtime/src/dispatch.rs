//! A launch as the back ends see it: push constants, and the dispatches that make up the grid.

use std::sync::Arc;

use ptx2spv_translator::interface::{Entry, ParamLocation, push_constant};
use ptx2spv_translator::target::{Limits, Scratch};

use crate::report::StatusRecord;
use crate::split::Part;
use crate::variant::Variant;

/// Maximum bytes of scratch memory for a dispatch, unless a single workgroup needs more.
const MAX_SCRATCH: u64 = 512 << 20;

/// A launch that has passed all checks.
pub(crate) struct Launch<'k> {
    /// The kernel's name.
    pub kernel: &'k str,
    /// The module's status record, if the kernel may report or print.
    pub status: Option<&'k Arc<StatusRecord>>,
    /// The addresses among the arguments, with their positions.
    pub pointers: Vec<(usize, u64)>,
    /// The workgroups of this submission (blocks or clusters). The whole grid, unless the launch is split.
    pub part: Part,
    /// Maximum number of workgroups of one dispatch.
    max_count: [u32; 3],
    /// Device memory that the kernel uses as shared or local memory.
    scratch: Option<GroupScratch>,
    /// The offset in the push constants of the address of the table of live allocations, if the kernel checks its
    /// accesses.
    allocations: Option<u32>,
    /// The push constants without the parameters.
    push: Vec<u8>,
    /// The size of the workspace of a cooperative launch.
    workspace: Option<u64>,
    /// The parameter block.
    params: Vec<u8>,
    push_size: usize,
    params_location: ParamLocation,
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
    /// A launch of a kernel's variant. The parameters and the other addresses are set later.
    pub fn new(kernel: &'k str, entry: &Entry, variant: Variant, grid: [u32; 3], limits: &Limits) -> Self {
        let extent = workgroups(entry, grid);
        let scratch = entry.scratch.map(|scratch| group_scratch(scratch, variant));
        // No correct device reports zero. A wrong one must not cause an endless loop.
        let max_count = limits.max_compute_work_group_count.map(|count| count.max(1));
        let mut push = vec![0; entry.push_constant_size.max(push_constant::PARAMS) as usize];
        put(&mut push, push_constant::GRID_SIZE, bytemuck::bytes_of(&grid));
        // Blocks that can be suspended don't need other blocks to run at the same time.
        let waits = entry.waits && entry.workspace().is_none();
        Self {
            kernel,
            status: None,
            pointers: Vec::new(),
            part: ([0; 3], extent),
            max_count: match scratch {
                Some(scratch) if !waits => scratch.max_count(extent, max_count),
                _ => max_count,
            },
            scratch,
            allocations: entry.allocations,
            push,
            workspace: entry.workspace().map(|cooperative| {
                let groups = extent.into_iter().map(u64::from).fold(1, u64::saturating_mul);
                let blocks = entry.cluster.map_or(1, |cluster| cluster.blocks());
                let threads = variant.block.into_iter().chain([blocks]).map(u64::from).fold(1, u64::saturating_mul);
                cooperative.workspace_bytes(groups, threads, variant.shared_bytes.into())
            }),
            // `check::interface` bounds the size.
            params: vec![0; (entry.params_size as usize).next_multiple_of(4)],
            push_size: entry.push_constant_size as usize,
            params_location: entry.params_location,
        }
    }

    /// The parameter block, to be filled in.
    pub fn params_mut(&mut self) -> &mut [u8] {
        &mut self.params
    }

    /// Sets the device address of the module's variables.
    pub fn set_variables_address(&mut self, address: u64) {
        put(&mut self.push, push_constant::VARIABLES_ADDRESS, &address.to_le_bytes());
    }

    /// The parameter block, if the kernel expects it in device memory.
    pub fn params(&self) -> Option<&[u8]> {
        (self.params_location == ParamLocation::Buffer).then_some(&self.params[..])
    }

    /// Sets the device address of the parameter block.
    pub fn set_params_address(&mut self, address: u64) {
        put(&mut self.push, push_constant::PARAMS_ADDRESS, &address.to_le_bytes());
    }

    /// Bytes of scratch memory for the largest dispatch, if the kernel uses any. Dispatches run one after another, with
    /// a barrier in between.
    pub fn scratch_bytes(&self) -> Option<u64> {
        let scratch = self.scratch?;
        let groups = self.part.1.iter().zip(self.max_count).map(|(&extent, most)| u64::from(extent.min(most)));
        Some(groups.fold(scratch.bytes, u64::saturating_mul))
    }

    /// Sets the device address of the scratch memory.
    pub fn set_scratch_address(&mut self, address: u64) {
        if let Some(scratch) = self.scratch {
            put(&mut self.push, scratch.address, &address.to_le_bytes());
        }
    }

    /// Whether the kernel checks its accesses, which requires a table of the live allocations.
    pub fn checks_accesses(&self) -> bool {
        self.allocations.is_some()
    }

    /// Sets the device address of the table of live allocations.
    pub fn set_allocations_address(&mut self, address: u64) {
        if let Some(offset) = self.allocations {
            put(&mut self.push, offset, &address.to_le_bytes());
        }
    }

    /// Bytes of the workspace that a cooperative launch needs.
    pub fn workspace_bytes(&self) -> Option<u64> {
        self.workspace
    }

    /// Sets the device address of the workspace of a cooperative launch.
    pub fn set_workspace_address(&mut self, address: u64) {
        put(&mut self.push, push_constant::WORKSPACE_ADDRESS, &address.to_le_bytes());
    }

    /// The dispatches that make up the grid, or the current part of it: push constants and number of workgroups of
    /// each.
    pub fn dispatches(&self) -> impl Iterator<Item = (Vec<u8>, [u32; 3])> {
        let (first, extent) = self.part;
        parts(extent, self.max_count).map(move |(base, count)| {
            // No overflow: the sizes of the grid are below 2^31.
            let base = [0, 1, 2].map(|i| first[i] + base[i]);
            let mut push = self.push.clone();
            if self.params_location == ParamLocation::PushConstant {
                put(&mut push, push_constant::PARAMS, &self.params);
            }
            put(&mut push, push_constant::GRID_BASE, bytemuck::bytes_of(&base));
            push.truncate(self.push_size);
            (push, count)
        })
    }
}

impl GroupScratch {
    /// Maximum number of workgroups of a dispatch, each of which uses its own part of the scratch memory.
    fn max_count(self, extent: [u32; 3], max_count: [u32; 3]) -> [u32; 3] {
        let mut left = (MAX_SCRATCH / self.bytes.max(1)).max(1);
        [0, 1, 2].map(|i| {
            let most = u32::try_from(left).map_or(max_count[i], |left| left.min(max_count[i]));
            // A dispatch covers part of a row, or whole rows of part of a layer, or whole layers.
            left = if most < extent[i] { 1 } else { (left / u64::from(extent[i].max(1))).max(1) };
            most
        })
    }
}

/// The scratch memory for workgroups of a variant.
fn group_scratch(scratch: Scratch, variant: Variant) -> GroupScratch {
    // `Shared::version` keeps the product within the device's limits.
    let invocations = variant.workgroup().into_iter().fold(1, u32::saturating_mul);
    GroupScratch { address: scratch.address, bytes: scratch.bytes(invocations, variant.shared_bytes) }
}

/// Writes the bytes that fit: a kernel may have fewer push constants.
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

/// Workgroups of a grid.
fn workgroups(entry: &Entry, grid: [u32; 3]) -> [u32; 3] {
    let [x, y, z] = entry.cluster.map_or([1; 3], |cluster| cluster.size);
    // `check::interface` refuses clusters without blocks.
    [grid[0] / x.max(1), grid[1] / y.max(1), grid[2] / z.max(1)]
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
}
