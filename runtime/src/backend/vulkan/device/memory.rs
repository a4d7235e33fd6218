//! Device memory by address: allocating, freeing, and copies to, from and between allocations.

use std::ptr::NonNull;
use std::sync::Arc;

use ash::vk;

use crate::backend::order::{Point, StreamKey, Ticket};
use crate::backend::range::{MemoryRange, PinnedKind, PinnedRange, Rows};
use crate::backend::shape::Shape;
use crate::backend::vulkan::device::Device;
use crate::backend::vulkan::memory::{Block, BlockLocation};
use crate::backend::vulkan::transfer::staging::copy_regions;
use crate::error::{Error, Result};
use crate::info::limits::MAX_PARAM_BLOCK;
use crate::profile::{Measured, Work};

impl Device {
    /// Allocates memory of a kind and returns its address.
    pub fn allocate_in(&self, size: u64, location: BlockLocation) -> Result<u64> {
        let block = Arc::new(self.memory.allocate(size, location)?);
        let address = block.address;
        self.blocks.insert(MemoryRange { address, size }, block);
        Ok(address)
    }

    /// Allocates memory that the host can access too.
    pub fn allocate_pinned(&self, size: u64) -> Result<PinnedRange> {
        let block = self.memory.allocate(size, BlockLocation::Host)?;
        let host = block.mapped()?.expose_provenance() as u64;
        let address = block.address;
        self.blocks.insert(MemoryRange { address, size }, Arc::new(block));
        Ok(PinnedRange { host, address, size, kind: PinnedKind::Pinned })
    }

    /// Allocates memory with one address for host and device: any on devices that use the host's addresses, else memory that the
    /// host maps there.
    pub fn allocate_managed(&self, size: u64) -> Result<PinnedRange> {
        let range = self.allocate_pinned(size)?;
        if range.host == range.address {
            return Ok(PinnedRange { kind: PinnedKind::Managed, ..range });
        }
        self.free(range.address);
        let block = self.memory.allocate_placed(size)?;
        let address = block.address;
        self.blocks.insert(MemoryRange { address, size }, Arc::new(block));
        Ok(PinnedRange { host: address, address, size, kind: PinnedKind::Managed })
    }

    /// Makes host memory accessible to the device.
    ///
    /// # Safety
    /// The memory exists until it is freed here and everything recorded before has finished.
    pub unsafe fn register(&self, host: NonNull<u8>, size: u64) -> Result<u64> {
        // SAFETY: by the contract.
        let (block, offset) = unsafe { self.memory.import(host, size) }?;
        let address = block.address + offset;
        self.blocks.insert(MemoryRange { address, size }, Arc::new(block));
        Ok(address)
    }

    /// Frees the memory at an address once the device has finished everything recorded before.
    pub fn free(&self, address: u64) {
        // In a forked process, the table may be locked by a thread that doesn't exist there, and nothing is destroyed.
        if self.raw.check_process().is_ok()
            && let Some((range, block)) = self.blocks.remove(address)
        {
            self.live.freed(range);
            self.queues.retire(block);
        }
    }

    /// The buffer that contains a range of at least one byte, and the offset in it. For commands that are being recorded: the
    /// queues are locked meanwhile, so that a buffer which is found now is retired after the commands when another thread frees
    /// it.
    ///
    /// # Errors
    /// [`Error::NotAllocated`], [`Error::OutOfRange`]: another thread may have freed the memory since the arguments were checked,
    /// and a smaller allocation may have its address.
    fn buffer(&self, range: MemoryRange) -> Result<(vk::Buffer, u64)> {
        let (found, block) = self.blocks.find(range.address).ok_or(Error::NotAllocated { address: range.address })?;
        found.check(range)?;
        Ok((block.buffer, range.address - block.address))
    }

    /// The block that contains an address, and the offset in it.
    pub fn block(&self, address: u64) -> Result<(Arc<Block>, u64)> {
        self.raw.check_process()?;
        let (_, block) = self.blocks.find(address).ok_or(Error::NotAllocated { address })?;
        let offset = address - block.address;
        Ok((block, offset))
    }

