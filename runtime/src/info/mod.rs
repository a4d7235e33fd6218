//! Name and abilities of a device, and the [`Target`] that the translator compiles for.

pub(crate) mod limits;
pub(crate) mod options;
pub(crate) mod restrictions;
pub(crate) mod select;

use std::fmt;
use std::fs;
use std::path::Path;

use ptx2spv_translator::Target;
use ptx2spv_translator::target::{Facts, Version};

use crate::error::{Error, Result, closest, question};

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
    /// The type of the device.
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
    /// The device's address on the PCI bus; `None` if the device isn't on the bus, or if the driver doesn't report the address.
    pub bus: Option<BusAddress>,
    /// The target for the translator. Its Vulkan version is the one in use, which an instance may keep below the
    /// device's.
    pub target: Target,
    /// The largest buffer in bytes.
    pub max_buffer_size: u64,
    /// Wrong results that the self-test saw, one example for each fact of the target that doesn't hold.
    pub seen: Vec<String>,
    /// The driver's bugs that are worked around, as the target's `quirks` say.
    pub bugs: Vec<&'static KnownBug>,
    /// The numbers of vendor and model.
    pub(crate) ids: [u32; 2],
    pub(crate) missing: Vec<&'static str>,
    pub(crate) own: OwnFeatures,
    /// Whether the data of the driver's pipeline caches can be trusted.
    pub(crate) keeps_pipelines: bool,
}

/// An address on the PCI bus, in the form `0000:01:00.0`.
///
/// ```
/// use ptx2spv_runtime::BusAddress;
///
/// let address = BusAddress { domain: 0, bus: 0x41, device: 0, function: 0 };
/// assert_eq!(address.to_string(), "0000:41:00.0");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BusAddress {
    /// The domain.
    pub domain: u32,
    /// The bus of the domain.
    pub bus: u32,
    /// The device on the bus.
    pub device: u32,
    /// The function of the device.
    pub function: u32,
}

impl fmt::Display for BusAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { domain, bus, device, function } = self;
        write!(f, "{domain:04x}:{bus:02x}:{device:02x}.{function:x}")
    }
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
    /// Buffers that have addresses before they have memory.
    pub sparse_binding: bool,
}

/// A bug of a driver that is worked around.
///
/// ```
/// for device in ptx2spv_runtime::devices(&Default::default()).devices {
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

    /// The UUID as CUDA's programs write it, such as `GPU-8f6c3d2a-…`.
    pub fn cuda_uuid(&self) -> String {
        let digits = hex::encode(self.uuid);
        let [a, b, c, d, e] = [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| &digits[part]);
        format!("GPU-{a}-{b}-{c}-{d}-{e}")
    }

    /// The driver's version in digits and dots, from its own description; `0.0` if that has none.
    pub fn driver_number(&self) -> &str {
        let mut words = self.driver_info.split_ascii_whitespace();
        words.find(|word| word.starts_with(|first: char| first.is_ascii_digit())).unwrap_or("0.0")
    }

    pub(crate) fn check_usable(&self) -> Result {
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
            bus: None,
            target: Target::preset("lavapipe").unwrap(),
            max_buffer_size: u64::MAX,
            seen: Vec::new(),
            bugs: Vec::new(),
            ids: [0; 2],
            missing: missing.to_vec(),
            own: OwnFeatures { timeline: true, ..OwnFeatures::default() },
            keeps_pipelines: true,
        }
    }
}

// What tells one device and driver from another.

impl DeviceInfo {
    /// Everything that translations and compiled kernels depend on, without the results of the self-test. The target includes the
    /// driver's workarounds and float controls. Equal cards have one identity. On CPU devices, results depend on the processor's
    /// instructions, and several machines may share the folder.
    pub(crate) fn identity(&self) -> String {
        let processor = if self.kind == DeviceKind::Cpu { processor() } else { Vec::new() };
        let target = Target { facts: Facts::default(), ..self.target.clone() };
        let target = serde_json::to_string(&target).unwrap_or_default();
        let [vendor, model] = self.ids;
        // Of drivers for the processor it tells builds apart, of cards only one from its equals.
        let uuid = if matches!(self.kind, DeviceKind::Cpu) { hex::encode(self.uuid) } else { String::new() };
        format!(
            "{}: {} {} {} {vendor:x}:{model:x} {uuid} {} {target}",
            env!("CARGO_PKG_VERSION"),
            self.driver_name,
            self.driver_info,
            self.driver_version,
            processor.join("+"),
        )
    }
}

