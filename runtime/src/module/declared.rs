//! Kernels that are translated when they are first launched.

use std::fmt;
use std::sync::{Arc, OnceLock};

use ptx2spv_translator::interface::{Declaration, Param};

use crate::error::Error;
use crate::module::attributes::KernelAttributes;
use crate::module::kernel::Kernel;
use crate::module::loaded::Loaded;

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
    pub(crate) fn of_module(module: &Arc<Loaded>, name: &str) -> Result<Self, Error> {
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
    /// Those of [`Module::kernel`](crate::Module::kernel).
    pub fn kernel(&self) -> Result<&Kernel, Error> {
        if let Some(kernel) = self.translated.get() {
            return Ok(kernel);
        }
        let kernel = Kernel::of_module(&self.module, self.name(), None, false)?;
        Ok(self.translated.get_or_init(|| kernel))
    }

    /// Whether it has been translated.
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
    /// Those of [`crate::Buffer::write`].
    pub fn set_launched_shared_limit(&self, bytes: u32) -> Result<(), Error> {
        self.module.variables.set_shared_limit(self.name(), bytes)
    }
}
