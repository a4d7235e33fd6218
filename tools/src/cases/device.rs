//! Runs launch cases through the runtime, on a Vulkan device or the reference device.

use std::time::Duration;

use ptx2spv_runtime::{
    Arg, Buffer, Config, Device, DeviceSelector, Error, ErrorGroup, Finding, InstanceOptions, Kernel, LaunchConfig,
    LoadOptions, Module, ReferenceDevice,
};
use ptx2spv_translator::interface::ServiceSizes;
use ptx2spv_translator::{Diagnostics, ErrorKind, Math};

use super::backend::{Backend, Failure, Outputs};
use super::device_images::{Images, MadeObject};
use super::prepare::{Argument, Prepared};
use crate::watch;

/// A device of the runtime.
pub struct DeviceBackend {
    opener: Opener,
    /// `None` after a failure, because a lost device no longer responds.
    device: Option<Device>,
    name: String,
    /// Number of messages of the validation layers that were handled already.
    validation_messages: usize,
    options: LoadOptions,
    max_dispatch_time: Option<Duration>,
}

/// The parameters for opening the device again.
enum Opener {
    Selector(DeviceSelector, InstanceOptions),
    Reference(Config),
}

impl Opener {
    fn open(&self) -> Result<Device, Error> {
        match self {
            Self::Selector(selector, options) => Device::open_with(selector, options),
            Self::Reference(config) => Ok(Device::reference(config.clone())),
        }
    }
}

impl DeviceBackend {
    /// Opens a device. `validation` is as in [`InstanceOptions`]. With validation, any message fails the case.
    pub fn open(selector: &DeviceSelector, validation: Option<bool>) -> Result<Self, Error> {
        Self::open_with(selector, InstanceOptions::default().validation(validation))
    }

    /// Opens a device of an instance with options.
    pub fn open_with(selector: &DeviceSelector, options: InstanceOptions) -> Result<Self, Error> {
        Self::new(Opener::Selector(selector.clone(), options))
    }

    /// Makes a reference device. Any finding fails the case.
    pub fn reference(config: Config) -> Result<Self, Error> {
        Self::new(Opener::Reference(config))
    }

    fn new(opener: Opener) -> Result<Self, Error> {
        let device = opener.open()?;
        let name = device.info().name.clone();
        let validation_messages = messages_of(&device).len();
        Ok(Self {
            opener,
            device: Some(device),
            name,
            validation_messages,
            options: LoadOptions::uncached(Math::default()),
            max_dispatch_time: None,
        })
    }

    /// Sets the accuracy of arithmetic.
    #[must_use]
    pub fn with_math(self, math: Math) -> Self {
        Self { options: self.options.math(math), ..self }
    }

    /// Sets the device memory for kernels' output and allocations.
    #[must_use]
    pub fn with_sizes(self, sizes: ServiceSizes) -> Self {
        Self { options: self.options.sizes(sizes), ..self }
    }

    /// Uses the user's cache of translations.
    #[must_use]
    pub fn with_cache(self) -> Self {
        Self { options: self.options.cached(true), ..self }
    }

    /// Makes kernels check their accesses, if the device doesn't.
    #[must_use]
    pub fn with_checks(self, check_accesses: bool) -> Self {
        Self { options: self.options.check_accesses(check_accesses), ..self }
    }

    /// Submits grids in parts, of at most about this time each.
    #[must_use]
    pub fn with_max_dispatch_time(self, time: Option<Duration>) -> Self {
        Self { max_dispatch_time: time, ..self }
    }

    /// The device, unless the last case has made it unusable.
    pub fn device(&self) -> Option<&Device> {
        self.device.as_ref()
    }

    /// Fails if the validation layers have reported something since the last call.
    fn check_validation(&mut self, device: &Device) -> Result<(), Failure> {
        let messages = messages_of(device);
        let new = messages.get(self.validation_messages..).unwrap_or_default().join("\n");
        self.validation_messages = messages.len();
        if new.is_empty() { Ok(()) } else { Err(Failure::Broken(format!("validation: {new}"))) }
    }
}

/// All messages of the validation layers so far.
fn messages_of(device: &Device) -> Vec<String> {
    device.instance().map_or_else(Vec::new, |instance| instance.validation_messages())
}

/// The steps of a case that come before the launch.
pub struct Steps<'a> {
    /// Loads the module.
    pub load: &'a dyn Fn(&Device) -> Result<Module, Error>,
    /// Checks the kernel before its launch, and may refuse it.
    pub check: &'a dyn Fn(&Kernel) -> Result<(), String>,
}

