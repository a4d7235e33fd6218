//! Device memory by addresses: allocating, freeing, and copies to, from and between allocations.

use std::sync::Arc;

use ash::vk;

use super::device::Device;
use super::memory::{Block, Place};
use super::staging;
use crate::error::Error;
use crate::limits::MAX_PARAM_BLOCK;
use crate::order::{StreamKey, Ticket};
use crate::range::MemoryRange;
use crate::sync::lock;

impl Device {
    /// Makes memory, and returns its address.
    pub fn allocate(&self, size: u64) -> Result<u64, Error> {
        let block = Arc::new(self.memory.allocate(size, Place::Device)?);
        let address = block.address;
        self.blocks.insert(MemoryRange { address, size }, block);
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
        let (range, block) = self.blocks.find(address).ok_or(Error::NotAllocated { address })?;
        Ok((block, address - range.address))
    }

    /// The allocation in which an address lies.
    pub fn find(&self, address: u64) -> Option<MemoryRange> {
        // In another process the table may be locked by a thread that isn't there.
        self.raw.check_process().ok()?;
        self.blocks.find(address).map(|(range, _)| range)
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

    /// Writes bytes in stream order; they are taken at the call.
    pub fn upload(&self, stream: StreamKey, address: u64, bytes: &[u8]) -> Result<Ticket, Error> {
        let (block, offset) = self.block(address)?;
        let size = bytes.len() as u64;
        let staged = if size <= MAX_PARAM_BLOCK.into() {
            None
        } else {
            let staged = Arc::new(self.memory.allocate(size, Place::Upload)?);
            staged.write_mapped(0, bytes)?;
            Some(staged)
        };
        let recorded = self.queue.record(stream, |recorder| {
            let (from, from_offset) = match &staged {
                Some(staged) => (staged.buffer, 0),
                None => recorder.upload(bytes)?,
            };
            let region = vk::BufferCopy::default().src_offset(from_offset).dst_offset(offset).size(size);
            recorder.follow();
            // SAFETY: the command buffer is being recorded; both ranges lie in their buffers, of which one is retired through
            // the queue when freed, and the other below or with the batch.
            unsafe { recorder.raw.ash.cmd_copy_buffer(recorder.commands, from, block.buffer, &[region]) };
            Ok(())
        });
        if let Some(staged) = staged {
            self.queue.retire(staged);
        }
        recorded
    }

    /// Reads bytes in stream order; `after` is the point that the stream has reached.
    pub fn download(&self, stream: StreamKey, after: Ticket, address: u64, bytes: &mut [u8]) -> Result<(), Error> {
        let (block, offset) = self.block(address)?;
        if self.memory.is_unified() {
            self.queue.wait(after)?;
            block.read_mapped(offset, bytes)
        } else {
            lock(&self.staging).read(&self.queue, stream, block.buffer, offset, bytes)
        }
    }

    /// Reads bytes from a block as everything launched before leaves them. There is at least one, and the range is
    /// within the block.
    pub fn read_block(&self, block: &Block, offset: u64, bytes: &mut [u8]) -> Result<(), Error> {
        self.raw.check_process()?;
        if self.memory.is_unified() {
            self.queue.while_idle(|| block.read_mapped(offset, bytes))
        } else {
            lock(&self.staging).read(&self.queue, StreamKey::Everything, block.buffer, offset, bytes)
        }
    }

    /// Sets bytes to those of a little-endian word, each to the one at its address modulo 4.
    pub fn fill(&self, stream: StreamKey, range: MemoryRange, word: u32) -> Result<Ticket, Error> {
        let (block, start) = self.block(range.address)?;
        let end = start + range.size;
        // Vulkan fills whole words. Bytes before and after these are copied.
        let words = start.next_multiple_of(4).min(end)..(end & !3).max(start.next_multiple_of(4).min(end));
        let parts = [start..words.start, words.end..end].map(|part| {
            vk::BufferCopy::default().src_offset(part.start % 4).dst_offset(part.start).size(part.end - part.start)
        });
        let edges: Vec<_> = parts.into_iter().filter(|part| part.size > 0).collect();
        self.queue.record(stream, |recorder| {
            let source = if edges.is_empty() { None } else { Some(recorder.upload(&word.to_le_bytes().repeat(2))?) };
            recorder.follow();
            let (ash, commands) = (&recorder.raw.ash, recorder.commands);
            if !words.is_empty() {
                // SAFETY: the command buffer is being recorded; the words lie in the block, which is retired through the queue
                // when freed.
                unsafe { ash.cmd_fill_buffer(commands, block.buffer, words.start, words.end - words.start, word) };
            }
            if let Some((buffer, offset)) = source {
                let regions: Vec<_> = edges.iter().map(|part| part.src_offset(offset + part.src_offset)).collect();
                // SAFETY: as above; what was uploaded stays until the batch has finished, and reaches beyond each part.
                unsafe { ash.cmd_copy_buffer(commands, buffer, block.buffer, &regions) };
            }
            Ok(())
        })
    }

    /// Copies between ranges that do not overlap.
    pub fn copy(&self, stream: StreamKey, from: u64, to: u64, size: u64) -> Result<Ticket, Error> {
        let ((from, from_offset), (to, to_offset)) = (self.block(from)?, self.block(to)?);
        staging::copy(&self.queue, stream, from.buffer, from_offset, to.buffer, to_offset, size)
    }
}