    /// The allocation that contains an address.
    pub fn find(&self, address: u64) -> Option<MemoryRange> {
        // In a forked process, the table may be locked by a thread that doesn't exist there.
        self.raw.check_process().ok()?;
        self.blocks.find(address).map(|(range, _)| range)
    }

    pub fn write(&self, address: u64, bytes: &[u8]) -> Result {
        if self.memory.is_unified() {
            let (block, offset) = self.block(address)?;
            // Other threads may launch meanwhile.
            self.queues.synchronize(self.queues.deadline())?;
            let _measured = self.measure(StreamKey::Everything, true, bytes);
            block.write_mapped(offset, bytes)?;
        } else {
            let find = |range| self.buffer(range);
            self.staging.write(&self.queues, StreamKey::Everything, find, address, bytes)?;
        }
        let range = MemoryRange { address, size: bytes.len() as u64 };
        if !self.images.shows(range) {
            return Ok(());
        }
        self.queues.record(StreamKey::Everything, |recorder| {
            recorder.follow();
            self.images.follow(recorder, range);
            Ok(())
        })?;
        Ok(())
    }

    pub fn read(&self, address: u64, bytes: &mut [u8]) -> Result {
        if self.memory.is_unified() {
            let (block, offset) = self.block(address)?;
            // As in `write`.
            self.queues.synchronize(self.queues.deadline())?;
            let _measured = self.measure(StreamKey::Everything, false, bytes);
            block.read_mapped(offset, bytes)
        } else {
            self.staging.read(&self.queues, StreamKey::Everything, |range| self.buffer(range), address, bytes)
        }
    }

    /// Writes bytes in stream order. They are read during the call.
    pub fn upload(&self, stream: StreamKey, to: u64, shape: &Shape, bytes: &[u8]) -> Result<Ticket> {
        self.raw.check_process()?;
        let is_small = bytes.len() as u64 <= MAX_PARAM_BLOCK.into();
        // Images of arrays change in the same batch as their bytes.
        let is_plain = shape.is_linear() && !self.images.shows(written(to, shape));
        if !is_small && is_plain && !self.memory.is_unified() {
            return self.staging.write(&self.queues, stream, |range| self.buffer(range), to, bytes);
        }
        let staged = if is_small {
            None
        } else {
            let staged = Arc::new(self.memory.allocate(bytes.len() as u64, BlockLocation::Upload)?);
            staged.write_mapped(0, bytes)?;
            Some(staged)
        };
        let range = written(to, shape);
        let recorded = self.queues.record(stream, |recorder| {
            let target = self.buffer(range)?;
            let source = match &staged {
                Some(staged) => (staged.buffer, 0),
                None => recorder.upload(bytes)?,
            };
            // One of the buffers is retired through the queue when freed, the other one below or with the batch.
            copy_regions(recorder, source, target, shape);
            recorder.profile(stream, || Work::copy(true, false, shape.bytes()));
            self.images.follow(recorder, range);
            Ok(())
        });
        if let Some(staged) = staged {
            self.queues.retire(staged);
        }
        recorded
    }

    /// Reads bytes in stream order. `after` is the point that the stream has reached.
    pub fn download(&self, stream: StreamKey, after: Point, from: u64, shape: &Shape, bytes: &mut [u8]) -> Result {
        if self.memory.is_unified() {
            let (block, offset) = self.block(from)?;
            self.queues.wait(after, self.queues.deadline())?;
            let _measured = self.measure(stream, false, bytes);
            let mut rest = bytes;
            for region in shape.regions() {
                // The rows have as many bytes together as the list.
                let (row, others) = rest.split_at_mut((region.size as usize).min(rest.len()));
                block.read_mapped(offset + region.from, row)?;
                rest = others;
            }
            return Ok(());
        }
        if shape.is_linear() {
            return self.staging.read(&self.queues, stream, |range| self.buffer(range), from, bytes);
        }
        let staged = Arc::new(self.memory.allocate(bytes.len() as u64, BlockLocation::Host)?);
        let copied = self.queues.record(stream, |recorder| {
            let source = self.buffer(MemoryRange { address: from, size: shape.source_span() })?;
            copy_regions(recorder, source, (staged.buffer, 0), shape);
            recorder.profile(stream, || Work::copy(false, true, shape.bytes()));
            Ok(())
        });
        let read = copied
            .and_then(|ticket| self.queues.wait(ticket.into(), self.queues.deadline()))
            .and_then(|()| staged.read_mapped(0, bytes));
        self.queues.retire(staged);
        read
    }

