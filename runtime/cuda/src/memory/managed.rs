//! Hints for managed memory. Host and device share the memory, so that nothing has to move; programs can read the hints.

use std::collections::BTreeSet;
use std::ffi::{c_int, c_uint};

use crate::abi::{INVALID_VALUE, In, Memory, Result};
use crate::context::{self, state};
use crate::memory::advice::{self, Advice};
use crate::memory::{self, MemoryKind};
use crate::stream::{self, StreamHandle};

/// Values of `cuMemAdvise`: 1 to 6 set and unset three kinds of advice, 7 and 8 exist on newer systems.
const ADVICE: std::ops::RangeInclusive<c_uint> = 1..=8;

/// `CU_DEVICE_CPU`.
const HOST: c_int = -1;

/// Fails unless the range is managed memory.
fn check(address: u64, bytes: usize) -> Result {
    let (start, allocation) = memory::find(address).ok_or(INVALID_VALUE)?;
    let fits = bytes as u64 <= allocation.size - (address - start);
    if fits && allocation.place == MemoryKind::Managed { Ok(()) } else { Err(INVALID_VALUE) }
}

fn check_device(device: c_int) -> Result {
    if device == HOST { Ok(()) } else { state::entry(device).map(|_| ()) }
}

pub(crate) fn check_advice(advice: c_uint) -> Result {
    if ADVICE.contains(&advice) { Ok(()) } else { Err(INVALID_VALUE) }
}

pub(crate) fn advise(address: u64, bytes: usize, advice: c_uint, device: c_int) -> Result {
    context::current()?;
    check_advice(advice)?;
    check(address, bytes)?;
    check_device(device)?;
    // An odd number sets what the next number unsets.
    let is_set = advice % 2 == 1;
    advice::change(address, bytes as u64, |known| match advice {
        1 | 2 => known.is_read_mostly = is_set,
        3 | 4 => known.preferred = is_set.then_some(device),
        5 => {
            known.accessed_by.insert(device);
        }
        6 => {
            known.accessed_by.remove(&device);
        }
        _ => {}
    });
    Ok(())
}

/// The device of a location, a structure of two numbers, kind and id, passed in one register. −1 is the host.
fn device(place: u64) -> Result<c_int> {
    match place as u32 {
        // No location, for advice that needs none.
        0 => Ok(0),
        1 => Ok((place >> 32) as c_int),
        // The host, a NUMA node of the host, and the calling thread's node.
        2..=4 => Ok(HOST),
        _ => Err(INVALID_VALUE),
    }
}

/// Fails unless memory can move to a place.
pub(crate) fn check_place(place: u64) -> Result {
    if place as u32 == 0 { Err(INVALID_VALUE) } else { check_device(device(place)?) }
}

pub(crate) fn advise_place(address: u64, bytes: usize, advice: c_uint, place: u64) -> Result {
    advise(address, bytes, advice, device(place)?)
}

pub(crate) fn prefetch(address: u64, bytes: usize, device: c_int, stream: StreamHandle) -> Result {
    stream::used(stream)?;
    check(address, bytes)?;
    check_device(device)?;
    advice::change(address, bytes as u64, |known| known.prefetched = Some(device));
    Ok(())
}

pub(crate) fn prefetch_to_place(address: u64, bytes: usize, place: u64, flags: c_uint, stream: StreamHandle) -> Result {
    prefetch_on(address, bytes, device(place)?, flags, stream)
}

pub(crate) fn prefetch_on(address: u64, bytes: usize, device: c_int, flags: c_uint, stream: StreamHandle) -> Result {
    if flags != 0 {
        return Err(INVALID_VALUE);
    }
    prefetch(address, bytes, device, stream)
}

/// `CU_DEVICE_INVALID`.
const NO_DEVICE: c_int = -2;

/// The value that all parts of a range have in common.
fn common<T: PartialEq>(list: &[Advice], read: impl Fn(&Advice) -> Option<T>) -> Option<T> {
    let first = read(list.first()?)?;
    list.iter().all(|advice| read(advice).as_ref() == Some(&first)).then_some(first)
}

/// Attributes of ranges: read-mostly, the preferred location, the devices with access, the last prefetch. The last four
/// are the kinds and numbers of the locations.
pub(crate) fn range_attribute(
    data: Memory,
    data_bytes: usize,
    attribute: c_uint,
    address: u64,
    bytes: usize,
) -> Result {
    context::current()?;
    if data.is_null() || bytes == 0 {
        return Err(INVALID_VALUE);
    }
    check(address, bytes)?;
    let list = advice::of(address, bytes as u64);
    let preferred = || common(&list, |advice| advice.preferred);
    let prefetched = || common(&list, |advice| advice.prefetched);
    /// The kind of a location: none, a device, or the host.
    fn kind(place: Option<c_int>) -> c_int {
        match place {
            None => 0,
            Some(HOST) => 2,
            Some(_) => 1,
        }
    }
    let number = match attribute {
        1 => list.iter().all(|advice| advice.is_read_mostly).into(),
        2 => preferred().unwrap_or(NO_DEVICE),
        3 => return write_devices(data, data_bytes, &list),
        4 => prefetched().unwrap_or(NO_DEVICE),
        5 => kind(preferred()),
        6 => preferred().filter(|&place| place != HOST).unwrap_or(0),
        7 => kind(prefetched()),
        8 => prefetched().filter(|&place| place != HOST).unwrap_or(0),
        _ => return Err(INVALID_VALUE),
    };
    if data_bytes != size_of::<c_int>() {
        return Err(INVALID_VALUE);
    }
    data.as_out().set(number)
}

/// Writes the devices that access all of a range. What is left of the memory is filled with an invalid number.
fn write_devices(data: Memory, data_bytes: usize, list: &[Advice]) -> Result {
    if data_bytes == 0 || !data_bytes.is_multiple_of(size_of::<c_int>()) {
        return Err(INVALID_VALUE);
    }
    let of_first = list.first().map(|advice| advice.accessed_by.clone()).unwrap_or_default();
    let by_all: BTreeSet<_> =
        list.iter().fold(of_first, |common, advice| common.intersection(&advice.accessed_by).copied().collect());
    let (host, devices): (Vec<_>, Vec<_>) = by_all.into_iter().partition(|&device| device == HOST);
    let devices = devices.into_iter().chain(host).chain(std::iter::repeat(NO_DEVICE));
    let places = (0..data_bytes / size_of::<c_int>()).map(|index| data.as_out().at(index));
    places.zip(devices).try_for_each(|(place, device)| place.set(device))
}

pub(crate) fn range_attributes(
    data: In<Memory>,
    data_bytes: In<usize>,
    attributes: In<c_uint>,
    count: usize,
    address: u64,
    bytes: usize,
) -> Result {
    let places = data.values(count).zip(data_bytes.values(count)).zip(attributes.values(count));
    for ((data, data_bytes), attribute) in places {
        range_attribute(data?, data_bytes?, attribute?, address, bytes)?;
    }
    Ok(())
}

/// Checks the flags, which limit the streams that use the memory: one of three ways.
pub(crate) fn attach(stream: StreamHandle, address: Memory, flags: c_uint) -> Result {
    stream::used(stream)?;
    if !matches!(flags, 1 | 2 | 4) {
        return Err(INVALID_VALUE);
    }
    check(address.address(), 0)
}
