//! Memory for modules with 32-bit pointers: a single region, from which all buffers are allocated while such a module
//! is loaded. The lower half of an address then determines the whole address.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Mutex};

use crate::backend::range::MemoryRange;
use crate::error::{Error, Result};
use crate::sync::lock;

/// Maximum bytes of the region. Kernels reach less than 1 GiB on either side of their module's variables, which are in
/// the region. Of the 4 GiB of a 32-bit address space, generic addresses use two quarters for shared and local memory.
pub(crate) const MOST: u64 = 1 << 30;

/// Minimum bytes of the region, if the device has no room for more.
pub(crate) const LEAST: u64 = 16 << 20;

/// Alignment of buffers.
const ALIGNMENT: u64 = 256;

/// The region and its allocations.
pub(crate) struct Near {
    region: MemoryRange,
    parts: Mutex<Parts>,
    /// Number of modules that need the region.
    users: AtomicUsize,
}

/// A module that needs the region.
pub(crate) struct NearUser(Arc<Near>);

impl NearUser {
    /// Registers another user.
    pub fn new(near: Arc<Near>) -> Self {
        near.users.fetch_add(1, SeqCst);
        Self(near)
    }
}

impl Drop for NearUser {
    fn drop(&mut self) {
        self.0.users.fetch_sub(1, SeqCst);
    }
}

struct Parts {
    /// Sizes of free ranges by address. They never touch each other.
    free: BTreeMap<u64, u64>,
    /// Sizes of allocations, as requested.
    used: BTreeMap<u64, u64>,
}

/// Bytes that an allocation occupies, at least one so that its address is unique.
fn taken(size: u64) -> Option<u64> {
    size.max(1).checked_next_multiple_of(ALIGNMENT)
}

/// The larger part of a region on one side of a multiple of 2 GiB, because compilers compared pointers as signed
/// numbers. The null pointer is left out.
fn without_wrap(region: MemoryRange) -> MemoryRange {
    let MemoryRange { mut address, mut size } = region;
    let before = address.next_multiple_of(1 << 31) - address;
    if before < size {
        (address, size) = if before > size / 2 { (address, before) } else { (address + before, size - before) };
    }
    if address as u32 == 0 && size > ALIGNMENT {
        (address, size) = (address + ALIGNMENT, size - ALIGNMENT);
    }
    MemoryRange { address, size }
}

impl Near {
    /// Makes the larger part of a region on one side of a multiple of 2 GiB available. The address is a multiple of
    /// 256.
    pub fn new(region: MemoryRange) -> Self {
        let region = without_wrap(region);
        let free = BTreeMap::from([(region.address, region.size)]);
        Self { region, parts: Mutex::new(Parts { free, used: BTreeMap::new() }), users: AtomicUsize::new(0) }
    }

    /// Whether a module needs the region.
    pub fn is_needed(&self) -> bool {
        self.users.load(SeqCst) > 0
    }

    /// Whether an address lies in the region.
    pub fn contains(&self, address: u64) -> bool {
        address.checked_sub(self.region.address).is_some_and(|offset| offset < self.region.size)
    }

    /// Allocates `size` bytes.
    pub fn allocate(&self, size: u64) -> Result<u64> {
        let parts = &mut *lock(&self.parts);
        let found = taken(size).and_then(|bytes| {
            let (&address, &room) = parts.free.iter().find(|(_, room)| **room >= bytes)?;
            Some((address, room, bytes))
        });
        let Some((address, room, bytes)) = found else {
            let all = self.region.size;
            return Err(Error::OutOfMemory(format!(
                "no room for {size} bytes in the {all} bytes that 32-bit addresses reach"
            )));
        };
        parts.free.remove(&address);
        if room > bytes {
            parts.free.insert(address + bytes, room - bytes);
        }
        parts.used.insert(address, size);
        Ok(address)
    }

    /// Frees the allocation at an address.
    pub fn free(&self, address: u64) {
        let parts = &mut *lock(&self.parts);
        let Some(mut bytes) = parts.used.remove(&address).and_then(taken) else { return };
        let mut start = address;
        if let Some(after) = parts.free.remove(&(address + bytes)) {
            bytes += after;
        }
        if let Some((&before, &room)) = parts.free.range(..address).next_back()
            && before + room == address
        {
            start = before;
            bytes += room;
        }
        parts.free.insert(start, bytes);
    }

    /// The allocation that contains an address.
    pub fn find(&self, address: u64) -> Option<MemoryRange> {
        let parts = lock(&self.parts);
        let (&start, &size) = parts.used.range(..=address).next_back()?;
        (address - start < size.max(1)).then_some(MemoryRange { address: start, size })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_have_one_sign() {
        let usable = |address, size| {
            let MemoryRange { address, size } = without_wrap(MemoryRange { address, size });
            (address, size)
        };
        assert_eq!(usable(0x1000, 0x1000), (0x1000, 0x1000));
        assert_eq!(usable(0x1_7fff_f000, 0x2000), (0x1_8000_0000, 0x1000));
        assert_eq!(usable(0x1_7fff_e000, 0x3000), (0x1_7fff_e000, 0x2000));
        assert_eq!(usable(0x2_ffff_f000, 0x3000), (0x3_0000_0100, 0x1f00));
        assert_eq!(usable(0x3_0000_0000, 0x1000), (0x3_0000_0100, 0xf00));
    }

    #[test]
    fn parts_are_joined_when_they_are_free() {
        let near = Near::new(MemoryRange { address: 0x1000, size: 0x1000 });
        let parts: Vec<u64> = [0x100, 1, 0, 0x101].iter().map(|size| near.allocate(*size).unwrap()).collect();
        assert_eq!(parts, [0x1000, 0x1100, 0x1200, 0x1300]);
        assert_eq!(near.find(0x1400), Some(MemoryRange { address: 0x1300, size: 0x101 }));
        assert_eq!((near.find(0x1401), near.find(0x1101), near.find(0xfff)), (None, None, None));
        assert!(matches!(near.allocate(0xb01), Err(Error::OutOfMemory(_))));
        assert!(matches!(near.allocate(u64::MAX), Err(Error::OutOfMemory(_))));
        for part in [parts[1], parts[3], parts[2], parts[0]] {
            near.free(part);
        }
        assert_eq!(near.allocate(0x1000).unwrap(), 0x1000);
        assert!(near.contains(0x1fff) && !near.contains(0x2000) && !near.contains(0xfff));
    }
}