    /// Reads bytes from a block, after everything launched before, while nothing changes them. The range has at least
    /// one byte and is within the block.
    pub fn read_block(&self, block: &Block, offset: u64, bytes: &mut [u8]) -> Result {
        self.raw.check_process()?;
        if self.memory.is_unified() {
            self.queues.while_idle(|| block.read_mapped(offset, bytes))
        } else {
            let find = |range: MemoryRange| Ok((block.buffer, range.address - block.address));
            self.staging.read(&self.queues, StreamKey::Everything, find, block.address + offset, bytes)
        }
    }

    /// Fills the bytes of rows with a little-endian word: each byte gets the word's byte at its address modulo 4.
    pub fn fill(&self, stream: StreamKey, rows: Rows, word: u32) -> Result<Ticket> {
        // Vulkan fills whole words. The bytes before and after them are copied. Buffers begin at multiples of 4.
        let parts = |row: MemoryRange| {
            let start = row.address;
            let end = start + row.size;
            let first = start.next_multiple_of(4).min(end);
            (start, first..(end & !3).max(first), end)
        };
        let has_edges = rows.ranges().map(parts).any(|(start, words, end)| start < words.start || words.end < end);
        self.queues.record(stream, |recorder| {
            let (target, offset) = self.buffer(rows.span())?;
            let base = rows.span().address - offset;
            let edges = if has_edges { Some(recorder.upload(&word.to_le_bytes().repeat(2))?) } else { None };
            recorder.follow();
            let (ash, commands) = (&recorder.raw.ash, recorder.commands);
            for (start, words, end) in rows.ranges().map(parts) {
                if !words.is_empty() {
                    // SAFETY: the command buffer is being recorded; the words lie in the buffer, which is retired through the
                    // queue when freed.
                    unsafe {
                        ash.cmd_fill_buffer(commands, target, words.start - base, words.end - words.start, word);
                    }
                }
                for (from, to) in [(start, words.start), (words.end, end)] {
                    let Some((buffer, offset)) = edges.filter(|_| from < to) else { continue };
                    let region =
                        vk::BufferCopy::default().src_offset(offset + from % 4).dst_offset(from - base).size(to - from);
                    // SAFETY: as above; the uploaded bytes stay until the batch has finished, and extend beyond each
                    // part.
                    unsafe { ash.cmd_copy_buffer(commands, buffer, target, &[region]) };
                }
            }
            self.images.follow(recorder, rows.span());
            recorder.profile(stream, || Work::fill(rows.ranges().map(|row| row.size).sum()));
            Ok(())
        })
    }

    /// Measures a copy that the host makes.
    fn measure(&self, stream: StreamKey, from_host: bool, bytes: &[u8]) -> Option<Measured<'_>> {
        let work = || Work::copy(from_host, !from_host, bytes.len() as u64);
        self.raw.profile.as_ref().map(|profile| profile.measure(stream.row(), work()))
    }

    /// Whether an address is in memory of the host, on a device with memory of its own.
    fn is_on_host(&self, address: u64) -> bool {
        let found = self.blocks.find(address).filter(|_| !self.memory.is_unified());
        found.is_some_and(|(_, block)| block.mapped().is_ok())
    }

    /// Copies between ranges that do not overlap.
    pub fn copy(&self, stream: StreamKey, from: u64, to: u64, shape: &Shape) -> Result<Ticket> {
        let range = written(to, shape);
        self.queues.record(stream, |recorder| {
            // The buffers are retired through the queue when freed.
            let source = self.buffer(MemoryRange { address: from, size: shape.source_span() })?;
            copy_regions(recorder, source, self.buffer(range)?, shape);
            recorder.profile(stream, || Work::copy(self.is_on_host(from), self.is_on_host(to), shape.bytes()));
            self.images.follow(recorder, range);
            Ok(())
        })
    }
}

/// The bytes from the first to the last one that a copy to an address writes.
fn written(to: u64, shape: &Shape) -> MemoryRange {
    MemoryRange { address: to, size: shape.target_span() }
}
