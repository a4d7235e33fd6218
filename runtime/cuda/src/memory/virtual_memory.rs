//! Virtual memory management as most programs use it: a range of addresses, an allocation that is mapped into it once, and access.
//!
//! In Vulkan, a buffer without memory has an address only if it is sparse. So a range has memory from the start, and an allocation has
//! none of its own: it takes that of the addresses where it is mapped first. It can't be mapped elsewhere later, nor twice, nor in parts,
//! and nothing else can be mapped at its addresses while it exists. Whatever would need that is refused.

use std::collections::BTreeMap;
use std::ffi::{c_int, c_uint, c_ulonglong};
use std::sync::{Arc, Mutex};

use ptx2spv_runtime::Device;

use crate::abi::{Code, Handle, INVALID_VALUE, In, NOT_SUPPORTED, OUT_OF_MEMORY, Result, layouts, lock, objects};
use crate::context::{self, state};
use crate::memory;

/// `CUmemAllocationProp`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Properties {
    kind: c_int,
    handle_types: c_int,
    location: [c_int; 2],
    metadata: usize,
    compression: u8,
    for_network: u8,
    usage: u16,
    _reserved: u32,
}

layouts! {
    Properties = 32;
}

/// Sizes of ranges, allocations and mappings are multiples of this, as on NVIDIA's devices.
const GRANULARITY: u64 = 2 << 20;

/// `CU_MEM_ALLOCATION_TYPE_PINNED` and `CU_MEM_LOCATION_TYPE_DEVICE`.
const PINNED: c_int = 1;
const DEVICE: c_int = 1;

/// An allocation.
pub(crate) struct Physical {
    size: u64,
    properties: Properties,
}

pub(crate) type PhysicalHandle = Handle<Physical>;

objects!(PHYSICAL: Physical = 20, INVALID_VALUE);

/// A range of addresses, with its memory.
struct Range {
    size: u64,
    device: Device,
    /// The runtime's allocation, which may begin earlier.
    block: u64,
}

/// Addresses whose memory is an allocation's.
struct Mapping {
    physical: Arc<Physical>,
    is_mapped: bool,
    access: c_uint,
}

/// All ranges, and all addresses that allocations have, by the first address.
struct State {
    ranges: BTreeMap<u64, Range>,
    mappings: BTreeMap<u64, Mapping>,
}

static STATE: Mutex<State> = Mutex::new(State { ranges: BTreeMap::new(), mappings: BTreeMap::new() });

impl State {
    /// Drops unmapped mappings of allocations that the program has released.
    fn clean(&mut self) {
        self.mappings.retain(|_, mapping| mapping.is_mapped || is_alive(&mapping.physical));
    }

    /// The mapping that contains an address.
    fn at(&self, address: u64) -> Result<&Mapping> {
        let (start, mapping) = self.mappings.range(..=address).next_back().ok_or(INVALID_VALUE)?;
        let is_inside = mapping.is_mapped && address - start < mapping.physical.size;
        if is_inside { Ok(mapping) } else { Err(INVALID_VALUE) }
    }

    /// The first addresses of the mappings that a range consists of. Fails if it has holes, or ends inside of one.
    fn mapped(&self, address: u64, size: u64) -> Result<Vec<u64>> {
        let end = address.checked_add(size).filter(|_| size > 0).ok_or(INVALID_VALUE)?;
        let mut next = address;
        let mut list = Vec::new();
        while next < end {
            let mapping = self.mappings.get(&next).filter(|mapping| mapping.is_mapped).ok_or(INVALID_VALUE)?;
            list.push(next);
            next += mapping.physical.size;
        }
        if next == end { Ok(list) } else { Err(INVALID_VALUE) }
    }
}

fn is_alive(physical: &Arc<Physical>) -> bool {
    PHYSICAL.find(|other| std::ptr::eq(other, &**physical)).is_some()
}

fn whole(bytes: usize) -> Result<u64> {
    let bytes = bytes as u64;
    if bytes > 0 && bytes.is_multiple_of(GRANULARITY) { Ok(bytes) } else { Err(INVALID_VALUE) }
}

