//! A thread's current context: the device's primary one, unless the program has made another one current through the
//! driver API.

use std::ffi::{c_int, c_uint};

use crate::abi::code::{Code, INVALID_DEVICE, INVALID_VALUE, NOT_INITIALIZED};
use crate::abi::handle::Handle;
use crate::abi::raw::{In, Memory, Out};
use crate::context;
use crate::context::state;
use crate::module::lifetime;

/// Opens the device on the process's first call.
pub(crate) fn open() -> Result<(), Code> {
    match state::device() {
        Err(NOT_INITIALIZED) => state::open(),
        device => device.map(|_| ()),
    }
}

/// Makes sure that the thread has a current context.
pub(crate) fn enter() -> Result<(), Code> {
    open()?;
    let mut current = Handle::NULL;
    context::get_current(Out::from(&mut current))?;
    // After a reset, the previous context is gone.
    if current.get().is_ok() { Ok(()) } else { context::set_current(lifetime::hold_primary()?) }
}

pub(crate) fn device(device: Out<c_int>) -> Result<(), Code> {
    device.set(0)
}

pub(crate) fn set_device(device: c_int) -> Result<(), Code> {
    state::device_by_ordinal(device)?;
    context::set_current(lifetime::hold_primary()?)
}

/// Implements `cudaInitDevice`, which makes no context current.
pub(crate) fn init_device(device: c_int, context_flags: c_uint, flags: c_uint) -> Result<(), Code> {
    /// The flags of the context are given.
    const HAS_FLAGS: c_uint = 1;
    if flags & !HAS_FLAGS != 0 {
        return Err(INVALID_VALUE);
    }
    if flags & HAS_FLAGS != 0 {
        lifetime::set_primary_flags(device, context_flags)?;
    }
    state::device_by_ordinal(device)?;
    lifetime::hold_primary().map(|_| ())
}

/// There is only one device, so every request gets it.
pub(crate) fn choose_device(device: Out<c_int>, properties: Memory) -> Result<(), Code> {
    if properties.is_null() { Err(INVALID_VALUE) } else { device.set(0) }
}

pub(crate) fn set_valid_devices(devices: In<c_int>, count: c_int) -> Result<(), Code> {
    // There is one device.
    let count = usize::try_from(count).ok().filter(|&count| count <= 1).ok_or(INVALID_VALUE)?;
    let devices = devices.list(count)?;
    if devices.iter().all(|&device| device == 0) { Ok(()) } else { Err(INVALID_DEVICE) }
}
