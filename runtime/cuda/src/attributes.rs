//! Answers to `cuDeviceGetAttribute`.

use std::ffi::{c_int, c_uint};

use ptx2spv_runtime::{Device, DeviceKind, TexelFormat, texture_limits};

use crate::code::{Code, INVALID_VALUE};
use crate::raw::Out;
use crate::state;

/// Numbers of the attributes.
const MULTIPROCESSORS: c_uint = 16;
const THREADS_PER_MULTIPROCESSOR: c_uint = 39;
const SHARED_PER_MULTIPROCESSOR: c_uint = 81;
const BLOCKS_PER_MULTIPROCESSOR: c_uint = 106;

pub(crate) fn compute_capability() -> (c_int, c_int) {
    Device::cuda_capability()
}

/// The value of an attribute, or zero if it is missing or negative.
fn number(device: &Device, attribute: c_uint) -> u32 {
    value(device, attribute).and_then(|value| u32::try_from(value).ok()).unwrap_or(0)
}

pub(crate) fn multiprocessors(device: &Device) -> u32 {
    number(device, MULTIPROCESSORS)
}

/// Maximum number of threads resident on a multiprocessor.
pub(crate) fn threads_per_multiprocessor(device: &Device) -> u32 {
    number(device, THREADS_PER_MULTIPROCESSOR)
}

/// Bytes of shared memory of a multiprocessor.
pub(crate) fn shared_per_multiprocessor(device: &Device) -> u32 {
    number(device, SHARED_PER_MULTIPROCESSOR)
}

/// Maximum number of blocks resident on a multiprocessor.
pub(crate) fn blocks_per_multiprocessor(device: &Device) -> u32 {
    number(device, BLOCKS_PER_MULTIPROCESSOR)
}

/// Whether the device shares its memory with the host.
pub(crate) fn is_unified(device: &Device) -> bool {
    matches!(device.info().kind, DeviceKind::Cpu | DeviceKind::Integrated)
}

pub(crate) fn get(value: Out<c_int>, attribute: c_uint, device: c_int) -> Result<(), Code> {
    let value = value.needed()?;
    let device = state::device_by_ordinal(device)?;
    value.set(self::value(&device, attribute).ok_or(INVALID_VALUE)?)
}

/// The value of an attribute.
pub(crate) fn value(device: &Device, attribute: c_uint) -> Option<c_int> {
    device.cuda_attribute(attribute)
}

pub(crate) fn linear_texture_width(
    width: Out<usize>,
    format: c_uint,
    channels: c_uint,
    device: c_int,
) -> Result<(), Code> {
    let width = width.needed()?;
    state::device_by_ordinal(device)?;
    TexelFormat::from_cuda_number(format, channels)?;
    width.set(texture_limits::LINEAR as usize)
}
