//! Device memory by addresses: allocating, freeing, and copies to, from and between allocations.

use std::sync::Arc;

use super::device::Device;
use super::memory::{Block, Place};
use super::staging;
use crate::error::Error;
use crate::range::MemoryRange;
use crate::sync::lock;

impl Device {
    /// Makes memory, and returns its address.
    pub fn allocate(&self, size: u64) -> Result<u64, Error> {
        let block = Arc::new(self.memory.allocate(size, Place::Device)?);
        let address = block.address;
        self.blocks.insert(block);
        Ok(address)
    }

    /// Frees the memory at an address once the device has finished everything recorded before.
    pub fn free(&self, address: u64) {
        // In another process the table may be locked by a thread that isn't there, and nothing is destroyed.
        if self.raw.check_process().is_ok()
            && let Some(block) = self.blocks.remove(address)
        {
            self.queue.retire(block);
        }
    }

    /// The block around an address, and the address's offset in the block.
    pub fn block(&self, address: u64) -> Result<(Arc<Block>, u64), Error> {
        self.raw.check_process()?;
        self.blocks.find(address).ok_or(Error::NotAllocated { address })
    }

    pub fn write(&self, address: u64, bytes: &[u8]) -> Result<(), Error> {
        let (block, offset) = self.block(address)?;
        if self.memory.is_unified() {
            self.queue.while_idle(|| block.write_mapped(offset, bytes))
        } else {
            lock(&self.staging).write(&self.queue, block.buffer, offset, bytes)
        }
    }

    pub fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Error> {
        let (block, offset) = self.block(address)?;
        self.read_block(&block, offset, bytes)
    }

    /// Reads bytes from a block as everything launched before leaves them. There is at least one, and the range is
    /// within the block.
    pub fn read_block(&self, block: &Block, offset: u64, bytes: &mut [u8]) -> Result<(), Error> {
        self.raw.check_process()?;
        if self.memory.is_unified() {
            self.queue.while_idle(|| block.read_mapped(offset, bytes))
        } else {
            lock(&self.staging).read(&self.queue, block.buffer, offset, bytes)
        }
    }

    /// Sets every byte of an allocation, also those that pad its block.
    pub fn fill(&self, allocation: MemoryRange, byte: u8) -> Result<(), Error> {
        let (block, _) = self.block(allocation.address)?;
        let (buffer, size) = (block.buffer, block.padded);
        self.queue.record(|recorder| {
            recorder.barrier();
            // SAFETY: the command buffer is being recorded; the block has `padded` bytes, a multiple of 4, and is
            // retired through the queue when freed.
            unsafe {
                recorder.raw.ash.cmd_fill_buffer(recorder.commands, buffer, 0, size, u32::from_ne_bytes([byte; 4]))
            };
            Ok(())
        })?;
        Ok(())
    }

    /// Copies between ranges that do not overlap.
    pub fn copy(&self, from: u64, to: u64, size: u64) -> Result<(), Error> {
        let ((from, from_offset), (to, to_offset)) = (self.block(from)?, self.block(to)?);
        staging::copy(&self.queue, from.buffer, from_offset, to.buffer, to_offset, size)?;
        Ok(())
    }
}
