//! The differences between pipelines of one kernel.

use ptx2spv_translator::interface::spec_id;
use ptx2spv_translator::target::{self, Cluster, Packing};

/// The differences between pipelines of one kernel.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct PipelineKey {
    /// Threads of a block.
    pub block: [u32; 3],
    pub shared_bytes: u32,
    /// The dynamic part of the shared memory, in addition to the kernel's own.
    pub dynamic_shared_bytes: u32,
    /// What all textures have in common ([`TextureBits`](crate::texture::TextureBits)), for kernels that ask for it.
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
