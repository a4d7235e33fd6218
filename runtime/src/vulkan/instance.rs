//! The Vulkan instance: loads the library, switches validation on where asked for, and lists the devices.

use std::ffi::{CStr, c_void};
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use ash::{ext, khr, vk};
use ptx2spv_translator::target::Version;

use super::drivers;
use super::process::Process;
use crate::error::Error;
use crate::order::MAX_QUEUES;
use crate::restrictions::Restrictions;
use crate::sync::lock;

/// The environment variable that switches validation on when it is `1`.
pub const VALIDATION_VARIABLE: &str = "PTX2SPV_VALIDATION";

/// The newest Vulkan version that there is something to take from; newer devices are used as if they had this one.
const NEWEST: Version = Version(1, 3);

/// The environment variable that says how many queues of the device streams are spread over.
pub const QUEUES_VARIABLE: &str = "PTX2SPV_QUEUES";

const VALIDATION_LAYER: &CStr = c"VK_LAYER_KHRONOS_validation";

/// How to create an [`Instance`].
///
/// ```
/// use ptx2spv_runtime::{Instance, InstanceOptions};
///
/// // Under the validation layers, with one queue.
/// let options = InstanceOptions { validation: Some(true), queues: Some(1), ..InstanceOptions::default() };
/// if let Ok(instance) = Instance::new(&options) {
///     assert!(instance.validation_messages().is_empty());
/// }
/// ```
#[derive(Clone, Debug, Default)]
pub struct InstanceOptions {
    /// Whether to run under the validation layers; `None` asks the environment variable `PTX2SPV_VALIDATION`.
    ///
    /// Layers with [issue 4391](https://github.com/KhronosGroup/Vulkan-ValidationLayers/issues/4391), such as Debian 12's, crash if a
    /// device is opened or closed in one thread while another thread uses one.
    pub validation: Option<bool>,
    /// The Vulkan library to load instead of the system's loader: another loader, or a driver by itself.
    pub library: Option<PathBuf>,
    /// What not to use of devices that have it; `None` asks the environment variable `PTX2SPV_RESTRICT`.
    pub restrictions: Option<Restrictions>,
    /// Copy through staging buffers even on devices that share the host's memory, to test there what graphics cards do.
    pub staging: bool,
    /// How many queues streams are spread over, 1 to 8; several of them share one of the device's where that has fewer. `None` asks the
    /// environment variable `PTX2SPV_QUEUES`, and else takes as many as the device has.
    pub queues: Option<u32>,
}

/// A Vulkan instance. Clones share it.
///
/// ```
/// use ptx2spv_runtime::{DeviceSelector, Instance, InstanceOptions};
///
/// // There is none without Vulkan's loader and a driver.
/// if let Ok(instance) = Instance::new(&InstanceOptions::default()) {
///     for device in instance.devices()? {
///         println!("{}", device.name);
///     }
///     let device = instance.open(&DeviceSelector::Best)?;
///     assert!(device.instance().is_some());
/// }
/// # Ok::<(), ptx2spv_runtime::Error>(())
/// ```
#[derive(Clone)]
pub struct Instance {
    shared: Arc<Shared>,
}

struct Shared {
    raw: ash::Instance,
    version: Version,
    restrictions: Restrictions,
    staging: bool,
    queues: Option<u32>,
    /// Where the messenger, and the layers themselves until the instance is gone, put their messages.
    log: Option<Arc<ValidationLog>>,
    messenger: Option<Messenger>,
    process: Process,
    // The library, which must stay loaded as long as the instance lives.
    _entry: ash::Entry,
}

struct Messenger {
    functions: ext::debug_utils::Instance,
    handle: vk::DebugUtilsMessengerEXT,
}

/// Messages of the validation layers. It can outlive the instance, whose end is when leaks are reported.
///
/// ```
/// use ptx2spv_runtime::ValidationLog;
///
/// assert!(ValidationLog::default().messages().is_empty());
/// ```
#[derive(Debug, Default)]
pub struct ValidationLog {
    messages: Mutex<Vec<String>>,
}

impl ValidationLog {
    /// Messages beyond this many are dropped, since a loop of launches may repeat one for ever.
    const MAX: usize = 1000;

    /// All messages so far: none if all is well.
    pub fn messages(&self) -> Vec<String> {
        lock(&self.messages).clone()
    }

    fn add(&self, message: String) {
        let mut messages = lock(&self.messages);
        if messages.len() < Self::MAX {
            messages.push(message);
        }
    }
}

impl fmt::Debug for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Version(major, minor) = self.shared.version;
        write!(f, "Instance(Vulkan {major}.{minor})")
    }
}

