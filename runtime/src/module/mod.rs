//! Modules: kernels by name, translated on first use, and the variables that they share.

pub(crate) mod check;
pub(crate) mod code;
pub(crate) mod kernel;
pub(crate) mod linker;
pub(crate) mod shipped;
pub(crate) mod texture_reference;
pub(crate) mod variables;
pub(crate) mod versions;

use std::fmt;
use std::sync::Arc;

use ptx2spv_translator::interface::{Counters, Declaration};
use ptx2spv_translator::{Interface, Program, Source, Topic, Translation};

use crate::backend::range::MemoryRange;
use crate::cache::translations::Description;
use crate::device::Device;
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::module::code::{Code, LoadOptions, Ptx, Shipped};
use crate::module::kernel::{DeclaredKernel, Kernel};
use crate::module::variables::LoadedVariables;
use crate::module::versions::{Kernels, Loaded};

/// A loaded module. Clones share it and its variables.
///
/// ```
/// use ptx2spv_runtime::{Config, Device, Source};
///
/// let device = Device::reference(Config::default());
/// let ptx = "
///     .version 7.0
///     .target sm_50
///     .address_size 64
///     .global .u32 scale = 3;
///     .visible .entry nothing() { ret; }";
/// let module = device.load(&Source::new("module.ptx", ptx))?;
/// assert_eq!((module.kernel_names(), module.variable_names()), (&["nothing".to_owned()][..], vec!["scale"]));
/// let mut scale = [0; 4];
/// module.read_variable("scale", 0, &mut scale)?;
/// assert_eq!(u32::from_le_bytes(scale), 3);
/// # Ok::<(), ptx2spv_runtime::Error>(())
/// ```
#[derive(Clone)]
pub struct Module {
    shared: Arc<Loaded>,
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Module({})", self.shared.names.join(", "))
    }
}

impl Device {
    /// Parses a PTX module. Each kernel is translated for this device on first use, so that a kernel that the device
    /// can't run doesn't affect the others. Translations made before with the same options, also by other processes,
    /// come from the user's [`Cache`](crate::Cache).
    ///
    /// # Errors
    /// [`Error::Translation`] if the text is invalid, [`Error::OutOfMemory`] if its variables don't fit.
    pub fn load(&self, source: &Source) -> Result<Module> {
        self.load_with(source, LoadOptions::default())
    }

    /// Like [`Device::load`], with options.
    ///
    /// # Errors
    /// The errors of [`Device::load`].
    pub fn load_with(&self, source: &Source, options: LoadOptions) -> Result<Module> {
        Module::from_source(self, source, None, options)
    }

    /// Like [`Device::load_with`], of a program that is parsed already, such as one that several devices load.
    ///
    /// ```
    /// use ptx2spv_runtime::{Config, Device, LoadOptions, Program, Source};
    ///
    /// let ptx = ".version 7.0 .target sm_50 .address_size 64 .visible .entry nothing() { ret; }";
    /// let program = Program::new(&Source::new("nothing.ptx", ptx))?;
    /// for device in [Device::reference(Config::default()), Device::reference(Config::default())] {
    ///     assert_eq!(device.load_program(&program, LoadOptions::default())?.kernel_names(), program.entries());
    /// }
    /// # Ok::<(), ptx2spv_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`Device::load`].
    pub fn load_program(&self, program: &Program, options: LoadOptions) -> Result<Module> {
        Module::from_source(self, program.source(), Some(program), options)
    }

    /// Loads a module that was translated for this device, or for a less capable one.
    ///
    /// # Safety
    /// As for [`Device::load_spirv`]: the translation is unchanged.
    ///
    /// # Errors
    /// The errors of [`Device::load_spirv`].
    pub unsafe fn load_translated(&self, translation: &Translation) -> Result<Module> {
        // SAFETY: by the contract.
        unsafe { self.load_spirv(&translation.spirv, &translation.interface) }
    }

    /// Loads a SPIR-V module with its interface.
    ///
    /// # Safety
    /// The SPIR-V is valid for Vulkan and matches the interface, like the output of [`Program::translate`]. Drivers
    /// don't check it: an invalid module may crash or corrupt the process. (The reference device refuses it.)
    ///
    /// [`Program::translate`]: ptx2spv_translator::Program::translate
    ///
    /// # Errors
    /// [`Error::MissingFeatures`] and [`Error::SpirvVersion`] if the device can't run it, [`Error::MadeForOthers`] if
    /// it relies on arithmetic that the device doesn't have or on something that the driver does wrong,
    /// [`Error::Interface`] if the interface contradicts itself, the SPIR-V or the device, [`Error::Refused`] by the
    /// reference device, which checks the SPIR-V, [`Error::OutOfMemory`].
    pub unsafe fn load_spirv(&self, spirv: &[u32], interface: &Interface) -> Result<Module> {
        Module::from_spirv(self, spirv, interface)
    }
}

impl Module {
    fn from_source(device: &Device, source: &Source, program: Option<&Program>, options: LoadOptions) -> Result<Self> {
        if options.math.is_fast(Topic::Textures) {
            device.want_images();
        }
        let ptx = Ptx::new(source, program, options);
        let description = ptx.describe(device)?;
        Self::new(device, description, Code::Ptx(Box::new(ptx)), options.managed_variables)
    }

    pub(crate) fn from_spirv(device: &Device, spirv: &[u32], interface: &Interface) -> Result<Self> {
        check::interface(device.target(), spirv, interface)?;
        Self::from_variants(device, vec![Shipped::new(device, spirv, interface)?], interface)
    }