impl Backend for DeviceBackend {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn run(&mut self, case: &Prepared) -> Result<Outputs, Failure> {
        let options = case.math.map_or(self.options, |math| self.options.math(math));
        self.run_by(
            case,
            &Steps { load: &|device| device.load_program(case.ptx.program()?, options), check: &|_| Ok(()) },
        )
    }
}

impl DeviceBackend {
    /// The options for loading PTX.
    pub fn options(&self) -> LoadOptions {
        self.options
    }

    /// Like [`Backend::run`], by these steps. The case's PTX is not used.
    pub fn run_by(&mut self, case: &Prepared, steps: &Steps<'_>) -> Result<Outputs, Failure> {
        let device = match self.device.take() {
            Some(device) => device,
            None => {
                // A new device has a new log.
                self.validation_messages = 0;
                self.opener.open().map_err(failure)?
            }
        };
        device.set_max_dispatch_time(self.max_dispatch_time);
        let result = run(&device, case, steps);
        let complaint = self.check_validation(&device);
        let found = device.as_reference().map(ReferenceDevice::take_findings).unwrap_or_default();
        if !matches!(result, Err(Failure::Broken(_))) {
            self.device = Some(device);
        }
        complaint?;
        with_findings(result, found)
    }
}

/// Adds findings to the results, or to the findings that stopped the kernel.
fn with_findings(result: Result<Outputs, Failure>, found: Vec<Finding>) -> Result<Outputs, Failure> {
    match result {
        Ok(outputs) => Ok(Outputs { findings: found, ..outputs }),
        Err(Failure::Fault(fault)) => Err(Failure::Fault(found.into_iter().chain(fault).collect())),
        Err(failure) => Err(failure),
    }
}

impl From<&Prepared> for LaunchConfig {
    fn from(case: &Prepared) -> Self {
        Self::new(case.grid, case.block).with_shared(case.dynamic_shared_bytes)
    }
}

fn run(device: &Device, case: &Prepared, steps: &Steps<'_>) -> Result<Outputs, Failure> {
    let of_case = if case.name == case.entry { String::new() } else { format!(" (case `{}`)", case.name) };
    let _running = watch::running(format!("kernel `{}`{of_case} on {}", case.entry, device.info().name));
    let module = (steps.load)(device).map_err(failure)?;
    let kernel = match case.cluster {
        cluster if case.cooperative => module.cooperative_kernel(&case.entry, cluster),
        Some(size) => module.cluster_kernel(&case.entry, size),
        None => module.kernel(&case.entry),
    };
    let kernel = kernel.map_err(failure)?;
    (steps.check)(&kernel).map_err(Failure::Refused)?;
    for (name, array) in &case.globals {
        module.write_variable(name, 0, &array.bytes).map_err(failure)?;
    }
    let made = Made::new(device, case).map_err(failure)?;
    made.bind(&module, case).map_err(failure)?;
    // SAFETY: the caller is responsible for kernel and arguments. If they come from elsewhere, as on the command line,
    // this process runs nothing else, and another process watches it.
    let launched = unsafe { kernel.launch(&LaunchConfig::from(case), &made.arguments(case)) };
    launched.map_err(failure)?;
    device.synchronize().map_err(failure)?;
    let mut outputs = made.read().map_err(failure)?;
    for (name, &len) in &case.read_globals {
        let mut bytes = vec![0; len];
        module.read_variable(name, 0, &mut bytes).map_err(failure)?;
        outputs.globals.insert(name.clone(), bytes);
    }
    outputs.counters = module.counters().map_err(failure)?;
    Ok(outputs)
}

/// A case's arguments on a device.
pub struct Made {
    parts: Vec<Part>,
    images: Images,
    bytes: Vec<Vec<u8>>,
}

enum Part {
    /// Passed by value.
    Value,
    Buffer(Buffer),
    Object(MadeObject),
    /// A buffer, and the objects of the handles in it.
    Handles {
        buffer: Buffer,
        _objects: Vec<MadeObject>,
    },
}

impl Part {
    /// The address or handle to pass.
    fn address(&self) -> Option<u64> {
        match self {
            Self::Value => None,
            Self::Buffer(buffer) | Self::Handles { buffer, .. } => Some(buffer.address()),
            Self::Object(object) => Some(object.handle()),
        }
    }
}

