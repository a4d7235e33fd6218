//! A kernel and how it is launched.

use std::collections::BTreeSet;

use ptx2spv_target::{Cluster, Feature, Packing, Scratch};
use serde::{Deserialize, Serialize};

use crate::{push_constant, workspace};

/// One kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Its PTX name, which is also the SPIR-V entry point's name.
    pub name: String,
    /// Parameters in order.
    pub params: Vec<Param>,
    /// Size of the parameter block in bytes.
    pub params_size: u32,
    /// The place of the parameter block.
    pub params_location: ParamLocation,
    /// Bytes of push constants that the entry reads (a multiple of 4).
    pub push_constant_size: u32,
    /// Shared memory.
    pub shared: Shared,
    /// The kernel's demands on its block size.
    pub block: BlockSize,
    /// The number of its PTX module's `.target sm_NN`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub architecture: Option<u32>,
    /// The kernel's number in reports: its position among the kernels of the PTX module, from 0, and from bit 24 on a
    /// number that tells versions for blocks of different sizes from each other.
    #[serde(default)]
    pub number: u32,
    /// From where it may report something to the host ([`Interface::status`](crate::Interface::status)); empty if it never does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reports: Vec<SourceLocation>,
    /// Whether the kernel may print something.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub prints: bool,
    /// Whether the kernel may launch kernels: see [`launches`](crate::launches).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub launches: bool,
    /// Whether the kernel's blocks may wait for each other: such a grid is no longer sure to end if it is split into
    /// several dispatches.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub waits: bool,
    /// The additional needs of a kernel that is translated for cooperative launches: its blocks may wait for each
    /// other, however many they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cooperative: Option<Cooperative>,
    /// The additional needs of a kernel whose threads wait for their own launches, and which is translated for ordinary
    /// launches: see [`launches`](crate::launches).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits_for_launches: Option<Cooperative>,
    /// The additional needs of a kernel whose threads end a dispatch after some rounds of their loops, and go on in the
    /// next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspends_in_loops: Option<LoopSuspension>,
    /// The mapping of the block's threads to invocations. Without one, each thread is an invocation of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packing: Option<Packing>,
    /// The blocks that share a workgroup, for a kernel whose clusters have several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<Cluster>,
    /// Local and shared memory for which the launch has to provide device memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scratch: Option<Scratch>,
    /// Offset in the push constants of the address of the table of live [`allocations`](crate::allocations), if the
    /// kernel checks its accesses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allocations: Option<u32>,
    /// Whether the specialization constant [`TEXTURE_BITS`](crate::spec_id::TEXTURE_BITS) makes the kernel faster.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub texture_bits: bool,
    /// Device features that this kernel needs.
    pub features: BTreeSet<Feature>,
}

impl Entry {
    /// The workspace of its launches, if they have one.
    pub fn workspace(&self) -> Option<Cooperative> {
        let in_loops = |suspension: LoopSuspension| Cooperative { saved_words: Some(suspension.saved_words) };
        self.cooperative.or(self.waits_for_launches).or(self.suspends_in_loops.map(in_loops))
    }

    /// Whether the kernel reads the tables of images ([`crate::texture::image`]), whose descriptor set the launch has
    /// to bind.
    pub fn samples(&self) -> bool {
        self.features.contains(&Feature::RuntimeDescriptorArray)
    }
}

/// A kernel's declaration in PTX, known before the kernel is translated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Declaration {
    /// Its PTX name.
    pub name: String,
    /// Parameters in order.
    pub params: Vec<Param>,
    /// Size of the parameter block in bytes.
    pub params_size: u32,
    /// Bytes of static shared memory.
    pub static_shared_bytes: u32,
    /// The demands on the block size that the kernel declares.
    pub block: BlockSize,
    /// The number of its PTX module's `.target sm_NN`.
    pub architecture: Option<u32>,
}

impl From<&Entry> for Declaration {
    fn from(entry: &Entry) -> Self {
        Self {
            name: entry.name.clone(),
            params: entry.params.clone(),
            params_size: entry.params_size,
            static_shared_bytes: entry.shared.declared_bytes(),
            block: entry.block.clone(),
            architecture: entry.architecture,
        }
    }
}

/// One kernel parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Param {
    /// PTX name.
    pub name: String,
    /// PTX scalar type without its dot, such as `u64`; for arrays and structs by value the element's.
    #[serde(rename = "type")]
    pub ty: String,
    /// Offset within the parameter block in bytes.
    pub offset: u32,
    /// Size in bytes.
    pub size: u32,
    /// Alignment in bytes.
    pub align: u32,
    /// Whether PTX declares the parameter as an array (a struct by value).
    pub array: bool,
    /// Whether PTX declares the parameter as a pointer (`.ptr`), or the kernel is seen to access addresses that it
    /// computes from the parameter.
    pub pointer: bool,
}

/// The place of a kernel's parameter block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ParamLocation {
    /// Into the push constants from [`push_constant::PARAMS`].
    PushConstant,
    /// Into a buffer aligned to 16 bytes, whose address stands at [`push_constant::PARAMS_ADDRESS`].
    Buffer,
}

