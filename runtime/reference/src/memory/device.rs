//! Device memory of plain runs: allocations, and the translation of addresses to bytes. Also the explanation of wrong
//! addresses, which the other modes use too.

use std::sync::{Mutex, PoisonError};

use super::{Fault, Result, Words};
use crate::finding::FindingKind;

/// Allocation `n`, counted from 1, is at address `n << SPACING`. A lookup is therefore an indexing operation, an
/// out-of-bounds pointer doesn't reach another allocation, and addresses of freed allocations are never reused.
const SPACING: u32 = 36;

/// Addresses stay below this bit. Kernels may use the bits above as tags.
pub(crate) const ADDRESS_BITS: u32 = 61;

/// Maximum distance from zero, in both directions, at which an address counts as derived from a null pointer.
const NULL_RANGE: u64 = 1 << 32;

/// Locks for 64-bit updates, which [`Words`] can't do atomically, chosen by address.
const STRIPES: usize = 64;

#[derive(Debug)]
pub(crate) struct Memory {
    allocations: Vec<Allocation>,
    stripes: [Mutex<()>; STRIPES],
}

#[derive(Debug, Default)]
struct Allocation {
    bytes: u64,
    /// Empty after the allocation was freed.
    words: Words,
    freed: bool,
    /// Named parts, for messages.
    parts: Vec<Part>,
    /// Names in the current dispatch.
    aliases: Vec<String>,
    /// Regions that kernels allocate from.
    pools: Vec<Pool>,
}

/// Memory that kernels allocate from, in runs of up to 32 granules of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pool {
    /// Address of the first granule.
    pub address: u64,
    /// Bytes of a granule.
    pub granule: u64,
    /// Number of granules.
    pub count: u64,
    /// Address of a table with a 32-bit word for each granule: the size in bytes plus one at the start of an
    /// allocation, else zero. Granules of an allocation, the last of which has a spare byte, have numbers that differ
    /// only in the lowest five bits.
    pub sizes: u64,
}

/// A named part of an allocation.
#[derive(Debug)]
struct Part {
    offset: u64,
    bytes: u64,
    name: String,
}

/// The index of an address's allocation, counted from 0, and the offset in it.
#[inline(always)]
fn split(address: u64) -> Option<(usize, u64)> {
    Some(((address >> SPACING).checked_sub(1)? as usize, address & ((1 << SPACING) - 1)))
}

fn join(index: usize) -> u64 {
    (index as u64 + 1) << SPACING
}

impl Memory {
    pub fn new() -> Self {
        Self { allocations: Vec::new(), stripes: [const { Mutex::new(()) }; STRIPES] }
    }

    /// Allocates zeroed memory and returns its address. `None` if the host or the address space is exhausted.
    pub fn allocate(&mut self, bytes: u64) -> Option<u64> {
        self.allocate_in(bytes, |_| Words::zeroed(bytes))
    }

    /// Like [`Memory::allocate`], in words made for the address. Without words, the address is passed over.
    pub fn allocate_in(&mut self, bytes: u64, words: impl FnOnce(u64) -> Option<Words>) -> Option<u64> {
        let address = join(self.allocations.len());
        if bytes > 1 << SPACING || address >> ADDRESS_BITS != 0 {
            return None;
        }
        self.allocations.try_reserve(1).ok()?;
        let words = words(address);
        let (found, freed) = (words.is_some().then_some(address), words.is_none());
        self.allocations.push(Allocation { bytes, words: words.unwrap_or_default(), freed, ..Allocation::default() });
        found
    }

    /// The allocation of an address, and the offset in it, which may be beyond its end.
    fn find_mut(&mut self, address: u64) -> Option<(&mut Allocation, u64)> {
        let (index, offset) = split(address)?;
        Some((self.allocations.get_mut(index)?, offset))
    }

    /// Frees the allocation at an address. Other addresses are ignored.
    pub fn free(&mut self, address: u64) {
        if let Some((allocation, 0)) = self.find_mut(address) {
            allocation.words = Words::default();
            allocation.freed = true;
        }
    }

