//! Buffers: device memory with a 64-bit address, and copies to, from and between them.

use std::fmt;
use std::sync::Arc;

use bytemuck::Pod;

use crate::device::Device;
use crate::error::Error;
use crate::lock;
use crate::memory::{Block, Place};
use crate::staging;

/// Device memory. Its contents are undefined until written.
///
/// Dropping it frees it once the device has finished everything launched before, also kernels that reach it through
/// addresses stored elsewhere.
pub struct Buffer {
    device: Device,
    block: Arc<Block>,
    len: u64,
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer({} bytes at {:#x})", self.len, self.block.address)
    }
}

impl Buffer {
    pub(crate) fn new(device: &Device, len: u64) -> Result<Self, Error> {
        let block = Arc::new(device.shared.memory.allocate(len, Place::Device)?);
        Ok(Self { device: device.clone(), block, len })
    }

    /// The device address of its first byte, a multiple of 256, as kernels store and follow it.
    pub fn address(&self) -> u64 {
        self.block.address
    }

    /// Its size in bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether its size is zero. It has an address all the same.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The device that it belongs to.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Writes bytes at an offset, after everything launched before has finished with the buffer.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], [`Error::OutOfMemory`], [`Error::DeviceLost`].
    pub fn write(&self, offset: u64, bytes: &[u8]) -> Result<(), Error> {
        self.check_range(offset, bytes.len() as u64)?;
        let shared = &self.device.shared;
        if bytes.is_empty() {
            Ok(())
        } else if shared.memory.is_unified() {
            shared.queue.while_idle(|| self.block.write_mapped(offset, bytes))
        } else {
            lock(&shared.staging).write(&shared.queue, self.block.buffer, offset, bytes)
        }
    }

    /// Reads bytes from an offset, as everything launched before leaves them.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], [`Error::Aborted`], [`Error::OutOfMemory`], [`Error::DeviceLost`].
    pub fn read(&self, offset: u64, bytes: &mut [u8]) -> Result<(), Error> {
        self.check_range(offset, bytes.len() as u64)?;
        if !bytes.is_empty() {
            self.device.shared.read(&self.block, offset, bytes)?;
        }
        // Behind the reading, so that it covers every kernel that may have written these bytes.
        self.device.shared.check_status()
    }

    /// Reads the whole buffer.
    ///
    /// # Errors
    /// [`Error::PartialElement`] if its size is no multiple of the element's, and those of [`Buffer::read`].
    pub fn download<T: Pod>(&self) -> Result<Vec<T>, Error> {
        let partial = Error::PartialElement { bytes: self.len, element: size_of::<T>() };
        let count = match self.len.checked_div(size_of::<T>() as u64) {
            Some(count) if self.len.is_multiple_of(size_of::<T>() as u64) => usize::try_from(count),
            None if self.len == 0 => Ok(0),
            _ => return Err(partial),
        };
        let count = count.map_err(|_| Error::OutOfMemory(format!("{} bytes do not fit on the host", self.len)))?;
        let mut list = vec![T::zeroed(); count];
        self.read(0, bytemuck::cast_slice_mut(&mut list))?;
        Ok(list)
    }

    /// Sets every byte, asynchronously.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::DeviceLost`].
    pub fn fill(&self, byte: u8) -> Result<(), Error> {
        if self.is_empty() {
            return Ok(());
        }
        let (buffer, size) = (self.block.buffer, self.block.padded);
        self.device.shared.queue.record(|recorder| {
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

    /// Copies `len` bytes from another buffer of the same device, asynchronously.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for either buffer, [`Error::Overlap`] within one buffer, [`Error::ForeignBuffer`],
    /// [`Error::OutOfMemory`], [`Error::DeviceLost`].
    pub fn copy_from(&self, offset: u64, from: &Buffer, from_offset: u64, len: u64) -> Result<(), Error> {
        self.check_device(&from.device)?;
        self.check_range(offset, len)?;
        from.check_range(from_offset, len)?;
        if len == 0 {
            return Ok(());
        }
        if Arc::ptr_eq(&self.block, &from.block) && offset.abs_diff(from_offset) < len {
            return Err(Error::Overlap);
        }
        staging::copy(&self.device.shared.queue, from.block.buffer, from_offset, self.block.buffer, offset, len)?;
        Ok(())
    }

    /// The memory itself, which stays as long as this is held.
    pub(crate) fn block(&self) -> &Arc<Block> {
        &self.block
    }

    /// Errors unless the buffer belongs to this device.
    pub(crate) fn check_device(&self, device: &Device) -> Result<(), Error> {
        if Arc::ptr_eq(&self.device.shared, &device.shared) {
            Ok(())
        } else {
            Err(Error::ForeignBuffer(device.info().name.clone()))
        }
    }

    fn check_range(&self, offset: u64, len: u64) -> Result<(), Error> {
        match offset.checked_add(len) {
            Some(end) if end <= self.len => Ok(()),
            _ => Err(Error::OutOfRange { offset, len, size: self.len }),
        }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.device.shared.queue.retire(self.block.clone());
    }
}