impl ParamLocation {
    /// Offset in the push constants of the address of scratch memory, for a kernel whose parameter block has this
    /// place.
    pub fn scratch_address(self) -> u32 {
        match self {
            ParamLocation::PushConstant => push_constant::PARAMS_ADDRESS,
            ParamLocation::Buffer => push_constant::PARAMS,
        }
    }

    /// Offset in the push constants of the address of the table of live [`allocations`](crate::allocations), for a
    /// kernel that checks its accesses and whose parameter block has this place.
    pub fn allocations_address(self, params_size: u32) -> u32 {
        match self {
            ParamLocation::PushConstant => push_constant::PARAMS.saturating_add(params_size).next_multiple_of(8),
            ParamLocation::Buffer => push_constant::ALLOCATIONS_ADDRESS,
        }
    }
}

/// A kernel's use of shared memory. Dynamic shared memory begins at `static_bytes` rounded up to 16.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shared {
    /// Bytes that each block declares, the translator's own included where [`Entry::cluster`] doesn't say them.
    pub static_bytes: u32,
    /// The translator's own bytes among them: for barriers, fences and the like.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub own_bytes: u32,
    /// Whether the kernel refers to dynamic (`.extern .shared`) memory.
    pub dynamic: bool,
}

impl Shared {
    /// The static bytes without those that the translator has added.
    pub fn declared_bytes(&self) -> u32 {
        self.static_bytes.saturating_sub(self.own_bytes)
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "what serde calls")]
fn is_zero(bytes: &u32) -> bool {
    *bytes == 0
}

/// The demands of a kernel on its block size.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockSize {
    /// `.reqntid`: exactly this.
    pub required: Option<[u32; 3]>,
    /// `.maxntid`: at most as many threads as the product.
    pub max: Option<[u32; 3]>,
    /// The threads, rounded up to whole warps of 32, must be a multiple of this number, for which the kernel's barriers
    /// wait.
    #[serde(default)]
    pub threads: Option<u32>,
}

/// The needs of a kernel that is translated for cooperative launches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cooperative {
    /// Words that each thread of the workgroup saves in the [`workspace`] when that is suspended, if it can be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved_words: Option<u32>,
}

/// The needs of a kernel whose threads are suspended in long loops, because the driver ends loops after some rounds.
/// Each dispatch has a [`workspace`] of its own, with the workgroups' parts in the order of the workgroups' numbers in
/// the dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopSuspension {
    /// Words that each thread saves in the workspace.
    pub saved_words: u32,
    /// The rounds that the driver allows a dispatch for long loops and for copies of shared memory.
    pub rounds: u32,
    /// The rounds that the driver counts at most for a round of a long loop.
    pub cost: u32,
}

/// The number of rounds of threads that are never suspended.
const NEVER: u32 = i32::MAX as u32;
/// The most rounds of copies of shared memory with which threads are suspended.
const MOST_COPIES: u64 = 1 << 14;

impl LoopSuspension {
    /// The rounds of loops that a thread may do in a dispatch, for the word at [`workspace::ROUNDS`], for workgroups of `threads` threads
    /// with `shared_bytes` bytes of shared memory, of which an invocation carries `packed` threads. Where the copies alone take too many
    /// rounds, threads are never suspended, and the driver may end their loops.
    pub fn thread_rounds(self, threads: u64, packed: u32, shared_bytes: u64) -> u32 {
        // A thread saves and restores its share, in loops of two rounds each for the driver.
        let copies = if shared_bytes == 0 { 0 } else { 4 * (shared_bytes.div_ceil(4).div_ceil(threads.max(1)) + 2) };
        let copies = copies.saturating_mul(packed.into());
        if copies > MOST_COPIES {
            return NEVER;
        }
        let rounds = u64::from(self.rounds).saturating_sub(copies) / u64::from(self.cost.max(1));
        u32::try_from(rounds).unwrap_or(NEVER).clamp(1, NEVER)
    }
}

impl Cooperative {
    /// Size of the [`workspace`] in bytes, for a number of workgroups with `threads` threads and `shared_bytes` bytes
    /// of shared memory each.
    pub fn workspace_bytes(self, workgroups: u64, threads: u64, shared_bytes: u64) -> u64 {
        let shared_bytes = shared_bytes.checked_next_multiple_of(workspace::ALIGN.into()).unwrap_or(u64::MAX);
        let block = |words: u32| {
            let threads = threads.saturating_mul(4 * u64::from(words));
            threads.saturating_add(shared_bytes).saturating_add(workspace::BLOCK_HEADER)
        };
        workgroups.saturating_mul(self.saved_words.map_or(0, block)).saturating_add(workspace::BLOCKS)
    }
}

/// A place from which a kernel may report.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceLocation {
    /// Line of the PTX text, from 1; 0 for the kernel as a whole.
    pub line: u32,
    /// The module that the line is counted in, where several were linked or the kernel checks its accesses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub module: Option<String>,
    /// The PTX function that it stands in, if that isn't the kernel itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// The place in the source according to `.loc`: file and line, such as `kernel.cu:12`, or `vector.h:3, inlined at
    /// kernel.cu:12`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}
