//! Device memory of plain runs: the allocations, and the way from an address to bytes. Also what there is to say about a
//! wrong address, which the other modes say too.

use std::sync::{Mutex, PoisonError};

use super::{Fault, Words};
use crate::finding::FindingKind;

/// Allocation `n`, counted from 1, lies at address `n << SPACING`. So looking one up is indexing, pointers that stray from
/// one hit no other, and one that was freed is never taken for another.
const SPACING: u32 = 36;

/// Addresses stay below this bit: kernels may use those above as tags.
const ADDRESS_BITS: u32 = 61;

/// Locks for updates of 64 bits, which [`Words`] can't do at once, chosen by address.
const STRIPES: usize = 64;

/// All allocations of a device.
#[derive(Debug)]
pub(crate) struct Memory {
    allocations: Vec<Allocation>,
    stripes: [Mutex<()>; STRIPES],
}

#[derive(Debug)]
struct Allocation {
    bytes: u64,
    /// Empty once it was freed.
    words: Words,
    freed: bool,
}

/// The number of the allocation that an address belongs to, counted from 0, and how far behind its beginning it is.
#[inline(always)]
fn split(address: u64) -> Option<(usize, u64)> {
    Some(((address >> SPACING).checked_sub(1)? as usize, address & ((1 << SPACING) - 1)))
}

fn join(index: usize) -> u64 {
    (index as u64 + 1) << SPACING
}

impl Memory {
    /// Memory without allocations.
    pub fn new() -> Self {
        Self { allocations: Vec::new(), stripes: [const { Mutex::new(()) }; STRIPES] }
    }

    /// Allocates zeroes, and returns their address. `None` if the host or the address space has no room.
    pub fn allocate(&mut self, bytes: u64) -> Option<u64> {
        let address = join(self.allocations.len());
        if bytes > 1 << SPACING || address >> ADDRESS_BITS != 0 {
            return None;
        }
        self.allocations.try_reserve(1).ok()?;
        self.allocations.push(Allocation { bytes, words: Words::zeroed(bytes)?, freed: false });
        Some(address)
    }

    /// Frees an allocation; an address that is none's is ignored.
    pub fn free(&mut self, address: u64) {
        if let Some((index, 0)) = split(address)
            && let Some(allocation) = self.allocations.get_mut(index)
        {
            allocation.words = Words::default();
            allocation.freed = true;
        }
    }

    /// The bytes of the allocation that an address belongs to, and the offset in them.
    #[inline(always)]
    pub fn find(&self, address: u64) -> Option<(&Words, u64)> {
        let (index, offset) = split(address)?;
        Some((&self.allocations.get(index)?.words, offset))
    }

    /// The number of the allocation in which an access lies, and its offset there; `None` if it isn't all inside of one.
    pub fn locate(&self, address: u64, bytes: u64) -> Option<(u32, u64)> {
        let (index, offset) = split(address)?;
        let allocation = self.allocations.get(index)?;
        allocation.words.contains(offset, bytes).then_some((index as u32 + 1, offset))
    }

    /// The address of a byte of an allocation, given by its number.
    pub fn address(&self, number: u32, offset: u64) -> u64 {
        (u64::from(number) << SPACING) + offset
    }

    /// As [`Words::load`]; `None` if there are no such bytes, which [`Memory::fault`] explains.
    #[inline(always)]
    pub fn load(&self, address: u64, bytes: u8) -> Option<u64> {
        let (words, offset) = self.find(address)?;
        words.load(offset, bytes)
    }

    /// As [`Words::store`].
    #[inline(always)]
    pub fn store(&self, address: u64, bytes: u8, value: u64) -> Option<bool> {
        let (words, offset) = self.find(address)?;
        words.store(offset, bytes, value)
    }

    /// As [`Words::update`], but atomic for all widths.
    pub fn update(&self, address: u64, bytes: u8, f: impl FnMut(u64) -> u64) -> Option<(u64, u64)> {
        let (words, offset) = self.find(address)?;
        let lock = &self.stripes[(address / 8) as usize % STRIPES];
        let _held = (bytes == 8).then(|| lock.lock().unwrap_or_else(PoisonError::into_inner));
        words.update(offset, bytes, f)
    }

    /// Copies bytes out.
    pub fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Box<Fault>> {
        let count = bytes.len() as u64;
        let read = self.find(address).and_then(|(words, offset)| words.read(offset, bytes));
        read.ok_or_else(|| self.fault(address, count, "the host's read"))
    }

    /// Copies bytes in.
    pub fn write(&self, address: u64, bytes: &[u8]) -> Result<(), Box<Fault>> {
        let written = self.find(address).and_then(|(words, offset)| words.write(offset, bytes));
        written.ok_or_else(|| self.fault(address, bytes.len() as u64, "the host's write"))
    }

    /// Sets bytes.
    pub fn fill(&self, address: u64, bytes: u64, byte: u8) -> Result<(), Box<Fault>> {
        let filled = self.find(address).and_then(|(words, offset)| words.fill(offset, bytes, byte));
        filled.ok_or_else(|| self.fault(address, bytes, "the host's fill"))
    }

