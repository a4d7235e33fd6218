//! The two back ends behind one set of operations: Vulkan and the reference device.
//!
//! Whatever comes from a back end knows its device, so that nothing here has to bring together what belongs together.

use std::sync::Arc;
use std::time::Duration;

use ptx2spv_translator::interface::{Entry, MemoryRegion};

use crate::error::Error;
use crate::kernel::Variant;
use crate::launch::Launch;
use crate::lock;
use crate::report::Reporters;
use crate::{reference, vulkan};

/// An open device.
#[derive(Clone)]
pub(crate) enum Backend {
    Vulkan(Arc<vulkan::Device>),
    Reference(Arc<reference::Device>),
}

/// Device memory. Dropping it frees it once everything launched before has finished.
pub(crate) enum Allocation {
    Vulkan(vulkan::Allocation),
    Reference(reference::Allocation),
}

/// Where the kernels of a module report what went wrong, and print.
pub(crate) enum StatusRecord {
    Vulkan(vulkan::StatusRecord),
    Reference(reference::StatusRecord),
}

/// A SPIR-V module.
pub(crate) enum Shader {
    Vulkan(vulkan::Shader),
    Reference(reference::Shader),
}

/// A kernel for one block size and amount of shared memory.
pub(crate) enum Pipeline {
    Vulkan(vulkan::Pipeline),
    Reference(reference::Pipeline),
}

impl Backend {
    /// Makes memory of `size` bytes with undefined contents. It has an address also if that is zero.
    pub fn allocate(&self, size: u64) -> Result<Allocation, Error> {
        match self {
            Self::Vulkan(device) => vulkan::Allocation::new(device, size).map(Allocation::Vulkan),
            Self::Reference(device) => reference::Allocation::new(device, size).map(Allocation::Reference),
        }
    }

    /// Takes a module that passed [`crate::check::interface`].
    pub fn shader(&self, spirv: &[u32]) -> Result<Shader, Error> {
        match self {
            Self::Vulkan(device) => vulkan::Shader::new(device, spirv).map(Shader::Vulkan),
            Self::Reference(device) => reference::Shader::new(device, spirv).map(Shader::Reference),
        }
    }

    /// Waits until everything launched has finished.
    pub fn synchronize(&self) -> Result<(), Error> {
        match self {
            Self::Vulkan(device) => device.queue.synchronize(),
            // Launches have finished when they return.
            Self::Reference(_) => Ok(()),
        }
    }

    /// How often something was submitted.
    pub fn submissions(&self) -> u64 {
        match self {
            Self::Vulkan(device) => device.queue.submissions(),
            Self::Reference(device) => device.submissions(),
        }
    }

    /// What kernels have printed, as far as [`Backend::check_stopped`] has found it, since the last call.
    pub fn take_output(&self) -> Vec<u8> {
        let output = match self {
            Self::Vulkan(device) => &device.output,
            Self::Reference(device) => &device.output,
        };
        std::mem::take(&mut *lock(output))
    }

    /// Waits for the kernels launched so far that may have been stopped or have printed something, and fails if one was
    /// stopped and nobody was told yet.
    pub fn check_stopped(&self) -> Result<(), Error> {
        match self {
            Self::Vulkan(device) => device.check_status(),
            Self::Reference(device) => device.check_faults(),
        }
    }
}

impl Allocation {
    /// Device address of the first byte, a multiple of 256.
    pub fn address(&self) -> u64 {
        match self {
            Self::Vulkan(memory) => memory.address(),
            Self::Reference(memory) => memory.address(),
        }
    }

    /// Writes bytes, at least one and within the memory, after everything launched before.
    pub fn write(&self, offset: u64, bytes: &[u8]) -> Result<(), Error> {
        match self {
            Self::Vulkan(memory) => memory.write(offset, bytes),
            Self::Reference(memory) => memory.write(offset, bytes),
        }
    }

    /// Reads bytes, at least one and within the memory, as everything launched before leaves them.
    pub fn read(&self, offset: u64, bytes: &mut [u8]) -> Result<(), Error> {
        match self {
            Self::Vulkan(memory) => memory.read(offset, bytes),
            Self::Reference(memory) => memory.read(offset, bytes),
        }
    }

    /// Sets every byte.
    pub fn fill(&self, byte: u8) -> Result<(), Error> {
        match self {
            Self::Vulkan(memory) => memory.fill(byte),
            Self::Reference(memory) => memory.fill(byte),
        }
    }

    /// Copies bytes, at least one and within both memories, which don't overlap.
    pub fn copy_from(&self, offset: u64, from: &Self, from_offset: u64, len: u64) -> Result<(), Error> {
        match (self, from) {
            (Self::Vulkan(memory), Self::Vulkan(from)) => memory.copy_from(offset, from, from_offset, len),
            (Self::Reference(memory), Self::Reference(from)) => memory.copy_from(offset, from, from_offset, len),
            (Self::Vulkan(_), Self::Reference(_)) => Err(Error::ForeignBuffer("the Vulkan device".to_owned())),
            (Self::Reference(_), Self::Vulkan(_)) => Err(Error::ForeignBuffer("the reference device".to_owned())),
        }
    }

    /// Names a part of it, if the device has findings to tell.
    pub fn name_part(&self, offset: u64, bytes: u64, name: &str) {
        match self {
            Self::Vulkan(_) => {}
            Self::Reference(memory) => memory.name_part(offset, bytes, name),
        }
    }

    /// Says that kernels allocate from the region at an offset, if the device looks after what they do with it.
    pub fn add_heap(&self, offset: u64) {
        match self {
            Self::Vulkan(_) => {}
            Self::Reference(memory) => memory.add_heap(offset),
        }
    }

    /// The status record at an offset with the region printed to, which [`crate::check::interface`] has accepted.
    pub fn status_record(&self, offset: u64, output: Option<MemoryRegion>, reporters: &Arc<Reporters>) -> StatusRecord {
        match self {
            Self::Vulkan(memory) => StatusRecord::Vulkan(memory.status_record(offset, output, reporters)),
            Self::Reference(memory) => StatusRecord::Reference(memory.status_record(offset, output, reporters)),
        }
    }
}

impl Shader {
    /// Makes a pipeline of one of its kernels. The variant's sizes are within the device's limits.
    pub fn pipeline(&self, entry: &Entry, variant: Variant) -> Result<Pipeline, Error> {
        match self {
            Self::Vulkan(shader) => shader.pipeline(entry, variant).map(Pipeline::Vulkan),
            Self::Reference(shader) => shader.pipeline(entry, variant).map(Pipeline::Reference),
        }
    }
}

impl Pipeline {
    /// Launches the kernel after everything launched before. False: it was stopped already.
    pub fn launch(&self, launch: &mut Launch<'_>) -> Result<bool, Error> {
        match self {
            Self::Vulkan(pipeline) => pipeline.launch(launch).map(|()| true),
            Self::Reference(pipeline) => pipeline.launch(launch),
        }
    }

    /// Launches the kernel `repeats` times, one after another, and returns how long each took.
    pub fn time(&self, launch: &mut Launch<'_>, repeats: u32) -> Result<Vec<Duration>, Error> {
        match self {
            Self::Vulkan(pipeline) => pipeline.time(launch, repeats),
            Self::Reference(pipeline) => pipeline.time(launch, repeats),
        }
    }
}
