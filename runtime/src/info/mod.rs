//! Name and abilities of a device, and the [`Target`] that the translator compiles for.

pub(crate) mod identity;
pub(crate) mod limits;
pub(crate) mod options;
pub(crate) mod process;
pub(crate) mod restrictions;
pub(crate) mod select;
pub(crate) mod targets;

use std::fmt;

use ptx2spv_translator::Target;
use ptx2spv_translator::target::Version;

use crate::error::Error;

/// The type of a device, in the order in which [`crate::DeviceSelector::Best`] prefers them.
///
/// ```
/// use ptx2spv_runtime::DeviceKind;
///
/// assert!(DeviceKind::Discrete < DeviceKind::Cpu);
/// assert_eq!(DeviceKind::Integrated.to_string(), "integrated");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum DeviceKind {
    /// A graphics card with memory of its own.
    Discrete,
    /// A graphics unit that shares the host's memory.
    Integrated,
    /// A device passed through to a virtual machine.
    Virtual,
    /// A software implementation on the host's processor.
    Cpu,
    /// Anything else.
    Other,
    /// The reference device, an interpreter that needs no Vulkan driver.
    Reference,
}

impl fmt::Display for DeviceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Discrete => "discrete",
            Self::Integrated => "integrated",
            Self::Virtual => "virtual",
            Self::Cpu => "cpu",
            Self::Other => "other",
            Self::Reference => "reference",
        })
    }
}

/// A device as the driver describes it.
///
/// ```
/// use ptx2spv_runtime::{Config, Device, DeviceKind, Feature};
///
/// let info = Device::reference(Config::default()).info().clone();
/// assert_eq!(info.kind, DeviceKind::Reference);
/// assert!(info.target.has(Feature::ShaderFloat64));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DeviceInfo {
    /// Position in the loader's list; `None` for the reference device, which is not in the list.
    pub index: Option<usize>,
    /// The device's name.
    pub name: String,
    /// Its type.
    pub kind: DeviceKind,
    /// The driver's name; empty if the driver doesn't report it.
    pub driver_name: String,
    /// The driver's own description of its version; empty if the driver doesn't report it.
    pub driver_info: String,
    /// The driver's version, in an encoding that depends on the driver.
    pub driver_version: u32,
    /// The Vulkan version of the device.
    pub api_version: Version,
    /// Identifies the device across processes and APIs (`VkPhysicalDeviceIDProperties::deviceUUID`).
    pub uuid: [u8; 16],
    /// The target for the translator. Its Vulkan version is the one in use, which an instance may keep below the
    /// device's.
    pub target: Target,
    /// The largest buffer in bytes.
    pub max_buffer_size: u64,
    /// Wrong results that the self-test saw, one example for each fact of the target that doesn't hold.
    pub seen: Vec<String>,
    /// The driver's bugs that are worked around, as the target's `quirks` say.
    pub bugs: Vec<&'static KnownBug>,
    pub(crate) missing: Vec<&'static str>,
    pub(crate) own: OwnFeatures,
    /// Whether the data of the driver's pipeline caches can be trusted.
    pub(crate) keeps_pipelines: bool,
}

/// Device features that the runtime itself uses.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OwnFeatures {
    /// Timeline semaphores.
    pub timeline: bool,
    /// Reports of the cause of a device loss.
    pub fault: bool,
    /// Mapping of memory at a chosen address.
    pub placed_maps: bool,
    /// Device addresses that another run of a program can ask for again.
    pub replayed_addresses: bool,
}

/// A bug of a driver that is worked around.
///
/// ```
/// let (devices, _) = ptx2spv_runtime::devices(&Default::default());
/// for device in &devices {
///     for bug in &device.bugs {
///         println!("{}: {} ({})", device.name, bug.description, bug.drivers);
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KnownBug {
    /// The member of [`Quirks`](ptx2spv_translator::target::Quirks) for the bug.
    pub name: &'static str,
    /// The affected drivers and versions.
    pub drivers: &'static str,
    /// A description of the bug.
    pub description: &'static str,
    /// The source: a web address, or a file of this project.
    pub evidence: &'static str,
}

impl DeviceInfo {
    /// Vulkan names of the things that every kernel needs and this device lacks. A device can only be opened if the
    /// list is empty.
    pub fn missing(&self) -> &[&'static str] {
        &self.missing
    }

    pub(crate) fn check_usable(&self) -> Result<(), Error> {
        if self.missing.is_empty() {
            Ok(())
        } else {
            Err(Error::UnusableDevice { device: self.name.clone(), missing: self.missing.clone() })
        }
    }

    #[cfg(test)]
    pub(crate) fn example(index: usize, name: &str, kind: DeviceKind, missing: &[&'static str]) -> Self {
        Self {
            index: Some(index),
            name: name.to_owned(),
            kind,
            driver_name: String::new(),
            driver_info: String::new(),
            driver_version: 0,
            api_version: Version(1, 3),
            uuid: [0; 16],
            target: Target::preset("lavapipe").unwrap(),
            max_buffer_size: u64::MAX,
            seen: Vec::new(),
            bugs: Vec::new(),
            missing: missing.to_vec(),
            own: OwnFeatures { timeline: true, ..OwnFeatures::default() },
            keeps_pipelines: true,
        }
    }
}
