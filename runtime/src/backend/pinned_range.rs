//! Ranges of memory that host and device both access.

use crate::backend::allocations::Allocations;
use crate::backend::range::MemoryRange;

/// The origin of memory that host and device both access.
///
/// ```
/// use ptx2spv_runtime::{Config, Device, PinnedKind};
///
/// let device = Device::reference(Config::default());
/// let managed = device.memory().allocate_managed(64)?;
/// assert_eq!((managed.kind, managed.host), (PinnedKind::Managed, managed.address));
/// # Ok::<(), ptx2spv_runtime::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PinnedKind {
    /// Allocated by [`DeviceMemory::allocate_pinned`](crate::DeviceMemory::allocate_pinned).
    Pinned,
    /// Registered by [`DeviceMemory::register`](crate::DeviceMemory::register).
    Registered,
    /// Allocated by [`DeviceMemory::allocate_managed`](crate::DeviceMemory::allocate_managed).
    Managed,
}

/// Memory that host and device both access, each by its own address.
///
/// ```
/// use ptx2spv_runtime::{Config, Device, PinnedKind};
///
/// let device = Device::reference(Config::default());
/// let memory = device.memory();
/// let range = memory.allocate_pinned(64)?;
/// assert_eq!((range.size, range.kind), (64, PinnedKind::Pinned));
/// assert_eq!(memory.find_mapped(range.address + 10), Some(range));
/// // SAFETY: nothing uses the memory.
/// unsafe { memory.free(range.address) }?;
/// # Ok::<(), ptx2spv_runtime::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PinnedRange {
    /// The host address of the first byte.
    pub host: u64,
    /// The device address of the first byte.
    pub address: u64,
    /// Number of bytes.
    pub size: u64,
    /// The origin of the memory.
    pub kind: PinnedKind,
}

impl PinnedRange {
    /// The pointer to the first byte.
    pub fn pointer(&self) -> *mut u8 {
        std::ptr::with_exposed_provenance_mut(self.host as usize)
    }
}

/// The ranges of a device, by host address and by device address.
#[derive(Default)]
pub(crate) struct PinnedRanges {
    pub by_host: Allocations<PinnedRange>,
    pub by_device: Allocations<PinnedRange>,
}

impl PinnedRanges {
    pub fn insert(&self, range: PinnedRange) {
        self.by_host.insert(MemoryRange { address: range.host, size: range.size }, range);
        self.by_device.insert(MemoryRange { address: range.address, size: range.size }, range);
    }

    /// Removes the range that begins at a device address.
    pub fn remove(&self, address: u64) {
        if let Some((_, range)) = self.by_device.remove(address) {
            self.by_host.remove(range.host);
        }
    }
}
