//! The devices of an instance.

use ash::vk;
use ptx2spv_translator::target::Version;

use crate::backend::vulkan::device::held;
use crate::backend::vulkan::instance::drivers;
use crate::backend::vulkan::instance::info::query;
use crate::backend::vulkan::instance::{Instance, version_of};
use crate::error::Error;
use crate::info::DeviceInfo;

/// A device. It can be opened unless [`DeviceInfo::missing`] has entries.
pub(crate) struct PhysicalDevice {
    pub(crate) handle: vk::PhysicalDevice,
    /// The driver's description of the device.
    pub info: DeviceInfo,
}

impl Instance {
    /// Lists the devices in the loader's order, including those that can't run kernels.
    ///
    /// # Errors
    /// [`Error::NoDevice`] if there are none, [`Error::Forked`] in a forked process.
    pub(crate) fn physical_devices(&self) -> Result<Vec<PhysicalDevice>, Error> {
        self.check_process()?;
        let raw = self.raw();
        // SAFETY: the instance is alive.
        let list =
            held::noting_threads(|| unsafe { raw.enumerate_physical_devices() }).map_err(|result| match result {
                vk::Result::ERROR_INITIALIZATION_FAILED => {
                    Error::NoDevice { reason: drivers::explain("no driver could be loaded") }
                }
                result => Error::vulkan("vkEnumeratePhysicalDevices")(result),
            })?;
        let mut devices = Vec::with_capacity(list.len());
        let mut old = Vec::new();
        for (index, handle) in list.into_iter().enumerate() {
            // SAFETY: `handle` was enumerated from this instance.
            let properties = unsafe { raw.get_physical_device_properties(handle) };
            let device = version_of(properties.api_version);
            // Vulkan 1.0 can't report the features that kernels need, and has no device addresses.
            if device >= Version(1, 1) {
                let version = device.min(self.version());
                devices.push(PhysicalDevice { handle, info: query(self, handle, index, version)? });
            } else {
                old.extend(properties.device_name_as_c_str().map(|name| name.to_string_lossy().into_owned()));
            }
        }
        if !devices.is_empty() {
            return Ok(devices);
        }
        let reason = match &old[..] {
            [] => drivers::explain("the loader lists none"),
            old => format!("Vulkan 1.1 is needed, and there is only Vulkan 1.0 on {}", old.join(", ")),
        };
        Err(Error::NoDevice { reason })
    }
}