    /// Copies bytes within.
    pub fn copy(&self, from: u64, to: u64, bytes: u64) -> Result<(), Box<Fault>> {
        const PART: u64 = 1 << 16;
        for address in [from, to] {
            if !self.find(address).is_some_and(|(words, offset)| words.contains(offset, bytes)) {
                return Err(self.fault(address, bytes, "the host's copy"));
            }
        }
        let mut part = [0; PART as usize];
        for at in (0..bytes).step_by(PART as usize) {
            let part = &mut part[..(bytes - at).min(PART) as usize];
            self.read(from + at, part)?;
            self.write(to + at, part)?;
        }
        Ok(())
    }

    /// Says what is wrong with an access of `bytes` bytes at an address where there aren't that many. `what` is the subject
    /// of the sentence.
    #[cold]
    pub fn fault(&self, address: u64, bytes: u64, what: &str) -> Box<Fault> {
        let what = format!("{what} of {bytes} bytes at {address:#x}");
        let Some((index, allocation)) = self.nearest(address) else {
            return Fault::new(FindingKind::OutOfBounds, format!("{what} is outside of memory: nothing is allocated"));
        };
        let base = join(index);
        let name = format!("allocation {} ({} bytes at {base:#x})", index + 1, allocation.bytes);
        if allocation.freed {
            return Fault::new(FindingKind::UseAfterFree, format!("{what} is in {name}, which was freed"));
        }
        let end = base + allocation.bytes;
        let place = if address < base {
            format!("begins {} bytes before {name}", base - address)
        } else if address < end {
            format!("begins in {name} but ends {} bytes behind it", bytes - (end - address))
        } else {
            format!("begins {} bytes behind the end of {name}", address - end)
        };
        Fault::new(FindingKind::OutOfBounds, format!("{what} {place}"))
    }

    /// The allocation that an address belongs to, or else the nearest that isn't freed.
    fn nearest(&self, address: u64) -> Option<(usize, &Allocation)> {
        let own = split(address).and_then(|(index, _)| Some((index, self.allocations.get(index)?)));
        let distance = |&(index, allocation): &(usize, &Allocation)| {
            let base = join(index);
            if address < base { base - address } else { address.saturating_sub(base + allocation.bytes) }
        };
        let living = self.allocations.iter().enumerate().filter(|(_, allocation)| !allocation.freed);
        own.filter(|(index, allocation)| !allocation.freed || address - join(*index) < allocation.bytes.max(1))
            .or_else(|| living.min_by_key(distance))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_never_reused() {
        let mut memory = Memory::new();
        let a = memory.allocate(16).unwrap();
        memory.free(a);
        let b = memory.allocate(16).unwrap();
        assert_ne!(a, b);
        assert_eq!((a % 256, b % 256), (0, 0));
        memory.free(b + 4);
        assert!(memory.load(b, 4).is_some(), "no allocation begins where that tried to free one");
    }

    #[test]
    fn faults_name_the_nearest_allocation() {
        let mut memory = Memory::new();
        let none = memory.fault(64, 4, "x");
        assert_eq!((none.kind, none.message.contains("nothing")), (FindingKind::OutOfBounds, true));
        let a = memory.allocate(16).unwrap();
        let b = memory.allocate(100).unwrap();
        let said = |memory: &Memory, address, bytes| {
            let fault = memory.fault(address, bytes, "x");
            (fault.kind, fault.message.split_once(' ').unwrap().1.split_once(" b").unwrap().1.to_owned())
        };
        let text = |address| memory.fault(address, 4, "x").message;
        assert!(text(b + 104).contains("4 bytes behind the end of allocation 2 (100 bytes at 0x2000000000)"));
        assert!(text(b + 98).contains("begins in allocation 2") && text(b + 98).contains("ends 2 bytes behind"));
        assert!(text(a - 8).contains("8 bytes before allocation 1"));
        assert!(text(u64::MAX).contains("behind the end of allocation 2"));
        assert_eq!(said(&memory, a + 16, 1).0, FindingKind::OutOfBounds);
        memory.free(a);
        assert_eq!(said(&memory, a + 4, 4).0, FindingKind::UseAfterFree);
        assert_eq!(memory.read(a, &mut [0]).unwrap_err().kind, FindingKind::UseAfterFree);
        assert_eq!(memory.load(a, 1), None);
    }

    #[test]
    fn copies_between_allocations() {
        let mut memory = Memory::new();
        let (a, b) = (memory.allocate(200_000).unwrap(), memory.allocate(200_001).unwrap());
        let data: Vec<u8> = (0..199_999_u32).map(|i| (i % 251) as u8).collect();
        memory.write(a + 1, &data).unwrap();
        memory.copy(a + 1, b + 2, 199_999).unwrap();
        let mut back = vec![0; 199_999];
        memory.read(b + 2, &mut back).unwrap();
        assert_eq!(back, data);
        assert!(memory.copy(a, b, 200_001).is_err());
        assert!(memory.allocate(1 << 37).is_none());
    }

    #[test]
    fn updates_of_64_bits_are_atomic() {
        let mut memory = Memory::new();
        let a = memory.allocate(8).unwrap();
        let memory = &memory;
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(move || {
                    for _ in 0..10_000 {
                        memory.update(a, 8, |x| x + 0x1_0000_0001).unwrap();
                    }
                });
            }
        });
        assert_eq!(memory.load(a, 8), Some(40_000 * 0x1_0000_0001));
    }
}
