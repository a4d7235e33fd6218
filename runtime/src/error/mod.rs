//! The errors of this crate: what went wrong, on which device, and what the caller can do about it.

use std::ffi::OsStr;
use std::io;

#[cfg(not(target_family = "wasm"))]
use ash::vk;
#[cfg(not(target_family = "wasm"))]
use gpu_allocator::AllocationError;
use ptx2spv_reference::Finding;
use ptx2spv_translator::interface::SourceLocation;
use ptx2spv_translator::names::{parameter, readable};
use ptx2spv_translator::target::Version;
use ptx2spv_translator::{Diagnostics, Feature};

use crate::texel::error::TextureError;
use crate::texel::format::FormatError;

/// The result of a call: its value, or the [`Error`] that prevented it.
pub type Result<T = (), E = Error> = std::result::Result<T, E>;

/// The reason why a call failed. The fields have names as they are in PTX; messages have the C++ names of kernels, except where they list
/// what to ask for.
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
#[allow(missing_docs, reason = "messages say what the members without a comment are")]
pub enum Error {
    /// The Vulkan library is missing or can't be used.
    #[error(
        "can't load Vulkan ({reason}): install the Vulkan loader (`libvulkan1` on Debian, `vulkan-loader` on Fedora, \
         `vulkan-icd-loader` on Arch, MoltenVK or the Vulkan SDK on macOS) and a driver for your device"
    )]
    NoLoader { reason: String },
    /// The Vulkan loader works, but knows no device.
    #[error(
        "no Vulkan device found ({reason}): install your graphics card's Vulkan driver, or `mesa-vulkan-drivers` to run \
         on the CPU, and check the environment variable VK_DRIVER_FILES if it is set"
    )]
    NoDevice {
        /// The loader's answer.
        reason: String,
    },
    /// No device fits the selector.
    #[error("no device matches `{selector}`{}; there are: {available}", question(meant.as_deref()))]
    NoMatchingDevice {
        selector: String,
        /// The selector that was probably meant.
        meant: Option<String>,
        /// All devices by index and name.
        available: String,
    },
    /// A file has no usable PTX, or several programs where one is expected.
    #[error("{name}: {error}")]
    Binary { name: String, error: ptx2spv_fatbin::Error },
    /// The value of an environment variable is invalid.
    #[error("the environment variable {name} is `{value}`: {reason}")]
    Environment { name: &'static str, value: String, reason: String },
    /// The text is not a device selector.
    #[error(
        "`{0}` is not a device selector: use an index, a part of the name, or cpu, discrete, integrated, virtual, vulkan, reference"
    )]
    BadSelector(String),
    /// The text does not describe a reference device.
    #[error("no such reference device: {0}")]
    BadReferenceOptions(String),
    /// The text is not a list of restrictions.
    #[error("{0}: restrictions are `vulkan=1.N`, `without=NAME+NAME` and `loops=N`")]
    BadRestrictions(String),
    /// The reference device was asked for, and this program was built without it.
    #[error("this program has no reference device: build ptx2spv-runtime with the feature `reference`")]
    NoReference,
    /// There is no such target, or its description can't be read.
    #[error("{0}")]
    Target(String),
    /// Validation was requested, but is not available.
    #[error("validation needs {0}, which is not installed (`vulkan-validationlayers` on Debian, or the Vulkan SDK)")]
    NoValidation(&'static str),
    /// The device lacks something that every kernel needs.
    #[error("{device} can't run kernels: it lacks {} (a newer driver may have it)", missing.join(", "))]
    UnusableDevice {
        device: String,
        /// Vulkan names of what is missing.
        missing: Vec<&'static str>,
    },
    /// The module needs features that the device lacks.
    #[error("{device} lacks what the module needs: {}", feature_list(missing))]
    MissingFeatures { device: String, missing: Vec<Feature> },
    /// The module's SPIR-V is newer than the device takes.
    #[error("{device} takes SPIR-V {}.{} at most, the module is SPIR-V {}.{}", available.0, available.1, needed.0, needed.1)]
    SpirvVersion { device: String, needed: Version, available: Version },
    /// The module relies on behavior that the device doesn't have, so that its results there would be wrong.
    #[error(
        "the module was made for `{target}` and does not suit {device}: {}; translate it for `vulkan1.1-minimum`, which suits \
         all devices, or for a description of this one (`ptx2spv devices --device X --json`)", reasons.join(", ")
    )]
    MadeForOthers {
        device: String,
        /// The device that the module was made for.
        target: String,
        reasons: Vec<String>,
    },
    /// No variant of a bundle fits the device.
    #[error("no variant of the module fits {device}{}", variant_list(reasons))]
    NoVariant {
        device: String,
        /// Each variant's target, and why it doesn't fit.
        reasons: Vec<(String, String)>,
    },
    /// A file can't be read, or isn't of the expected kind ([`io::ErrorKind::InvalidData`]).
    #[error("{path}: {error}")]
    File { path: String, error: io::Error },
    /// The PTX could not be translated.
    #[error("{0}")]
    Translation(Box<Diagnostics>),
    /// The description of a module contradicts itself, its SPIR-V, or the device.
    #[error("the module's description is wrong: {}", readable(_0))]
    Interface(String),
    /// The module has no such kernel.
    #[error("no kernel `{name}`{}; the module has: {}", question(closest(name, available.iter().map(String::as_str))), available.join(", "))]
    NoKernel { name: String, available: Vec<String> },
    /// The module has no such variable.
    #[error("no variable `{0}` in the module")]
    NoVariable(String),
    /// Too few or too many arguments.
    #[error("kernel `{}` takes {expected} arguments, not {given}", readable(kernel))]
    ArgumentCount { kernel: String, expected: usize, given: usize },
    /// An argument of the wrong size.
    #[error(
        "kernel `{}`, argument {index}: parameter `{}` has {expected} bytes, the argument {given}",
        readable(kernel),
        parameter(kernel, param)
    )]
    ArgumentSize {
        kernel: String,
        /// Index of the argument, from 0.
        index: usize,
        param: String,
        expected: u32,
        given: usize,
    },
    /// A float for a parameter of an integer type, or vice versa.
    #[error(
        "kernel `{}`, argument {index}: parameter `{}` is a .{ty}, the argument {given}",
        readable(kernel),
        parameter(kernel, param)
    )]
    ArgumentKind {
        kernel: String,
        /// Index of the argument, from 0.
        index: usize,
        param: String,
        ty: String,
        given: &'static str,
    },
    /// An address for a parameter of the wrong size.
    #[error(
        "kernel `{}`, argument {index}: an address has 8 bytes, parameter `{}` has {size}",
        readable(kernel),
        parameter(kernel, param)
    )]
    ArgumentPointer {
        kernel: String,
        /// Index of the argument, from 0.
        index: usize,
        param: String,
        size: u32,
    },
    /// A buffer, a stream or an event of another device.
    #[error("the buffer, stream or event belongs to another device than {0}")]
    ForeignBuffer(String),
    /// A block size that the kernel or the device does not take.
    #[error("kernel `{}` can't be launched with a block of {}: {reason}", readable(kernel), dimensions(block))]
    Block { kernel: String, block: [u32; 3], reason: String },
    /// A grid size outside CUDA's limits, or one that clusters don't fill.
    #[error("kernel `{}` can't be launched with a grid of {}: {reason}", readable(kernel), dimensions(grid))]
    Grid { kernel: String, grid: [u32; 3], reason: String },
    /// More shared memory than the device has.
    #[error("kernel `{}` needs {needed} bytes of shared memory{}, there are {available}", readable(kernel), own_bytes(*own))]
    SharedMemory {
        kernel: String,
        /// Static and dynamic bytes.
        needed: u64,
        /// The part of them that the translator has added.
        own: u32,
        /// `maxComputeSharedMemorySize`, or CUDA's limit for a block.
        available: u32,
    },
    /// An address outside of all allocations, or one that is expected to be the start of an allocation but is not.
    #[error("nothing is allocated at address {address:#x}")]
    NotAllocated { address: u64 },
    /// An address that is not sufficiently aligned.
    #[error("address {address:#x} is not a multiple of {alignment}")]
    Misaligned { address: u64, alignment: u64 },
    /// A range outside of a buffer or variable.
    #[error("bytes {offset} to {offset}+{len} are outside of the {size} bytes there are")]
    OutOfRange { offset: u64, len: u64, size: u64 },
    /// A pitch for which rows or slices overlap or exceed the address space, or elements are misaligned.
    #[error("a pitch of {pitch} bytes does not fit rows, slices or elements of {least} bytes")]
    Pitch {
        /// Bytes from one row or slice to the next.
        pitch: u64,
        /// Bytes of a row or slice.
        least: u64,
    },
    /// An array, a texture or a surface would break a rule of CUDA.
    #[error(transparent)]
    Texture(#[from] TextureError),
    /// A graph can't be built, launched or changed in this way.
    #[error("graph: {0}")]
    Graph(String),
    /// Source and destination of a copy overlap.
    #[error("source and destination of a copy overlap")]
    Overlap,
    /// A buffer's size is not a whole number of elements.
    #[error("{bytes} bytes are not a whole number of elements of {element} bytes")]
    PartialElement { bytes: u64, element: usize },
    /// A buffer larger than the device allows.
    #[error("a buffer of {requested} bytes is larger than the device's largest, {available} bytes")]
    BufferTooLarge {
        requested: u64,
        /// `maxBufferSize`.
        available: u64,
    },
    /// Device or host memory has run out.
    #[error("out of memory: {0}")]
    OutOfMemory(String),
    /// Host memory that can't be registered with the device.
    #[error("{device} can't be given the host's memory at {host:#x}: {reason}")]
    NotRegistered {
        device: String,
        /// The host's address of the first byte.
        host: u64,
        reason: String,
    },
    /// Memory that 32-bit pointers can't reach.
    #[error(
        "{0} is out of reach for modules with 32-bit addresses: they only reach buffers allocated while such a module is loaded"
    )]
    TooFar(String),
    /// The device has no memory with one address for host and device.
    #[error("{device} has no memory with the same address for host and device: {reason}")]
    NoManagedMemory { device: String, reason: &'static str },
    /// The device can't measure times.
    #[error("{0} has no timestamps on its compute queue")]
    NoTimestamps(String),
    /// Two events have no time between them: one is not a timing event, or was never recorded.
    #[error("an event without a time: it must be a timing event, and recorded")]
    NoTime,
    /// The thread for host functions can't be started, or has ended.
    #[error("no thread for host functions: {0}")]
    HostThread(io::Error),
    /// The device stopped responding. Everything on it is lost; it has to be opened again.
    #[error("the device was lost: {}", report.as_deref().unwrap_or(WHY_LOST))]
    DeviceLost {
        /// The driver's report of the cause, if any.
        report: Option<String>,
        /// The address of the access that was the cause, if the driver says that there was one.
        address: Option<u64>,
    },
    /// A kernel on a device that runs on the CPU accessed memory where there is none, and would have ended the process
    /// ([`survive_kernel_faults`](crate::survive_kernel_faults)). All such devices of the process are lost, and none can be opened again.
    #[error(
        "a kernel accessed memory at {address:#x}, where there is none: the devices on the CPU are lost to this process"
    )]
    SegmentationFault { address: u64 },
    /// A limit for waiting was exceeded: that of [`Device::set_wait_limit`](crate::Device::set_wait_limit),
    /// [`Stream::synchronize_for`](crate::Stream::synchronize_for) or
    /// [`Event::synchronize_for`](crate::Event::synchronize_for). The work continues, and can be waited for again.
    #[error("the device or a host function had not finished when the limit for waiting had passed")]
    Timeout,
    /// The device was opened by the process that this one was forked from. Its objects don't work here, and are not
    /// freed here. A device that this process opens works.
    #[error("the device was opened before this process was forked off: open it after the fork")]
    Forked,
    /// Kernels were stopped before their work was done: their results, and those of kernels after them, are incomplete.
    /// Reported once, by the first call that waits for the kernels, reads from the device or submits work behind the
    /// kernels, which is not submitted then; the device keeps working.
    #[error("{}{}: {reason}; results are incomplete", kernel_list(kernels), place_of(place.as_deref()))]
    Aborted {
        /// The kernel. If it isn't known, all kernels of a module launched since the last such call, at least one of
        /// which was stopped.
        kernels: Vec<String>,
        /// The cause of the stop, in words.
        reason: String,
        /// The place in the kernel, if it is known.
        place: Option<Box<SourceLocation>>,
    },
    /// A kernel requested a copy or a fill that can't be done. The rest of its requests are not carried out; the device
    /// keeps working.
    #[error("kernel `{}` asked for {what} that can't be done: {reason}", readable(kernel))]
    Request { kernel: String, what: &'static str, reason: Box<Error> },
    /// The records of a kernel's launches and other requests are invalid: a kernel has overwritten them. None of the
    /// requests are carried out; the device keeps working.
    #[error("the launch records of kernel `{}` were overwritten: {reason}", readable(kernel))]
    Overwritten {
        /// The kernel that asked.
        kernel: String,
        reason: String,
    },
    /// The reference device, or a kernel that checks its accesses ([`LoadOptions::check_accesses`](crate::LoadOptions::check_accesses)),
    /// found something in kernels that they can't go on after. The results of these kernels and of later ones are incomplete. Reported
    /// once, by the first call that waits for the kernels or reads from the device; the device goes on working.
    #[error("{}", fault_list(findings))]
    Fault {
        /// The findings that stopped kernels, in the order of the launches; at least one.
        findings: Vec<Finding>,
    },
    /// The reference device can't run the module: it is malformed, or uses what the target lacks.
    #[error("{device} refuses the module: {rule}: {message}")]
    Refused {
        device: String,
        /// The violated rule: a feature or limit by Vulkan's name, a VUID, or a section of the SPIR-V specification.
        rule: String,
        message: String,
    },
    /// A Vulkan call failed with an error that has no variant of its own.
    #[cfg(not(target_family = "wasm"))]
    #[error("{call} failed: {result}")]
    Vulkan { call: &'static str, result: vk::Result },
    /// The memory allocator failed with an error that has no variant of its own.
    #[cfg(not(target_family = "wasm"))]
    #[error("allocating device memory failed: {0}")]
    Allocator(AllocationError),
}

/// Possible causes of a lost device.
const WHY_LOST: &str = "a kernel ran too long, accessed memory that is not there, or the driver failed";

/// Groups of errors, for callers that treat many of them alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorGroup {
    /// There is no such device, or none that can be used.
    Device,
    /// The text of a setting is wrong: a selector, an option, an environment variable.
    Setting,
    /// A module can't be read or translated.
    Module,
    /// The device lacks what a module or a call needs.
    Unsupported,
    /// An argument of a call is wrong: a name, a launch's sizes or arguments, an address, a range.
    Argument,
    /// The device or the host is out of memory.
    OutOfMemory,
    /// Kernels were stopped, or their requests could not be carried out. The device keeps working.
    Kernel,
    /// The limit for waiting has passed. The work continues.
    Timeout,
    /// The device is lost: every later call on it fails.
    Lost,
    /// The operating system or the driver refused something.
    System,
}

