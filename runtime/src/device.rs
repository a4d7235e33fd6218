//! The open device: makes buffers, loads modules, waits.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ash::vk;
use bytemuck::Pod;
use ptx2spv_reference::{Config, Finding};
use ptx2spv_translator::bundle::Bundle;
use ptx2spv_translator::{Interface, Source, Target, Translation};

use crate::backend::Backend;
use crate::buffer::Buffer;
use crate::error::Error;
use crate::info::DeviceInfo;
use crate::lock;
use crate::module::{LoadOptions, Module};
use crate::probe;
use crate::reference;
use crate::select::DeviceSelector;
use crate::vulkan::{self, Instance, InstanceOptions};

/// An open device. Clones share it; it is closed with the last of its clones, buffers, modules and kernels, after it
/// has finished its work.
#[derive(Clone)]
pub struct Device {
    pub(crate) shared: Arc<Shared>,
}

pub(crate) struct Shared {
    pub backend: Backend,
    pub info: DeviceInfo,
    fallback: Option<Error>,
    max_dispatch_time: Mutex<Option<Duration>>,
    /// Held by a launch that is submitted in parts.
    pub split: Mutex<()>,
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Device({})", self.shared.info.name)
    }
}

impl Device {
    /// Opens a device: one of a new Vulkan instance with default options, or the reference device.
    ///
    /// Where any device will do ([`DeviceSelector::Best`]) and there is no Vulkan device that can run kernels, the reference
    /// device stands in; [`Device::fallback`] says why.
    ///
    /// # Errors
    /// Those of [`Instance::new`], [`Instance::open`] and [`ReferenceOptions::config`](crate::ReferenceOptions::config).
    pub fn open(selector: &DeviceSelector) -> Result<Self, Error> {
        Self::open_with(selector, &InstanceOptions::default())
    }

    /// As [`Device::open`], with options for the Vulkan instance.
    ///
    /// # Errors
    /// Those of [`Device::open`].
    pub fn open_with(selector: &DeviceSelector, options: &InstanceOptions) -> Result<Self, Error> {
        let asked = selector;
        let selector = asked.resolve()?;
        if let DeviceSelector::Reference(options) = &selector {
            return Ok(Self::reference(options.config()?));
        }
        match Instance::new(options).and_then(|instance| instance.open(&selector)) {
            Err(reason) if selector == DeviceSelector::Best && is_absence(&reason) => {
                Ok(Self::of_reference(Config::default(), Some(reason)))
            }
            found => found.map_err(|error| asked.blame(error)),
        }
    }

    /// A reference device of its own, with nothing in its memory.
    ///
    /// ```
    /// use ptx2spv_runtime::{Device, LaunchConfig, ReferenceOptions};
    /// use ptx2spv_translator::Source;
    ///
    /// let device = Device::reference(ReferenceOptions { check: true, ..ReferenceOptions::default() }.config()?);
    /// let ptx = "
    ///     .version 7.0
    ///     .target sm_50
    ///     .address_size 64
    ///     .visible .entry beyond(.param .u64 out)
    ///     {
    ///         .reg .b64 %rd<2>;
    ///         ld.param.u64 %rd1, [out];
    ///         st.global.u32 [%rd1+64], 1;
    ///         ret;
    ///     }";
    /// let module = device.load(&Source::new("beyond.ptx", ptx))?;
    /// let out = device.upload(&[0_u32; 16])?;
    /// // SAFETY: the reference device checks every access.
    /// unsafe { module.kernel("beyond")?.launch(&LaunchConfig::new([1; 3], [1; 3]), &[(&out).into()]) }?;
    /// let error = device.synchronize().unwrap_err();
    /// assert!(error.to_string().contains("out-of-bounds access"), "{error}");
    /// # Ok::<(), ptx2spv_runtime::Error>(())
    /// ```
    pub fn reference(config: Config) -> Self {
        Self::of_reference(config, None)
    }

    fn of_reference(config: Config, fallback: Option<Error>) -> Self {
        let info = DeviceInfo::reference(&config);
        Self::new(Backend::Reference(Arc::new(reference::Device::new(config))), info, fallback)
    }

    /// Opens a device of an instance; `physical` is what `info` describes. A device of which nothing is known yet does its
    /// self-test.
    pub(crate) fn vulkan(
        instance: &Instance,
        physical: vk::PhysicalDevice,
        mut info: DeviceInfo,
    ) -> Result<Self, Error> {
        let backend = Backend::Vulkan(Arc::new(vulkan::Device::create(instance, physical, &info)?));
        let findings = match probe::known(&info) {
            Some(findings) => findings,
            None => {
                let findings = probe::measure(&Self::new(backend.clone(), probe::trusting(&info), None))?;
                probe::keep(&info, &findings);
                findings
            }
        };
        info.target.facts = findings.facts;
        info.seen = findings.seen;
        Ok(Self::new(backend, info, None))
    }

