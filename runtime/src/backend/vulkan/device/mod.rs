//! An open Vulkan device and its objects.

pub(crate) mod handles;
mod memory;
mod status;
pub(crate) mod timer;

use std::sync::{Arc, Mutex};

use ash::vk;

use crate::backend::order::MAX_QUEUES;
use crate::backend::range::Allocations;
use crate::backend::vulkan::device::handles::{Handles, KeptPipelines, PipelineCache};
use crate::backend::vulkan::instance::Instance;
use crate::backend::vulkan::instance::info::PhysicalDevice;
use crate::backend::vulkan::memory::live::Live;
use crate::backend::vulkan::memory::{Block, BlockLocation, Memory};
use crate::backend::vulkan::raw::{Clock, Family, RawDevice};
use crate::backend::vulkan::submit::queues::Queues;
use crate::backend::vulkan::transfer::images::Images;
use crate::backend::vulkan::transfer::staging::Staging;
use crate::error::{Error, Result};
use crate::sync::lock;

// Fields are dropped in this order. The queues are first, because dropping them waits for the device.
pub(crate) struct Device {
    pub queues: Queues,
    pub staging: Staging,
    /// Device memory for kernels' shared and local memory, of the largest size that a launch has needed.
    scratch: Mutex<Option<Arc<Block>>>,
    /// Allocations of programs.
    pub blocks: Allocations<Arc<Block>>,
    /// Data for kernels that check their accesses.
    pub live: Live,
    /// Images of textures.
    pub images: Images,
    pub memory: Arc<Memory>,
    pub pipelines: PipelineCache,
    pub(crate) kept_pipelines: KeptPipelines<Handles>,
    pub raw: Arc<RawDevice>,
    /// Output of kernels that the host has not taken yet.
    pub output: Mutex<Vec<u8>>,
    /// The target's `quirks.memory_barriers_wait`.
    pub(crate) memory_barriers_wait: bool,
    /// The target's `quirks.loop_budget`.
    pub loop_budget: Option<u32>,
    /// Whether there are several subgroup sizes that a pipeline can choose from.
    pub asks_for_subgroup_sizes: bool,
    pub instance: Instance,
}

impl Device {
    /// Opens a device of an instance.
    pub fn create(instance: &Instance, physical: &PhysicalDevice) -> Result<Self> {
        let &PhysicalDevice { handle: physical, ref info } = physical;
        info.check_usable()?;
        // SAFETY: `physical` was enumerated from `instance`.
        let families = unsafe { instance.raw().get_physical_device_queue_family_properties(physical) };
        let Some((properties, family)) = compute_family(&families) else {
            return Err(Error::UnusableDevice { device: info.name.clone(), missing: vec!["a compute queue"] });
        };
        let available = properties.queue_count.min(MAX_QUEUES as u32);
        // Waits between queues require timeline semaphores.
        let count = if info.own.timeline { instance.queues().unwrap_or(available) } else { 1 };
        // SAFETY: as above.
        let limits = unsafe { instance.raw().get_physical_device_properties(physical) }.limits;
        let clock = Clock { bits: properties.timestamp_valid_bits, period: limits.timestamp_period };
        let family = Family { index: family, queues: count.min(available), clock };
        let raw = Arc::new(RawDevice::create(instance, physical, info, family)?);
        let memory = Arc::new(Memory::new(instance, physical, info, raw.clone())?);
        Ok(Self {
            queues: Queues::new(raw.clone(), memory.clone(), count as usize)?,
            staging: Staging::new(memory.clone()),
            scratch: Mutex::default(),
            blocks: Allocations::default(),
            live: Live::default(),
            images: Images::new(memory.clone()),
            memory,
            pipelines: PipelineCache::new(raw.clone(), info),
            kept_pipelines: KeptPipelines::default(),
            raw,
            output: Mutex::default(),
            loop_budget: info.target.quirks.loop_budget,
            memory_barriers_wait: info.target.quirks.memory_barriers_wait,
            asks_for_subgroup_sizes: info.target.subgroups.has_choice(),
            instance: instance.clone(),
        })
    }

