//! The functions of `VK_EXT_map_memory_placed`, by which the host chooses where it maps memory.

use ash::{khr, vk};

use crate::backend::vulkan::instance::Instance;

/// `VK_EXT_map_memory_placed`.
pub(crate) struct PlacedMaps {
    pub functions: khr::map_memory2::Device,
    /// Alignment of addresses and sizes.
    pub alignment: u64,
}

impl PlacedMaps {
    /// The functions of a device that has the extensions and the feature enabled.
    pub fn new(instance: &Instance, physical: vk::PhysicalDevice, device: &ash::Device) -> Self {
        let mut properties = vk::PhysicalDeviceMapMemoryPlacedPropertiesEXT::default();
        let mut chain = vk::PhysicalDeviceProperties2::default().push_next(&mut properties);
        // SAFETY: `physical` was enumerated from the instance, and the device has the extension of the chained structure.
        unsafe { instance.raw().get_physical_device_properties2(physical, &mut chain) };
        let alignment = properties.min_placed_memory_map_alignment.max(1);
        Self { functions: khr::map_memory2::Device::new(instance.raw(), device), alignment }
    }
}
