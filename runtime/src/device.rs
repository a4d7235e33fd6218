//! The open device: makes buffers, loads modules, waits.

use std::fmt;
use std::sync::{Arc, Mutex};

use ash::vk;
use bytemuck::Pod;
use ptx2spv_translator::{Interface, Source, Target, Translation};

use crate::buffer::Buffer;
use crate::error::Error;
use crate::info::DeviceInfo;
use crate::instance::{Instance, InstanceOptions};
use crate::lock;
use crate::memory::{Block, Memory};
use crate::module::{LoadOptions, Module};
use crate::queue::Queue;
use crate::raw::RawDevice;
use crate::select::DeviceSelector;
use crate::staging::Staging;

/// An open device. Clones share it; it is closed with the last of its clones, buffers, modules and kernels, after it
/// has finished its work.
#[derive(Clone)]
pub struct Device {
    pub(crate) shared: Arc<Shared>,
}

// Fields are dropped in this order: the queue first, which waits for the device.
pub(crate) struct Shared {
    pub queue: Queue,
    pub staging: Mutex<Staging>,
    pub memory: Arc<Memory>,
    pub raw: Arc<RawDevice>,
    pub info: DeviceInfo,
    /// Timestamps of the queue count in this many bits; zero if it has none.
    pub timestamp_bits: u32,
    /// Nanoseconds per timestamp tick.
    pub timestamp_period: f32,
    instance: Instance,
}

impl Shared {
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

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Device({})", self.shared.info.name)
    }
}

impl Device {
    /// Opens a device of a new instance, with default options.
    ///
    /// # Errors
    /// Those of [`Instance::new`] and [`Instance::open`].
    pub fn open(selector: &DeviceSelector) -> Result<Self, Error> {
        Instance::new(&InstanceOptions::default())?.open(selector)
    }

    pub(crate) fn create(instance: &Instance, info: DeviceInfo) -> Result<Self, Error> {
        if !info.missing().is_empty() {
            return Err(Error::UnusableDevice { device: info.name.clone(), missing: info.missing().to_vec() });
        }
        // SAFETY: `physical` was enumerated from `instance`.
        let families = unsafe { instance.raw().get_physical_device_queue_family_properties(info.physical) };
        let compute = families.iter().zip(0u32..).find(|(f, _)| f.queue_flags.contains(vk::QueueFlags::COMPUTE));
        let Some((properties, family)) = compute else {
            return Err(Error::UnusableDevice { device: info.name.clone(), missing: vec!["a compute queue"] });
        };
        // SAFETY: as above.
        let limits = unsafe { instance.raw().get_physical_device_properties(info.physical) }.limits;
        let raw = Arc::new(RawDevice::create(instance, &info, family)?);
        let memory = Arc::new(Memory::new(instance, &info, raw.clone())?);
        let shared = Shared {
            queue: Queue::new(raw.clone(), memory.clone(), family)?,
            staging: Mutex::new(Staging::new(memory.clone())),
            memory,
            raw,
            info,
            timestamp_bits: properties.timestamp_valid_bits,
            timestamp_period: limits.timestamp_period,
            instance: instance.clone(),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// What the driver says of the device.
    pub fn info(&self) -> &DeviceInfo {
        &self.shared.info
    }

    /// What the translator needs to know of the device. All its features are enabled.
    pub fn target(&self) -> &Target {
        &self.shared.info.target
    }

    /// The instance that it was opened from.
    pub fn instance(&self) -> &Instance {
        &self.shared.instance
    }

    /// Allocates a buffer of `bytes` bytes with undefined contents.
    ///
    /// # Errors
    /// [`Error::BufferTooLarge`], [`Error::OutOfMemory`].
    pub fn alloc(&self, bytes: u64) -> Result<Buffer, Error> {
        Buffer::new(self, bytes)
    }

    /// Allocates a buffer that holds `data`.
    ///
    /// # Errors
    /// Those of [`Device::alloc`] and [`Buffer::write`].
    pub fn upload<T: Pod>(&self, data: &[T]) -> Result<Buffer, Error> {
        let bytes: &[u8] = bytemuck::cast_slice(data);
        let buffer = self.alloc(bytes.len() as u64)?;
        buffer.write(0, bytes)?;
        Ok(buffer)
    }

    /// Parses a PTX module. Each kernel is translated for this device when first asked for, so that one that the device
    /// can't run is not in the way of the others.
    ///
    /// # Errors
    /// [`Error::Translation`] if the text is wrong, [`Error::OutOfMemory`] if its variables have no room.
    pub fn load(&self, source: &Source) -> Result<Module, Error> {
        self.load_with(source, LoadOptions::default())
    }

    /// As [`Device::load`], with options.
    ///
    /// # Errors
    /// Those of [`Device::load`].
    pub fn load_with(&self, source: &Source, options: LoadOptions) -> Result<Module, Error> {
        Module::from_source(self, source, options)
    }

    /// Loads a module that was translated before, for this device or for one with less.
    ///
    /// # Errors
    /// Those of [`Device::load_spirv`].
    pub fn load_translated(&self, translation: &Translation) -> Result<Module, Error> {
        self.load_spirv(&translation.spirv, &translation.interface)
    }

    /// Loads a SPIR-V module with its interface. The SPIR-V must be valid for Vulkan and as the interface describes it:
    /// drivers don't check it.
    ///
    /// # Errors
    /// [`Error::MissingFeatures`] and [`Error::SpirvVersion`] if the device can't run it, [`Error::Interface`] if the
    /// interface contradicts itself, the SPIR-V or the device, [`Error::OutOfMemory`].
    pub fn load_spirv(&self, spirv: &[u32], interface: &Interface) -> Result<Module, Error> {
        Module::from_spirv(self, spirv, interface)
    }

    /// Waits until everything launched has finished.
    ///
    /// # Errors
    /// [`Error::Aborted`], [`Error::DeviceLost`].
    pub fn synchronize(&self) -> Result<(), Error> {
        self.shared.queue.synchronize()?;
        self.shared.check_status()
    }
}