impl Instance {
    /// Loads Vulkan.
    ///
    /// # Errors
    /// [`Error::NoLoader`] if there is no Vulkan library, [`Error::NoDevice`] if there is no driver,
    /// [`Error::NoValidation`] if validation is asked for but not installed, and [`Error::Environment`] if an environment
    /// variable can't be read.
    pub fn new(options: &InstanceOptions) -> Result<Self, Error> {
        let restrictions = options.restrictions.clone().map_or_else(Restrictions::of_environment, Ok)?;
        let queues = match options.queues {
            Some(count) => Some(count.clamp(1, MAX_QUEUES as u32)),
            None => wanted_queues()?,
        };
        let no_loader = |error: ash::LoadingError| Error::NoLoader { reason: error.to_string() };
        let entry = match &options.library {
            // SAFETY: the caller names a Vulkan library, whose initialisers we trust as the system's loader's.
            Some(path) => unsafe { ash::Entry::load_from(path) }.map_err(no_loader)?,
            // SAFETY: the system's Vulkan loader is trusted.
            None => unsafe { ash::Entry::load() }.map_err(no_loader)?,
        };
        // SAFETY: no preconditions.
        let loader = unsafe { entry.try_enumerate_instance_version() }
            .map_err(Error::vulkan("vkEnumerateInstanceVersion"))?
            .map_or(Version(1, 0), version_of);
        if loader < Version(1, 1) {
            return Err(Error::NoLoader { reason: "it knows Vulkan 1.0 only, 1.1 is needed".to_owned() });
        }
        let version = restrictions.version(NEWEST);
        let log = options.validation.map_or_else(wants_validation, Ok)?.then(Arc::<ValidationLog>::default);

        let (flags, portability) = portability(has_extension(&entry, None, khr::portability_enumeration::NAME)?);
        let mut extensions: Vec<_> = portability.into_iter().map(CStr::as_ptr).collect();
        let mut layers = Vec::new();
        if log.is_some() {
            require_validation(&entry)?;
            layers.push(VALIDATION_LAYER.as_ptr());
            extensions.push(ext::debug_utils::NAME.as_ptr());
            extensions.push(ext::validation_features::NAME.as_ptr());
        }
        let application = vk::ApplicationInfo::default()
            .application_name(c"ptx2spv")
            .engine_name(c"ptx2spv")
            .api_version(vk::make_api_version(0, version.0, version.1, 0));
        let mut messenger = log.as_ref().map(messenger_info);
        let checks = [vk::ValidationFeatureEnableEXT::SYNCHRONIZATION_VALIDATION];
        let mut features = vk::ValidationFeaturesEXT::default().enabled_validation_features(&checks);
        let mut info = vk::InstanceCreateInfo::default()
            .flags(flags)
            .application_info(&application)
            .enabled_extension_names(&extensions)
            .enabled_layer_names(&layers);
        if let Some(messenger) = &mut messenger {
            info = info.push_next(messenger).push_next(&mut features);
        }
        // SAFETY: everything that `info` points to lives until the call returns; the log that the messenger points to
        // lives until the instance is destroyed (see `Drop for Shared`).
        let raw = unsafe { entry.create_instance(&info, None) }.map_err(|result| match result {
            vk::Result::ERROR_INCOMPATIBLE_DRIVER => {
                Error::NoDevice { reason: drivers::explain("no driver is installed") }
            }
            result => Error::vulkan("vkCreateInstance")(result),
        })?;
        let mut shared = Shared {
            raw,
            version,
            restrictions,
            staging: options.staging,
            queues,
            log,
            messenger: None,
            process: Process::this(),
            _entry: entry,
        };
        if let Some(log) = &shared.log {
            let functions = ext::debug_utils::Instance::new(&shared._entry, &shared.raw);
            // SAFETY: as above.
            let handle = unsafe { functions.create_debug_utils_messenger(&messenger_info(log), None) }
                .map_err(Error::vulkan("vkCreateDebugUtilsMessengerEXT"))?;
            shared.messenger = Some(Messenger { functions, handle });
        }
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Messages of the validation layers so far: none if all is well, or if validation is off.
    pub fn validation_messages(&self) -> Vec<String> {
        self.validation_log().map_or_else(Vec::new, |log| log.messages())
    }

    /// The log of the validation layers, if validation is on.
    pub fn validation_log(&self) -> Option<Arc<ValidationLog>> {
        self.shared.log.clone()
    }

    /// See [`InstanceOptions::staging`].
    pub(crate) fn wants_staging(&self) -> bool {
        self.shared.staging
    }

    /// See [`InstanceOptions::queues`].
    pub(crate) fn queues(&self) -> Option<u32> {
        self.shared.queues
    }

    /// What not to use of its devices.
    pub(crate) fn restrictions(&self) -> &Restrictions {
        &self.shared.restrictions
    }

    /// The Vulkan version in use, which devices may be above.
    pub(super) fn version(&self) -> Version {
        self.shared.version
    }

    /// Fails in a process that was forked off from the instance's.
    pub(super) fn check_process(&self) -> Result<(), Error> {
        self.shared.process.check()
    }

    pub(crate) fn raw(&self) -> &ash::Instance {
        &self.shared.raw
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if !self.process.is_this() {
            return;
        }
        // SAFETY: every device keeps a clone of its instance, so none is left; the log is still alive, as fields are
        // dropped after this.
        unsafe {
            if let Some(messenger) = &self.messenger {
                messenger.functions.destroy_debug_utils_messenger(messenger.handle, None);
            }
            self.raw.destroy_instance(None);
        }
    }
}

/// Major and minor of a Vulkan version number.
pub fn version_of(packed: u32) -> Version {
    Version(vk::api_version_major(packed), vk::api_version_minor(packed))
}

/// Whether the environment variable asks for validation.
fn wants_validation() -> Result<bool, Error> {
    match std::env::var_os(VALIDATION_VARIABLE) {
        None => Ok(false),
        Some(value) if value.is_empty() || value == "0" => Ok(false),
        Some(value) if value == "1" => Ok(true),
        Some(value) => Err(Error::Environment {
            name: VALIDATION_VARIABLE,
            value: value.to_string_lossy().into_owned(),
            reason: "1 switches validation on, 0 off".to_owned(),
        }),
    }
}

/// How many queues the environment variable asks for.
fn wanted_queues() -> Result<Option<u32>, Error> {
    let Some(value) = std::env::var_os(QUEUES_VARIABLE).filter(|value| !value.is_empty()) else { return Ok(None) };
    match value.to_str().and_then(|text| text.parse().ok()).filter(|count| (1..=MAX_QUEUES as u32).contains(count)) {
        Some(count) => Ok(Some(count)),
        None => Err(Error::Environment {
            name: QUEUES_VARIABLE,
            value: value.to_string_lossy().into_owned(),
            reason: format!("streams have 1 to {MAX_QUEUES} queues"),
        }),
    }
}

/// What has the loader list devices that aren't quite Vulkan, as MoltenVK's: the instance's flags, and the extension that they
/// belong to. Loaders that don't know the extension list them anyway, and take no such flag.
fn portability(is_known: bool) -> (vk::InstanceCreateFlags, Option<&'static CStr>) {
    if is_known {
        (vk::InstanceCreateFlags::ENUMERATE_PORTABILITY_KHR, Some(khr::portability_enumeration::NAME))
    } else {
        (vk::InstanceCreateFlags::empty(), None)
    }
}

fn has_extension(entry: &ash::Entry, layer: Option<&CStr>, name: &CStr) -> Result<bool, Error> {
    // SAFETY: no preconditions.
    let list = unsafe { entry.enumerate_instance_extension_properties(layer) }
        .map_err(Error::vulkan("vkEnumerateInstanceExtensionProperties"))?;
    Ok(list.iter().any(|extension| extension.extension_name_as_c_str() == Ok(name)))
}

fn require_validation(entry: &ash::Entry) -> Result<(), Error> {
    // SAFETY: no preconditions.
    let layers = unsafe { entry.enumerate_instance_layer_properties() }
        .map_err(Error::vulkan("vkEnumerateInstanceLayerProperties"))?;
    if !layers.iter().any(|layer| layer.layer_name_as_c_str() == Ok(VALIDATION_LAYER)) {
        return Err(Error::NoValidation("VK_LAYER_KHRONOS_validation"));
    }
    if !has_extension(entry, Some(VALIDATION_LAYER), ext::validation_features::NAME)? {
        return Err(Error::NoValidation("VK_EXT_validation_features of VK_LAYER_KHRONOS_validation"));
    }
    if !has_extension(entry, None, ext::debug_utils::NAME)?
        && !has_extension(entry, Some(VALIDATION_LAYER), ext::debug_utils::NAME)?
    {
        return Err(Error::NoValidation("VK_EXT_debug_utils"));
    }
    Ok(())
}

/// Messages go to `log`, which must outlive the instance.
fn messenger_info(log: &Arc<ValidationLog>) -> vk::DebugUtilsMessengerCreateInfoEXT<'static> {
    use vk::DebugUtilsMessageSeverityFlagsEXT as Severity;
    vk::DebugUtilsMessengerCreateInfoEXT::default()
        .message_severity(Severity::WARNING | Severity::ERROR)
        .message_type(vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION)
        .pfn_user_callback(Some(on_message))
        .user_data(Arc::as_ptr(log).cast_mut().cast())
}

/// Called by the validation layers, from any thread.
unsafe extern "system" fn on_message(
    _severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    _kind: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    log: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: `log` is the pointer of `messenger_info`, alive until the instance is gone; the layer passes valid data
    // whose message is a C string.
    let (log, message) = unsafe {
        match (log.cast::<ValidationLog>().as_ref(), data.as_ref()) {
            (Some(log), Some(data)) if !data.p_message.is_null() => (log, CStr::from_ptr(data.p_message)),
            _ => return vk::FALSE,
        }
    };
    log.add(message.to_string_lossy().into_owned());
    vk::FALSE
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `VK_KHR_portability_subset` of the devices themselves is among the [`features`](super::super::features).
    #[test]
    fn portability_devices_are_asked_for_where_the_loader_can_be_asked() {
        let (flags, extension) = portability(true);
        assert_eq!(flags.as_raw(), 1);
        assert_eq!(extension, Some(c"VK_KHR_portability_enumeration"));
        assert_eq!(portability(false), (vk::InstanceCreateFlags::empty(), None));
    }
}
