//! The live allocations of a device, ordered by address.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::backend::range::MemoryRange;

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
        let last = range.address.saturating_add(range.size - 1);
        let before = self.read().range(..=last).next_back().map(|(start, (size, _))| start.saturating_add(*size));
        before.is_some_and(|end| end > range.address)
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
