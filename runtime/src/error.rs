//! The errors of this crate: what went wrong, on which device, and what the caller can do about it.

use std::ffi::OsStr;

use ptx2spv_translator::interface::SourceLocation;
use ptx2spv_translator::target::Version;
use ptx2spv_translator::{Diagnostics, Feature};

use crate::suggest::{closest, question};
use crate::texture::{FormatError, TextureError};

/// Why something could not be done.
///
/// ```
/// use ptx2spv_runtime::{Config, Device, Error, Source};
///
/// let device = Device::reference(Config::default());
/// let ptx = ".version 7.0 .target sm_50 .address_size 64 .visible .entry nothing() { ret; }";
/// let module = device.load(&Source::new("nothing.ptx", ptx))?;
/// match module.kernel("nothin") {
///     Err(Error::NoKernel { available, .. }) => assert_eq!(available, ["nothing"]),
///     other => panic!("{other:?}"),
/// }
/// # Ok::<(), ptx2spv_runtime::Error>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The Vulkan library is not there or can't be used.
    #[error(
        "can't load Vulkan ({reason}): install the Vulkan loader (`libvulkan1` on Debian, `vulkan-loader` on Fedora, \
         `vulkan-icd-loader` on Arch, MoltenVK or the Vulkan SDK on macOS) and a driver for your device"
    )]
    NoLoader {
        /// What loading it answered.
        reason: String,
    },
    /// The Vulkan loader is there, but it knows no device.
    #[error(
        "no Vulkan device found ({reason}): install your graphics card's Vulkan driver, or `mesa-vulkan-drivers` to run \
         on the CPU, and check the environment variable VK_DRIVER_FILES if it is set"
    )]
    NoDevice {
        /// What the loader answered.
        reason: String,
    },
    /// No device fits the selector.
    #[error("no device matches `{selector}`{}; there are: {available}", question(meant.as_deref()))]
    NoMatchingDevice {
        /// The selector as written.
        selector: String,
        /// What may have been meant.
        meant: Option<String>,
        /// All devices by index and name.
        available: String,
    },
    /// A file has no PTX that can be used, or several programs where one is wanted.
    #[error("{name}: {error}")]
    Binary {
        /// The file.
        name: String,
        /// What is wrong.
        error: ptx2spv_fatbin::Error,
    },
    /// The value of an environment variable can't be used.
    #[error("the environment variable {name} is `{value}`: {reason}")]
    Environment {
        /// The variable.
        name: &'static str,
        /// Its value.
        value: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The text is no device selector.
    #[error(
        "`{0}` is no device selector: use an index, a part of the name, or cpu, discrete, integrated, virtual, reference"
    )]
    BadSelector(String),
    /// The text does not describe a reference device.
    #[error("no such reference device: {0}")]
    BadReferenceOptions(String),
    /// The text does not say what to do without.
    #[error("{0}: restrictions are `vulkan=1.N` and `without=NAME+NAME`")]
    BadRestrictions(String),
    /// The reference device was asked for, and this program was built without it.
    #[error("this program has no reference device: build ptx2spv-runtime with the feature `reference`")]
    NoReference,
    /// There is no such target, or its description can't be read.
    #[error("{0}")]
    Target(String),
    /// Validation was asked for, but can't be had.
    #[error("validation needs {0}, which is not installed (`vulkan-validationlayers` on Debian, or the Vulkan SDK)")]
    NoValidation(&'static str),
    /// The device lacks what every kernel needs.
    #[error("{device} can't run kernels: it lacks {} (a newer driver may have it)", missing.join(", "))]
    UnusableDevice {
        /// The device's name.
        device: String,
        /// Vulkan names of what is missing.
        missing: Vec<&'static str>,
    },
    /// The module needs features that the device lacks.
    #[error("{device} lacks what the module needs: {}", feature_list(missing))]
    MissingFeatures {
        /// The device's name.
        device: String,
        /// The missing ones.
        missing: Vec<Feature>,
    },
    /// The module's SPIR-V is newer than the device takes.
    #[error("{device} takes SPIR-V {}.{} at most, the module is SPIR-V {}.{}", available.0, available.1, needed.0, needed.1)]
    SpirvVersion {
        /// The device's name.
        device: String,
        /// The module's version.
        needed: Version,
        /// The device's newest.
        available: Version,
    },
    /// The module takes for granted what the device doesn't do: its results there would be others.
    #[error(
        "the module was made for `{target}` and does not suit {device}: {}; translate it for `vulkan1.1-minimum`, which suits \
         all devices, or for a description of this one (`ptx2spv devices --device X --json`)", reasons.join(", ")
    )]
    MadeForOthers {
        /// The device's name.
        device: String,
        /// What the module was made for.
        target: String,
        /// What the device does otherwise.
        reasons: Vec<String>,
    },
    /// No variant of a bundle fits the device.
    #[error("no variant of the module fits {device}{}", variant_list(reasons))]
    NoVariant {
        /// The device's name.
        device: String,
        /// Each variant's target, and why it doesn't fit.
        reasons: Vec<(String, String)>,
    },
    /// A file can't be read, or isn't what its name says.
    #[error("{path}: {reason}")]
    File {
        /// The file.
        path: String,
        /// What is wrong.
        reason: String,
    },
    /// The PTX could not be translated.
    #[error("{0}")]
    Translation(Box<Diagnostics>),
    /// The description of a module contradicts itself, its SPIR-V, or the device.
    #[error("the module's description is wrong: {0}")]
    Interface(String),
    /// The module has no such kernel.
    #[error("no kernel `{name}`{}; the module has: {}", question(closest(name, available.iter().map(String::as_str))), available.join(", "))]
    NoKernel {
        /// The name asked for.
        name: String,
        /// The names there are.
        available: Vec<String>,
    },
    /// The module has no such variable.
    #[error("no variable `{0}` in the module")]
    NoVariable(String),
    /// Too few or too many arguments.
    #[error("kernel `{kernel}` takes {expected} arguments, not {given}")]
    ArgumentCount {
        /// The kernel.
        kernel: String,
        /// How many parameters it has.
        expected: usize,
        /// How many arguments there were.
        given: usize,
    },
    /// An argument of the wrong size.
    #[error("kernel `{kernel}`, argument {index}: parameter `{param}` has {expected} bytes, the argument {given}")]
    ArgumentSize {
        /// The kernel.
        kernel: String,
        /// Which argument, from 0.
        index: usize,
        /// The parameter's name.
        param: String,
        /// The parameter's size.
        expected: u32,
        /// The argument's size.
        given: usize,
    },
    /// A float for a parameter of an integer type, or the other way round.
    #[error("kernel `{kernel}`, argument {index}: parameter `{param}` is a .{ty}, the argument {given}")]
    ArgumentKind {
        /// The kernel.
        kernel: String,
        /// Which argument, from 0.
        index: usize,
        /// The parameter's name.
        param: String,
        /// The parameter's PTX type.
        ty: String,
        /// What the argument is.
        given: &'static str,
    },
    /// An address for a parameter that can't hold one.
    #[error("kernel `{kernel}`, argument {index}: an address has 8 bytes, parameter `{param}` has {size}")]
    ArgumentPointer {
        /// The kernel.
        kernel: String,
        /// Which argument, from 0.
        index: usize,
        /// The parameter's name.
        param: String,
        /// The parameter's size.
        size: u32,
    },
    /// A buffer, a stream or an event that belongs to another device.
    #[error("the buffer, stream or event belongs to another device than {0}")]
    ForeignBuffer(String),
    /// A block size that the kernel or the device does not take.
    #[error("kernel `{kernel}` can't be launched with a block of {}: {reason}", dimensions(block))]
    Block {
        /// The kernel.
        kernel: String,
        /// The block size asked for.
        block: [u32; 3],
        /// What it breaks.
        reason: String,
    },
    /// A grid size outside CUDA's limits, or one that clusters don't fill.
    #[error("kernel `{kernel}` can't be launched with a grid of {}: {reason}", dimensions(grid))]
    Grid {
        /// The kernel.
        kernel: String,
        /// The grid size asked for.
        grid: [u32; 3],
        /// What it breaks.
        reason: String,
    },
    /// More shared memory than the device has.
    #[error("kernel `{kernel}` needs {needed} bytes of shared memory{}, there are {available}", own_bytes(*own))]
    SharedMemory {
        /// The kernel.
        kernel: String,
        /// Static and dynamic bytes.
        needed: u64,
        /// How many of them are the translator's own.
        own: u32,
        /// `maxComputeSharedMemorySize`, or the most that CUDA gives a block.
        available: u32,
    },
    /// An address at which nothing is allocated, or of which an allocation should begin there and doesn't.
    #[error("nothing is allocated at address {address:#x}")]
    NotAllocated {
        /// The address.
        address: u64,
    },
    /// An address that is no multiple of what it must be.
    #[error("address {address:#x} is no multiple of {alignment}")]
    Misaligned {
        /// The address.
        address: u64,
        /// Of what it must be a multiple.
        alignment: u64,
    },
    /// A range outside of a buffer or variable.
    #[error("bytes {offset} to {offset}+{len} are outside of the {size} bytes there are")]
    OutOfRange {
        /// First byte.
        offset: u64,
        /// Number of bytes.
        len: u64,
        /// Size of the buffer or variable.
        size: u64,
    },
    /// A pitch with which rows or slices overlap, end beyond all addresses, or have elements at wrong addresses.
    #[error("a pitch of {pitch} bytes does not fit rows, slices or elements of {least} bytes")]
    Pitch {
        /// Bytes between the beginnings of two rows or slices.
        pitch: u64,
        /// Bytes of one.
        least: u64,
    },
    /// A rule of CUDA that an array, a texture or a surface would break.
    #[error(transparent)]
    Texture(#[from] TextureError),
    /// A graph that can't be put together, launched or changed like this.
    #[error("graph: {0}")]
    Graph(String),
    /// Source and destination of a copy overlap.
    #[error("source and destination of a copy overlap")]
    Overlap,
    /// A buffer's size is not a whole number of elements.
    #[error("{bytes} bytes are not a whole number of elements of {element} bytes")]
    PartialElement {
        /// Size of the buffer.
        bytes: u64,
        /// Size of one element.
        element: usize,
    },
    /// A buffer larger than the device allows.
    #[error("a buffer of {requested} bytes is larger than the device's largest, {available} bytes")]
    BufferTooLarge {
        /// The size asked for.
        requested: u64,
        /// `maxBufferSize`.
        available: u64,
    },
    /// Device or host memory has run out.
    #[error("out of memory: {0}")]
    OutOfMemory(String),
    /// Memory of the host's that the device can't be given.
    #[error("{device} can't be given the host's memory at {host:#x}: {reason}")]
    NotRegistered {
        /// The device's name.
        device: String,
        /// The host's address of the first byte.
        host: u64,
        /// Why not.
        reason: String,
    },
    /// Memory lies where pointers of 32 bits don't reach.
    #[error(
        "{0} is out of reach for modules with 32-bit addresses: they reach buffers made while one of them is loaded"
    )]
    TooFar(String),
    /// The device has no memory with one address for host and device.
    #[error("{device} has no memory with the same address for host and device: {reason}")]
    NoManagedMemory {
        /// The device's name.
        device: String,
        /// Why not.
        reason: &'static str,
    },
    /// The device can't take times.
    #[error("{0} has no timestamps on its compute queue")]
    NoTimestamps(String),
    /// Two events have no time between them: one doesn't take the time, or was never recorded.
    #[error("an event without a time: it must be a timing event, and recorded")]
    NoTime,
    /// There can be no thread for host functions.
    #[error("no thread for host functions: {0}")]
    HostThread(String),
    /// The device stopped answering. Everything on it is lost; open it anew.
    #[error("the device was lost: {}", report.as_deref().unwrap_or(WHY_LOST))]
    DeviceLost {
        /// What the driver says of the cause, if anything.
        report: Option<String>,
    },
    /// What was waited for had not finished when the limit of [`Device::set_wait_limit`](crate::Device::set_wait_limit) had passed.
    /// It goes on, and can be waited for again.
    #[error("the device or a host function had not finished when the limit for waiting had passed")]
    Timeout,
    /// The device was opened by the process that this one was forked from. What was opened there doesn't work here, nor is it freed
    /// here; a device that this process opens does.
    #[error("the device was opened before this process was forked off: open it after the fork")]
    Forked,
    /// Kernels were stopped before their work was done: what they and those after them wrote is incomplete. Reported once,
    /// by the first call that waits for them or reads from the device; the device goes on working.
    #[error("{}{}: {reason}; results are incomplete", kernel_list(kernels), place_of(place.as_deref()))]
    Aborted {
        /// The kernel, or where it isn't known the kernels of one module that were launched since the last such call: at least
        /// one of them was stopped.
        kernels: Vec<String>,
        /// Who stopped it and why.
        reason: String,
        /// Where it was, if one place can be told.
        place: Option<Box<SourceLocation>>,
    },
    /// A kernel asked for a copy, or for bytes to be set, where that can't be done. The rest of what was asked for is not done; the device
    /// goes on working.
    #[error("kernel `{kernel}` asked for {what} that can't be done: {reason}")]
    Asked {
        /// The kernel.
        kernel: String,
        /// What it asked for.
        what: &'static str,
        /// Why that can't be done.
        reason: Box<Error>,
    },
    /// The records in which a kernel asked for launches and the like are not as that wrote them: a kernel has written where it must not.
    /// Nothing of what they ask for is done; the device goes on working.
    #[error("the launch records of kernel `{kernel}` were overwritten: {reason}")]
    Overwritten {
        /// The kernel that asked.
        kernel: String,
        /// What no record can have.
        reason: String,
    },
    /// The reference device, or a kernel that checks its accesses ([`LoadOptions::check_accesses`](crate::LoadOptions::check_accesses)),
    /// found something in kernels that they can't go on after: what they and those after them wrote is incomplete. Reported once, by the first call that waits for them or reads from the device; the device goes on working.
    #[cfg(feature = "reference")]
    #[error("{}", fault_list(findings))]
    Fault {
        /// What stopped each of them, in the order of the launches; there is at least one.
        findings: Vec<ptx2spv_reference::Finding>,
    },
    /// The reference device can't run the module: it is malformed, or uses what the target lacks.
    #[error("{device} refuses the module: {rule}: {message}")]
    Refused {
        /// The device's name.
        device: String,
        /// The rule that the module breaks: a feature or limit by Vulkan's name, a VUID, a section of the SPIR-V
        /// specification.
        rule: String,
        /// What breaks it.
        message: String,
    },
    /// A Vulkan call failed in a way that has no variant of its own.
    #[error("{call} failed: {result}")]
    Vulkan {
        /// The Vulkan command.
        call: &'static str,
        /// What it returned, in Vulkan's words.
        result: String,
    },
    /// The memory allocator failed in a way that has no variant of its own.
    #[error("allocating device memory failed: {0}")]
    Allocator(String),
}

