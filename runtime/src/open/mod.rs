//! Opening and listing devices: chooses a back end, and runs the self-test of Vulkan devices on their first use.

mod listed;
mod probe;

use std::any::Any;
use std::io::{self, Write};
use std::sync::{Arc, Once};

use ptx2spv_translator::{Math, Source};

use crate::backend::Backend;
use crate::backend::reference;
use crate::backend::vulkan::{self, Instance, InstanceOptions, PhysicalDevice};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::info::select::DeviceSelector;
use crate::info::{DeviceInfo, DeviceKind};
use crate::launch::args::LaunchConfig;
use crate::module::code::LoadOptions;
use crate::profile::Pause;
pub use listed::{ListedDevice, listed_devices};

impl Device {
    /// Opens a device: one of a new Vulkan instance with default options, or the reference device.
    ///
    /// If the selector accepts any device ([`DeviceSelector::Best`]) and no Vulkan device can run kernels, the
    /// reference device is opened instead. A warning on the standard error says so, once per process, and
    /// [`Device::fallback`] says why. With [`DeviceSelector::Vulkan`], opening fails instead.
    ///
    /// # Errors
    /// The errors of [`Instance::new`] and [`Instance::open`], [`Error::BadReferenceOptions`] and [`Error::Target`] for
    /// invalid options of the reference device, [`Error::NoReference`] in a program built without it.
    pub fn open(selector: &DeviceSelector) -> Result<Self> {
        Self::open_with(selector, &InstanceOptions::default())
    }

    /// Like [`Device::open`], with options for the Vulkan instance.
    ///
    /// # Errors
    /// The errors of [`Device::open`].
    pub fn open_with(selector: &DeviceSelector, options: &InstanceOptions) -> Result<Self> {
        let asked = selector;
        let selector = asked.resolve()?;
        if let DeviceSelector::Reference(options) = &selector {
            let (backend, info) = reference::open(Some(options))?;
            return Ok(Self::new(backend, info, None));
        }
        match Instance::new(options).and_then(|instance| instance.open(&selector)) {
            Err(reason) if selector == DeviceSelector::Best && is_absence(&reason) => match reference::open(None) {
                Ok((backend, info)) => {
                    warn_of_fallback(&reason);
                    Ok(Self::new(backend, info, Some(reason)))
                }
                Err(_) => Err(reason),
            },
            found => found.map_err(|error| asked.blame(error)),
        }
    }

    /// The instance that the device was opened from; `None` for the reference device.
    pub fn instance(&self) -> Option<&Instance> {
        (self.backend() as &dyn Any).downcast_ref::<vulkan::Device>().map(|device| &device.instance)
    }
}

impl Device {
    /// Launches a kernel that does nothing, on devices that are the host's processor, and waits for it. Their compilers, and Vulkan's layers,
    /// register exit handlers with their first work. An exit handler that a program registers after this call runs before them, so that it can
    /// wait for other threads' launches.
    ///
    /// # Errors
    /// The errors of launches.
    pub fn warm_up(&self) -> Result {
        if self.info().kind != DeviceKind::Cpu {
            return Ok(());
        }
        let _pause = Pause::new();
        let ptx = ".version 6.0\n.target sm_30\n.address_size 64\n.visible .entry nothing() { ret; }";
        let module = self.load_with(&Source::new("nothing", ptx), LoadOptions::uncached(Math::default()))?;
        // SAFETY: the kernel accesses nothing.
        unsafe { module.kernel("nothing")?.launch(&LaunchConfig::linear(1, 1), &[]) }?;
        self.synchronize()
    }
}

impl Instance {
    /// Lists the devices in the loader's order, including those that can't run kernels (see [`DeviceInfo::missing`]).
    /// On a device's first use, this runs its self-test, which takes a second. If the self-test itself fails, no fact
    /// is trusted.
    ///
    /// # Errors
    /// [`Error::NoDevice`] if there are none, [`Error::Forked`] in a forked process.
    pub fn devices(&self) -> Result<Vec<DeviceInfo>> {
        let tested = |physical: PhysicalDevice| {
            open_tested(self, &physical).map_or(physical.info, |device| device.info().clone())
        };
        Ok(self.physical_devices()?.into_iter().map(tested).collect())
    }