impl Error {
    /// The group that the error belongs to.
    ///
    /// ```
    /// use ptx2spv_runtime::{Config, Device, ErrorGroup, Source};
    ///
    /// let device = Device::reference(Config::default());
    /// assert_eq!(device.load(&Source::new("a.ptx", "?")).unwrap_err().group(), ErrorGroup::Module);
    /// ```
    pub fn group(&self) -> ErrorGroup {
        use ErrorGroup::*;
        match self {
            Self::NoLoader { .. } | Self::NoDevice { .. } | Self::NoMatchingDevice { .. } => Device,
            Self::NoReference | Self::NoValidation(_) | Self::UnusableDevice { .. } => Device,
            Self::BadSelector(_) | Self::BadReferenceOptions(_) | Self::BadRestrictions(_) => Setting,
            Self::Environment { .. } | Self::Target(_) => Setting,
            Self::Binary { .. } | Self::File { .. } | Self::Translation(_) | Self::Interface(_) => Module,
            Self::MissingFeatures { .. } | Self::SpirvVersion { .. } | Self::MadeForOthers { .. } => Unsupported,
            Self::NoVariant { .. } | Self::Refused { .. } | Self::NoTimestamps(_) => Unsupported,
            Self::NoManagedMemory { .. } | Self::NotRegistered { .. } => Unsupported,
            Self::NoKernel { .. } | Self::NoVariable(_) | Self::ArgumentCount { .. } => Argument,
            Self::ArgumentSize { .. } | Self::ArgumentKind { .. } | Self::ArgumentPointer { .. } => Argument,
            Self::ForeignBuffer(_) | Self::Block { .. } | Self::Grid { .. } | Self::SharedMemory { .. } => Argument,
            Self::NotAllocated { .. } | Self::Misaligned { .. } | Self::OutOfRange { .. } => Argument,
            Self::Pitch { .. } | Self::Texture(_) | Self::Graph(_) | Self::Overlap => Argument,
            Self::PartialElement { .. } | Self::TooFar(_) | Self::NoTime => Argument,
            Self::BufferTooLarge { .. } | Self::OutOfMemory(_) => OutOfMemory,
            #[cfg(not(target_family = "wasm"))]
            Self::Allocator(_) => OutOfMemory,
            Self::Aborted { .. } | Self::Request { .. } | Self::Overwritten { .. } | Self::Fault { .. } => Kernel,
            Self::Timeout => Timeout,
            Self::DeviceLost { .. } | Self::SegmentationFault { .. } => Lost,
            Self::Forked | Self::HostThread(_) => System,
            #[cfg(not(target_family = "wasm"))]
            Self::Vulkan { .. } => System,
        }
    }