    /// The interface is that of the first variant; later ones take larger blocks. All have passed [`check::interface`],
    /// and have their variables and status records at the same offsets.
    pub(crate) fn from_variants(device: &Device, list: Vec<Shipped>, interface: &Interface) -> Result<Self> {
        let description = Description {
            names: interface.entries.iter().map(|entry| entry.name.clone()).collect(),
            interface: interface.clone(),
            declarations: interface.entries.iter().map(Declaration::from).collect(),
        };
        Self::new(device, description, Code::Spirv(list), false)
    }

    fn new(device: &Device, description: Description, code: Code, has_managed: bool) -> Result<Self> {
        let Description { names, interface, declarations } = description;
        let variables = Arc::new(LoadedVariables::new(device, &interface, has_managed)?);
        let (code, kernels) = (Arc::new(code), Kernels::default());
        let loaded = Loaded { device: device.clone(), names, declarations, variables, code, kernels };
        Ok(Self { shared: Arc::new(loaded) })
    }

    /// The kernel of a name, translated for the device on first use.
    ///
    /// # Errors
    /// [`Error::NoKernel`]; [`Error::Translation`] if it can't be translated for this device; [`Error::OutOfMemory`].
    pub fn kernel(&self, name: &str) -> Result<Kernel> {
        Kernel::of_module(&self.shared, name, None, false)
    }

    /// The kernel of a name, translated when it is first launched. If its text shows that it can't be translated, that is
    /// found out now.
    ///
    /// # Errors
    /// The errors of [`Module::kernel`].
    pub fn declared_kernel(&self, name: &str) -> Result<DeclaredKernel> {
        DeclaredKernel::of_module(&self.shared, name)
    }

    /// The kernel of a name for launches in clusters of `size` blocks in x, y and z, like `cuLaunchKernelEx` with
    /// `CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION`. For a kernel that sets its own size (`.reqnctapercluster`),
    /// [`Module::kernel`] is enough.
    ///
    /// # Errors
    /// The errors of [`Module::kernel`], also if the kernel sets another size; [`Error::Interface`] if the module was loaded
    /// as a translation that is not for this size.
    pub fn cluster_kernel(&self, name: &str, size: [u32; 3]) -> Result<Kernel> {
        Kernel::of_module(&self.shared, name, Some(size), false)
    }

    /// The kernel of a name for cooperative launches, like `cuLaunchCooperativeKernel`: its blocks may wait for each
    /// other, as in `grid.sync()` of CUDA's cooperative groups. A grid may have any number of blocks on every device.
    ///
    /// When all remaining blocks wait for others, the dispatch of the grid ends and another one continues it. A launch
    /// therefore returns when the kernel has ended. `cluster` is as in [`Module::cluster_kernel`].
    ///
    /// # Errors
    /// The errors of [`Module::cluster_kernel`].
    pub fn cooperative_kernel(&self, name: &str, cluster: Option<[u32; 3]>) -> Result<Kernel> {
        Kernel::of_module(&self.shared, name, cluster, true)
    }

    pub(crate) fn device(&self) -> &Device {
        &self.shared.device
    }

    pub(crate) fn variables(&self) -> &Arc<LoadedVariables> {
        &self.shared.variables
    }

    /// Names of the kernels in the order of the source.
    pub fn kernel_names(&self) -> &[String] {
        &self.shared.names
    }

    /// The memory of a `.global` or `.const` variable.
    pub fn variable(&self, name: &str) -> Option<MemoryRange> {
        self.shared.variables.find(name).map(|(variable, address)| MemoryRange { address, size: variable.size })
    }

    /// The memory that holds all variables; `None` if there are none.
    pub fn memory(&self) -> Option<MemoryRange> {
        let variables = &self.shared.variables;
        let (address, size) = (variables.address(), variables.layout.size);
        (size > 0).then_some(MemoryRange { address, size })
    }

    /// Names of the variables in the order of their addresses.
    pub fn variable_names(&self) -> Vec<&str> {
        self.shared.variables.layout.list.iter().map(|variable| variable.name.as_str()).collect()
    }

    /// Whether the module has 32-bit pointers: the lower halves of addresses. Its kernels can only reach buffers that
    /// were allocated while such a module was loaded.
    pub fn has_short_pointers(&self) -> bool {
        self.shared.variables.layout.near
    }

    /// Writes bytes at an offset of a variable, after everything launched before.
    ///
    /// # Errors
    /// [`Error::NoVariable`], [`Error::OutOfRange`], and the errors of [`crate::Buffer::write`].
    pub fn write_variable(&self, name: &str, offset: u64, bytes: &[u8]) -> Result {
        self.shared.variables.write(name, offset, bytes)
    }

    /// Reads bytes from an offset of a variable, after everything launched before.
    ///
    /// # Errors
    /// As [`Module::write_variable`].
    pub fn read_variable(&self, name: &str, offset: u64, bytes: &mut [u8]) -> Result {
        self.shared.variables.read(name, offset, bytes)
    }

    /// The number of times that warps have executed `pmevent`, for each of the 16 events, in all launches since the module was loaded or
    /// [`Module::reset_counters`] was called. CUDA reserves the first eight for programs (`__prof_trigger`). All zeros if no kernel of the
    /// module has `pmevent`.
    ///
    /// # Errors
    /// The errors of [`crate::Buffer::read`].
    pub fn counters(&self) -> Result<[u64; Counters::COUNT as usize]> {
        self.shared.variables.counters()
    }

    /// Sets the counters of `pmevent` to zero, after everything launched before.
    ///
    /// # Errors
    /// The errors of [`crate::Buffer::write`].
    pub fn reset_counters(&self) -> Result {
        self.shared.variables.reset_counters()
    }
}
