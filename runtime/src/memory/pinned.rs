//! Memory that host and device both access: pinned, registered and managed.

use std::fmt;
use std::ptr::NonNull;
use std::slice;

use crate::backend::range::{MemoryRange, PinnedKind, PinnedRange};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::memory::DeviceMemory;

/// Host memory that the device can access too, as from `cuMemHostAlloc`. Its contents are undefined until written.
///
/// Copies between pinned and device memory are asynchronous in both directions: see [`Stream::copy`]. Kernels access it
/// by its device address. Dropping it frees it once the device has finished everything launched before.
///
/// ```
/// use ptx2spv_runtime::{Config, Device};
///
/// let device = Device::reference(Config::default());
/// let (mut pinned, buffer) = (device.alloc_pinned(64)?, device.alloc(64)?);
/// // SAFETY: the device has nothing to do.
/// unsafe { pinned.bytes_mut() }.fill(3);
/// let stream = device.stream();
/// stream.copy(pinned.address(), buffer.address(), 64)?;
/// stream.set(buffer.address(), 4_u8, 32)?;
/// stream.copy(buffer.address(), pinned.address(), 64)?;
/// stream.synchronize()?;
/// // SAFETY: the stream has come to its end.
/// assert_eq!(unsafe { pinned.bytes() }[31..33], [4, 3]);
/// # Ok::<(), ptx2spv_runtime::Error>(())
/// ```
///
/// [`Stream::copy`]: crate::Stream::copy
pub struct PinnedBuffer {
    device: Device,
    range: PinnedRange,
}

impl fmt::Debug for PinnedBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PinnedBuffer({} bytes at {:#x})", self.range.size, self.range.host)
    }
}

impl Drop for PinnedBuffer {
    fn drop(&mut self) {
        self.device.free(self.range.address);
    }
}

impl Device {
    /// Allocates `bytes` bytes of host memory that the device can access too.
    ///
    /// # Errors
    /// [`Error::BufferTooLarge`], [`Error::OutOfMemory`].
    pub fn alloc_pinned(&self, bytes: u64) -> Result<PinnedBuffer> {
        Ok(PinnedBuffer { range: self.memory().allocate_pinned(bytes)?, device: self.clone() })
    }

    /// Whether [`DeviceMemory::allocate_managed`] can allocate memory with one address for host and device.
    pub fn has_managed_memory(&self) -> bool {
        match self.backend().allocate_managed(1) {
            Ok(range) => {
                self.backend().free(range.address);
                true
            }
            Err(_) => false,
        }
    }
}

impl PinnedBuffer {
    /// The device address of the first byte, a multiple of 256.
    pub fn address(&self) -> u64 {
        self.range.address
    }

    /// The host's pointer to the first byte.
    pub fn as_ptr(&self) -> *mut u8 {
        self.range.pointer()
    }

    /// The size in bytes.
    pub fn len(&self) -> u64 {
        self.range.size
    }

    /// Whether the size is zero.
    pub fn is_empty(&self) -> bool {
        self.range.size == 0
    }

    /// The device that the memory belongs to.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The bytes, for reading on the host.
    ///
    /// # Safety
    /// No unfinished work on the device writes them.
    pub unsafe fn bytes(&self) -> &[u8] {
        // SAFETY: `size` bytes are mapped while the buffer lives, so that their number fits a usize; by the contract
        // they are not written meanwhile.
        unsafe { slice::from_raw_parts(self.as_ptr(), self.range.size as usize) }
    }

    /// The bytes, for writing on the host.
    ///
    /// # Safety
    /// No unfinished work on the device reads or writes them.
    pub unsafe fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above; by the contract they are not used elsewhere meanwhile.
        unsafe { slice::from_raw_parts_mut(self.as_ptr(), self.range.size as usize) }
    }
}

impl DeviceMemory<'_> {
    /// Allocates host memory that the device can access too, like `cuMemHostAlloc`. [`DeviceMemory::free`] frees it by
    /// the device address.
    ///
    /// # Errors
    /// [`Error::BufferTooLarge`], [`Error::OutOfMemory`].
    pub fn allocate_pinned(&self, bytes: u64) -> Result<PinnedRange> {
        self.keep(self.device().share_apart(|| self.device().backend().allocate_pinned(bytes))?)
    }

    /// Allocates memory with one address for host and device, like `cuMemAllocManaged`. The host may access it once the
    /// device has finished all work that uses it.
    ///
    /// # Errors
    /// [`Error::NoManagedMemory`] if the device has none, [`Error::BufferTooLarge`], [`Error::OutOfMemory`].
    pub fn allocate_managed(&self, bytes: u64) -> Result<PinnedRange> {
        self.keep(self.device().share_apart(|| self.device().backend().allocate_managed(bytes))?)
    }

    /// Makes existing host memory accessible to the device, like `cuMemHostRegister`. [`DeviceMemory::free`] undoes
    /// this, given the device address; the memory itself remains.
    ///
    /// # Safety
    /// The memory exists, readable and writable, until it is freed here and everything launched before has finished.
    ///
    /// # Errors
    /// [`Error::NotRegistered`] if the device doesn't support it, or a part of the memory is already registered;
    /// [`Error::OutOfMemory`].
    pub unsafe fn register(&self, host: *mut u8, bytes: u64) -> Result<PinnedRange> {
        let host_address = host.expose_provenance() as u64;
        let refuse = |reason: &str| {
            let device = self.device().info().name.clone();
            Err(Error::NotRegistered { device, host: host_address, reason: reason.to_owned() })
        };
        let Some(pointer) = NonNull::new(host).filter(|_| bytes > 0) else { return refuse("there is none") };
        self.device().backend().check_process()?;
        if self.device().pinned_ranges().by_host.overlaps(MemoryRange { address: host_address, size: bytes }) {
            return refuse("a part of it is pinned already");
        }
        // SAFETY: by the contract.
        let address = unsafe { self.device().backend().register(pointer, bytes) }?;
        self.keep(PinnedRange { host: host_address, address, size: bytes, kind: PinnedKind::Registered })
    }

    fn keep(&self, range: PinnedRange) -> Result<PinnedRange> {
        self.device().pinned_ranges().insert(range);
        Ok(range)
    }

    /// The pinned, registered or managed memory that contains a host address.
    pub fn find_pinned(&self, host: u64) -> Option<PinnedRange> {
        self.device().backend().check_process().ok()?;
        Some(self.device().pinned_ranges().by_host.find(host)?.1)
    }

    /// The pinned, registered or managed memory that contains a device address.
    pub fn find_mapped(&self, address: u64) -> Option<PinnedRange> {
        self.device().backend().check_process().ok()?;
        Some(self.device().pinned_ranges().by_device.find(address)?.1)
    }
}