    /// Whether the error concerns kernels that were stopped, or whose requests could not be carried out. The device
    /// keeps working after such errors.
    pub fn is_of_stopped_kernels(&self) -> bool {
        self.group() == ErrorGroup::Kernel
    }

    /// For `map_err`: says that the error comes from the value of an environment variable.
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

fn fault_list(findings: &[Finding]) -> String {
    let line = |finding: &Finding| readable(&format!("kernel `{}` was stopped: {finding}", finding.site.entry));
    findings.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn kernel_list(kernels: &[String]) -> String {
    match kernels {
        [only] => format!("kernel `{}` was stopped", readable(only)),
        several => format!("one or more of the kernels `{}` were stopped", readable(&several.join("`, `"))),
    }
}

fn place_of(place: Option<&SourceLocation>) -> String {
    let Some(SourceLocation { line, module, function, source }) = place else { return String::new() };
    let mut text = format!(" at line {line} of {}", module.as_deref().unwrap_or("the PTX"));
    if let Some(function) = function {
        text += &format!(", in `{}`", readable(function));
    }
    if let Some(source) = source {
        text += &format!(", from {source}");
    }
    text
}

/// The part of a kernel's shared memory that the translator has added.
fn own_bytes(own: u32) -> String {
    if own == 0 { String::new() } else { format!(" with {own} of the translator's own") }
}

fn dimensions([x, y, z]: &[u32; 3]) -> String {
    format!("{x} x {y} x {z}")
}

/// The name that is most similar to `wanted`, ignoring case, if any is similar: at most one letter in three is wrong,
/// or `wanted` is the beginning of the name.
///
/// ```
/// use ptx2spv_runtime::closest;
///
/// assert_eq!(closest("nvida", ["mali", "nvidia"]), Some("nvidia"));
/// assert_eq!(closest("atari", ["mali", "nvidia"]), None);
/// ```
pub fn closest<'n>(wanted: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let wanted = wanted.to_lowercase();
    let distance = |name: &str| {
        let name = name.to_lowercase();
        let is_start = wanted.chars().count() >= 3 && name.starts_with(&wanted);
        if is_start { 0 } else { strsim::damerau_levenshtein(&wanted, &name) }
    };
    let near = |(distance, _): &(usize, &str)| *distance <= wanted.chars().count().div_ceil(3);
    names
        .into_iter()
        .map(|name| (distance(name), name))
        .filter(near)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// `name` as a question to append to a message; empty for `None`.
pub(crate) fn question(name: Option<&str>) -> String {
    name.map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default()
}
