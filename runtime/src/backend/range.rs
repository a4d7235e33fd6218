//! Ranges and rows of device memory, and its size.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::error::{Error, Result};

/// A range of device memory.
///
/// ```
/// use ptx2spv_runtime::{Config, Device, MemoryRange};
///
/// let device = Device::reference(Config::default());
/// let buffer = device.alloc(256)?;
/// let found = device.memory().find(buffer.address() + 100);
/// assert_eq!(found, Some(MemoryRange { address: buffer.address(), size: 256 }));
/// # Ok::<(), ptx2spv_runtime::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryRange {
    /// Device address of the first byte.
    pub address: u64,
    /// Number of bytes.
    pub size: u64,
}

impl MemoryRange {
    /// Fails unless another range, which begins in this one, ends in it too.
    pub(crate) fn check(self, part: Self) -> Result {
        let (offset, len, size) = (part.address - self.address, part.size, self.size);
        if len > size.saturating_sub(offset) { Err(Error::OutOfRange { offset, len, size }) } else { Ok(()) }
    }
}

/// The memory size of a device.
///
/// ```
/// use ptx2spv_runtime::{Config, Device};
///
/// let info = Device::reference(Config::default()).memory().info();
/// assert!(info.free <= info.total);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryInfo {
    /// Free bytes as reported by the driver, or else the bytes that this program has not allocated.
    pub free: u64,
    /// Total bytes.
    pub total: u64,
}

/// Rows of device memory, `pitch` bytes apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rows {
    pub first: MemoryRange,
    pub count: u64,
    pub pitch: u64,
}

impl Rows {
    /// A single row.
    pub fn one(first: MemoryRange) -> Self {
        Self { first, count: 1, pitch: first.size }
    }

    /// The bytes from the first to the last one.
    pub fn span(self) -> MemoryRange {
        let size = self.count.saturating_sub(1) * self.pitch + self.first.size;
        MemoryRange { size, ..self.first }
    }

    /// The ranges of all rows.
    pub fn ranges(self) -> impl Iterator<Item = MemoryRange> {
        let Self { first: MemoryRange { address, size }, count, pitch } = self;
        (0..count).map(move |row| MemoryRange { address: address + row * pitch, size })
    }
}

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

/// Allocations by first address, each with its size and the back end's data.
pub(crate) struct Allocations<T> {
    list: RwLock<BTreeMap<u64, (u64, T)>>,
    changes: AtomicU64,
}

impl<T> Default for Allocations<T> {
    fn default() -> Self {
        Self { list: RwLock::default(), changes: AtomicU64::new(0) }
    }
}

impl<T: Clone> Allocations<T> {
    /// Adds an allocation.
    pub fn insert(&self, range: MemoryRange, kept: T) {
        self.write().insert(range.address, (range.size, kept));
        self.changes.fetch_add(1, SeqCst);
    }

    /// Removes the allocation that begins at an address.
    pub fn remove(&self, address: u64) -> Option<(MemoryRange, T)> {
        let (size, kept) = self.write().remove(&address)?;
        self.changes.fetch_add(1, SeqCst);
        Some((MemoryRange { address, size }, kept))
    }

    /// The number of changes so far: every insertion and removal counts.
    pub fn changes(&self) -> u64 {
        self.changes.load(SeqCst)
    }

    /// All allocations, by address.
    pub fn ranges(&self) -> Vec<MemoryRange> {
        self.read().iter().map(|(&address, &(size, _))| MemoryRange { address, size }).collect()
    }

    /// The allocation that contains an address. An empty allocation contains its own address.
    pub fn find(&self, address: u64) -> Option<(MemoryRange, T)> {
        let allocations = self.read();
        let (&start, (size, kept)) = allocations.range(..=address).next_back()?;
        (address - start < (*size).max(1)).then(|| (MemoryRange { address: start, size: *size }, kept.clone()))
    }

    /// Whether an allocation shares bytes with a range of at least one byte.
    pub fn overlaps(&self, range: MemoryRange) -> bool {
        !self.overlapping(range).is_empty()
    }

    /// The allocations that share bytes with a range of at least one byte.
    pub fn overlapping(&self, range: MemoryRange) -> Vec<MemoryRange> {
        let last = range.address.saturating_add(range.size - 1);
        let allocations = self.read();
        let before = allocations.range(..=last).rev().map(|(&address, &(size, _))| MemoryRange { address, size });
        before.take_while(|found| found.address.saturating_add(found.size) > range.address).collect()
    }

    /// Bytes in all allocations.
    pub fn bytes(&self) -> u64 {
        self.read().values().map(|(size, _)| size).sum()
    }

    fn read(&self) -> RwLockReadGuard<'_, BTreeMap<u64, (u64, T)>> {
        self.list.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, BTreeMap<u64, (u64, T)>> {
        self.list.write().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_inside_of_allocations() {
        let allocations = Allocations::default();
        let [first, second, empty] =
            [(0x1000, 16), (0x1010, 8), (0x2000, 0)].map(|(address, size)| MemoryRange { address, size });
        [first, second, empty].into_iter().for_each(|range| allocations.insert(range, range.size));
        let found = |address| allocations.find(address).map(|(range, _)| range);
        assert_eq!([0xfff, 0x1000, 0x100f].map(found), [None, Some(first), Some(first)]);
        assert_eq!([0x1010, 0x1017, 0x1018].map(found), [Some(second), Some(second), None]);
        assert_eq!([0x2000, 0x2001].map(found), [Some(empty), None]);
        let overlaps = |address, size| allocations.overlaps(MemoryRange { address, size });
        assert_eq!([(0xff0, 16), (0x1018, 1), (0x2000, 9)].map(|(at, size)| overlaps(at, size)), [false; 3]);
        assert_eq!([(0xff0, 17), (0x1017, 1), (0, 0x5000)].map(|(at, size)| overlaps(at, size)), [true; 3]);
        assert_eq!(allocations.bytes(), 24);
        assert_eq!((allocations.ranges(), allocations.changes()), (vec![first, second, empty], 3));
        assert_eq!((allocations.remove(0x1001), allocations.remove(0x1000)), (None, Some((first, 16))));
        assert_eq!((found(0x1008), allocations.changes()), (None, 4));
    }
}