    /// Names `bytes` bytes from an address on. Addresses outside of allocations are ignored.
    pub fn name_part(&mut self, address: u64, bytes: u64, name: &str) {
        if let Some((allocation, offset)) = self.find_mut(address) {
            allocation.parts.push(Part { offset, bytes, name: name.to_owned() });
        }
    }

    /// Declares a region of an allocation that kernels allocate from.
    pub fn add_pool(&mut self, pool: Pool) {
        if let Some((allocation, _)) = self.find_mut(pool.address) {
            allocation.pools.push(pool);
        }
    }

    /// The fault of an access that is inside of an allocation, but not entirely inside of a block that kernels have
    /// allocated there.
    pub fn unallocated(&self, number: u32, address: u64, bytes: u32) -> Option<Box<Fault>> {
        let pools = &self.allocations.get((number as usize).checked_sub(1)?)?.pools;
        let end = address + u64::from(bytes.max(1));
        let pool =
            pools.iter().find(|pool| pool.address < end && address < pool.address + pool.count * pool.granule)?;
        let what = format!("an access of {bytes} bytes at {address:#x}");
        let Some((start, size)) = self.block(pool, address) else {
            let message = format!("{what} is in memory of the device's heap that is not allocated, or was freed");
            return Some(Fault::new(FindingKind::UseAfterFree, message));
        };
        (end > start + size).then(|| {
            let place = match address.checked_sub(start + size) {
                Some(past) => format!("begins {past} bytes past the end"),
                None => format!("ends {} bytes past the end", end - start - size),
            };
            let message = format!("{what} {place} of a block of the device's heap ({size} bytes at {start:#x})");
            Fault::new(FindingKind::OutOfBounds, message)
        })
    }

    /// Address and size of the block that contains the granule of an address.
    fn block(&self, pool: &Pool, address: u64) -> Option<(u64, u64)> {
        let granule = address.checked_sub(pool.address)? / pool.granule;
        let entry = |number: &u64| self.load(pool.sizes + 4 * number, 4).filter(|entry| *entry != 0);
        let first = (granule & !31..=granule).rev().find(|number| entry(number).is_some())?;
        let size = entry(&first)? - 1;
        let granules = size / pool.granule + 1;
        (granule < first + granules).then_some((pool.address + first * pool.granule, size))
    }

    /// Adds a name for the whole allocation that contains an address, until `forget_names`.
    pub fn name(&mut self, address: u64, name: &str) {
        if let Some((allocation, offset)) = self.find_mut(address)
            && offset < allocation.bytes.max(1)
        {
            allocation.aliases.push(name.to_owned());
        }
    }

    pub fn forget_names(&mut self) {
        self.allocations.iter_mut().for_each(|allocation| allocation.aliases.clear());
    }

    /// The bytes of the allocation that contains an address, and the offset in them.
    #[inline(always)]
    pub fn find(&self, address: u64) -> Option<(&Words, u64)> {
        let (index, offset) = split(address)?;
        Some((&self.allocations.get(index)?.words, offset))
    }

    /// The number of the allocation that contains an access, and the offset in it. `None` if it is not entirely inside
    /// of one.
    pub fn locate(&self, address: u64, bytes: u64) -> Option<(u32, u64)> {
        let (index, offset) = split(address)?;
        let allocation = self.allocations.get(index)?;
        allocation.words.contains(offset, bytes).then_some((index as u32 + 1, offset))
    }

    pub fn address(&self, number: u32, offset: u64) -> u64 {
        (u64::from(number) << SPACING) + offset
    }

    /// Like [`Words::load`]. `None` if there are no such bytes, as [`Memory::fault`] explains.
    #[inline(always)]
    pub fn load(&self, address: u64, bytes: u8) -> Option<u64> {
        let (words, offset) = self.find(address)?;
        words.load(offset, bytes)
    }

    /// Like [`Words::store`].
    #[inline(always)]
    pub fn store(&self, address: u64, bytes: u8, value: u64) -> Option<bool> {
        let (words, offset) = self.find(address)?;
        words.store(offset, bytes, value)
    }