/// Why devices are lost.
const WHY_LOST: &str = "a kernel ran too long, accessed memory that is not there, or the driver failed";

impl Error {
    /// Whether the error tells of kernels that were stopped, or whose requests could not be executed, after which the device goes on
    /// working.
    pub fn is_of_stopped_kernels(&self) -> bool {
        match self {
            Self::Aborted { .. } | Self::Asked { .. } | Self::Overwritten { .. } => true,
            #[cfg(feature = "reference")]
            Self::Fault { .. } => true,
            _ => false,
        }
    }

    /// Says that it comes from the value of an environment variable, for `map_err`.
    pub(crate) fn of_variable(name: &'static str, value: &OsStr) -> impl FnOnce(Self) -> Self {
        move |error| Self::Environment { name, value: value.to_string_lossy().into_owned(), reason: error.to_string() }
    }
}

impl From<Diagnostics> for Error {
    fn from(diagnostics: Diagnostics) -> Self {
        Self::Translation(Box::new(diagnostics))
    }
}

impl From<FormatError> for Error {
    fn from(error: FormatError) -> Self {
        Self::Texture(error.into())
    }
}

fn feature_list(features: &[Feature]) -> String {
    features.iter().map(|feature| feature.name()).collect::<Vec<_>>().join(", ")
}

