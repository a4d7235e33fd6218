//! The mapping of a kernel to a device: blocks to workgroups, warps to subgroups, and memory that the device has no
//! room for to scratch memory.

use serde::{Deserialize, Serialize};

/// The mapping of a block's threads to the invocations of a workgroup, so that each warp lies within one subgroup and
/// the block within one workgroup.
///
/// Workgroups have one dimension and full subgroups. Thread number `g * (S * L) + l * S + s` of the block is lane `l` of
/// the invocation `s` of subgroup `g`, where `S` is the size of subgroups and `L` the number of lanes. Threads beyond the
/// block's last one fill the last subgroup; they do nothing. A kernel without operations of a warp uses no subgroups, which
/// `S` = 1 says, and lane `l` of invocation `i` of `W` is thread `l * W + i`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Packing {
    /// Invocations of a subgroup: a power of two up to 128. 1: the kernel uses no subgroups, and the device's may have any size.
    pub subgroup_size: u32,
    /// Threads that each invocation carries: a power of two, and with operations of a warp at least as many as it takes for
    /// subgroups of 32 threads.
    pub lanes: u32,
}

impl Packing {
    /// Threads of a subgroup.
    pub fn span(self) -> u32 {
        self.subgroup_size.saturating_mul(self.lanes).max(1)
    }

    /// Lanes of an invocation that belong to one warp.
    pub fn warp_lanes(self) -> u32 {
        (32 / self.subgroup_size.max(1)).max(1)
    }

    /// Words of 32 bits that a ballot over the subgroup has.
    pub fn ballot_words(self) -> usize {
        self.subgroup_size.div_ceil(32) as usize
    }

    /// Invocations of a workgroup for a block of `threads` threads.
    pub fn invocations(self, threads: u32) -> u32 {
        threads.div_ceil(self.span()).saturating_mul(self.subgroup_size)
    }
}

/// Invocations in x, y and z of a workgroup for blocks of that size.
pub fn workgroup(block: [u32; 3], packing: Option<Packing>, cluster: Option<Cluster>) -> [u32; 3] {
    let threads = block.into_iter().fold(1, u32::saturating_mul);
    let invocations = packing.map_or(threads, |packing| packing.invocations(threads));
    match (packing, cluster) {
        (None, None) => block,
        (Some(_), None) => [invocations, 1, 1],
        (_, Some(cluster)) => [invocations.saturating_mul(cluster.blocks()), 1, 1],
    }
}

/// Bytes of shared memory of a workgroup whose blocks declare `static_bytes` and get `dynamic_bytes`: not yet
/// rounded up to 16.
pub fn shared_bytes(static_bytes: u32, dynamic_bytes: u32, cluster: Option<Cluster>) -> u64 {
    match cluster {
        Some(cluster) => cluster.shared_bytes(static_bytes, dynamic_bytes),
        None => u64::from(static_bytes).next_multiple_of(16) + u64::from(dynamic_bytes),
    }
}

/// A cluster of several blocks, which is one workgroup. Workgroups have one dimension.
///
/// The blocks lie in it one after the other, x fastest: each takes as many invocations as its threads do, or
/// [`Packing::invocations`] with packing. So do their shares of shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Cluster {
    /// Blocks in x, y and z. The grid is a multiple of it.
    pub size: [u32; 3],
    /// The size of each block's shared memory is a multiple of this number of bytes: a power of two, at least 16.
    pub shared_align: u32,
    /// Bytes of the translator's own after all blocks' shared memory: a multiple of 16.
    pub own_shared_bytes: u32,
}

impl Cluster {
    /// Blocks of a cluster.
    pub fn blocks(self) -> u32 {
        self.size.into_iter().fold(1, u32::saturating_mul)
    }

    /// Bytes of shared memory that a block takes which declares `static_bytes` and gets `dynamic_bytes`.
    pub fn share(self, static_bytes: u32, dynamic_bytes: u32) -> u64 {
        let block = u64::from(static_bytes).next_multiple_of(16) + u64::from(dynamic_bytes);
        block.max(1).next_multiple_of(self.shared_align.max(1).into())
    }

    /// Bytes of shared memory of a workgroup of such blocks.
    pub fn shared_bytes(self, static_bytes: u32, dynamic_bytes: u32) -> u64 {
        let blocks = self.share(static_bytes, dynamic_bytes).saturating_mul(self.blocks().into());
        blocks.saturating_add(self.own_shared_bytes.into())
    }
}

/// Local and shared memory that the target has no room for, and that lies in device memory instead: the launch's scratch
/// memory, at an address that is a multiple of 16.
///
/// Each workgroup of a dispatch has [`Scratch::bytes`] of it, x fastest, so the dispatch's number of workgroups
/// determines the size. Its contents are undefined before and after the dispatch. Dispatches with the same scratch
/// memory run one after the other, with a barrier in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scratch {
    /// Offset in the push constants of its address, a u64: one that the parameter block leaves free.
    pub address: u32,
    /// Bytes for the local memory of each invocation: a multiple of 16, and 0 if local memory lies elsewhere.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub local_bytes: u32,
    /// Whether all shared memory lies in scratch memory.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shared: bool,
}

impl Scratch {
    /// Bytes for a workgroup with `invocations` invocations and `shared_bytes` bytes of shared memory.
    pub fn bytes(self, invocations: u32, shared_bytes: u32) -> u64 {
        let local = u64::from(self.local_bytes) * u64::from(invocations);
        if self.shared { local + u64::from(shared_bytes) } else { local }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "what serde calls")]
fn is_zero(bytes: &u32) -> bool {
    *bytes == 0
}
