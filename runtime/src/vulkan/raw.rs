//! The Vulkan device handle with the few functions that are core in newer versions and extensions in older ones.

use ash::{khr, vk};
use ptx2spv_translator::Target;
use ptx2spv_translator::target::Version;

use super::features::{self, Offer};
use super::instance::Instance;
use crate::error::Error;

/// A logical device; destroyed when dropped, so whoever owns its children owns an `Arc` of it.
pub(crate) struct RawDevice {
    pub ash: ash::Device,
    /// `None` where it is part of the Vulkan version.
    timeline: Option<khr::timeline_semaphore::Device>,
    /// `None` where it is part of the Vulkan version.
    address: Option<khr::buffer_device_address::Device>,
    // Instance after device: a device must be destroyed first.
    _instance: Instance,
}

impl RawDevice {
    /// Creates the device with one queue of `family` and everything on that the translator can use.
    pub fn create(
        instance: &Instance,
        physical: vk::PhysicalDevice,
        target: &Target,
        family: u32,
    ) -> Result<Self, Error> {
        let version = target.vulkan;
        let offer = Offer::query(instance.raw(), physical, version)?;
        let mut structs = features::Structs::enabling(&target.features);
        let mut chain = structs.chain(&offer);
        let extensions: Vec<_> = features::extensions(&offer).iter().map(|name| name.as_ptr()).collect();
        let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(&[1.0])];
        let create = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .enabled_extension_names(&extensions)
            .push_next(&mut chain);
        // SAFETY: all pointers live until the call returns; the features and extensions are among those offered.
        let ash = unsafe { instance.raw().create_device(physical, &create, None) }
            .map_err(Error::vulkan("vkCreateDevice"))?;
        let extension = version < Version(1, 2);
        Ok(Self {
            timeline: extension.then(|| khr::timeline_semaphore::Device::new(instance.raw(), &ash)),
            address: extension.then(|| khr::buffer_device_address::Device::new(instance.raw(), &ash)),
            ash,
            _instance: instance.clone(),
        })
    }

    /// The device address of a buffer made with `SHADER_DEVICE_ADDRESS` usage and bound to memory.
    pub fn buffer_address(&self, buffer: vk::Buffer) -> u64 {
        let info = vk::BufferDeviceAddressInfo::default().buffer(buffer);
        // SAFETY: `buffer` is a live buffer of this device; the feature is always enabled.
        unsafe {
            match &self.address {
                Some(extension) => extension.get_buffer_device_address(&info),
                None => self.ash.get_buffer_device_address(&info),
            }
        }
    }

    /// The value that a timeline semaphore has reached.
    pub fn semaphore_value(&self, semaphore: vk::Semaphore) -> Result<u64, Error> {
        // SAFETY: `semaphore` is a live timeline semaphore of this device; the feature is always enabled.
        unsafe {
            match &self.timeline {
                Some(extension) => extension.get_semaphore_counter_value(semaphore),
                None => self.ash.get_semaphore_counter_value(semaphore),
            }
        }
        .map_err(Error::vulkan("vkGetSemaphoreCounterValue"))
    }

    /// Waits until a timeline semaphore reaches a value.
    pub fn wait_semaphore(&self, semaphore: vk::Semaphore, value: u64) -> Result<(), Error> {
        let (semaphores, values) = ([semaphore], [value]);
        let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
        // SAFETY: as above; the slices live until the call returns.
        unsafe {
            match &self.timeline {
                Some(extension) => extension.wait_semaphores(&info, u64::MAX),
                None => self.ash.wait_semaphores(&info, u64::MAX),
            }
        }
        .map_err(Error::vulkan("vkWaitSemaphores"))
    }
}

impl Drop for RawDevice {
    fn drop(&mut self) {
        // SAFETY: all children hold an `Arc` of this device, so they are gone, and with them all pending work.
        unsafe { self.ash.destroy_device(None) };
    }
}
