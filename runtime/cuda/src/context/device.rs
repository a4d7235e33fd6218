//! Devices. There is one: the device that `PTX2SPV_DEVICE` names, or the machine's best.

use std::ffi::{c_char, c_int, c_uint};

use crate::abi::code::{Code, INVALID_DEVICE, INVALID_VALUE};
use crate::abi::raw::{Out, Text, size_t};
use crate::context::attributes;
use crate::context::state;

pub(crate) fn get(device: Out<c_int>, ordinal: c_int) -> Result<(), Code> {
    let device = device.needed()?;
    state::device_by_ordinal(ordinal)?;
    device.set(ordinal)
}

pub(crate) fn count(count: Out<c_int>) -> Result<(), Code> {
    let count = count.needed()?;
    state::device()?;
    count.set(1)
}

pub(crate) fn name(name: Out<c_char>, len: c_int, device: c_int) -> Result<(), Code> {
    let device = state::device_by_ordinal(device)?;
    write_text(&device.info().name, name, len)
}

/// Writes a C string, truncated to the caller's buffer.
fn write_text(text: &str, place: Out<c_char>, len: c_int) -> Result<(), Code> {
    let place = place.needed()?;
    let room = usize::try_from(len).ok().and_then(|len| len.checked_sub(1)).ok_or(INVALID_VALUE)?;
    let bytes = &text.as_bytes()[..text.len().min(room)];
    for (index, &byte) in bytes.iter().enumerate() {
        place.at(index).set(c_char::from_ne_bytes([byte]))?;
    }
    place.at(bytes.len()).set(0)
}

/// CUDA's first version of device properties.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Properties {
    max_threads_per_block: c_int,
    max_threads_dim: [c_int; 3],
    max_grid_size: [c_int; 3],
    shared_memory_per_block: c_int,
    total_constant_memory: c_int,
    simd_width: c_int,
    max_pitch: c_int,
    registers_per_block: c_int,
    clock_rate: c_int,
    texture_align: c_int,
}

pub(crate) fn properties(properties: Out<Properties>, device: c_int) -> Result<(), Code> {
    let properties = properties.needed()?;
    let device = state::device_by_ordinal(device)?;
    let value = |number| attributes::value(&device, number).ok_or(INVALID_VALUE);
    properties.set(Properties {
        max_threads_per_block: value(1)?,
        max_threads_dim: [value(2)?, value(3)?, value(4)?],
        max_grid_size: [value(5)?, value(6)?, value(7)?],
        shared_memory_per_block: value(8)?,
        total_constant_memory: value(9)?,
        simd_width: value(10)?,
        max_pitch: value(11)?,
        registers_per_block: value(12)?,
        clock_rate: value(13)?,
        texture_align: value(14)?,
    })
}

pub(crate) fn total_memory(bytes: Out<usize>, device: c_int) -> Result<(), Code> {
    let bytes = bytes.needed()?;
    let device = state::device_by_ordinal(device)?;
    bytes.set(size_t(device.memory().info().total))
}

pub(crate) fn uuid(uuid: Out<[u8; 16]>, device: c_int) -> Result<(), Code> {
    let uuid = uuid.needed()?;
    uuid.set(state::device_by_ordinal(device)?.info().uuid)
}

pub(crate) fn compute_capability(major: Out<c_int>, minor: Out<c_int>, device: c_int) -> Result<(), Code> {
    let (major, minor) = (major.needed()?, minor.needed()?);
    state::device_by_ordinal(device)?;
    let (a, b) = attributes::compute_capability();
    major.set(a)?;
    minor.set(b)
}

/// The device's bus address. Vulkan doesn't report it, so this is a fixed one.
const BUS_ID: &str = "0000:01:00.0";

pub(crate) fn bus_id(text: Out<c_char>, len: c_int, device: c_int) -> Result<(), Code> {
    state::device_by_ordinal(device)?;
    write_text(BUS_ID, text, len)
}

pub(crate) fn by_bus_id(device: Out<c_int>, text: Text) -> Result<(), Code> {
    let device = device.needed()?;
    state::device()?;
    let text = text.get()?.to_ascii_lowercase();
    // Domain and function may be omitted.
    if [BUS_ID, "01:00.0", "0000:01:00", "01:00", "1:0"].contains(&text.as_str()) {
        device.set(0)
    } else {
        Err(INVALID_DEVICE)
    }
}

pub(crate) fn can_access_peer(can: Out<c_int>, device: c_int, peer: c_int) -> Result<(), Code> {
    let can = can.needed()?;
    state::device_by_ordinal(device)?;
    state::device_by_ordinal(peer)?;
    can.set(0)
}

pub(crate) fn peer_attribute(value: Out<c_int>, attribute: c_uint, device: c_int, peer: c_int) -> Result<(), Code> {
    let value = value.needed()?;
    state::device_by_ordinal(device)?;
    state::device_by_ordinal(peer)?;
    // A device has no peer attributes with itself.
    if device == peer { Err(INVALID_DEVICE) } else { value.set(i32::from(attribute == 0)) }
}
