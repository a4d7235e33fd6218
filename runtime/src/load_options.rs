//! How a module is loaded.

use ptx2spv_translator::Math;
use ptx2spv_translator::interface::ServiceSizes;

/// How to load a PTX module.
///
/// ```
/// use ptx2spv_runtime::{Config, Device, LoadOptions, Math, Source};
///
/// let device = Device::reference(Config::default());
/// let ptx = ".version 7.0 .target sm_50 .address_size 64 .visible .entry nothing() { ret; }";
/// // Floats as the device computes them, and each access tested.
/// let options = LoadOptions { math: Math::FAST, check_accesses: true, ..LoadOptions::default() };
/// device.load_with(&Source::new("nothing.ptx", ptx), options)?;
/// # Ok::<(), ptx2spv_runtime::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadOptions {
    /// How exact its float arithmetic must be.
    pub math: Math,
    /// Whether translations are kept in the user's [`Cache`](crate::Cache), and taken from there.
    pub cached: bool,
    /// How much device memory its kernels have for what they print, allocate and launch.
    pub sizes: ServiceSizes,
    /// Whether the host reaches its variables at the addresses that kernels do, as CUDA's `__managed__` ones must be.
    pub managed_variables: bool,
    /// Whether its kernels test each access to global, shared and local memory. One that hits nothing, or that isn't aligned, is not
    /// performed, and the next call that waits fails with [`Error::Fault`](crate::Error::Fault), which names place, thread and nearest
    /// allocation. Kernels are slower then. The reference device tests accesses in any case, by itself.
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
    /// Translates in any case, and keeps nothing.
    pub fn uncached(math: Math) -> Self {
        Self { math, cached: false, ..Self::default() }
    }
}
