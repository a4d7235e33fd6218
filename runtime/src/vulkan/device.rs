//! An open Vulkan device with what belongs to it.

use std::sync::{Arc, Mutex};

use ash::vk;

use super::instance::Instance;
use super::memory::{Block, Memory};
use super::queue::Queue;
use super::raw::RawDevice;
use super::staging::Staging;
use crate::error::Error;
use crate::info::DeviceInfo;
use crate::lock;

// Fields are dropped in this order: the queue first, which waits for the device.
pub(crate) struct Device {
    pub queue: Queue,
    pub staging: Mutex<Staging>,
    pub memory: Arc<Memory>,
    pub raw: Arc<RawDevice>,
    pub name: String,
    /// What kernels have printed and nobody has taken yet.
    pub output: Mutex<Vec<u8>>,
    /// The target's `quirks.loop_budget`.
    pub loop_budget: Option<u32>,
    /// Whether there are several sizes of subgroups, one of which a pipeline can ask for.
    pub asks_for_subgroup_sizes: bool,
    /// Timestamps of the queue count in this many bits; zero if it has none.
    pub timestamp_bits: u32,
    /// Nanoseconds per timestamp tick.
    pub timestamp_period: f32,
    pub instance: Instance,
}

impl Device {
    /// Opens a device of an instance; `physical` is what `info` describes.
    pub fn create(instance: &Instance, physical: vk::PhysicalDevice, info: &DeviceInfo) -> Result<Self, Error> {
        info.check_usable()?;
        // SAFETY: `physical` was enumerated from `instance`.
        let families = unsafe { instance.raw().get_physical_device_queue_family_properties(physical) };
        let compute = families.iter().zip(0u32..).find(|(f, _)| f.queue_flags.contains(vk::QueueFlags::COMPUTE));
        let Some((properties, family)) = compute else {
            return Err(Error::UnusableDevice { device: info.name.clone(), missing: vec!["a compute queue"] });
        };
        // SAFETY: as above.
        let limits = unsafe { instance.raw().get_physical_device_properties(physical) }.limits;
        let raw = Arc::new(RawDevice::create(instance, physical, &info.target, family)?);
        let memory = Arc::new(Memory::new(instance, physical, info, raw.clone())?);
        Ok(Self {
            queue: Queue::new(raw.clone(), memory.clone(), family)?,
            staging: Mutex::new(Staging::new(memory.clone())),
            memory,
            raw,
            name: info.name.clone(),
            output: Mutex::default(),
            loop_budget: info.target.quirks.loop_budget,
            asks_for_subgroup_sizes: info.target.subgroups.has_choice(),
            timestamp_bits: properties.timestamp_valid_bits,
            timestamp_period: limits.timestamp_period,
            instance: instance.clone(),
        })
    }

    /// Reads bytes from a block as everything launched before leaves them. There is at least one, and the range is
    /// within the block.
    pub fn read(&self, block: &Block, offset: u64, bytes: &mut [u8]) -> Result<(), Error> {
        if self.memory.is_unified() {
            self.queue.while_idle(|| block.read_mapped(offset, bytes))
        } else {
            lock(&self.staging).read(&self.queue, block.buffer, offset, bytes)
        }
    }
}