    /// Opens a Vulkan device. [`Device::open`] opens any device, including the reference device, and needs no instance.
    ///
    /// # Errors
    /// The errors of [`DeviceSelector::choose`], and [`Error::UnusableDevice`] if the chosen device can't run kernels.
    pub fn open(&self, selector: &DeviceSelector) -> Result<Device> {
        let list = self.physical_devices()?;
        let pairs: Vec<_> = list.iter().map(|physical| (&physical.info, physical)).collect();
        let (_, physical) = selector.choose_from(&pairs)?;
        open_tested(self, physical)
    }
}

/// Opens a device of an instance, after its self-test if this is its first use.
fn open_tested(instance: &Instance, physical: &PhysicalDevice) -> Result<Device> {
    let backend: Arc<dyn Backend> = Arc::new(vulkan::Device::create(instance, physical)?);
    let mut info = physical.info.clone();
    let findings = match probe::known(&info) {
        Some(findings) => findings,
        None => {
            let _pause = Pause::new();
            let findings = probe::measure(&Device::new(backend.clone(), probe::trusting(&info), None))?;
            probe::keep(&info, &findings);
            findings
        }
    };
    info.target.facts = findings.facts;
    instance.restrictions().restrict(&mut info.target.facts);
    info.seen = findings.seen;
    Ok(Device::new(backend, info, None))
}

/// The devices of this machine: Vulkan's in the loader's order, including those that can't run kernels, then the
/// reference device.
///
/// ```
/// use ptx2spv_runtime::{DeviceKind, InstanceOptions, devices};
///
/// let found = devices(&InstanceOptions::default());
/// assert_eq!(found.devices.last().map(|device| device.kind), Some(DeviceKind::Reference));
/// ```
pub fn devices(options: &InstanceOptions) -> FoundDevices {
    let (mut devices, no_vulkan) = match Instance::new(options).and_then(|instance| instance.devices()) {
        Ok(list) => (list, None),
        Err(reason) => (Vec::new(), Some(reason)),
    };
    devices.extend(reference::describe(None));
    FoundDevices { devices, no_vulkan }
}

/// Devices of this machine.
#[derive(Debug)]
#[non_exhaustive]
pub struct FoundDevices {
    /// The devices.
    pub devices: Vec<DeviceInfo>,
    /// The reason why there is no Vulkan device in the list, and the reference device stands alone.
    pub no_vulkan: Option<Error>,
}

impl From<DeviceInfo> for FoundDevices {
    fn from(device: DeviceInfo) -> Self {
        Self { devices: vec![device], no_vulkan: None }
    }
}

/// Returns the device that [`Device::open_with`] would open, without opening it. It is the only one of the list.
///
/// # Errors
/// The errors of [`Device::open_with`].
pub fn find_device(selector: &DeviceSelector, options: &InstanceOptions) -> Result<FoundDevices> {
    let asked = selector;
    let selector = asked.resolve()?;
    if let DeviceSelector::Reference(options) = &selector {
        return Ok(reference::describe(Some(options))?.into());
    }
    let best = selector == DeviceSelector::Best;
    let listed = Instance::new(options).and_then(|instance| instance.devices());
    let found = listed.and_then(|list| {
        let found = selector.choose(&list)?;
        if best || selector == DeviceSelector::Vulkan {
            found.check_usable()?
        }
        Ok(found.clone())
    });
    match found {
        Ok(found) => Ok(found.into()),
        Err(reason) if best && is_absence(&reason) => match reference::describe(None) {
            Ok(info) => Ok(FoundDevices { no_vulkan: Some(reason), ..info.into() }),
            Err(_) => Err(reason),
        },
        Err(error) => Err(asked.blame(error)),
    }
}

/// Warns that kernels run on the reference device, where they are many times slower.
fn warn_of_fallback(reason: &Error) {
    static SAID: Once = Once::new();
    SAID.call_once(|| {
        // An error of the standard error can't be reported anywhere.
        let _ = writeln!(
            io::stderr(),
            "ptx2spv: warning: no Vulkan device can be used ({reason}); this runs on the reference device, an interpreter, which is slow"
        );
    });
}

/// Whether an error means that there is no Vulkan device for kernels.
fn is_absence(error: &Error) -> bool {
    matches!(error, Error::NoLoader { .. } | Error::NoDevice { .. } | Error::UnusableDevice { .. })
}
