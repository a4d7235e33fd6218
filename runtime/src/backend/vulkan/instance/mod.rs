//! The Vulkan instance: loads the library, enables validation on request, and lists the devices.

pub(crate) mod drivers;
pub(crate) mod features;
pub(crate) mod held;
pub(crate) mod info;
mod newer;
pub(crate) mod quirks;

use std::ffi::{CStr, c_void};
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use ash::{ext, khr, vk};
use ptx2spv_translator::target::Version;

use crate::backend::order::MAX_QUEUES;
use crate::error::{Error, Result};
use crate::info::Process;
use crate::info::restrictions::Restrictions;
use crate::sync::lock;

/// The environment variable that enables validation when it is `1`.
pub const VALIDATION_VARIABLE: &str = "PTX2SPV_VALIDATION";

/// The newest Vulkan version that the runtime uses. Newer devices are used as if they had this version.
const NEWEST: Version = Version(1, 3);

/// The environment variable with the number of queues that streams are spread over.
pub const QUEUES_VARIABLE: &str = "PTX2SPV_QUEUES";

const VALIDATION_LAYER: &CStr = c"VK_LAYER_KHRONOS_validation";

ptx2spv_translator::target::options! {
    /// Options of an [`Instance`].
    ///
    /// ```
    /// use ptx2spv_runtime::{Instance, InstanceOptions};
    ///
    /// // With validation layers and a single queue.
    /// let options = InstanceOptions::default().validation(Some(true)).queues(Some(1));
    /// if let Ok(instance) = Instance::new(&options) {
    ///     assert!(instance.validation_messages().is_empty());
    /// }
    /// ```
    #[derive(Clone, Debug)]
    InstanceOptions {
        /// Whether to enable the validation layers; `None` uses the environment variable `PTX2SPV_VALIDATION`.
        ///
        /// Layers with [issue 4391](https://github.com/KhronosGroup/Vulkan-ValidationLayers/issues/4391), such as Debian 12's, crash if a
        /// device is opened or closed in one thread while another thread uses one.
        validation: Option<bool> = None,
        /// The Vulkan library to load instead of the system's loader: another loader, or a driver by itself.
        library: Option<PathBuf> = None,
        /// Features of devices that must not be used; `None` uses the environment variable `PTX2SPV_RESTRICT`.
        restrictions: Option<Restrictions> = None,
        /// Whether to copy through staging buffers even on devices that share the host's memory, to test the code for
        /// graphics cards.
        staging: bool = false,
        /// The number of queues that streams are spread over, 1 to 8. If the device has fewer, several share one of the
        /// device's queues. `None` uses the environment variable `PTX2SPV_QUEUES`, or else as many as the device has.
        queues: Option<u32> = None,
    }
}

/// A Vulkan instance. Clones share it.
///
/// ```
/// use ptx2spv_runtime::{DeviceSelector, Instance, InstanceOptions};
///
/// // Fails without Vulkan's loader and a driver.
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
    /// The destination of messages from the messenger, and from the layers themselves until the instance is destroyed.
    log: Option<Arc<ValidationLog>>,
    messenger: Option<Messenger>,
    process: Process,
    // The library, which must stay loaded as long as the instance lives.
    entry: ash::Entry,
}

struct Messenger {
    functions: ext::debug_utils::Instance,
    handle: vk::DebugUtilsMessengerEXT,
}

