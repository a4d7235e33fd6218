//! The attributes of kernels.

use ptx2spv_translator::interface::BlockSize;

use crate::info::limits::{MAX_BLOCK, MAX_SHARED};
use crate::module::kernel::Kernel;

/// Attributes of a kernel.
///
/// ```
/// use ptx2spv_runtime::{Config, Device, Source};
///
/// let device = Device::reference(Config::default());
/// let ptx = "
///     .version 7.0
///     .target sm_50
///     .address_size 64
///     .visible .entry small() .reqntid 64 { .shared .b8 room[256]; ret; }";
/// let attributes = device.load(&Source::new("small.ptx", ptx))?.kernel("small")?.attributes();
/// assert_eq!((attributes.required_block, attributes.param_bytes), (Some([64, 1, 1]), 0));
/// # Ok::<(), ptx2spv_runtime::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KernelAttributes {
    /// Maximum number of threads of a block.
    pub max_threads: u32,
    /// The block size that the kernel requires, if any.
    pub required_block: Option<[u32; 3]>,
    /// Bytes of static shared memory.
    pub static_shared_bytes: u32,
    /// Maximum bytes of dynamic shared memory.
    pub max_dynamic_shared_bytes: u32,
    /// Bytes of parameters.
    pub param_bytes: u32,
    /// The number of `.target sm_NN`, if the translation has recorded it.
    pub architecture: Option<u32>,
}

impl Kernel {
    /// The kernel's attributes.
    pub fn attributes(&self) -> KernelAttributes {
        let entry = self.entry();
        KernelAttributes::new(&entry.block, entry.shared.declared_bytes(), entry.params_size, entry.architecture)
    }
}

impl KernelAttributes {
    pub(crate) fn new(
        block: &BlockSize,
        static_shared_bytes: u32,
        param_bytes: u32,
        architecture: Option<u32>,
    ) -> Self {
        let threads = |size: [u32; 3]| size.into_iter().fold(1, u32::saturating_mul);
        let declared = block.required.into_iter().chain(block.max).map(threads);
        Self {
            max_threads: declared.fold(MAX_BLOCK, u32::min),
            required_block: block.required,
            static_shared_bytes,
            max_dynamic_shared_bytes: MAX_SHARED.saturating_sub(static_shared_bytes),
            param_bytes,
            architecture,
        }
    }
}
