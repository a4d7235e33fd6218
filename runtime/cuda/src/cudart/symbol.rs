//! Device variables of programs, found by their host shadows.

use std::ffi::c_uint;

use crate::abi::code::{Code, INVALID_VALUE};
use crate::abi::raw::{Memory, Out};
use crate::cudart::copy::{self, Direction};
use crate::cudart::error::INVALID_MEMCPY_DIRECTION;
use crate::cudart::registry;
use crate::memory::copy::{Copy3D, DEVICE, Linear, UNIFIED};

pub(crate) fn address(address: Out<u64>, symbol: Memory) -> Result<(), Code> {
    address.needed()?.set(registry::variable(symbol)?.0)
}

pub(crate) fn size(size: Out<usize>, symbol: Memory) -> Result<(), Code> {
    size.needed()?.set(registry::variable(symbol)?.1 as usize)
}

/// The address of `bytes` bytes of a variable.
fn part(symbol: Memory, bytes: usize, offset: usize) -> Result<Memory, Code> {
    let (address, size) = registry::variable(symbol)?;
    let end = (offset as u64).checked_add(bytes as u64).ok_or(INVALID_VALUE)?;
    if end > size {
        return Err(INVALID_VALUE.because("a range past the end of the variable"));
    }
    Ok(Memory::from_address(address + offset as u64))
}

/// A variable as the destination of a copy.
pub(crate) fn written(symbol: Memory, bytes: usize, offset: usize, kind: c_uint) -> Result<Memory, Code> {
    match Direction::new(kind)?.to {
        DEVICE | UNIFIED => part(symbol, bytes, offset),
        _ => Err(INVALID_MEMCPY_DIRECTION),
    }
}

/// A variable as the source of a copy.
pub(crate) fn read(symbol: Memory, bytes: usize, offset: usize, kind: c_uint) -> Result<Memory, Code> {
    match Direction::new(kind)?.from {
        DEVICE | UNIFIED => part(symbol, bytes, offset),
        _ => Err(INVALID_MEMCPY_DIRECTION),
    }
}

pub(crate) fn copy_to(symbol: Memory, from: Memory, bytes: usize, offset: usize, kind: c_uint) -> Result<Linear, Code> {
    copy::linear(written(symbol, bytes, offset, kind)?, from, bytes, kind)
}

pub(crate) fn copy_from(to: Memory, symbol: Memory, bytes: usize, offset: usize, kind: c_uint) -> Result<Linear, Code> {
    copy::linear(to, read(symbol, bytes, offset, kind)?, bytes, kind)
}

/// The copies in the form of graph nodes.
pub(crate) fn row_to(symbol: Memory, from: Memory, bytes: usize, offset: usize, kind: c_uint) -> Result<Copy3D, Code> {
    copy::row(written(symbol, bytes, offset, kind)?, from, bytes, kind)
}

pub(crate) fn row_from(to: Memory, symbol: Memory, bytes: usize, offset: usize, kind: c_uint) -> Result<Copy3D, Code> {
    copy::row(to, read(symbol, bytes, offset, kind)?, bytes, kind)
}