    fn new(backend: Backend, info: DeviceInfo, fallback: Option<Error>) -> Self {
        let shared = Shared { backend, info, fallback, max_dispatch_time: Mutex::default(), split: Mutex::default() };
        Self { shared: Arc::new(shared) }
    }

    /// What the driver says of the device.
    pub fn info(&self) -> &DeviceInfo {
        &self.shared.info
    }

    /// What the translator needs to know of the device. All its features are enabled.
    pub fn target(&self) -> &Target {
        &self.shared.info.target
    }

    /// Why the reference device stands in for a Vulkan device; `None` if it doesn't.
    pub fn fallback(&self) -> Option<&Error> {
        self.shared.fallback.as_ref()
    }

    /// The instance that it was opened from; `None` for the reference device.
    pub fn instance(&self) -> Option<&Instance> {
        match &self.shared.backend {
            Backend::Vulkan(device) => Some(&device.instance),
            Backend::Reference(_) => None,
        }
    }

    /// Allocates a buffer of `bytes` bytes with undefined contents.
    ///
    /// # Errors
    /// [`Error::BufferTooLarge`], [`Error::OutOfMemory`].
    pub fn alloc(&self, bytes: u64) -> Result<Buffer, Error> {
        Buffer::new(self, bytes)
    }

    /// Allocates a buffer that holds `data`.
    ///
    /// # Errors
    /// Those of [`Device::alloc`] and [`Buffer::write`].
    pub fn upload<T: Pod>(&self, data: &[T]) -> Result<Buffer, Error> {
        let bytes: &[u8] = bytemuck::cast_slice(data);
        let buffer = self.alloc(bytes.len() as u64)?;
        buffer.write(0, bytes)?;
        Ok(buffer)
    }

    /// Parses a PTX module. Each kernel is translated for this device when first asked for, so that one that the device
    /// can't run is not in the way of the others.
    ///
    /// # Errors
    /// [`Error::Translation`] if the text is wrong, [`Error::OutOfMemory`] if its variables have no room.
    pub fn load(&self, source: &Source) -> Result<Module, Error> {
        self.load_with(source, LoadOptions::default())
    }

    /// As [`Device::load`], with options.
    ///
    /// # Errors
    /// Those of [`Device::load`].
    pub fn load_with(&self, source: &Source, options: LoadOptions) -> Result<Module, Error> {
        Module::from_source(self, source, options)
    }

    /// Loads a module that was translated before, for this device or for one with less.
    ///
    /// # Safety
    /// As for [`Device::load_spirv`]: the translation is as the translator made it.
    ///
    /// # Errors
    /// Those of [`Device::load_spirv`].
    pub unsafe fn load_translated(&self, translation: &Translation) -> Result<Module, Error> {
        // SAFETY: by the contract.
        unsafe { self.load_spirv(&translation.spirv, &translation.interface) }
    }

    /// Loads a SPIR-V module with its interface.
    ///
    /// # Safety
    /// The SPIR-V is valid for Vulkan and as the interface describes it, as what [`Program::translate`] makes is. Drivers don't
    /// check it: an invalid module may end or corrupt the process. (The reference device refuses it.)
    ///
    /// [`Program::translate`]: ptx2spv_translator::Program::translate
    ///
    /// # Errors
    /// [`Error::MissingFeatures`] and [`Error::SpirvVersion`] if the device can't run it, [`Error::MadeForOthers`] if it
    /// relies on what the device's arithmetic doesn't do or its driver does wrong, [`Error::Interface`] if the
    /// interface contradicts itself, the SPIR-V or the device, [`Error::Refused`] by the reference device, which does check
    /// the SPIR-V, [`Error::OutOfMemory`].
    pub unsafe fn load_spirv(&self, spirv: &[u32], interface: &Interface) -> Result<Module, Error> {
        Module::from_spirv(self, spirv, interface)
    }

    /// Loads a module that comes in several variants: the best of those that the device can run. One that relies on arithmetic
    /// which the device was seen to do otherwise is none of them.
    ///
    /// # Safety
    /// As for [`Device::load_spirv`], for each variant.
    ///
    /// # Errors
    /// [`Error::NoVariant`] if the device can run none of them, and those of [`Device::load_spirv`] for the best.
    pub unsafe fn load_bundle(&self, bundle: &Bundle) -> Result<Module, Error> {
        Module::from_bundle(self, bundle)
    }

    /// Loads what `ptx2spv translate` wrote, or PTX: a `.spv` with the `.json` beside it, by either name, a bundle, whose
    /// name ends in `.json` too, or a `.ptx`.
    ///
    /// # Safety
    /// As for [`Device::load_spirv`], unless it is a `.ptx`.
    ///
    /// # Errors
    /// [`Error::File`] if a file can't be read or isn't what its name says, and those of [`Device::load`],
    /// [`Device::load_spirv`] and [`Device::load_bundle`].
    pub unsafe fn load_file(&self, path: impl AsRef<Path>) -> Result<Module, Error> {
        Module::from_file(self, path.as_ref())
    }