fn variant_list(reasons: &[(String, String)]) -> String {
    if reasons.is_empty() {
        return ": there are none".to_owned();
    }
    reasons.iter().map(|(target, reason)| format!("\n  {target}: {reason}")).collect()
}

#[cfg(feature = "reference")]
fn fault_list(findings: &[ptx2spv_reference::Finding]) -> String {
    let line = |finding: &ptx2spv_reference::Finding| format!("kernel `{}` was stopped: {finding}", finding.site.entry);
    findings.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn kernel_list(kernels: &[String]) -> String {
    match kernels {
        [only] => format!("kernel `{only}` was stopped"),
        several => format!("one or more of the kernels `{}` were stopped", several.join("`, `")),
    }
}

fn place_of(place: Option<&SourceLocation>) -> String {
    let Some(SourceLocation { line, module, function, source }) = place else { return String::new() };
    let mut text = format!(" at line {line} of {}", module.as_deref().unwrap_or("the PTX"));
    if let Some(function) = function {
        text += &format!(", in `{function}`");
    }
    if let Some(source) = source {
        text += &format!(", from {source}");
    }
    text
}

/// What of a kernel's shared memory the translator has added.
fn own_bytes(own: u32) -> String {
    if own == 0 { String::new() } else { format!(" with {own} of the translator's own") }
}

fn dimensions([x, y, z]: &[u32; 3]) -> String {
    format!("{x} x {y} x {z}")
}
