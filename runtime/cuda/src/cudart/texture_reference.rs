//! Texture and surface references of CUDA 11. A reference is a variable of the program with the settings, which count when the
//! reference is bound.

use std::ffi::{c_int, c_uint};

use crate::abi::{INVALID_VALUE, In, Memory, Out, Result, layouts};
use crate::cudart::registry;
use crate::cudart::types::ChannelFormat;
use crate::memory;
use crate::memory::array::{ArrayHandle, Description, MipmappedHandle};
use crate::module::texture_reference::{self, TextureReferenceHandle};
use crate::texture::{self, NORMALIZED_COORDINATES, READ_AS_INTEGER, SRGB};

/// `textureReference`, without the fields at its end that are reserved.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct TextureReference {
    is_normalized: c_int,
    filter: c_uint,
    address_modes: [c_uint; 3],
    format: ChannelFormat,
    srgb: c_int,
    max_anisotropy: c_uint,
    mip_filter: c_uint,
    mip_bias: f32,
    mip_levels: [f32; 2],
}

/// The flag of `cuTexRefSetArray`, which is required.
const OVERRIDE_FORMAT: c_uint = 1;

/// The driver's reference, with the settings of the program's variable.
fn with_settings(host: Memory) -> Result<TextureReferenceHandle> {
    let settings = host.as_in::<TextureReference>().get()?;
    let (handle, is_normalized_float) = registry::texture(host)?;
    let flags = texture::flags([
        (!is_normalized_float, READ_AS_INTEGER),
        (settings.is_normalized != 0, NORMALIZED_COORDINATES),
        (settings.srgb != 0, SRGB),
    ]);
    texture_reference::set_flags(handle, flags)?;
    for (dimension, mode) in (0..).zip(settings.address_modes) {
        texture_reference::set_address_mode(handle, dimension, mode)?;
    }
    texture_reference::set_filter_mode(handle, settings.filter)?;
    texture_reference::set_mip_filter_mode(handle, settings.mip_filter)?;
    texture_reference::set_mip_bias(handle, settings.mip_bias)?;
    texture_reference::set_mip_levels(handle, settings.mip_levels[0], settings.mip_levels[1])?;
    texture_reference::set_max_anisotropy(handle, settings.max_anisotropy)?;
    Ok(handle)
}

/// Bytes from an address to the end of its memory.
fn rest_of_memory(address: u64) -> Result<usize> {
    let (base, bytes) = memory::address_range(address).map_err(|_| INVALID_VALUE)?;
    Ok(bytes - (address - base) as usize)
}

pub(crate) fn bind(offset: Out<usize>, host: Memory, address: u64, format: In<ChannelFormat>, bytes: usize) -> Result {
    let handle = with_settings(host)?;
    let (number, channels) = format.get()?.driver()?;
    texture_reference::set_format(handle, number, channels as c_int)?;
    // The default size stands for the rest of the memory.
    let bytes = if bytes == u32::MAX as usize { rest_of_memory(address)? } else { bytes };
    texture_reference::set_address(offset, handle, address, bytes)
}

pub(crate) fn bind_rows(
    offset: Out<usize>,
    host: Memory,
    address: u64,
    format: In<ChannelFormat>,
    width: usize,
    height: usize,
    pitch: usize,
) -> Result {
    let handle = with_settings(host)?;
    let (format, channels) = format.get()?.driver()?;
    texture_reference::set_format(handle, format, channels as c_int)?;
    texture_reference::set_address_2d(
        handle,
        In::from(&Description { width, height, format, channels }),
        address,
        pitch,
    )?;
    // Unaligned addresses are refused.
    offset.set_if_any(0);
    Ok(())
}

/// The format is the array's. The given one has to be equal, which is left to the program.
pub(crate) fn bind_array(host: Memory, array: ArrayHandle) -> Result {
    array.get()?;
    texture_reference::set_array(with_settings(host)?, array, OVERRIDE_FORMAT)
}

pub(crate) fn bind_mipmapped(host: Memory, array: MipmappedHandle) -> Result {
    texture_reference::set_mipmapped(with_settings(host)?, array, OVERRIDE_FORMAT)
}

pub(crate) fn unbind(host: Memory) -> Result {
    let (handle, _) = registry::texture(host)?;
    texture_reference::set_address(Out::null(), handle, 0, 0)
}

pub(crate) fn bind_surface(host: Memory, array: ArrayHandle) -> Result {
    array.get()?;
    texture_reference::set_surface_array(registry::surface(host)?, array, 0)
}

layouts! {
    TextureReference = 64, srgb at 40;
}
