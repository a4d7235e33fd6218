//! Typed device memory: slices of elements, and views of parts of them.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Bound, RangeBounds};
use std::sync::Arc;

use bytemuck::Pod;

use crate::device::Device;
use crate::error::{Error, Result};
use crate::memory::buffer::Buffer;

/// A slice of elements in device memory: a whole buffer, or a part of one. Clones and parts share the buffer, which is
/// freed with the last of them.
///
/// As a kernel argument, a slice passes the address of its first element.
///
/// ```
/// use ptx2spv_runtime::{Config, Device};
///
/// let device = Device::reference(Config::default());
/// let numbers = device.upload_slice(&[1.0_f32, 2.0, 3.0, 4.0])?;
/// let tail = numbers.slice(2..)?;
/// tail.fill(9.0)?;
/// numbers.slice(..1)?.copy_from(&tail.slice(..1)?)?;
/// assert_eq!(numbers.to_vec()?, [9.0, 2.0, 9.0, 9.0]);
/// assert!(numbers.slice(3..6).is_err());
/// # Ok::<(), ptx2spv_runtime::Error>(())
/// ```
pub struct DeviceSlice<T> {
    buffer: Arc<Buffer>,
    /// Offset of the slice in the buffer, in bytes.
    start: u64,
    /// Number of elements.
    len: usize,
    element: PhantomData<fn() -> T>,
}

impl<T> Clone for DeviceSlice<T> {
    fn clone(&self) -> Self {
        Self { buffer: self.buffer.clone(), ..*self }
    }
}

impl<T> fmt::Debug for DeviceSlice<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DeviceSlice({} elements at {:#x})", self.len, self.address())
    }
}

impl Device {
    /// Allocates `len` elements with undefined contents.
    ///
    /// # Errors
    /// The errors of [`Device::alloc`].
    pub fn alloc_slice<T: Pod>(&self, len: usize) -> Result<DeviceSlice<T>> {
        let bytes = (len as u64).saturating_mul(size_of::<T>() as u64);
        Ok(DeviceSlice { buffer: Arc::new(self.alloc(bytes)?), start: 0, len, element: PhantomData })
    }

    /// Allocates a slice that holds `data`.
    ///
    /// # Errors
    /// The errors of [`Device::upload`].
    pub fn upload_slice<T: Pod>(&self, data: &[T]) -> Result<DeviceSlice<T>> {
        Ok(DeviceSlice { buffer: Arc::new(self.upload(data)?), start: 0, len: data.len(), element: PhantomData })
    }
}

impl<T> DeviceSlice<T> {
    /// The device address of the first element.
    pub fn address(&self) -> u64 {
        self.buffer.address() + self.start
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The device that the memory belongs to.
    pub fn device(&self) -> &Device {
        self.buffer.device()
    }

    /// The buffer that contains the slice, and the slice's offset in bytes.
    pub(crate) fn place(&self) -> (&Buffer, u64) {
        (&self.buffer, self.start)
    }

    /// A part of the slice.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], in elements.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<Self> {
        let first = match range.start_bound() {
            Bound::Included(&first) => first,
            Bound::Excluded(&before) => before.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let end = match range.end_bound() {
            Bound::Included(&last) => last.saturating_add(1),
            Bound::Excluded(&end) => end,
            Bound::Unbounded => self.len,
        };
        match end.checked_sub(first) {
            Some(len) if end <= self.len => {
                // No overflow: the elements lie within the buffer.
                let start = self.start + first as u64 * size_of::<T>() as u64;
                Ok(Self { buffer: self.buffer.clone(), start, len, element: PhantomData })
            }
            _ => Err(Error::OutOfRange {
                offset: first as u64,
                len: end.saturating_sub(first) as u64,
                size: self.len as u64,
            }),
        }
    }

    /// Fails unless the slice has `len` elements.
    fn check_len(&self, len: usize) -> Result {
        if len == self.len {
            Ok(())
        } else {
            Err(Error::OutOfRange { offset: 0, len: len as u64, size: self.len as u64 })
        }
    }
}

impl<T: Pod> DeviceSlice<T> {
    /// Writes all elements, after everything launched before.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if the lengths differ, and the errors of [`Buffer::write`].
    pub fn write(&self, data: &[T]) -> Result {
        self.check_len(data.len())?;
        self.buffer.write(self.start, bytemuck::cast_slice(data))
    }

    /// Reads all elements, after everything launched before.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if the lengths differ, and the errors of [`Buffer::read`].
    pub fn read(&self, data: &mut [T]) -> Result {
        self.check_len(data.len())?;
        self.buffer.read(self.start, bytemuck::cast_slice_mut(data))
    }

    /// Reads all elements into a new vector.
    ///
    /// # Errors
    /// The errors of [`Buffer::read`].
    pub fn to_vec(&self) -> Result<Vec<T>> {
        let mut list = vec![T::zeroed(); self.len];
        self.read(&mut list)?;
        Ok(list)
    }

    /// Sets every element: asynchronously if an element has 1, 2 or 4 bytes.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::DeviceLost`].
    pub fn fill(&self, value: T) -> Result {
        let (memory, count) = (self.device().memory(), self.len as u64);
        match *bytemuck::bytes_of(&value) {
            [byte] => memory.set(self.address(), byte, count),
            [a, b] => memory.set(self.address(), u16::from_le_bytes([a, b]), count),
            [a, b, c, d] => memory.set(self.address(), u32::from_le_bytes([a, b, c, d]), count),
            _ => self.write(&vec![value; self.len]),
        }
    }

    /// Copies all elements of another slice of the same device, asynchronously.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if the lengths differ, and the errors of [`Buffer::copy_from`].
    pub fn copy_from(&self, from: &Self) -> Result {
        self.check_len(from.len)?;
        self.buffer.copy_from(self.start, &from.buffer, from.start, self.len as u64 * size_of::<T>() as u64)
    }

    /// The bytes as elements of another type.
    ///
    /// # Errors
    /// [`Error::PartialElement`] if the bytes are not a whole number of the new elements.
    pub fn cast<U: Pod>(&self) -> Result<DeviceSlice<U>> {
        let bytes = self.len * size_of::<T>();
        match bytes.checked_div(size_of::<U>()) {
            Some(len) if len * size_of::<U>() == bytes => {
                Ok(DeviceSlice { buffer: self.buffer.clone(), start: self.start, len, element: PhantomData })
            }
            _ => Err(Error::PartialElement { bytes: bytes as u64, element: size_of::<U>() }),
        }
    }
}
