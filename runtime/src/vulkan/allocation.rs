//! A buffer's memory: a block, the device that it belongs to, and copies to, from and between such blocks.

use std::sync::Arc;

use ptx2spv_translator::interface::MemoryRegion;

use super::device::Device;
use super::memory::{Block, Place};
use super::staging;
use super::status::StatusRecord;
use crate::error::Error;
use crate::lock;
use crate::report::Reporters;

/// Device memory, freed once the device has finished everything recorded before the drop.
pub(crate) struct Allocation {
    block: Arc<Block>,
    device: Arc<Device>,
}

impl Allocation {
    pub fn new(device: &Arc<Device>, size: u64) -> Result<Self, Error> {
        Ok(Self { block: Arc::new(device.memory.allocate(size, Place::Device)?), device: device.clone() })
    }

    pub fn address(&self) -> u64 {
        self.block.address
    }

    pub fn write(&self, offset: u64, bytes: &[u8]) -> Result<(), Error> {
        let device = &self.device;
        device.raw.check_process()?;
        if device.memory.is_unified() {
            device.queue.while_idle(|| self.block.write_mapped(offset, bytes))
        } else {
            lock(&device.staging).write(&device.queue, self.block.buffer, offset, bytes)
        }
    }

    pub fn read(&self, offset: u64, bytes: &mut [u8]) -> Result<(), Error> {
        self.device.read(&self.block, offset, bytes)
    }

    /// Sets every byte, also those that pad the block.
    pub fn fill(&self, byte: u8) -> Result<(), Error> {
        let (buffer, size) = (self.block.buffer, self.block.padded);
        self.device.queue.record(|recorder| {
            recorder.barrier();
            // SAFETY: the command buffer is being recorded; the block has `padded` bytes, a multiple of 4, and is
            // retired through the queue when dropped.
            unsafe {
                recorder.raw.ash.cmd_fill_buffer(recorder.commands, buffer, 0, size, u32::from_ne_bytes([byte; 4]))
            };
            Ok(())
        })?;
        Ok(())
    }

    /// Copies from another allocation of the same device; ranges within one do not overlap.
    pub fn copy_from(&self, offset: u64, from: &Self, from_offset: u64, len: u64) -> Result<(), Error> {
        staging::copy(&self.device.queue, from.block.buffer, from_offset, self.block.buffer, offset, len)?;
        Ok(())
    }

    /// The status record at an offset with the region printed to, which [`crate::check::interface`] has accepted.
    pub fn status_record(&self, offset: u64, output: Option<MemoryRegion>, reporters: &Arc<Reporters>) -> StatusRecord {
        StatusRecord::new(&self.block, offset, output, reporters)
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        self.device.queue.retire(self.block.clone());
    }
}
