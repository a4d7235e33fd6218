//! Hints for managed memory. Host and device share the memory, so that nothing has to move.

use std::ffi::{c_int, c_uint};

use crate::code::{Code, INVALID_DEVICE, INVALID_VALUE};
use crate::context;
use crate::memory::{self, MemoryKind};
use crate::raw::Memory;
use crate::stream::{self, StreamHandle};

/// Values of `cuMemAdvise`: 1 to 6 set and unset three kinds of advice, 7 and 8 exist on newer systems.
const ADVICE: std::ops::RangeInclusive<c_uint> = 1..=8;

/// `CU_DEVICE_CPU`.
const HOST: c_int = -1;

/// Fails unless the range is managed memory.
fn check(address: u64, bytes: usize) -> Result<(), Code> {
    let (start, allocation) = memory::find(address).ok_or(INVALID_VALUE)?;
    let fits = bytes as u64 <= allocation.size - (address - start);
    if fits && allocation.place == MemoryKind::Managed { Ok(()) } else { Err(INVALID_VALUE) }
}

fn check_device(device: c_int) -> Result<(), Code> {
    if matches!(device, 0 | HOST) { Ok(()) } else { Err(INVALID_DEVICE) }
}

pub(crate) fn advise(address: u64, bytes: usize, advice: c_uint, device: c_int) -> Result<(), Code> {
    context::current()?;
    if !ADVICE.contains(&advice) {
        return Err(INVALID_VALUE);
    }
    check(address, bytes)?;
    check_device(device)
}

/// The location is a structure of two numbers, kind and id, passed in one register.
pub(crate) fn advise_place(address: u64, bytes: usize, advice: c_uint, _place: u64) -> Result<(), Code> {
    advise(address, bytes, advice, 0)
}

pub(crate) fn prefetch(address: u64, bytes: usize, device: c_int, stream: StreamHandle) -> Result<(), Code> {
    stream::used(stream)?;
    check(address, bytes)?;
    check_device(device)
}

/// See [`advise_place`].
pub(crate) fn prefetch_to_place(
    address: u64,
    bytes: usize,
    _place: u64,
    flags: c_uint,
    stream: StreamHandle,
) -> Result<(), Code> {
    if flags != 0 {
        return Err(INVALID_VALUE);
    }
    prefetch(address, bytes, 0, stream)
}

/// Checks the flags, which limit the streams that use the memory: one of three ways.
pub(crate) fn attach(stream: StreamHandle, address: Memory, _bytes: usize, flags: c_uint) -> Result<(), Code> {
    stream::used(stream)?;
    if !matches!(flags, 1 | 2 | 4) {
        return Err(INVALID_VALUE);
    }
    check(address.address(), 0)
}
