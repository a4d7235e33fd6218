//! The Vulkan device handle, with the few functions that are core in newer versions and extensions in older ones.

pub(crate) mod fault;
pub(crate) mod spin;

use std::sync::OnceLock;
use std::time::Duration;

use ash::{ext, khr, vk};
use ptx2spv_translator::target::Version;

use crate::backend::vulkan::instance::Instance;
use crate::backend::vulkan::instance::features::{self, Offer};
use crate::backend::vulkan::instance::held;
use crate::backend::vulkan::raw::fault::{Fault, FaultReports};
use crate::backend::vulkan::raw::spin::Spin;
use crate::error::{Error, Result};
use crate::info::{DeviceInfo, DeviceKind, OwnFeatures, Process};
use crate::profile::DeviceProfile;

/// A logical device, destroyed when dropped. Its children hold an `Arc` of it.
pub(crate) struct RawDevice {
    pub ash: ash::Device,
    /// The queue family.
    pub family: u32,
    queues: u32,
    pub name: String,
    /// Whether kernels run in this process.
    pub is_on_cpu: bool,
    /// Whether the driver reports free memory.
    pub has_memory_budget: bool,
    /// Whether kernels can read images by their numbers in tables.
    pub has_image_tables: bool,
    /// For importing host memory, if the device supports it.
    pub external_host: Option<ExternalHost>,
    /// For mapping memory at its device address, if the device supports it.
    pub placed_maps: Option<PlacedMaps>,
    /// The clock of the queues.
    pub clock: Clock,
    pub profile: Option<DeviceProfile>,
    /// Polling of waits, before their threads sleep.
    pub(crate) spin: Spin,
    /// Features that the runtime itself uses.
    pub own: OwnFeatures,
    /// The functions of timeline semaphores; `None` if they are part of the Vulkan version, or not available.
    pub timeline: Option<khr::timeline_semaphore::Device>,
    /// `None` if it is part of the Vulkan version.
    address: Option<khr::buffer_device_address::Device>,
    fault_reports: Option<FaultReports>,
    /// The report on the device's loss, if it was lost.
    fault: OnceLock<Option<Fault>>,
    process: Process,
    // Instance after device: a device must be destroyed first.
    _instance: Instance,
}