impl Made {
    /// Makes the buffers, images and objects of a case.
    pub fn new(device: &Device, case: &Prepared) -> Result<Self, Error> {
        let images = Images::new(device, &case.textures)?;
        let part = |arg: &Argument| {
            Ok(match arg {
                Argument::Buffer(array) => Part::Buffer(device.upload(&array.bytes)?),
                Argument::Object(object) => Part::Object(images.make(device, object)?),
                Argument::Handles(objects) => {
                    let made = objects.iter().map(|object| images.make(device, object));
                    let made = made.collect::<Result<Vec<_>, _>>()?;
                    let handles: Vec<u64> = made.iter().map(|object| object.handle().to_le()).collect();
                    Part::Handles { buffer: device.upload(&handles)?, _objects: made }
                }
                _ => Part::Value,
            })
        };
        let parts = case.args.iter().flat_map(Argument::parts).map(part).collect::<Result<Vec<_>, Error>>()?;
        let mut addresses = parts.iter().filter_map(Part::address);
        let bytes = case.args.iter().map(|arg| arg.bytes(&mut addresses)).collect();
        Ok(Self { images, parts, bytes })
    }

    /// Binds the module's references.
    pub fn bind(&self, module: &Module, case: &Prepared) -> Result<(), Error> {
        case.textures.references.iter().try_for_each(|(name, object)| self.images.bind(module, name, object))
    }

    /// The arguments of the case's kernel.
    pub fn arguments(&self, case: &Prepared) -> Vec<Arg<'_>> {
        let mut parts = self.parts.iter();
        let mut list = Vec::new();
        for (arg, bytes) in case.args.iter().zip(&self.bytes) {
            // An argument that is not a struct is its own only part.
            let own: Vec<&Part> = parts.by_ref().take(arg.parts().len()).collect();
            list.push(match (arg, &own[..]) {
                (Argument::Buffer(_), [Part::Buffer(buffer)]) => Arg::Pointer(buffer),
                (Argument::Handles(_), [Part::Handles { buffer, .. }]) => Arg::Pointer(buffer),
                (Argument::Object(_), [Part::Object(object)]) => object.argument(),
                (Argument::Null, _) => Arg::Address(0),
                _ => Arg::Bytes(bytes),
            });
        }
        list
    }

    /// Reads the buffers and images.
    pub fn read(&self) -> Result<Outputs, Error> {
        let mut outputs = Outputs { images: self.images.read()?, ..Outputs::default() };
        for part in &self.parts {
            outputs.buffers.push(match part {
                Part::Buffer(buffer) => Some(buffer.download()?),
                _ => None,
            });
        }
        Ok(outputs)
    }
}

/// Turns an error into a failure. A module or a launch that doesn't suit the device is refused.
fn failure(error: Error) -> Failure {
    match error {
        Error::Translation(diagnostics) if diagnostics.list.iter().all(|one| is_limit(&one.kind)) => {
            Failure::TooLarge(messages(&diagnostics))
        }
        Error::Translation(diagnostics) if diagnostics.list.iter().any(|one| is_internal(&one.kind)) => {
            Failure::Broken(messages(&diagnostics))
        }
        Error::Translation(diagnostics) => Failure::Refused(messages(&diagnostics)),
        Error::SharedMemory { .. } | Error::BufferTooLarge { .. } => Failure::TooLarge(error.to_string()),
        Error::Fault { findings } => Failure::Fault(findings),
        // Faults of how cases are carried out.
        Error::NotAllocated { .. }
        | Error::ForeignBuffer(_)
        | Error::NotRegistered { .. }
        | Error::Overlap
        | Error::Pitch { .. }
        | Error::PartialElement { .. }
        | Error::Graph(_)
        | Error::NoTime => Failure::Broken(error.to_string()),
        error => match error.group() {
            ErrorGroup::Unsupported | ErrorGroup::Argument => Failure::Refused(error.to_string()),
            _ => Failure::Broken(error.to_string()),
        },
    }
}

/// Whether the translator has failed, which no case may expect.
fn is_internal(kind: &ErrorKind) -> bool {
    matches!(kind, ErrorKind::Internal(_))
}

fn is_limit(kind: &ErrorKind) -> bool {
    matches!(kind, ErrorKind::Limit { .. })
}

/// One line for each diagnostic, without the quoted source, so that a case's expected words are not found there.
fn messages(diagnostics: &Diagnostics) -> String {
    let source = &diagnostics.source;
    let line = |diagnostic: &ptx2spv_translator::Diagnostic| {
        let help = diagnostic.help.iter().map(|help| format!(" ({help})")).collect::<String>();
        format!("{}: {}{help}", source.place(diagnostic.place().start), diagnostic.kind)
    };
    diagnostics.list.iter().map(line).collect::<Vec<_>>().join("\n")
}
