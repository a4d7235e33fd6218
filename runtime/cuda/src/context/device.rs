//! Devices: those that `PTX2SPV_DEVICE` names, or the machine's best one and others like it, as far as `CUDA_VISIBLE_DEVICES` shows them.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::ptr::null;
use std::sync::Once;

use ptx2spv_runtime::{Device, DeviceKind, TexelFormat, texture_limits};

use crate::abi::{Code, INVALID_DEVICE, INVALID_VALUE, Out, Result, Text, size_t, trace};
use crate::context::state::Entry;
use crate::context::{state, visible};

pub(crate) fn get(ordinal: c_int) -> Result<c_int> {
    state::entry(ordinal)?;
    Ok(ordinal)
}

pub(crate) fn count() -> Result<c_int> {
    Ok(c_int::try_from(state::devices()?.len()).unwrap_or(c_int::MAX))
}

pub(crate) fn name(name: Out<c_char>, len: c_int, device: c_int) -> Result {
    write_text(&state::entry(device)?.info().name, name, len)
}

/// Writes a C string, truncated to the caller's buffer.
pub(crate) fn write_text(text: &str, place: Out<c_char>, len: c_int) -> Result {
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

pub(crate) fn properties(device: c_int) -> Result<Properties> {
    let device = state::device_by_ordinal(device)?;
    let value = |number| attribute_value(&device, number).ok_or(INVALID_VALUE);
    Ok(Properties {
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

pub(crate) fn total_memory(device: c_int) -> Result<usize> {
    let device = state::device_by_ordinal(device)?;
    Ok(size_t(device.memory().info().total))
}

pub(crate) fn uuid(device: c_int) -> Result<[u8; 16]> {
    Ok(state::entry(device)?.info().uuid)
}

pub(crate) fn compute_capability(major: Out<c_int>, minor: Out<c_int>, device: c_int) -> Result {
    let (major, minor) = (major.needed()?, minor.needed()?);
    state::entry(device)?;
    let (a, b) = capability();
    major.set(a)?;
    minor.set(b)
}

pub(crate) fn bus_id(text: Out<c_char>, len: c_int, device: c_int) -> Result {
    write_text(&state::entry(device)?.bus.to_string(), text, len)
}

pub(crate) fn by_bus_id(device: Out<c_int>, text: Text) -> Result {
    let device = device.needed()?;
    let devices = state::devices()?;
    let text = text.get()?;
    let wrong = if text.contains(':') { INVALID_DEVICE } else { INVALID_VALUE };
    let bus = visible::read_bus_address(&text).ok_or(wrong)?;
    let found = devices.iter().position(|entry| entry.bus == bus).ok_or(INVALID_DEVICE)?;
    device.set(c_int::try_from(found).unwrap_or(c_int::MAX))
}

/// Whether kernels of one device can access the memory of another by its addresses. Vulkan's devices have address spaces of their own,
/// except for devices that run on the processor and use the process's addresses.
pub(crate) fn is_accessible(device: &Device, peer: &Device) -> Result<bool> {
    let shares_addresses = |device: &Device| {
        if device.info().kind != DeviceKind::Cpu {
            return Ok(false);
        }
        let range = device.memory().allocate_pinned(1)?;
        // SAFETY: the range was allocated above, and nothing uses it.
        unsafe { device.memory().free(range.address) }?;
        Ok::<_, Code>(range.address == range.host)
    };
    Ok(!device.is(peer) && shares_addresses(device)? && shares_addresses(peer)?)
}

pub(crate) fn can_access_peer(device: c_int, peer: c_int) -> Result<c_int> {
    let (device, peer) = (state::entry(device)?, state::entry(peer)?);
    // Only devices of a kind that may have access are opened to find out.
    if [&device, &peer].iter().any(|entry| entry.info().kind != DeviceKind::Cpu) {
        return Ok(0);
    }
    Ok(is_accessible(&device.open()?, &peer.open()?)?.into())
}

pub(crate) fn peer_attribute(attribute: c_uint, device: c_int, peer: c_int) -> Result<c_int> {
    state::entry(device)?;
    state::entry(peer)?;
    match attribute {
        // A device has no peer attributes with itself.
        _ if device == peer => Err(INVALID_DEVICE),
        // Access, with atomic operations.
        2 | 3 => can_access_peer(device, peer),
        // The rank of the connection's speed, and access to arrays.
        1 | 4 => Ok(0),
        _ => Err(INVALID_VALUE),
    }
}

// Answers to `cuDeviceGetAttribute`.

pub(crate) fn capability() -> (c_int, c_int) {
    Device::cuda_capability()
}

pub(crate) fn attribute(attribute: c_uint, device: c_int) -> Result<c_int> {
    attribute_of(&*state::entry(device)?, attribute)?.ok_or(INVALID_VALUE)
}

/// The value of an attribute of a device in the list, which is opened for those that its driver doesn't say.
pub(crate) fn attribute_of(entry: &Entry, attribute: c_uint) -> Result<Option<c_int>> {
    let bus = entry.bus;
    let number = |number: u32| Ok(Some(c_int::try_from(number).unwrap_or(c_int::MAX)));
    match attribute {
        33 => number(bus.bus),
        34 => number(bus.device),
        50 => number(bus.domain),
        _ => Ok(attribute_value(&entry.open()?, attribute)),
    }
}

pub(crate) fn attribute_value(device: &Device, attribute: c_uint) -> Option<c_int> {
    device.cuda_attribute(attribute)
}

pub(crate) fn linear_texture_width(format: c_uint, channels: c_uint, device: c_int) -> Result<usize> {
    TexelFormat::from_cuda_number(format, channels).map_err(|_| INVALID_VALUE)?;
    state::entry(device)?;
    Ok(texture_limits::LINEAR as usize)
}

/// CUDA 12.8. Programs refuse a driver older than their toolkit, and ask a newer one for functions that are not
/// documented yet.
const VERSION: i32 = 12_080;

/// Overrides the reported version.
const VERSION_VARIABLE: &str = "PTX2SPV_CUDA_VERSION";

pub(crate) fn init(flags: c_uint) -> Result {
    if flags != 0 {
        return Err(INVALID_VALUE);
    }
    state::open()
}

pub(crate) fn version(version: Out<c_int>) -> Result {
    let chosen = std::env::var(VERSION_VARIABLE).ok().and_then(|value| value.parse().ok());
    version.set(chosen.unwrap_or(VERSION))
}

pub(crate) fn error_name(error: u32, text: Out<*const c_char>) -> Result {
    answer(Code(error).name(), text)
}

pub(crate) fn error_text(error: u32, text: Out<*const c_char>) -> Result {
    answer(Code(error).text(), text)
}

fn answer(found: Option<&'static std::ffi::CStr>, text: Out<*const c_char>) -> Result {
    text.set(found.map_or(null(), std::ffi::CStr::as_ptr))?;
    found.map(|_| ()).ok_or(INVALID_VALUE)
}

/// Internal function tables of NVIDIA's libraries, which this library doesn't have. Only NVIDIA's runtime library asks
/// for one, and its own error message is misleading.
pub(crate) fn export_table(table: Out<*const c_void>) -> Result {
    static SAID: Once = Once::new();
    SAID.call_once(|| {
        trace::say(
            "NVIDIA's CUDA runtime library is linked into this program, or loaded by it, and works with NVIDIA's driver alone; build the \
             program with `nvcc -cudart shared`, and run it by `ptx2spv cuda`",
        );
    });
    table.set_if_any(null());
    Err(INVALID_VALUE)
}

pub(crate) fn profiler() -> Result {
    crate::context::current().map(|_| ())
}
