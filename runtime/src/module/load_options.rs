//! Options for loading a module.

use ptx2spv_translator::Math;
use ptx2spv_translator::interface::ServiceSizes;

/// Options for loading a PTX module.
///
/// ```
/// use ptx2spv_runtime::{Config, Device, LoadOptions, Math, Source};
///
/// let device = Device::reference(Config::default());
/// let ptx = ".version 7.0 .target sm_50 .address_size 64 .visible .entry nothing() { ret; }";
/// // Floats as fast as the device computes them, and every access checked.
/// let options = LoadOptions::default().math(Math::FAST).check_accesses(true);
/// device.load_with(&Source::new("nothing.ptx", ptx), options)?;
/// # Ok::<(), ptx2spv_runtime::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoadOptions {
    /// The required accuracy of float arithmetic.
    pub math: Math,
    /// Whether translations are stored in the user's [`Cache`](crate::Cache) and reused.
    pub cached: bool,
    /// Device memory for kernels' output, allocations and launches.
    pub sizes: ServiceSizes,
    /// Whether the host can access variables at the same addresses as kernels, as CUDA's `__managed__` variables
    /// require.
    pub managed_variables: bool,
    /// Whether kernels check each access to global, shared and local memory. An access outside of all allocations, or a
    /// misaligned one, is not performed, and the next call that waits fails with [`Error::Fault`](crate::Error::Fault),
    /// which names place, thread and nearest allocation. Kernels are slower then. The reference device always checks
    /// accesses itself.
    pub check_accesses: bool,
}

impl Default for LoadOptions {
    fn default() -> Self {
        Self {
            math: Math::default(),
            cached: true,
            sizes: ServiceSizes::default(),
            managed_variables: false,
            check_accesses: false,
        }
    }
}

impl LoadOptions {
    /// Always translates, and doesn't use the cache.
    pub fn uncached(math: Math) -> Self {
        Self { math, cached: false, ..Self::default() }
    }

    ptx2spv_translator::target::setters! {
        math: Math,
        cached: bool,
        sizes: ServiceSizes,
        managed_variables: bool,
        check_accesses: bool,
    }
}