fn check_location(location: [c_int; 2]) -> Result {
    match location {
        [DEVICE, device] => state::entry(device).map(|_| ()),
        [0, _] => Err(INVALID_VALUE),
        [kind, _] => Err(NOT_SUPPORTED.because(format!("virtual memory in a place of kind {kind}: only the device's"))),
    }
}

/// Fails unless an allocation with these properties can be made.
fn check(properties: &Properties) -> Result {
    if properties.kind != PINNED {
        return Err(INVALID_VALUE);
    }
    check_location(properties.location)?;
    if properties.handle_types != 0 {
        return Err(NOT_SUPPORTED.because("virtual memory that is shared with other processes"));
    }
    Ok(())
}

pub(crate) fn granularity(properties: In<Properties>, option: c_uint) -> Result<usize> {
    state::check()?;
    check(&properties.get()?)?;
    // The least, and the recommended.
    if option <= 1 { Ok(GRANULARITY as usize) } else { Err(INVALID_VALUE) }
}

/// Reserves addresses, and the memory for them. A wish for certain addresses is not met, which CUDA allows.
pub(crate) fn reserve(bytes: usize, alignment: usize, flags: c_ulonglong) -> Result<u64> {
    state::check()?;
    let size = whole(bytes)?;
    if flags != 0 || !(alignment == 0 || alignment.is_power_of_two()) {
        return Err(INVALID_VALUE);
    }
    // The memory is on the current device, which addresses don't name.
    let ordinal = context::current_if_any()?.map_or(0, |context| context.ordinal);
    let device = state::device_by_ordinal(ordinal)?;
    device.keep_apart(memory::is_used_elsewhere);
    let alignment = GRANULARITY.max(alignment as u64);
    let refuse = |_| OUT_OF_MEMORY.because("a range of addresses takes memory of its size here");
    let padded = size.saturating_add(alignment - 1);
    let block = device.memory().allocate(padded).map_err(refuse)?;
    let address = block.next_multiple_of(alignment);
    lock(&STATE).ranges.insert(address, Range { size, device, block });
    Ok(address)
}

/// Frees a range of addresses in which nothing is mapped.
pub(crate) fn free(address: u64, bytes: usize) -> Result {
    state::check()?;
    let mut state = lock(&STATE);
    state.clean();
    let size = state.ranges.get(&address).map(|range| range.size).filter(|&size| size == bytes as u64);
    let end = address + size.ok_or(INVALID_VALUE)?;
    let mut inside = state.mappings.range(address..end);
    if inside.any(|(_, mapping)| mapping.is_mapped) {
        return Err(INVALID_VALUE);
    }
    if state.mappings.range(address..end).next().is_some() {
        return Err(
            NOT_SUPPORTED.because("addresses are freed before the allocation that was mapped there is released")
        );
    }
    let range = state.ranges.remove(&address).ok_or(INVALID_VALUE)?;
    drop(state);
    // SAFETY: the block is the range's own, and the range is gone. That no later launch accesses it is the caller's contract with CUDA.
    unsafe { range.device.memory().free(range.block) }.map_err(Code::from)
}

pub(crate) fn create(bytes: usize, properties: In<Properties>, flags: c_ulonglong) -> Result<PhysicalHandle> {
    state::check()?;
    let size = whole(bytes)?;
    let properties = properties.get()?;
    check(&properties)?;
    let device = state::device_by_ordinal(properties.location[1])?;
    if flags != 0 {
        return Err(INVALID_VALUE);
    }
    if size > device.memory().info().total {
        return Err(OUT_OF_MEMORY);
    }
    Handle::new(Arc::new(Physical { size, properties }))
}

/// Invalidates a handle. The memory stays as long as it is mapped.
pub(crate) fn release(physical: PhysicalHandle) -> Result {
    state::check()?;
    physical.remove()?;
    lock(&STATE).clean();
    Ok(())
}

pub(crate) fn properties(physical: PhysicalHandle) -> Result<Properties> {
    Ok(physical.get()?.properties)
}

