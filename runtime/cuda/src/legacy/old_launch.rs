//! Launches as before CUDA 4: parameters are set on the function, then it is launched.

use std::ffi::{c_int, c_uint};

use crate::abi::code::{Code, INVALID_VALUE};
use crate::abi::handle::Handle;
use crate::abi::raw::Memory;
use crate::abi::sync::lock;
use crate::context;
use crate::launch;
use crate::module::function::{FunctionHandle, OldLaunch};
use crate::module::texture_reference::TextureReferenceHandle;
use crate::stream::StreamHandle;

/// Maximum bytes of arguments.
const MOST: usize = 4096;

/// Changes the launch parameters of a function.
fn change(function: FunctionHandle, act: impl FnOnce(&mut OldLaunch) -> Result<(), Code>) -> Result<(), Code> {
    context::current()?;
    act(&mut lock(&function.get()?.old_launch))
}

fn size(number: c_int) -> Result<c_uint, Code> {
    c_uint::try_from(number).ok().filter(|&number| number > 0).ok_or(INVALID_VALUE)
}

pub(crate) fn set_block(function: FunctionHandle, x: c_int, y: c_int, z: c_int) -> Result<(), Code> {
    let block = [size(x)?, size(y)?, size(z)?];
    change(function, |launch| {
        launch.block = Some(block);
        Ok(())
    })
}

pub(crate) fn set_shared(function: FunctionHandle, bytes: c_uint) -> Result<(), Code> {
    change(function, |launch| {
        launch.shared_bytes = bytes;
        Ok(())
    })
}

pub(crate) fn set_size(function: FunctionHandle, bytes: c_uint) -> Result<(), Code> {
    let bytes = usize::try_from(bytes).ok().filter(|&bytes| bytes <= MOST).ok_or(INVALID_VALUE)?;
    change(function, |launch| {
        launch.size = bytes;
        Ok(())
    })
}

fn write(function: FunctionHandle, offset: c_int, bytes: &[u8]) -> Result<(), Code> {
    let start = usize::try_from(offset).map_err(|_| INVALID_VALUE)?;
    let end = start.checked_add(bytes.len()).filter(|&end| end <= MOST).ok_or(INVALID_VALUE)?;
    change(function, |launch| {
        if launch.arguments.len() < end {
            launch.arguments.resize(end, 0);
        }
        launch.arguments[start..end].copy_from_slice(bytes);
        Ok(())
    })
}

pub(crate) fn set_number(function: FunctionHandle, offset: c_int, value: c_uint) -> Result<(), Code> {
    write(function, offset, &value.to_ne_bytes())
}

pub(crate) fn set_float(function: FunctionHandle, offset: c_int, value: f32) -> Result<(), Code> {
    write(function, offset, &value.to_ne_bytes())
}

pub(crate) fn set_bytes(function: FunctionHandle, offset: c_int, bytes: Memory, count: c_uint) -> Result<(), Code> {
    if count as usize > MOST {
        return Err(INVALID_VALUE);
    }
    write(function, offset, bytes.bytes(count.into())?)
}

/// Only checks its arguments: a module's texture references work in all of its functions anyway.
pub(crate) fn set_texture(
    function: FunctionHandle,
    unit: c_int,
    reference: TextureReferenceHandle,
) -> Result<(), Code> {
    /// `CU_PARAM_TR_DEFAULT`, the only texture unit.
    const DEFAULT: c_int = -1;
    context::current()?;
    function.get()?;
    reference.get()?;
    if unit == DEFAULT { Ok(()) } else { Err(INVALID_VALUE) }
}

pub(crate) fn one(function: FunctionHandle) -> Result<(), Code> {
    grid(function, 1, 1)
}

pub(crate) fn grid(function: FunctionHandle, width: c_int, height: c_int) -> Result<(), Code> {
    grid_async(function, width, height, Handle::NULL)
}

pub(crate) fn grid_async(
    function: FunctionHandle,
    width: c_int,
    height: c_int,
    stream: StreamHandle,
) -> Result<(), Code> {
    let grid = [size(width)?, size(height)?, 1];
    let OldLaunch { block, shared_bytes, size, mut arguments } = lock(&function.get()?.old_launch).clone();
    arguments.resize(size, 0);
    let block = block.ok_or_else(|| INVALID_VALUE.because("no block shape was set"))?;
    launch::with_bytes(function, grid, block, shared_bytes, stream, &arguments)
}
