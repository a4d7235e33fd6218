//! Memory at addresses of a device's own, where addresses tell several devices apart.
//!
//! Vulkan has no say in addresses, and drivers give the same ones on each device. What lies where another device has memory is allocated
//! again. Meanwhile the address has to stay in use: a small block is kept, and so that no large one is, *walls* at its ends take its place,
//! between which as much doesn't fit again. What is kept is given back when the device has no memory left.

use std::collections::BTreeSet;
use std::sync::{Mutex, OnceLock};

use crate::backend::range::{MemoryRange, PinnedRange};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::sync::lock;

/// Bytes of a wall: as many as get an allocation of their own, as large blocks do.
const WALL: u64 = 2 << 20;

/// The size from which walls replace a block, and above which none is kept after the call.
const LARGE: u64 = 4 * WALL;

/// Whether memory besides a device's own, known to the caller, lies in a range.
type IsUsed = fn(&Device, MemoryRange) -> bool;

/// What keeps a device's addresses apart.
#[derive(Default)]
pub(crate) struct Apart {
    is_used: OnceLock<IsUsed>,
    /// The addresses of blocks that only keep others from there.
    kept: Mutex<BTreeSet<u64>>,
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
        self.find_apart(|| self.backend().allocate(size), own, true)
    }

    /// Allocates memory that the host can access too.
    pub(crate) fn share_apart(&self, allocate: impl Fn() -> Result<PinnedRange>) -> Result<PinnedRange> {
        // Walls are of the device's own memory, whose addresses may be others.
        self.find_apart(allocate, |shared| MemoryRange { address: shared.address, size: shared.size }, false)
    }

    fn find_apart<T>(
        &self,
        allocate: impl Fn() -> Result<T>,
        range: impl Fn(&T) -> MemoryRange,
        has_walls: bool,
    ) -> Result<T> {
        let Some(is_used) = self.apart().is_used.get() else { return allocate() };
        let (mut large, mut seen, mut is_out) = (Vec::new(), BTreeSet::new(), false);
        let found = loop {
            match allocate() {
                Ok(made) => {
                    let MemoryRange { address, size } = range(&made);
                    if !is_used(self, MemoryRange { address, size: size.max(1) }) {
                        break Ok(made);
                    }
                    // Drivers don't always give the lowest address that is free, and then walls change nothing.
                    if size < LARGE {
                        lock(&self.apart().kept).insert(address);
                    } else if has_walls && seen.insert(address) {
                        self.wall_in(address);
                    } else {
                        large.push(address);
                    }
                }
                Err(Error::OutOfMemory(_)) if !is_out => {
                    is_out = true;
                    let kept = std::mem::take(&mut *lock(&self.apart().kept));
                    kept.into_iter().chain(large.drain(..)).for_each(|address| self.backend().free(address));
                }
                Err(error) => break Err(error),
            }
        };
        large.into_iter().for_each(|address| self.backend().free(address));
        found
    }

    /// Frees a block, and puts a wall after its end and one at its start.
    fn wall_in(&self, address: u64) {
        let backend = self.backend();
        // Without room for a wall there is none.
        let after = backend.allocate(WALL);
        backend.free(address);
        lock(&self.apart().kept).extend(after.into_iter().chain(backend.allocate(WALL)));
    }

    /// Whether an allocation that isn't merely kept shares bytes with a range of at least one byte.
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
        // Large blocks give way to walls.
        let device = Device::reference(Config::default());
        device.keep_apart(|_, range| range.address >> 36 < 10);
        let found = device.allocate_apart(LARGE).unwrap();
        let all = device.backend().overlapping(MemoryRange { address: 1 << 36, size: (20 << 36) - 1 });
        assert_eq!(all.iter().map(|range| range.size).collect::<Vec<_>>(), [LARGE, WALL, WALL, WALL, WALL, WALL, WALL]);
        assert_eq!(found >> 36, 10);
    }
}
