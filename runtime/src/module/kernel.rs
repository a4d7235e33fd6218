//! Kernels.

use std::fmt;
use std::sync::{Arc, OnceLock};

use ptx2spv_translator::interface::{BlockSize, Declaration, Entry, Param};

use crate::error::Result;
use crate::info::limits::{MAX_BLOCK, MAX_SHARED};
use crate::module::versions::{KernelVersions, Loaded};

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
    ) -> Result<Self> {
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
    /// The errors of [`crate::Buffer::write`].
    pub fn set_launched_shared_limit(&self, bytes: u32) -> Result {
        self.shared.variables.set_shared_limit(self.name(), bytes)
    }

    /// The kernel's interface, for blocks that fit the device with one invocation for each thread. A kernel from PTX is
    /// translated again for larger blocks when one is first launched.
    pub fn entry(&self) -> &Entry {
        &self.shared.base.entry
    }
}

/// A kernel that is translated when it is first launched. What its text says is known before.
///
/// ```
/// use ptx2spv_runtime::{Config, Device, LaunchConfig, Source};
///
/// let device = Device::reference(Config::default());
/// let ptx = ".version 7.0 .target sm_50 .address_size 64 .visible .entry nothing(.param .u32 n) { ret; }";
/// let declared = device.load(&Source::new("nothing.ptx", ptx))?.declared_kernel("nothing")?;
/// assert_eq!((declared.params().len(), declared.is_translated()), (1, false));
/// // SAFETY: the kernel accesses nothing.
/// unsafe { declared.kernel()?.launch(&LaunchConfig::linear(1, 1), &[7_u32.into()]) }?;
/// assert!(declared.is_translated());
/// # Ok::<(), ptx2spv_runtime::Error>(())
/// ```
pub struct DeclaredKernel {
    module: Arc<Loaded>,
    declaration: Declaration,
    translated: OnceLock<Kernel>,
}

impl fmt::Debug for DeclaredKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DeclaredKernel({})", self.name())
    }
}

impl DeclaredKernel {
    pub(crate) fn of_module(module: &Arc<Loaded>, name: &str) -> Result<Self> {
        let translated = OnceLock::new();
        let declaration = match module.declarations.iter().find(|declaration| declaration.name == name) {
            Some(declaration) => declaration.clone(),
            // The translation says why it fails.
            None => {
                let kernel = Kernel::of_module(module, name, None, false)?;
                translated.get_or_init(|| kernel).entry().into()
            }
        };
        Ok(Self { module: module.clone(), declaration, translated })
    }

    /// The kernel, translated now unless it has been.
    ///
    /// # Errors
    /// The errors of [`Module::kernel`](crate::Module::kernel).
    pub fn kernel(&self) -> Result<&Kernel> {
        if let Some(kernel) = self.translated.get() {
            return Ok(kernel);
        }
        let kernel = Kernel::of_module(&self.module, self.name(), None, false)?;
        Ok(self.translated.get_or_init(|| kernel))
    }

    /// Whether the kernel has been translated.
    pub fn is_translated(&self) -> bool {
        self.translated.get().is_some()
    }

    /// The kernel's name in PTX.
    pub fn name(&self) -> &str {
        &self.declaration.name
    }

    /// The kernel's parameters in order.
    pub fn params(&self) -> &[Param] {
        &self.declaration.params
    }

    /// The kernel's attributes.
    pub fn attributes(&self) -> KernelAttributes {
        let Declaration { params_size, static_shared_bytes, block, architecture, .. } = &self.declaration;
        KernelAttributes::new(block, *static_shared_bytes, *params_size, *architecture)
    }

    /// As [`Kernel::set_launched_shared_limit`].
    ///
    /// # Errors
    /// The errors of [`crate::Buffer::write`].
    pub fn set_launched_shared_limit(&self, bytes: u32) -> Result {
        self.module.variables.set_shared_limit(self.name(), bytes)
    }
}

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
