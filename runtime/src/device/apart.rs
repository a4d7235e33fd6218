//! Memory at addresses of a device's own, where addresses tell several devices apart.
//!
//! Vulkan has no say in addresses, and drivers give the same ones on each device. What lies where another device has memory is allocated
//! again. Meanwhile the addresses have to stay in use: a small block is kept, and a large one's addresses are reserved without memory,
//! where the device can. What is kept is given back when the device has no memory left.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, OnceLock};

use crate::backend::Reservation;
use crate::backend::range::{MemoryRange, PinnedRange};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::sync::lock;

/// The size from which blocks aren't kept. From there on they get an allocation of their own, whose addresses a reservation can take.
const LARGE: u64 = 2 << 20;

/// The most doublings of the size that is reserved at a time.
const MAX_DOUBLINGS: u32 = 10;

/// A test whether memory besides a device's own, known to the caller, lies in a range.
type IsUsed = fn(&Device, MemoryRange) -> bool;

/// State of the search for addresses at which no other device has memory.
#[derive(Default)]
pub(crate) struct Apart {
    is_used: OnceLock<IsUsed>,
    /// The addresses of blocks that are kept only so that no allocation gets the addresses.
    kept: Mutex<BTreeSet<u64>>,
    reserved: Mutex<Vec<Reservation>>,
}

impl Device {
    /// From now on, memory that programs see the addresses of is allocated only where a function says that no other memory lies. The
    /// first function stays.
    pub fn keep_apart(&self, is_used: fn(&Self, MemoryRange) -> bool) {
        let _ = self.apart().is_used.set(is_used);
    }

    /// Allocates device memory.
    pub(crate) fn allocate_apart(&self, size: u64) -> Result<u64> {
        let own = |&address: &u64| MemoryRange { address, size };
        let allocate = |elsewhere: bool| match elsewhere {
            true => self.backend().allocate_elsewhere(size),
            false => self.backend().allocate(size),
        };
        self.find_apart(allocate, own)
    }

    /// Allocates memory that the host can access too.
    pub(crate) fn share_apart(&self, allocate: impl Fn() -> Result<PinnedRange>) -> Result<PinnedRange> {
        self.find_apart(|_| allocate(), |shared| MemoryRange { address: shared.address, size: shared.size })
    }

    /// Allocates until no other memory lies there, large blocks elsewhere from the second time on.
    fn find_apart<T>(&self, allocate: impl Fn(bool) -> Result<T>, range: impl Fn(&T) -> MemoryRange) -> Result<T> {
        let Some(is_used) = self.apart().is_used.get() else { return allocate(false) };
        // Blocks that stay until the end of the call, and how often each address of a large one was met.
        let (mut large, mut met, mut is_out) = (Vec::new(), BTreeMap::new(), false);
        let found = loop {
            match allocate(!met.is_empty()) {
                Ok(made) => {
                    let MemoryRange { address, size } = range(&made);
                    if !is_used(self, MemoryRange { address, size: size.max(1) }) {
                        break Ok(made);
                    }
                    if size < LARGE {
                        lock(&self.apart().kept).insert(address);
                        continue;
                    }
                    let doublings = (met.len() as u32).min(MAX_DOUBLINGS);
                    let times = met.entry(address).or_insert(0);
                    *times += 1;
                    match times {
                        1 if doublings == 0 => self.backend().free(address),
                        // Another device may have much memory: ever more is taken at a time.
                        1 => self.replace_by_reservation(address, size.saturating_mul(1 << doublings)),
                        // That didn't fit where the block was.
                        2 => self.replace_by_reservation(address, size),
                        _ => large.push(address),
                    }
                }
                Err(Error::OutOfMemory(_)) if !is_out => {
                    is_out = true;
                    lock(&self.apart().reserved).clear();
                    let kept = std::mem::take(&mut *lock(&self.apart().kept));
                    kept.into_iter().chain(large.drain(..)).for_each(|address| self.backend().free(address));
                }
                Err(error) => break Err(error),
            }
        };
        large.into_iter().for_each(|address| self.backend().free(address));
        found
    }

    /// Frees a block, and reserves addresses, which may be its own.
    fn replace_by_reservation(&self, address: u64, size: u64) {
        self.backend().free(address);
        lock(&self.apart().reserved).extend(self.backend().reserve(size));
    }

    /// Whether an allocation in use shares bytes with a range of at least one byte. Blocks that are merely kept don't count.
    pub(crate) fn overlaps(&self, range: MemoryRange) -> bool {
        let kept = lock(&self.apart().kept);
        self.backend().overlapping(range).iter().any(|found| !kept.contains(&found.address))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;

    #[test]
    fn addresses_in_use_are_left_out() {
        let device = Device::reference(Config::default());
        let first = device.allocate_apart(64).unwrap();
        assert!(device.overlaps(MemoryRange { address: first + 63, size: 1 }));
        // The reference device counts.
        device.keep_apart(|_, range| range.address >> 36 < 40);
        let second = device.allocate_apart(64).unwrap();
        assert_eq!(second >> 36, 40);
        let kept = MemoryRange { address: second - (1 << 36), size: 1 };
        assert!(!device.overlaps(kept) && !device.backend().overlapping(kept).is_empty());
        assert_eq!(device.share_apart(|| device.backend().allocate_pinned(1 << 24)).unwrap().address >> 36, 41);
        // Large blocks aren't kept.
        let device = Device::reference(Config::default());
        device.keep_apart(|_, range| range.address >> 36 < 10);
        let found = device.allocate_apart(LARGE).unwrap();
        let all = device.backend().overlapping(MemoryRange { address: 1 << 36, size: (20 << 36) - 1 });
        assert_eq!(all.iter().map(|range| range.size).collect::<Vec<_>>(), [LARGE]);
        assert_eq!(found >> 36, 10);
    }
}
