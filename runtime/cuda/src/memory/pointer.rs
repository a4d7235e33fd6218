//! Attributes of pointers.

use std::ffi::{c_int, c_uint};

use crate::abi::{Handle, INVALID_VALUE, In, Memory, Result};
use crate::context::{self, ContextHandle};
use crate::memory::variables::{self, Variables};
use crate::memory::{self, MemoryKind};

/// Attributes of the memory at an address.
pub(crate) struct Known {
    pub start: u64,
    pub size: u64,
    pub id: u64,
    pub place: MemoryKind,
    /// The address on the device, and on the host.
    pub on_device: Option<u64>,
    pub on_host: Option<u64>,
    pub context: ContextHandle,
    /// The device's ordinal.
    pub ordinal: c_int,
}

/// Finds the memory that contains an address, if the current context is none or of use.
fn find_anywhere(address: u64) -> Result<Option<Known>> {
    context::current_if_any()?;
    Ok(find(address))
}

/// Finds the memory that contains an address.
pub(crate) fn find(address: u64) -> Option<Known> {
    if let Some((start, allocation)) = memory::find(address) {
        let memory::Allocation { size, id, place, .. } = allocation;
        let on_device = allocation.on_device.map(|on_device| on_device + (address - start));
        let on_host = (!place.is_of_device_alone()).then_some(address);
        let (ordinal, context) = (allocation.context.ordinal, allocation.context.handle());
        return Some(Known { start, size, id, place, on_device, on_host, context, ordinal });
    }
    // Variables of a module have no record of their own.
    let Variables { range, ordinal, context, .. } = variables::find(address)?;
    Some(Known {
        start: range.address,
        size: range.size,
        id: range.address,
        place: MemoryKind::Device(Handle::NULL),
        on_device: Some(address),
        on_host: None,
        context: context.map_or(Handle::NULL, |context| context.handle()),
        ordinal,
    })
}

/// `CU_MEMORYTYPE_HOST` and `CU_MEMORYTYPE_DEVICE`.
const HOST: c_uint = 1;
const DEVICE: c_uint = 2;

/// Writes an attribute. Returns `None` if the memory doesn't have it.
fn write(attribute: c_uint, place: Memory, known: &Known) -> Option<Result> {
    let Known { start, size, id, context, .. } = *known;
    Some(match attribute {
        // Context.
        1 => place.as_out().set(context),
        2 => {
            let is_host = matches!(known.place, MemoryKind::Pinned(_) | MemoryKind::Registered(_));
            place.as_out().set(if is_host { HOST } else { DEVICE })
        }
        // Device pointer and host pointer.
        3 => place.as_out().set(known.on_device?),
        4 => place.as_out().set(known.on_host?),
        // Whether copies are always synchronous, and whether the memory is managed.
        6 => place.as_out::<c_uint>().set(0),
        8 => place.as_out().set(c_uint::from(known.place == MemoryKind::Managed)),
        7 => place.as_out().set(id),
        // Device.
        9 => place.as_out::<c_int>().set(known.ordinal),
        10 | 15 => place.as_out::<c_uint>().set(0),
        11 => place.as_out().set(start),
        12 => place.as_out().set(size),
        // Whether it is mapped, allowed handle types, access flags, memory pool.
        13 => place.as_out::<c_uint>().set(1),
        14 => place.as_out::<u64>().set(0),
        16 => place.as_out::<c_uint>().set(3),
        17 => place.as_out().set(match known.place {
            MemoryKind::Device(pool) => pool,
            _ => Handle::NULL,
        }),
        _ => return None,
    })
}

pub(crate) fn attribute(value: Memory, attribute: c_uint, address: u64) -> Result {
    if value.is_null() {
        return Err(INVALID_VALUE);
    }
    let known = find_anywhere(address)?.ok_or(INVALID_VALUE)?;
    write(attribute, value, &known).ok_or(INVALID_VALUE)?
}

pub(crate) fn attributes(count: c_uint, attributes: In<c_uint>, values: In<Memory>, address: u64) -> Result {
    if count == 0 {
        return Err(INVALID_VALUE);
    }
    let known = find_anywhere(address)?;
    for (attribute, place) in attributes.values(count as usize).zip(values.values(count as usize)) {
        let (attribute, place) = (attribute?, place?);
        let written = known.as_ref().and_then(|known| write(attribute, place, known));
        match written {
            Some(result) => result?,
            // For an unknown address the attributes are zero.
            None => match attribute {
                1 | 3 | 4 | 7 | 11 | 12 | 14 | 17 => place.as_out::<u64>().set(0)?,
                9 => place.as_out::<c_int>().set(-2)?,
                2 | 6 | 8 | 10 | 13 | 15 | 16 => place.as_out::<c_uint>().set(0)?,
                _ => return Err(INVALID_VALUE),
            },
        }
    }
    Ok(())
}

pub(crate) fn set_attribute(value: Memory, attribute: c_uint, address: u64) -> Result {
    // Only the flag for synchronous copies can be set. It needs no action: copies that must be synchronous always are.
    if attribute != 6 || value.is_null() {
        return Err(INVALID_VALUE);
    }
    find_anywhere(address)?.map(|_| ()).ok_or(INVALID_VALUE)
}
