//! Functions of before CUDA 3.2, whose addresses and sizes have 32 bits. `api.in` has those that differ in their arguments
//! alone; here are those with results or structures of 32 bits. An address that needs more bits is out of memory.

use std::ffi::c_uint;

use crate::abi::code::{Code, OUT_OF_MEMORY};
use crate::abi::raw::{In, Memory, Out, Text};
use crate::context::device;
use crate::memory;
use crate::memory::array::{self, ArrayHandle, Description, Description3D};
use crate::memory::copy::{Copy3D, Part3D};
use crate::module;
use crate::module::loaded::ModuleHandle;
use crate::module::texture_reference::{self, TextureReferenceHandle};

/// The largest number of 32 bits for a size that needs more.
fn short(size: usize) -> u32 {
    u32::try_from(size).unwrap_or(u32::MAX)
}

/// An address with 32 bits.
fn short_address(address: u64) -> Result<u32, Code> {
    u32::try_from(address).map_err(|_| OUT_OF_MEMORY.because("the address has more than 32 bits"))
}

pub(crate) fn total_memory(bytes: Out<u32>, device: i32) -> Result<(), Code> {
    let (bytes, mut all) = (bytes.needed()?, 0);
    device::total_memory(Out::from(&mut all), device)?;
    bytes.set(short(all))
}

pub(crate) fn memory_info(free: Out<u32>, total: Out<u32>) -> Result<(), Code> {
    let mut info = [0; 2];
    let [first, second] = &mut info;
    memory::info(Out::from(first), Out::from(second))?;
    free.set_if_any(short(info[0]));
    total.set_if_any(short(info[1]));
    Ok(())
}

/// Writes the address of new memory, which is freed if the address has more than 32 bits.
fn keep(address: Out<u32>, allocated: u64) -> Result<(), Code> {
    match short_address(allocated) {
        Ok(found) => address.set(found),
        Err(code) => {
            memory::free(allocated)?;
            Err(code)
        }
    }
}

pub(crate) fn allocate(address: Out<u32>, bytes: c_uint) -> Result<(), Code> {
    let (address, mut allocated) = (address.needed()?, 0);
    memory::allocate(Out::from(&mut allocated), bytes as usize)?;
    keep(address, allocated)
}

pub(crate) fn allocate_pitch(
    address: Out<u32>,
    pitch: Out<u32>,
    width: c_uint,
    height: c_uint,
    element: c_uint,
) -> Result<(), Code> {
    let (address, pitch) = (address.needed()?, pitch.needed()?);
    let (mut allocated, mut row) = (0, 0);
    memory::allocate_pitch(Out::from(&mut allocated), Out::from(&mut row), width as usize, height as usize, element)?;
    keep(address, allocated)?;
    pitch.set(short(row))
}

pub(crate) fn address_range(base: Out<u32>, bytes: Out<u32>, address: u32) -> Result<(), Code> {
    let (mut start, mut size) = (0, 0);
    memory::address_range(Out::from(&mut start), Out::from(&mut size), address.into())?;
    base.set_if_any(short_address(start)?);
    bytes.set_if_any(short(size));
    Ok(())
}

pub(crate) fn host_device_address(address: Out<u32>, pointer: Memory, flags: c_uint) -> Result<(), Code> {
    let (address, mut found) = (address.needed()?, 0);
    memory::host_device_address(Out::from(&mut found), pointer, flags)?;
    address.set(short_address(found)?)
}

pub(crate) fn global(address: Out<u32>, bytes: Out<u32>, module: ModuleHandle, name: Text) -> Result<(), Code> {
    let (mut start, mut size) = (0, 0);
    module::global(Out::from(&mut start), Out::from(&mut size), module, name)?;
    address.set_if_any(short_address(start)?);
    bytes.set_if_any(short(size));
    Ok(())
}

/// `CUDA_ARRAY_DESCRIPTOR_v1`: width, height, format, channels.
pub(crate) type ShortDescription = [c_uint; 4];

/// `CUDA_ARRAY3D_DESCRIPTOR_v1`: width, height, depth, format, channels, flags.
pub(crate) type ShortDescription3D = [c_uint; 6];

fn description([width, height, format, channels]: ShortDescription) -> Description {
    Description { width: width as usize, height: height as usize, format, channels }
}

pub(crate) fn create_array(array: Out<ArrayHandle>, wanted: In<ShortDescription>) -> Result<(), Code> {
    array::create(array, In::from(&description(wanted.get()?)))
}

pub(crate) fn create_array_3d(array: Out<ArrayHandle>, wanted: In<ShortDescription3D>) -> Result<(), Code> {
    let [width, height, depth, format, channels, flags] = wanted.get()?;
    let [width, height, depth] = [width, height, depth].map(|size| size as usize);
    array::create_3d(array, In::from(&Description3D { width, height, depth, format, channels, flags }))
}

