//! Kernels.

use std::fmt;
use std::sync::Arc;

use ptx2spv_translator::interface::{Entry, Param};

use crate::error::Error;
use crate::module::loaded::Loaded;
use crate::module::versions::KernelVersions;

/// A kernel, ready to be launched. Clones share it.
///
/// ```
/// use ptx2spv_runtime::{Config, Device, LaunchConfig, Source};
///
/// let device = Device::reference(Config::default());
/// let ptx = "
///     .version 7.0
///     .target sm_50
///     .address_size 64
///     .visible .entry store(.param .u64 out, .param .u32 value)
///     {
///         .reg .b32 %r;
///         .reg .b64 %rd;
///         ld.param.u64 %rd, [out];
///         ld.param.u32 %r, [value];
///         st.global.u32 [%rd], %r;
///         ret;
///     }";
/// let kernel = device.load(&Source::new("store.ptx", ptx))?.kernel("store")?;
/// let out = device.upload(&[0_u32])?;
/// // SAFETY: the kernel writes one number, for which the buffer has room.
/// unsafe { kernel.launch(&LaunchConfig::linear(1, 1), &[(&out).into(), 7_u32.into()]) }?;
/// assert_eq!(out.download::<u32>()?, [7]);
/// # Ok::<(), ptx2spv_runtime::Error>(())
/// ```
#[derive(Clone)]
pub struct Kernel {
    pub(crate) shared: Arc<KernelVersions>,
    /// The module that the kernel belongs to, with the kernels that it may launch.
    pub(crate) module: Arc<Loaded>,
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kernel({})", self.name())
    }
}

impl Kernel {
    /// A kernel of a module for the given kind of launches, translated on first use.
    pub(crate) fn of_module(
        module: &Arc<Loaded>,
        name: &str,
        cluster: Option<[u32; 3]>,
        cooperative: bool,
    ) -> Result<Self, Error> {
        Ok(Self { shared: module.kernel(name, cluster, cooperative)?, module: module.clone() })
    }

    /// The kernel's name in PTX.
    pub fn name(&self) -> &str {
        &self.entry().name
    }

    /// The kernel's parameters in order.
    pub fn params(&self) -> &[Param] {
        &self.entry().params
    }

    /// Whether launches are cooperative: see [`Module::cooperative_kernel`](crate::Module::cooperative_kernel).
    pub fn is_cooperative(&self) -> bool {
        self.shared.cooperative
    }

    /// Sets the limit of shared memory (static and dynamic bytes of a block) for launches of this kernel by other
    /// kernels, as `cudaFuncSetAttribute` does with `cudaFuncAttributeMaxDynamicSharedMemorySize`. The default is 48
    /// KiB. Launches by the host have no such limit.
    ///
    /// # Errors
    /// Those of [`crate::Buffer::write`].
    pub fn set_launched_shared_limit(&self, bytes: u32) -> Result<(), Error> {
        self.shared.variables.set_shared_limit(self.name(), bytes)
    }

    /// The kernel's interface, for blocks that fit the device with one invocation for each thread. A kernel from PTX is
    /// translated again for larger blocks when one is first launched.
    pub fn entry(&self) -> &Entry {
        &self.shared.base.entry
    }
}