/// Messages of the validation layers. The log can outlive the instance, since leaks are reported when the instance is
/// destroyed.
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
    /// Maximum number of messages, since a loop of launches may repeat the same one for ever.
    const MAX: usize = 1000;

    /// All messages so far. Empty if there were no errors.
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
    /// [`Error::NoValidation`] if validation is requested but not installed, and [`Error::Environment`] if an
    /// environment variable is invalid.
    pub fn new(options: &InstanceOptions) -> Result<Self> {
        let restrictions = options.restrictions.clone().map_or_else(Restrictions::of_environment, Ok)?;
        let queues = match options.queues {
            Some(count) => Some(count.clamp(1, MAX_QUEUES as u32)),
            None => wanted_queues()?,
        };
        let no_loader = |error: ash::LoadingError| Error::NoLoader { reason: error.to_string() };
        let entry = match &options.library {
            // SAFETY: the caller names a Vulkan library, whose initializers are trusted like those of the system's
            // loader.
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
                Error::NoDevice { reason: drivers::explain("no driver is installed that works") }
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
            entry,
        };
        if let Some(log) = &shared.log {
            let functions = ext::debug_utils::Instance::new(&shared.entry, &shared.raw);
            // SAFETY: as above.
            let handle = unsafe { functions.create_debug_utils_messenger(&messenger_info(log), None) }
                .map_err(Error::vulkan("vkCreateDebugUtilsMessengerEXT"))?;
            shared.messenger = Some(Messenger { functions, handle });
        }
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Messages of the validation layers so far. Empty if there were no errors, or if validation is off.
    pub fn validation_messages(&self) -> Vec<String> {
        self.validation_log().map_or_else(Vec::new, |log| log.messages())
    }

    /// The log of the validation layers, if validation is enabled.
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

    /// Features of devices that must not be used.
    pub(crate) fn restrictions(&self) -> &Restrictions {
        &self.shared.restrictions
    }

    /// The Vulkan version in use. Devices may have a higher one.
    pub(crate) fn version(&self) -> Version {
        self.shared.version
    }

    /// Fails in a process forked from the instance's process.
    pub(crate) fn check_process(&self) -> Result {
        self.shared.process.check()
    }

    /// The library's functions.
    pub(crate) fn entry(&self) -> &ash::Entry {
        &self.shared.entry
    }

    pub(crate) fn raw(&self) -> &ash::Instance {
        &self.shared.raw
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // A driver must not wait for a thread that is held.
        if !self.process.is_this() || held::fault().is_some() {
            return;
        }
        // SAFETY: every device keeps a clone of its instance, so no device is left. The log is still alive, since
        // fields are dropped after this.
        unsafe {
            if let Some(messenger) = &self.messenger {
                messenger.functions.destroy_debug_utils_messenger(messenger.handle, None);
            }
            self.raw.destroy_instance(None);
        }
    }
}

/// Major and minor version from a packed Vulkan version number.
pub fn version_of(packed: u32) -> Version {
    Version(vk::api_version_major(packed), vk::api_version_minor(packed))
}

/// Whether the environment variable enables validation.
fn wants_validation() -> Result<bool> {
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

/// The number of queues in the environment variable.
fn wanted_queues() -> Result<Option<u32>> {
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

/// Makes the loader list devices that are not fully conformant, such as MoltenVK's: the instance's flags, and the
/// extension that they belong to. Loaders without the extension list these devices anyway, and don't accept the flag.
fn portability(is_known: bool) -> (vk::InstanceCreateFlags, Option<&'static CStr>) {
    if is_known {
        (vk::InstanceCreateFlags::ENUMERATE_PORTABILITY_KHR, Some(khr::portability_enumeration::NAME))
    } else {
        (vk::InstanceCreateFlags::empty(), None)
    }
}

fn has_extension(entry: &ash::Entry, layer: Option<&CStr>, name: &CStr) -> Result<bool> {
    // SAFETY: no preconditions.
    let list = unsafe { entry.enumerate_instance_extension_properties(layer) }
        .map_err(Error::vulkan("vkEnumerateInstanceExtensionProperties"))?;
    Ok(list.iter().any(|extension| extension.extension_name_as_c_str() == Ok(name)))
}

fn require_validation(entry: &ash::Entry) -> Result {
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

/// A messenger that writes to `log`, which must outlive the instance.
fn messenger_info(log: &Arc<ValidationLog>) -> vk::DebugUtilsMessengerCreateInfoEXT<'static> {
    use vk::DebugUtilsMessageSeverityFlagsEXT as Severity;
    vk::DebugUtilsMessengerCreateInfoEXT::default()
        .message_severity(Severity::WARNING | Severity::ERROR)
        .message_type(vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION)
        .pfn_user_callback(Some(on_message))
        .user_data(Arc::as_ptr(log).cast_mut().cast())
}

/// The callback of the validation layers. It may run on any thread.
unsafe extern "system" fn on_message(
    _severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    _kind: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    log: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: `log` is the pointer from `messenger_info`, which is alive until the instance is destroyed; the layer
    // passes valid data whose message is a C string.
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

    /// `VK_KHR_portability_subset` of the devices is in the table of [`features`](super::super::features).
    #[test]
    fn portability_devices_are_asked_for_where_the_loader_can_be_asked() {
        let (flags, extension) = portability(true);
        assert_eq!(flags.as_raw(), 1);
        assert_eq!(extension, Some(c"VK_KHR_portability_enumeration"));
        assert_eq!(portability(false), (vk::InstanceCreateFlags::empty(), None));
    }
}