/// The properties by which CPU drivers choose instructions: the processor's features, and Mesa's override of them.
fn processor() -> Vec<String> {
    let overridden = std::env::var("GALLIUM_OVERRIDE_CPU_CAPS").ok();
    instructions().into_iter().map(str::to_owned).chain(overridden).collect()
}

#[cfg(target_arch = "x86_64")]
fn instructions() -> Vec<&'static str> {
    let known = [
        ("sse4.1", is_x86_feature_detected!("sse4.1")),
        ("avx", is_x86_feature_detected!("avx")),
        ("avx2", is_x86_feature_detected!("avx2")),
        ("fma", is_x86_feature_detected!("fma")),
        ("f16c", is_x86_feature_detected!("f16c")),
        ("avx512f", is_x86_feature_detected!("avx512f")),
    ];
    known.into_iter().filter_map(|(name, present)| present.then_some(name)).collect()
}

#[cfg(not(target_arch = "x86_64"))]
fn instructions() -> Vec<&'static str> {
    vec![std::env::consts::ARCH]
}

/// The target of a name: a preset, or else a file written by `ptx2spv devices --device X --json`.
///
/// # Errors
/// [`Error::Target`] if it is neither.
pub fn target_by_name(name: &str) -> Result<Target> {
    if let Some(target) = Target::preset(name) {
        return Ok(target);
    }
    if !Path::new(name).exists() {
        let meant = question(closest(name, Target::PRESETS.iter().copied()));
        let presets = Target::PRESETS.join(", ");
        return Err(Error::Target(format!("no target `{name}`{meant}: it is neither a preset ({presets}) nor a file")));
    }
    let text = fs::read_to_string(name).map_err(|error| Error::Target(format!("{name}: {error}")))?;
    if text.trim_start().starts_with('[') {
        let hint = "write one with `ptx2spv devices --device X --json`";
        return Err(Error::Target(format!("{name} describes several devices: {hint}")));
    }
    serde_json::from_str(&text).map_err(|error| Error::Target(format!("{name} is not a target description: {error}")))
}

// The process that a device belongs to. A forked child has copies of its handles, but not of the driver's threads. A
// call into the driver would wait for these threads for ever, at the latest when the device is closed.

/// The process that something was made in. A forked child is another one.
///
/// ```
/// use ptx2spv_runtime::Process;
///
/// let process = Process::this();
/// assert!(process.is_this());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process(u32);

impl Process {
    /// The current process.
    pub fn this() -> Self {
        Self(forks().unwrap_or_else(std::process::id))
    }

    /// Whether this is the current process.
    pub fn is_this(self) -> bool {
        self == Self::this()
    }

    /// Fails in any other process.
    pub(crate) fn check(self) -> Result {
        if self.is_this() { Ok(()) } else { Err(Error::Forked) }
    }
}

/// The number of forks between the first process that asked and this one; `None` if forks can't be counted. To ask the system for the
/// process's id would take a good part of a launch's time.
#[cfg(unix)]
fn forks() -> Option<u32> {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU32, Ordering};

    static FORKS: AtomicU32 = AtomicU32::new(0);
    static IS_COUNTED: OnceLock<bool> = OnceLock::new();

    extern "C" fn count() {
        FORKS.fetch_add(1, Ordering::Relaxed);
    }

    // SAFETY: `count` may be called in a child after a fork, since it only adds to a number. When a library is unloaded, its
    // handlers are unregistered with it.
    let is_counted = IS_COUNTED.get_or_init(|| unsafe { libc::pthread_atfork(None, None, Some(count)) } == 0);
    is_counted.then(|| FORKS.load(Ordering::Relaxed))
}

#[cfg(not(unix))]
fn forks() -> Option<u32> {
    // WebAssembly has no processes, and so no numbers of them.
    cfg!(target_family = "wasm").then_some(0)
}
