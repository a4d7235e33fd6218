//! Specialization constant ids of every module.

/// Block size in x; y and z follow as 1 and 2.
pub const BLOCK_X: u32 = 0;
/// Block size in y.
pub const BLOCK_Y: u32 = 1;
/// Block size in z.
pub const BLOCK_Z: u32 = 2;
/// Total shared memory of the launch, static and dynamic, in bytes rounded up to a multiple of 16; for entries with
/// [`crate::Entry::cluster`] the result of [`ptx2spv_target::Cluster::shared_bytes`].
pub const SHARED_BYTES: u32 = 3;
/// `%ntid.x` of kernels with [`crate::Entry::packing`] or [`crate::Entry::cluster`], whose block size above is another; y and z follow as 5 and 6.
pub const NTID_X: u32 = 4;
/// `%ntid.y` of those.
pub const NTID_Y: u32 = 5;
/// `%ntid.z` of those.
pub const NTID_Z: u32 = 6;
/// Dynamic shared memory of the launch in bytes, not rounded: `%dynamic_smem_size`.
pub const DYNAMIC_SHARED_BYTES: u32 = 7;
/// 0 where the driver's memory barriers wait for the whole workgroup, which has the module do without; else 1.
pub const MEMORY_BARRIERS: u32 = 8;
/// Bits that [`crate::texture::field::IMAGE`] has in the records of all textures, references included. Kernels with
/// [`crate::Entry::texture_bits`] leave out the code that only other textures would need; 0, the default, is right for
/// all.
pub const TEXTURE_BITS: u32 = 9;