    /// Like [`Words::update`], but atomic for all widths.
    pub fn update(&self, address: u64, bytes: u8, f: impl FnMut(u64) -> u64) -> Option<(u64, u64)> {
        let (words, offset) = self.find(address)?;
        let lock = &self.stripes[(address / 8) as usize % STRIPES];
        let _held = (bytes == 8).then(|| lock.lock().unwrap_or_else(PoisonError::into_inner));
        words.update(offset, bytes, f)
    }

    /// An access of the host to a range. `act` gives `None` if the range is not inside of an allocation.
    fn host(&self, address: u64, bytes: u64, what: &str, act: impl FnOnce(&Words, u64) -> Option<()>) -> Result {
        let done = self.find(address).and_then(|(words, offset)| act(words, offset));
        done.ok_or_else(|| self.fault(address, bytes, &format!("the host's {what}")))
    }

    pub fn read(&self, address: u64, bytes: &mut [u8]) -> Result {
        let count = bytes.len() as u64;
        self.host(address, count, "read", |words, offset| words.read(offset, bytes))
    }

    pub fn write(&self, address: u64, bytes: &[u8]) -> Result {
        self.host(address, bytes.len() as u64, "write", |words, offset| words.write(offset, bytes))
    }

    pub fn fill(&self, address: u64, bytes: u64, byte: u8) -> Result {
        self.host(address, bytes, "fill", |words, offset| words.fill(offset, bytes, byte))
    }

    pub fn copy(&self, from: u64, to: u64, bytes: u64) -> Result {
        const PART: u64 = 1 << 16;
        for address in [from, to] {
            self.host(address, bytes, "copy", |words, offset| words.contains(offset, bytes).then_some(()))?;
        }
        let mut part = [0; PART as usize];
        for at in (0..bytes).step_by(PART as usize) {
            let part = &mut part[..(bytes - at).min(PART) as usize];
            self.read(from + at, part)?;
            self.write(to + at, part)?;
        }
        Ok(())
    }

    /// Explains the fault of an access to `bytes` bytes that are not all allocated. `what` is the subject of the
    /// sentence.
    #[cold]
    pub fn fault(&self, address: u64, bytes: u64, what: &str) -> Box<Fault> {
        let what = format!("{what} of {bytes} bytes at {address:#x}");
        let outside = |place: &str| Fault::new(FindingKind::OutOfBounds, format!("{what} {place}"));
        match address {
            0 => return outside("is through a null pointer"),
            1..NULL_RANGE => return outside(&format!("begins {address} bytes past a null pointer")),
            _ if address.wrapping_neg() <= NULL_RANGE => {
                return outside(&format!("begins {} bytes before a null pointer", address.wrapping_neg()));
            }
            _ => {}
        }
        let Some((index, allocation)) = self.nearest(address) else {
            return outside("is outside of memory: nothing is allocated");
        };
        let Extent { name, base, bytes: size } = allocation.extent(index, address);
        let freed = if allocation.freed { ", which was freed" } else { "" };
        let name = format!("{name} ({size} bytes at {base:#x}){freed}");
        let end = base + size;
        if address < base {
            outside(&format!("begins {} bytes before {name}", base - address))
        } else if address >= end {
            outside(&format!("begins {} bytes past the end of {name}", address - end))
        } else if allocation.freed {
            Fault::new(FindingKind::UseAfterFree, format!("{what} is in {name}"))
        } else {
            outside(&format!("begins in {name} but ends {} bytes past it", bytes - (end - address)))
        }
    }

    /// Describes a byte by its part and allocation.
    pub fn describe(&self, number: u32, offset: u64) -> String {
        let address = self.address(number, offset);
        let index = (number as usize).wrapping_sub(1);
        match self.allocations.get(index).map(|allocation| allocation.extent(index, address)) {
            Some(Extent { name, base, .. }) if base <= address => {
                format!("{address:#x}, byte {} of {name}", address - base)
            }
            _ => format!("{address:#x}"),
        }
    }

    fn nearest(&self, address: u64) -> Option<(usize, &Allocation)> {
        let distance = |&(index, allocation): &(usize, &Allocation)| distance(address, join(index), allocation.bytes);
        self.allocations.iter().enumerate().min_by_key(distance)
    }
}