pub(crate) fn array_description(place: Out<ShortDescription>, array: ArrayHandle) -> Result<(), Code> {
    let mut found = description([0; 4]);
    array::description(Out::from(&mut found), array)?;
    let Description { width, height, format, channels } = found;
    place.set([short(width), short(height), format, channels])
}

pub(crate) fn array_description_3d(place: Out<ShortDescription3D>, array: ArrayHandle) -> Result<(), Code> {
    let mut found = Description3D { width: 0, height: 0, depth: 0, format: 0, channels: 0, flags: 0 };
    array::description_3d(Out::from(&mut found), array)?;
    let Description3D { width, height, depth, format, channels, flags } = found;
    place.set([short(width), short(height), short(depth), format, channels, flags])
}

/// `CUDA_MEMCPY2D_v1`. The second side begins in the gap after the first.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct ShortCopy2D {
    from: [c_uint; 3],
    from_host: Memory,
    from_device: u32,
    from_array: ArrayHandle,
    from_pitch: c_uint,
    to: [c_uint; 3],
    to_host: Memory,
    to_device: u32,
    to_array: ArrayHandle,
    to_pitch: c_uint,
    width: c_uint,
    height: c_uint,
}

/// One side of a `CUDA_MEMCPY3D_v1`.
#[repr(C)]
#[derive(Clone, Copy)]
struct SlicesPart {
    x: c_uint,
    y: c_uint,
    z: c_uint,
    level: c_uint,
    kind: c_uint,
    host: Memory,
    device: u32,
    array: ArrayHandle,
    _reserved: usize,
    pitch: c_uint,
    height: c_uint,
}

/// `CUDA_MEMCPY3D_v1`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct ShortCopy3D {
    from: SlicesPart,
    to: SlicesPart,
    width: c_uint,
    height: c_uint,
    depth: c_uint,
}

impl SlicesPart {
    /// A side with a position in x and y, and a kind of memory.
    fn rows([x, y, kind]: [c_uint; 3], host: Memory, device: u32, array: ArrayHandle, pitch: c_uint) -> Self {
        Self { x, y, z: 0, level: 0, kind, host, device, array, _reserved: 0, pitch, height: 0 }
    }
}

impl From<ShortCopy2D> for ShortCopy3D {
    fn from(copy: ShortCopy2D) -> Self {
        let from = SlicesPart::rows(copy.from, copy.from_host, copy.from_device, copy.from_array, copy.from_pitch);
        let to = SlicesPart::rows(copy.to, copy.to_host, copy.to_device, copy.to_array, copy.to_pitch);
        Self { from, to, width: copy.width, height: copy.height, depth: 1 }
    }
}

impl From<SlicesPart> for Part3D {
    fn from(part: SlicesPart) -> Self {
        let SlicesPart { x, y, z, level, kind, host, device, array, pitch, height, .. } = part;
        let [x, y, z, level, pitch, height] = [x, y, z, level, pitch, height].map(|number| number as usize);
        Self { x, y, z, level, kind, host, device: device.into(), array, context: 0, pitch, height }
    }
}

impl From<ShortCopy2D> for Copy3D {
    fn from(copy: ShortCopy2D) -> Self {
        ShortCopy3D::from(copy).into()
    }
}

impl From<ShortCopy3D> for Copy3D {
    fn from(copy: ShortCopy3D) -> Self {
        let [width, height, depth] = [copy.width, copy.height, copy.depth].map(|number| number as usize);
        Self { from: copy.from.into(), to: copy.to.into(), width, height, depth }
    }
}

pub(crate) fn set_texture_address(
    offset: Out<u32>,
    texture: TextureReferenceHandle,
    address: u32,
    bytes: c_uint,
) -> Result<(), Code> {
    let mut found = 0;
    texture_reference::set_address(Out::from(&mut found), texture, address.into(), bytes as usize)?;
    offset.set_if_any(short(found));
    Ok(())
}

pub(crate) fn set_texture_address_2d(
    texture: TextureReferenceHandle,
    wanted: In<ShortDescription>,
    address: u32,
    pitch: c_uint,
) -> Result<(), Code> {
    texture_reference::set_address_2d(texture, In::from(&description(wanted.get()?)), address.into(), pitch as usize)
}

pub(crate) fn texture_address(address: Out<u32>, texture: TextureReferenceHandle) -> Result<(), Code> {
    let (address, mut found) = (address.needed()?, 0);
    texture_reference::address(Out::from(&mut found), texture)?;
    address.set(short_address(found)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts() {
        assert_eq!((size_of::<ShortCopy2D>(), std::mem::offset_of!(ShortCopy2D, to)), (96, 44));
        assert_eq!((size_of::<ShortCopy3D>(), std::mem::offset_of!(ShortCopy3D, to)), (144, 64));
    }
}
