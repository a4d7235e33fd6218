//! Memory functions that differ from the driver's.

use std::ffi::{c_int, c_uint};

use crate::abi::{INVALID_DEVICE, INVALID_VALUE, Memory, Out, PEER_ACCESS_NOT_ENABLED, Result, layouts};
use crate::context;
use crate::context::state;
use crate::cudart::types::{Extent, Pitched};
use crate::cudart::version::{self, Version};
use crate::memory::{self, MemoryKind};
use crate::memory::{copy, pointer};
use crate::module::lifetime;

pub(crate) fn allocate(address: Out<u64>, bytes: usize) -> Result {
    // An allocation of zero bytes is no error here, unlike in the driver API.
    if bytes == 0 { address.set(0) } else { memory::allocate(address, bytes) }
}

/// Element size for the driver's function: the smallest, since elements may have any size.
const ELEMENT: c_uint = 4;

pub(crate) fn allocate_pitch(address: Out<u64>, pitch: Out<usize>, width: usize, height: usize) -> Result {
    memory::allocate_pitch(address, pitch, width, height, ELEMENT)
}

pub(crate) fn allocate_3d(extent: Extent) -> Result<Pitched> {
    let (mut address, mut pitch) = (0, 0);
    allocate_pitch(Out::from(&mut address), Out::from(&mut pitch), extent.width, extent.rows()?)?;
    Ok(Pitched { pointer: Memory::from_address(address), pitch, width: extent.width, height: extent.height })
}

/// `cudaPointerAttributes` of CUDA 11 and 12.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct PointerAttributes {
    kind: c_uint,
    device: c_int,
    on_device: Memory,
    on_host: Memory,
}

/// `cudaMemoryTypeHost`, `…Device`, `…Managed`; zero stands for unknown memory.
const HOST: c_uint = 1;
const DEVICE: c_uint = 2;
const MANAGED: c_uint = 3;

/// `cudaInvalidDeviceId`.
const NO_DEVICE: c_int = -2;

pub(crate) fn pointer_attributes(attributes: Out<PointerAttributes>, pointer: Memory) -> Result {
    let place = attributes.needed()?;
    let version = version::of_program()?;
    context::current()?;
    let memory = |address: Option<u64>| address.map_or(Memory::NULL, Memory::from_address);
    place.set(match pointer::find(pointer.address()) {
        Some(known) => PointerAttributes {
            kind: match known.place {
                MemoryKind::Device(_) | MemoryKind::Mapped => DEVICE,
                MemoryKind::Pinned(_) | MemoryKind::Registered(_) => HOST,
                MemoryKind::Managed => MANAGED,
            },
            device: known.ordinal,
            on_device: memory(known.on_device),
            on_host: memory(known.on_host),
        },
        None => PointerAttributes { kind: 0, device: NO_DEVICE, on_device: Memory::NULL, on_host: pointer },
    })?;
    if version == Version::V13 {
        // Eight reserved numbers.
        Memory::from(place).offset(size_of::<PointerAttributes>() as u64).as_out().set([0_u64; 8])?;
    }
    Ok(())
}

pub(crate) fn check_peer(device: c_int) -> Result {
    state::entry(device).map(|_| ())
}

/// A device is no peer of itself.
pub(crate) fn enable_peer_access(device: c_int, flags: c_uint) -> Result {
    check_peer(device)?;
    if flags != 0 {
        return Err(INVALID_VALUE);
    }
    if context::device()? == device {
        return Err(INVALID_DEVICE);
    }
    copy::enable_peer(lifetime::hold_primary(device)?, flags)
}

pub(crate) fn disable_peer_access(device: c_int) -> Result {
    check_peer(device)?;
    if context::device()? == device {
        return Err(PEER_ACCESS_NOT_ENABLED);
    }
    copy::disable_peer(lifetime::hold_primary(device)?)
}

layouts! {
    PointerAttributes = 24;
}
