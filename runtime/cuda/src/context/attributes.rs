//! Answers to `cuDeviceGetAttribute`.

use std::ffi::{c_int, c_uint};

use ptx2spv_runtime::{Device, TexelFormat, texture_limits};

use crate::abi::code::{Code, INVALID_VALUE};
use crate::abi::raw::Out;
use crate::context::state;

pub(crate) fn compute_capability() -> (c_int, c_int) {
    Device::cuda_capability()
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