/// The outcome of a call. An error comes with the call's name.
pub(crate) type Called = Result<(), (&'static str, vk::Result)>;

/// A queue family.
#[derive(Clone, Copy)]
pub(crate) struct Family {
    pub index: u32,
    /// Number of queues, at least one.
    pub queues: u32,
    pub clock: Clock,
}

/// `VK_EXT_external_memory_host`.
pub(crate) struct ExternalHost {
    pub functions: ext::external_memory_host::Device,
    /// Alignment of addresses and sizes.
    pub alignment: u64,
}

impl ExternalHost {
    fn new(instance: &Instance, physical: vk::PhysicalDevice, device: &ash::Device) -> Self {
        let mut properties = vk::PhysicalDeviceExternalMemoryHostPropertiesEXT::default();
        let mut chain = vk::PhysicalDeviceProperties2::default().push_next(&mut properties);
        // SAFETY: `physical` was enumerated from the instance, and the device has the extension of the chained structure.
        unsafe { instance.raw().get_physical_device_properties2(physical, &mut chain) };
        let alignment = properties.min_imported_host_pointer_alignment.max(1);
        Self { functions: ext::external_memory_host::Device::new(instance.raw(), device), alignment }
    }
}

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

impl RawDevice {
    /// Creates the device with queues of a family, the last of which has the highest priority. Enables everything that
    /// the translator can use.
    pub fn create(
        instance: &Instance,
        physical: vk::PhysicalDevice,
        info: &DeviceInfo,
        Family { index: family, queues: count, clock }: Family,
    ) -> Result<Self> {
        let version = info.target.vulkan;
        let offer = Offer::query(instance, physical, version)?;
        let mut structs = features::Structs::enabling(&info.target.features, info.own);
        let mut chain = structs.chain(&offer);
        let extensions: Vec<_> = features::extensions(&offer).iter().map(|name| name.as_ptr()).collect();
        let priorities: Vec<_> = (1..=count).map(|number| if number == count { 1.0 } else { 0.5 }).collect();
        let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(&priorities)];
        let create = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .enabled_extension_names(&extensions)
            .push_next(&mut chain);
        // SAFETY: all pointers live until the call returns; the features and extensions are among those offered.
        let ash = held::noting_threads(|| unsafe { instance.raw().create_device(physical, &create, None) })
            .map_err(Error::vulkan("vkCreateDevice"))?;
        let extension = version < Version(1, 2);
        Ok(Self {
            external_host: offer
                .has_extension(ext::external_memory_host::NAME)
                .then(|| ExternalHost::new(instance, physical, &ash)),
            family,
            queues: count,
            name: info.name.clone(),
            is_on_cpu: info.kind == DeviceKind::Cpu,
            has_memory_budget: offer.has_extension(ext::memory_budget::NAME),
            has_image_tables: features::has_tables(&info.target),
            placed_maps: info.own.placed_maps.then(|| PlacedMaps::new(instance, physical, &ash)),
            clock,
            profile: DeviceProfile::new(&info.name),
            spin: Spin::new(info.kind),
            own: info.own,
            timeline: (extension && info.own.timeline)
                .then(|| khr::timeline_semaphore::Device::new(instance.raw(), &ash)),
            address: extension.then(|| khr::buffer_device_address::Device::new(instance.raw(), &ash)),
            fault_reports: info.own.fault.then(|| FaultReports::new(instance, &ash)),
            fault: OnceLock::new(),
            ash,
            process: Process::this(),
            _instance: instance.clone(),
        })
    }

    /// The Vulkan queue for a stream queue. Several stream queues may share one.
    pub fn queue(&self, number: u32) -> vk::Queue {
        // SAFETY: the device was created with `self.queues` queues, at least one.
        unsafe { self.ash.get_device_queue(self.family, number % self.queues) }
    }

    /// Like [`Error::vulkan`], with the driver's report on a lost device.
    pub fn error(&self, call: &'static str) -> impl FnOnce(vk::Result) -> Error {
        move |result| match result {
            vk::Result::ERROR_DEVICE_LOST => {
                if let Some(address) = self.held_fault() {
                    return Error::SegmentationFault { address };
                }
                // SAFETY: the device exists, and was lost.
                let read = || self.fault_reports.as_ref().and_then(|reports| unsafe { reports.read() });
                let fault = self.fault.get_or_init(read).as_ref();
                Error::DeviceLost {
                    report: fault.map(|fault| fault.text.clone()),
                    address: fault.and_then(|fault| fault.address),
                }
            }
            result => Error::vulkan(call)(result),
        }
    }

    /// Fails if a call has told that the device is lost. A driver needn't tell again, and without work there is nothing to ask.
    pub fn check_lost(&self) -> Result {
        match self.fault.get() {
            Some(_) => Err(self.error("vkQueueSubmit")(vk::Result::ERROR_DEVICE_LOST)),
            None => Ok(()),
        }
    }

    /// Fails in a process forked from the device's process.
    pub fn check_process(&self) -> Result {
        self.process.check()
    }

    /// The address of an access that a kernel on the CPU was stopped at. Nothing must be waited for any more.
    pub fn held_fault(&self) -> Option<u64> {
        self.is_on_cpu.then(held::fault).flatten()
    }

    /// The device's functions for destroying objects. `None` in a forked process and after a fault on the CPU, where nothing must be
    /// destroyed.
    pub fn destroyer(&self) -> Option<&ash::Device> {
        (self.process.is_this() && self.held_fault().is_none()).then_some(&self.ash)
    }

    /// The device address of a buffer that has `SHADER_DEVICE_ADDRESS` usage and is bound to memory.
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
}

impl Drop for RawDevice {
    fn drop(&mut self) {
        if let Some(ash) = self.destroyer() {
            // SAFETY: all children hold an `Arc` of this device, so they are gone, and with them all pending work.
            unsafe { ash.destroy_device(None) };
        }
    }
}

/// The clock of a device's queues.
#[derive(Clone, Copy)]
pub(crate) struct Clock {
    /// Timestamps count in this many bits; zero if there are none.
    pub bits: u32,
    /// Nanoseconds per tick.
    pub period: f32,
}

impl Clock {
    /// The time between two readings of the clock, zero if the second came first.
    pub fn elapsed(self, start: u64, end: u64) -> Duration {
        // A difference of more than half of the clock's range is negative.
        let half = 1 << (self.bits.clamp(1, 64) - 1);
        let ticks = end.wrapping_sub(start);
        if ticks & half == 0 { self.duration(ticks) } else { Duration::ZERO }
    }

    /// The duration of `ticks`, of which the clock counts the lower bits.
    pub fn duration(self, ticks: u64) -> Duration {
        let mask = u64::MAX >> 64_u32.saturating_sub(self.bits).min(63);
        Duration::from_nanos(((ticks & mask) as f64 * f64::from(self.period)) as u64)
    }
}
