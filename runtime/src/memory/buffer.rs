//! Buffers: device memory with a 64-bit address, and copies to, from and between them.

use std::fmt;

use bytemuck::Pod;

use crate::backend::range::{MemoryRange, Rows};
use crate::backend::shape::{Extent, Shape};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::memory::copies::CopySide;

/// Device memory. Its contents are undefined until written.
///
/// Dropping a buffer frees the memory once the device has finished everything launched before, including kernels that
/// access it through addresses stored elsewhere.
///
/// ```
/// use ptx2spv_runtime::{Config, Device};
///
/// let device = Device::reference(Config::default());
/// let buffer = device.upload(&[1_u32, 2, 3])?;
/// buffer.write(4, &7_u32.to_le_bytes())?;
/// assert_eq!(buffer.download::<u32>()?, [1, 7, 3]);
/// assert!(buffer.write(10, &[0; 4]).is_err());
/// # Ok::<(), ptx2spv_runtime::Error>(())
/// ```
pub struct Buffer {
    device: Device,
    address: u64,
    len: u64,
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.device.release(self.address);
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer({} bytes at {:#x})", self.len, self.address())
    }
}

impl Device {
    /// Allocates a buffer of `bytes` bytes with undefined contents.
    ///
    /// # Errors
    /// [`Error::BufferTooLarge`], [`Error::OutOfMemory`].
    pub fn alloc(&self, bytes: u64) -> Result<Buffer> {
        Ok(Buffer { address: self.allocate(bytes)?, device: self.clone(), len: bytes })
    }

    /// Allocates a buffer that the host accesses at the same address.
    pub(crate) fn alloc_managed(&self, bytes: u64) -> Result<Buffer> {
        self.check_far("managed memory")?;
        let range = self.share_apart(|| self.backend().allocate_managed(bytes))?;
        Ok(Buffer { address: range.address, device: self.clone(), len: bytes })
    }

    /// Allocates a buffer that holds `data`.
    ///
    /// # Errors
    /// The errors of [`Device::alloc`] and [`Buffer::write`].
    pub fn upload<T: Pod>(&self, data: &[T]) -> Result<Buffer> {
        let bytes: &[u8] = bytemuck::cast_slice(data);
        let buffer = self.alloc(bytes.len() as u64)?;
        buffer.write(0, bytes)?;
        Ok(buffer)
    }
}

impl Buffer {
    /// The device address of the first byte, a multiple of 256. Kernels can store and follow it.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// The size in bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether the size is zero. An empty buffer has an address too.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The device that the buffer belongs to.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Writes bytes at an offset, after everything launched before has finished with the buffer.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], [`Error::OutOfMemory`], [`Error::DeviceLost`].
    pub fn write(&self, offset: u64, bytes: &[u8]) -> Result {
        self.check_range(offset, bytes.len() as u64)?;
        if bytes.is_empty() {
            return Ok(());
        }
        let _lock = self.device.wait_to_submit(self.device.default_state())?;
        self.device.backend().write(self.address + offset, bytes)
    }

    /// Reads bytes from an offset, as everything launched before leaves them.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], [`Error::Aborted`], [`Error::Fault`], [`Error::OutOfMemory`], [`Error::DeviceLost`].
    pub fn read(&self, offset: u64, bytes: &mut [u8]) -> Result {
        self.check_range(offset, bytes.len() as u64)?;
        if !bytes.is_empty() {
            let _lock = self.device.wait_to_submit(self.device.default_state())?;
            self.device.backend().read(self.address + offset, bytes)?;
        }
        // After the read, so that it covers every kernel that may have written these bytes.
        self.device.backend().check_stopped()
    }

    /// Reads the whole buffer.
    ///
    /// # Errors
    /// [`Error::PartialElement`] if the buffer's size is not a multiple of the element's, and the errors of [`Buffer::read`].
    pub fn download<T: Pod>(&self) -> Result<Vec<T>> {
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
    pub fn fill(&self, byte: u8) -> Result {
        let all = MemoryRange { address: self.address, size: self.len };
        let word = u32::from_ne_bytes([byte; 4]);
        if self.is_empty() {
            return Ok(());
        }
        self.device.submit(self.device.default_state(), |backend, stream| backend.fill(stream, Rows::one(all), word))
    }

    /// Copies `len` bytes from another buffer of the same device, asynchronously.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for either buffer, [`Error::Overlap`] within one buffer, [`Error::ForeignBuffer`],
    /// [`Error::OutOfMemory`], [`Error::DeviceLost`].
    pub fn copy_from(&self, offset: u64, from: &Buffer, from_offset: u64, len: u64) -> Result {
        self.check_device(&from.device)?;
        self.check_range(offset, len)?;
        from.check_range(from_offset, len)?;
        if len == 0 {
            return Ok(());
        }
        if self.address() == from.address() && offset.abs_diff(from_offset) < len {
            return Err(Error::Overlap);
        }
        let (from, to) = (from.address + from_offset, self.address + offset);
        let shape = Shape::linear(len);
        self.device.submit(self.device.default_state(), |backend, stream| backend.copy(stream, from, to, &shape))
    }

    /// A new buffer on a device, which may be another one, with the contents that everything launched before leaves. Between
    /// devices they go through the host's memory.
    ///
    /// ```
    /// use ptx2spv_runtime::{Config, Device};
    ///
    /// let (here, there) = (Device::reference(Config::default()), Device::reference(Config::default()));
    /// let copy = here.upload(&[1_u32, 2, 3])?.copy_to_device(&there)?;
    /// assert_eq!(copy.download::<u32>()?, [1, 2, 3]);
    /// # Ok::<(), ptx2spv_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`Device::alloc`] and [`Stream::copy_rows_between`](crate::Stream::copy_rows_between).
    pub fn copy_to_device(&self, device: &Device) -> Result<Self> {
        let made = device.alloc(self.len)?;
        if device.is(&self.device) {
            made.copy_from(0, self, 0, self.len)?;
            return Ok(made);
        }
        self.device.synchronize()?;
        let (from, to) = ((CopySide::device(self.address), &self.device), (CopySide::device(made.address), device));
        // SAFETY: both are buffers of this length.
        unsafe { self.device.default_stream().copy_rows_between(from, to, Extent::rows(self.len, 1)) }?;
        Ok(made)
    }

    /// Fails unless the buffer belongs to this device.
    pub(crate) fn check_device(&self, device: &Device) -> Result {
        device.check_same(&self.device)
    }

    fn check_range(&self, offset: u64, len: u64) -> Result {
        match offset.checked_add(len) {
            Some(end) if end <= self.len => Ok(()),
            _ => Err(Error::OutOfRange { offset, len, size: self.len }),
        }
    }
}
