//! Device memory by plain 64-bit addresses, as in CUDA's driver API.

pub(crate) mod buffer;
pub(crate) mod copies;
pub(crate) mod pinned;
pub(crate) mod slice;

use crate::backend::range::{MemoryInfo, MemoryRange};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::stream::SetValue;

/// A device's memory by address, for programs that track allocations themselves. Addresses may point into the middle of
/// an allocation, including one of a [`Buffer`](crate::Buffer), which other programs should use.
///
/// Each access must lie within one live allocation. Everything happens in the order of the calls, as with buffers:
/// reading and writing waits for earlier work, filling and copying is asynchronous.
///
/// ```
/// use ptx2spv_runtime::{Config, Device, MemoryRange};
///
/// let device = Device::reference(Config::default());
/// let memory = device.memory();
/// let address = memory.allocate(64)?;
/// memory.set(address, 7_u32, 16)?;
/// memory.write(address + 10, &[1, 2])?;
/// memory.copy(address, address + 32, 16)?;
/// let mut bytes = [0; 8];
/// memory.read(address + 40, &mut bytes)?;
/// assert_eq!(bytes, [7, 0, 1, 2, 7, 0, 0, 0]);
/// assert_eq!(memory.find(address + 63), Some(MemoryRange { address, size: 64 }));
/// // SAFETY: nothing uses the memory any more.
/// unsafe { memory.free(address) }?;
/// assert_eq!(memory.find(address), None);
/// # Ok::<(), ptx2spv_runtime::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct DeviceMemory<'d> {
    device: &'d Device,
}

impl Device {
    /// The device's memory by addresses.
    pub fn memory(&self) -> DeviceMemory<'_> {
        DeviceMemory { device: self }
    }
}

impl<'d> DeviceMemory<'d> {
    pub(crate) fn device(&self) -> &'d Device {
        self.device
    }

    /// Allocates `bytes` bytes with undefined contents, and returns the address of the first byte, a multiple of 256.
    /// An allocation of size zero has an address too.
    ///
    /// # Errors
    /// [`Error::BufferTooLarge`], [`Error::OutOfMemory`].
    pub fn allocate(&self, bytes: u64) -> Result<u64> {
        self.device.allocate(bytes)
    }

    /// Frees an allocation, given the device address of its first byte, once the device has finished everything
    /// launched before.
    ///
    /// # Safety
    /// The memory was allocated or registered through this type, and no later launch accesses it.
    ///
    /// # Errors
    /// [`Error::NotAllocated`] if no allocation begins at the address.
    pub unsafe fn free(&self, address: u64) -> Result {
        match self.find(address) {
            Some(allocation) if allocation.address == address => {
                self.device.free(address);
                Ok(())
            }
            _ => Err(Error::NotAllocated { address }),
        }
    }

    /// Writes bytes, after everything launched before.
    ///
    /// # Errors
    /// [`Error::NotAllocated`], [`Error::OutOfRange`], [`Error::OutOfMemory`], [`Error::DeviceLost`].
    pub fn write(&self, address: u64, bytes: &[u8]) -> Result {
        if !self.device.check_range(address, bytes.len() as u64)? {
            return Ok(());
        }
        let _lock = self.device.wait_to_submit(self.device.default_state())?;
        self.device.backend().write(address, bytes)
    }

    /// Reads bytes, after everything launched before.
    ///
    /// # Errors
    /// [`Error::NotAllocated`], and the errors of [`Buffer::read`](crate::Buffer::read).
    pub fn read(&self, address: u64, bytes: &mut [u8]) -> Result {
        if self.device.check_range(address, bytes.len() as u64)? {
            let _lock = self.device.wait_to_submit(self.device.default_state())?;
            self.device.backend().read(address, bytes)?;
        }
        self.device.backend().check_stopped()
    }

    /// Copies `bytes` bytes between ranges that don't overlap, asynchronously.
    ///
    /// # Errors
    /// [`Error::NotAllocated`], [`Error::OutOfRange`], [`Error::Overlap`], [`Error::OutOfMemory`], [`Error::DeviceLost`].
    pub fn copy(&self, from: u64, to: u64, bytes: u64) -> Result {
        self.device.default_stream().copy(from, to, bytes)
    }

    /// Fills memory with `count` numbers, asynchronously.
    ///
    /// # Errors
    /// [`Error::Misaligned`] unless the address is a multiple of a number's size, [`Error::NotAllocated`], [`Error::OutOfRange`],
    /// [`Error::OutOfMemory`], [`Error::DeviceLost`].
    pub fn set(&self, address: u64, value: impl Into<SetValue>, count: u64) -> Result {
        self.device.default_stream().set(address, value, count)
    }

    /// Whether a loaded module has 32-bit pointers that can't reach an address: see
    /// [`Module::has_short_pointers`](crate::Module::has_short_pointers).
    pub fn is_out_of_reach(&self, address: u64) -> bool {
        self.device.needed_near().is_some_and(|near| !near.contains(address))
    }

    /// The allocation that contains an address.
    pub fn find(&self, address: u64) -> Option<MemoryRange> {
        self.device.find(address)
    }

    /// Whether an allocation shares bytes with a range of at least one byte.
    pub fn overlaps(&self, range: MemoryRange) -> bool {
        self.device.overlaps(range)
    }

    /// The amount of total and free memory.
    pub fn info(&self) -> MemoryInfo {
        self.device.backend().memory_info()
    }
}