    /// At least `bytes` bytes of scratch memory, which launches use one after another. After recording a launch with
    /// it, the caller passes it to [`Device::keep_scratch`].
    pub fn scratch(&self, bytes: u64) -> Result<Arc<Block>> {
        let mut scratch = lock(&self.scratch);
        if let Some(block) = scratch.as_ref().filter(|block| block.padded >= bytes) {
            return Ok(block.clone());
        }
        let block = Arc::new(self.memory.allocate(bytes, BlockLocation::Device)?);
        let earlier = scratch.replace(block.clone());
        drop(scratch);
        earlier.into_iter().for_each(|earlier| self.queues.retire(earlier));
        Ok(block)
    }

    /// Keeps scratch memory alive until the device has run the launches recorded with it.
    pub fn keep_scratch(&self, block: Arc<Block>) {
        // The current block is retired when it is replaced, which is later.
        let is_present = lock(&self.scratch).as_ref().is_some_and(|present| Arc::ptr_eq(present, &block));
        if !is_present {
            self.queues.retire(block);
        }
    }
}

/// The queue family to use: the first one for compute, preferably with timestamps, and without graphics, whose queues may share one
/// channel to the device: on NVIDIA's driver kernels in two of them run one after another, and a launch takes a microsecond longer.
fn compute_family(families: &[vk::QueueFamilyProperties]) -> Option<(&vk::QueueFamilyProperties, u32)> {
    let computes = |family: &vk::QueueFamilyProperties| family.queue_flags.contains(vk::QueueFlags::COMPUTE);
    let all = || families.iter().zip(0..).filter(|(family, _)| computes(family) && family.queue_count > 0);
    let has_timestamps = |family: &vk::QueueFamilyProperties| family.timestamp_valid_bits > 0;
    let has_graphics = |family: &vk::QueueFamilyProperties| family.queue_flags.contains(vk::QueueFlags::GRAPHICS);
    // The first of the best.
    all().min_by_key(|(family, _)| (!has_timestamps(family), has_graphics(family)))
}

impl Error {
    /// For `map_err`: turns a Vulkan command's result into an error.
    pub(crate) fn vulkan(call: &'static str) -> impl FnOnce(vk::Result) -> Self {
        move |result| match result {
            vk::Result::ERROR_DEVICE_LOST => Self::DeviceLost { report: None, address: None },
            vk::Result::TIMEOUT => Self::Timeout,
            vk::Result::ERROR_OUT_OF_DEVICE_MEMORY => Self::OutOfMemory(format!("{call}: no device memory left")),
            vk::Result::ERROR_OUT_OF_HOST_MEMORY => Self::OutOfMemory(format!("{call}: no host memory left")),
            result => Self::Vulkan { call, result },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queue_families() {
        let family = |flags, count, timestamp_bits| {
            vk::QueueFamilyProperties::default()
                .queue_flags(flags)
                .queue_count(count)
                .timestamp_valid_bits(timestamp_bits)
        };
        use vk::QueueFlags as F;
        let chosen = |families: &[vk::QueueFamilyProperties]| compute_family(families).map(|(_, index)| index);
        assert_eq!(chosen(&[]), None);
        assert_eq!(chosen(&[family(F::TRANSFER, 1, 64), family(F::GRAPHICS, 1, 64)]), None);
        // A family for transfers only, and one for compute only.
        assert_eq!(chosen(&[family(F::TRANSFER, 2, 64), family(F::COMPUTE, 1, 0)]), Some(1));
        assert_eq!(chosen(&[family(F::GRAPHICS | F::COMPUTE, 1, 36), family(F::COMPUTE, 8, 64)]), Some(1));
        assert_eq!(chosen(&[family(F::GRAPHICS | F::COMPUTE, 1, 36), family(F::COMPUTE, 8, 0)]), Some(0));
        assert_eq!(chosen(&[family(F::COMPUTE, 1, 64), family(F::COMPUTE, 8, 64)]), Some(0));
        assert_eq!(chosen(&[family(F::GRAPHICS | F::COMPUTE, 1, 0), family(F::COMPUTE, 8, 64)]), Some(1));
        assert_eq!(chosen(&[family(F::GRAPHICS | F::COMPUTE, 1, 0), family(F::COMPUTE, 8, 0)]), Some(1));
        assert_eq!(chosen(&[family(F::COMPUTE, 0, 64)]), None);
    }
}