/// The distance of an address from the nearest byte of a range.
fn distance(address: u64, base: u64, bytes: u64) -> u64 {
    if address < base { base - address } else { (address - base).saturating_sub(bytes.saturating_sub(1)) }
}

/// An allocation, or a part of one, in messages.
struct Extent {
    name: String,
    base: u64,
    bytes: u64,
}

impl Allocation {
    /// The extent that contains an address or is nearest to it: a named part, or else the whole allocation.
    fn extent(&self, index: usize, address: u64) -> Extent {
        let base = join(index);
        let nearest = self.parts.iter().min_by_key(|part| distance(address, base + part.offset, part.bytes));
        match nearest {
            Some(part) => Extent { name: part.name.clone(), base: base + part.offset, bytes: part.bytes },
            None => {
                let number = || format!("allocation {}", index + 1);
                let name = if self.aliases.is_empty() { number() } else { self.aliases.join(" and ") };
                Extent { name, base, bytes: self.bytes }
            }
        }
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
        let none = memory.fault(1 << 40, 4, "x");
        assert_eq!((none.kind, none.message.contains("nothing")), (FindingKind::OutOfBounds, true));
        let a = memory.allocate(16).unwrap();
        let b = memory.allocate(100).unwrap();
        let said = |memory: &Memory, address, bytes| {
            let fault = memory.fault(address, bytes, "x");
            (fault.kind, fault.message.split_once(' ').unwrap().1.split_once(" b").unwrap().1.to_owned())
        };
        let text = |address| memory.fault(address, 4, "x").message;
        assert!(text(b + 104).contains("4 bytes past the end of allocation 2 (100 bytes at 0x2000000000)"));
        assert!(text(b + 98).contains("begins in allocation 2") && text(b + 98).contains("ends 2 bytes past"));
        assert!(text(a - 8).contains("8 bytes before allocation 1"));
        assert!(text(b - 4).contains("4 bytes before allocation 2 (100 bytes"), "not far past allocation 1");
        assert!(text(0).ends_with("is through a null pointer") && text(64).contains("64 bytes past a null pointer"));
        assert!(text(4_u64.wrapping_neg()).contains("4 bytes before a null pointer"));
        assert!(text(1 << 60).contains("past the end of allocation 2"));
        assert_eq!(said(&memory, a + 16, 1).0, FindingKind::OutOfBounds);
        memory.free(a);
        assert_eq!(said(&memory, a + 4, 4).0, FindingKind::UseAfterFree);
        let after = memory.fault(a + 16, 4, "x").message;
        assert!(after.contains("0 bytes past the end of allocation 1 (16 bytes at 0x1000000000), which was freed"));
        assert_eq!(memory.read(a, &mut [0]).unwrap_err().kind, FindingKind::UseAfterFree);
        assert_eq!(memory.load(a, 1), None);
    }

    #[test]
    fn faults_and_places_have_names() {
        let mut memory = Memory::new();
        let (a, b) = (memory.allocate(16).unwrap(), memory.allocate(100).unwrap());
        memory.name(a, "argument 0");
        memory.name(a + 8, "argument 2");
        memory.name_part(b, 40, "variable `x`");
        memory.name_part(b + 48, 52, "variable `y`");
        memory.name_part(5, 1, "nowhere");
        memory.name(b - 4, "outside of all");
        let text = |memory: &Memory, address| memory.fault(address, 4, "x").message;
        assert!(text(&memory, a - 4).contains("4 bytes before argument 0 and argument 2 (16 bytes at 0x1000000000)"));
        assert!(text(&memory, b - 4).contains("4 bytes before variable `x` (40 bytes at 0x2000000000)"));
        assert!(text(&memory, b + 100).contains("0 bytes past the end of variable `y` (52 bytes at 0x2000000030)"));
        assert_eq!(memory.describe(1, 4), "0x1000000004, byte 4 of argument 0 and argument 2");
        assert_eq!(memory.describe(2, 50), "0x2000000032, byte 2 of variable `y`");
        memory.forget_names();
        assert_eq!(memory.describe(1, 4), "0x1000000004, byte 4 of allocation 1");
        assert_eq!(memory.describe(2, 50), "0x2000000032, byte 2 of variable `y`");
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
