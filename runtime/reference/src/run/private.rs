//! An invocation's own memory, and push constants.

use super::lane::Lane;
use super::world::Value;
use crate::code::Class;
use crate::finding::FindingKind;
use crate::memory::{Fault, Result};

/// The bytes at an address, as a range in a memory of `size` bytes.
#[inline(always)]
fn range(class: Class, address: u64, bytes: u8, size: usize) -> Result<std::ops::Range<usize>> {
    match address.checked_add(bytes.into()) {
        Some(end) if end <= size as u64 => Ok(address as usize..end as usize),
        _ => Err(outside(class, address, bytes.into(), size)),
    }
}

/// The little-endian number in at most 8 bytes.
#[inline(always)]
pub(super) fn number(bytes: &[u8]) -> u64 {
    match *bytes {
        [a, b, c, d] => u32::from_le_bytes([a, b, c, d]).into(),
        [a, b, c, d, e, f, g, h] => u64::from_le_bytes([a, b, c, d, e, f, g, h]),
        _ => bytes.iter().rev().fold(0, |high, &byte| high << 8 | u64::from(byte)),
    }
}

/// Writes the low bits of a number to at most 8 bytes.
#[inline(always)]
pub(super) fn set_number(bytes: &mut [u8], number: u64) {
    let number = number.to_le_bytes();
    match bytes {
        [_, _, _, _] => bytes.copy_from_slice(&number[..4]),
        [_, _, _, _, _, _, _, _] => bytes.copy_from_slice(&number),
        _ => bytes.copy_from_slice(&number[..bytes.len()]),
    }
}

/// Loads from an invocation's own memory.
#[inline(always)]
pub(super) fn load(lane: &Lane, address: u64, bytes: u8) -> Result<Value> {
    let range = range(Class::Private, address, bytes, lane.private.len())?;
    let undefined = lane.shadow.as_ref().map_or(0, |shadow| number(&shadow.private[range.clone()]));
    Ok(Value { bits: number(&lane.private[range]), undefined })
}

/// Stores to an invocation's own memory.
#[inline(always)]
pub(super) fn store(lane: &mut Lane, address: u64, bytes: u8, value: Value) -> Result {
    let range = range(Class::Private, address, bytes, lane.private.len())?;
    if let Some(shadow) = &mut lane.shadow {
        set_number(&mut shadow.private[range.clone()], value.undefined);
    }
    set_number(&mut lane.private[range], value.bits);
    Ok(())
}

/// Loads from push constants.
#[inline(always)]
pub(super) fn constant(constants: &[u8], address: u64, bytes: u8) -> Result<Value> {
    let range = range(Class::PushConstant, address, bytes, constants.len())?;
    Ok(Value { bits: number(&constants[range]), undefined: 0 })
}

/// The fault of an access that is not entirely inside of an invocation's own memory or the push constants.
#[cold]
pub(super) fn outside(class: Class, address: u64, bytes: u32, size: usize) -> Box<Fault> {
    let what = match class {
        Class::PushConstant => "push constants",
        Class::Workgroup => "workgroup memory",
        _ => "the invocation's own memory",
    };
    let message = format!("an access of {bytes} bytes at offset {address} of {what}, which has {size} bytes");
    Fault::new(FindingKind::OutOfBounds, message)
}