    /// Waits until everything launched has finished.
    ///
    /// # Errors
    /// [`Error::Aborted`], [`Error::Fault`], [`Error::DeviceLost`].
    pub fn synchronize(&self) -> Result<(), Error> {
        self.shared.backend.synchronize()?;
        self.shared.backend.check_stopped()
    }

    /// Lets no submission of a launch take much longer than this, as far as one block allows, so that a desktop's watchdog
    /// doesn't take the device for hung; `None`, as at first, submits whole grids. [`Kernel::launch`](crate::Kernel::launch)
    /// then submits a few blocks at first, measures, and goes on with as many as fill half of the time, also at the kernel's
    /// later launches. It returns when the last part has ended.
    ///
    /// Blocks that wait for blocks with higher numbers, as a barrier of the whole grid does, wait for ever then, since those are
    /// submitted later. If several threads use the device, copies may come between two parts.
    pub fn set_max_dispatch_time(&self, time: Option<Duration>) {
        *lock(&self.shared.max_dispatch_time) = time;
    }

    /// What was last set.
    pub fn max_dispatch_time(&self) -> Option<Duration> {
        *lock(&self.shared.max_dispatch_time)
    }

    /// How often work was submitted to the device so far: launches and copies that collected while it was busy count once, a
    /// launch in several parts as often as it has parts.
    pub fn submissions(&self) -> u64 {
        self.shared.backend.submissions()
    }

    /// What the reference device has found since the last call, apart from what has come back as [`Error::Fault`]. Vulkan
    /// devices find nothing.
    pub fn take_findings(&self) -> Vec<Finding> {
        match &self.shared.backend {
            Backend::Vulkan(_) => Vec::new(),
            Backend::Reference(device) => device.take_findings(),
        }
    }

    /// What kernels have printed since the last call, as far as the device was waited for or read from after them. The text
    /// of one `printf` stands together; which thread's comes first is open.
    pub fn take_output(&self) -> Vec<u8> {
        self.shared.backend.take_output()
    }

    /// How many instructions of its interpreter the reference device has run; 0 of Vulkan devices.
    pub fn steps(&self) -> u64 {
        match &self.shared.backend {
            Backend::Vulkan(_) => 0,
            Backend::Reference(device) => device.steps(),
        }
    }

    /// What the reference device has traced since the last call, one line an instruction; see
    /// [`Config::trace`](ptx2spv_reference::Config).
    pub fn take_trace(&self) -> Vec<String> {
        match &self.shared.backend {
            Backend::Vulkan(_) => Vec::new(),
            Backend::Reference(device) => device.take_trace(),
        }
    }
}

/// The devices of this machine: Vulkan's in the loader's order, those that can't run kernels included, and at the end the
/// reference device. The second part says why there are none of Vulkan's.
///
/// ```
/// use ptx2spv_runtime::{DeviceKind, InstanceOptions, devices};
///
/// let (devices, _) = devices(&InstanceOptions::default());
/// assert_eq!(devices.last().map(|device| device.kind), Some(DeviceKind::Reference));
/// ```
pub fn devices(options: &InstanceOptions) -> (Vec<DeviceInfo>, Option<Error>) {
    let (mut list, reason) = match Instance::new(options).and_then(|instance| instance.devices()) {
        Ok(list) => (list, None),
        Err(reason) => (Vec::new(), Some(reason)),
    };
    list.push(DeviceInfo::reference(&Config::default()));
    (list, reason)
}

/// What [`Device::open_with`] would open, without opening it. The second part says why the reference device stands in for
/// a Vulkan device, if it does.
///
/// # Errors
/// Those of [`Device::open_with`].
pub fn find_device(selector: &DeviceSelector, options: &InstanceOptions) -> Result<(DeviceInfo, Option<Error>), Error> {
    let asked = selector;
    let selector = asked.resolve()?;
    if let DeviceSelector::Reference(options) = &selector {
        return Ok((DeviceInfo::reference(&options.config()?), None));
    }
    let best = selector == DeviceSelector::Best;
    let listed = Instance::new(options).and_then(|instance| instance.devices());
    let found = listed.and_then(|list| {
        let found = selector.choose(&list)?;
        if best {
            found.check_usable()?
        }
        Ok(found.clone())
    });
    match found {
        Ok(found) => Ok((found, None)),
        Err(reason) if best && is_absence(&reason) => Ok((DeviceInfo::reference(&Config::default()), Some(reason))),
        Err(error) => Err(asked.blame(error)),
    }
}

/// Whether an error says that there is no Vulkan device to run kernels on.
fn is_absence(error: &Error) -> bool {
    matches!(error, Error::NoLoader { .. } | Error::NoDevice { .. } | Error::UnusableDevice { .. })
}
