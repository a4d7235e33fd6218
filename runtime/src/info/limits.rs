//! Limits of launches: CUDA's, the kernel's own, and the device's.

use std::fmt;

use ptx2spv_translator::interface::{self, Entry};
use ptx2spv_translator::target::{self, Limits, Packing};

use crate::error::{Error, Result};

/// CUDA's grid limits.
const MAX_GRID: [u32; 3] = [i32::MAX as u32, 65_535, 65_535];

/// CUDA's limit of a block in z. In x and y only the number of threads is limited.
const MAX_BLOCK_Z: u32 = 64;

/// CUDA's limit of the threads of a block. Devices may allow more.
pub(crate) const MAX_BLOCK: u32 = 1024;

/// CUDA's limit of the shared memory of a block in bytes: that of sm_90, which also runs modules for older targets.
pub(crate) const MAX_SHARED: u32 = 227 << 10;

/// The largest parameter block, above the limit of every PTX version (32,764 bytes).
pub(crate) const MAX_PARAM_BLOCK: u32 = 32 << 10;

/// Fails if the kernel doesn't accept the grid.
pub(crate) fn check_grid(entry: &Entry, grid: [u32; 3]) -> Result {
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

/// Fails if the kernel doesn't accept the block, whatever the device.
pub(crate) fn check_block(entry: &Entry, block: [u32; 3]) -> Result {
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
    // Barriers count whole warps, so the number of threads is rounded up.
    if let Some(group) = entry.block.threads.filter(|&n| !threads.next_multiple_of(32).is_multiple_of(n.into())) {
        return refuse(format!("its barriers wait for {group} threads, and {threads} is not a multiple of that"));
    }
    Ok(())
}

/// The value of `SHARED_BYTES`. Never zero, since SPIR-V has no empty arrays.
pub(crate) fn shared_bytes(entry: &Entry, limits: &Limits, dynamic: u32) -> Result<u32> {
    let interface::Shared { static_bytes, own_bytes, .. } = entry.shared;
    let refuse =
        |needed, own, available| Err(Error::SharedMemory { kernel: entry.name.clone(), needed, own, available });
    let needed = target::shared_bytes(static_bytes, dynamic, entry.cluster);
    if lacks_shared(entry, limits, dynamic) {
        return refuse(needed, own_bytes, limits.max_compute_shared_memory_size);
    }
    // In a cluster, the translator's own bytes are not part of a block's shared memory.
    let own = if entry.cluster.is_some() { 0 } else { own_bytes };
    let block = u64::from(static_bytes.saturating_sub(own)) + u64::from(dynamic);
    match u32::try_from(needed.next_multiple_of(16).max(16)) {
        Ok(bytes) if block <= MAX_SHARED.into() => Ok(bytes),
        _ => refuse(block, 0, MAX_SHARED),
    }
}

/// Whether a launch's shared memory exceeds the device's workgroups.
pub(crate) fn lacks_shared(entry: &Entry, limits: &Limits, dynamic: u32) -> bool {
    let needed = target::shared_bytes(entry.shared.static_bytes, dynamic, entry.cluster).next_multiple_of(16);
    entry.scratch.is_none_or(|scratch| !scratch.shared) && needed > limits.max_compute_shared_memory_size.into()
}

/// The reason why a block doesn't fit a device. Each launch of such a block makes one, so the text is only made on request.
pub(crate) enum Misfit {
    /// The block, or its cluster, needs more invocations than the device allows.
    Invocations {
        threads: u32,
        blocks: Option<u32>,
        needed: u32,
        available: u32,
    },
    Threads {
        threads: u32,
        available: u32,
    },
    Size([u32; 3]),
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Invocations { threads, blocks, needed, available } => {
                write!(f, "its {threads} threads")?;
                if let Some(blocks) = blocks {
                    write!(f, " in each of a cluster's {blocks} blocks")?;
                }
                write!(f, " take {needed} invocations, the device allows {available}")
            }
            Self::Threads { threads, available } => write!(f, "the device allows {available} threads, not {threads}"),
            Self::Size([x, y, z]) => write!(f, "the device allows {x} x {y} x {z}"),
        }
    }
}

/// The reason why the device can't run a block of this size, although CUDA allows it.
pub(crate) fn misfit(entry: &Entry, limits: &Limits, block: [u32; 3]) -> Option<Misfit> {
    let most = limits.max_compute_work_group_invocations;
    let [x, y, z] = limits.max_compute_work_group_size;
    let threads: u32 = block.iter().product();
    let Entry { packing, cluster, .. } = *entry;
    if packing.is_some() || cluster.is_some() {
        let ([needed, ..], available) = (target::workgroup(block, packing, cluster), most.min(x));
        let blocks = cluster.map(|cluster| cluster.blocks());
        return (needed > available).then_some(Misfit::Invocations { threads, blocks, needed, available });
    }
    if threads > most {
        return Some(Misfit::Threads { threads, available: most });
    }
    let within = block.iter().zip([x, y, z]).all(|(&size, most)| size <= most);
    (!within).then_some(Misfit::Size([x, y, z]))
}

/// Maximum number of threads of a block of this kernel on a device, if the block's shape fits.
pub(crate) fn most_threads(entry: &Entry, limits: &Limits) -> u32 {
    let mut most = limits.max_compute_work_group_invocations;
    if entry.packing.is_some() || entry.cluster.is_some() {
        most = most.min(limits.max_compute_work_group_size[0]);
    }
    // `check::interface` refuses clusters without blocks.
    most /= entry.cluster.map_or(1, |cluster| cluster.blocks().max(1));
    let threads = |packing: Packing| (most / packing.subgroup_size.max(1)).saturating_mul(packing.span());
    entry.packing.map_or(most, threads).min(MAX_BLOCK)
}