/// Another handle of the allocation that is mapped at an address.
pub(crate) fn retain(address: u64) -> Result<PhysicalHandle> {
    state::check()?;
    Handle::new(lock(&STATE).at(address)?.physical.clone())
}

pub(crate) fn map(address: u64, bytes: usize, offset: usize, physical: PhysicalHandle, flags: c_ulonglong) -> Result {
    let context = context::current()?;
    let (physical, size) = (physical.get()?, whole(bytes)?);
    let end = address.checked_add(size).filter(|_| flags == 0).ok_or(INVALID_VALUE)?;
    if offset as u64 > physical.size || size > physical.size - offset as u64 {
        return Err(INVALID_VALUE);
    }
    if size != physical.size {
        return Err(NOT_SUPPORTED.because("a part of an allocation is mapped"));
    }
    let mut state = lock(&STATE);
    state.clean();
    let range = state.ranges.range(..=address).next_back().filter(|(start, range)| end <= *start + range.size);
    let (_, range) = range.filter(|_| address.is_multiple_of(GRANULARITY)).ok_or(INVALID_VALUE)?;
    let owner = state::device_by_ordinal(physical.properties.location[1])?;
    if !range.device.is(&owner) || !context.device.is(&owner) {
        return Err(NOT_SUPPORTED.because("an allocation is mapped at addresses that were reserved on another device"));
    }
    let home = state.mappings.iter().find(|(_, mapping)| Arc::ptr_eq(&mapping.physical, &physical));
    if let Some((&home, mapping)) = home {
        if mapping.is_mapped || home != address {
            return Err(NOT_SUPPORTED.because("an allocation is mapped again, at other addresses"));
        }
    } else {
        let before = state.mappings.range(..end).next_back();
        if let Some((_, other)) = before.filter(|(start, mapping)| **start + mapping.physical.size > address) {
            let reason = "addresses are used again before the allocation that was mapped there is released";
            return Err(if other.is_mapped { INVALID_VALUE } else { NOT_SUPPORTED.because(reason) });
        }
    }
    state.mappings.insert(address, Mapping { physical, is_mapped: true, access: 0 });
    memory::record_mapping(&context, address, size);
    Ok(())
}

/// Unmaps all of the allocations that a range consists of.
pub(crate) fn unmap(address: u64, bytes: usize) -> Result {
    state::check()?;
    let mut state = lock(&STATE);
    for start in state.mapped(address, bytes as u64)? {
        memory::forget_mapping(start)?;
        if let Some(mapping) = state.mappings.get_mut(&start) {
            mapping.is_mapped = false;
        }
    }
    state.clean();
    Ok(())
}

/// Gives the device access to a range. `access` is an array of `CUmemAccessDesc`.
pub(crate) fn set_access(address: u64, bytes: usize, access: In<[c_int; 3]>, count: usize) -> Result {
    state::check()?;
    let mut state = lock(&STATE);
    let mapped = state.mapped(address, bytes as u64)?;
    if count == 0 {
        return Err(INVALID_VALUE);
    }
    for one in access.values(count) {
        let [kind, number, flags] = one?;
        check_location([kind, number])?;
        // None, reading, and both.
        let flags = match flags {
            0 | 1 | 3 => flags.cast_unsigned(),
            _ => return Err(INVALID_VALUE),
        };
        for start in &mapped {
            if let Some(mapping) = state.mappings.get_mut(start) {
                mapping.access = flags;
            }
        }
    }
    Ok(())
}

pub(crate) fn access(location: In<[c_int; 2]>, address: u64) -> Result<c_ulonglong> {
    state::check()?;
    check_location(location.get()?)?;
    Ok(lock(&STATE).at(address)?.access.into())
}

/// The number of bytes, from a mapped address on, that the host's functions can access; `None` where nothing is mapped.
pub(crate) fn reach(address: u64) -> Option<u64> {
    let state = lock(&STATE);
    let (start, _) = state.mappings.range(..=address).next_back()?;
    let mut end = *start;
    while let Some(mapping) = state.mappings.get(&end).filter(|mapping| mapping.is_mapped && mapping.access != 0) {
        end += mapping.physical.size;
    }
    end.checked_sub(address)
}
