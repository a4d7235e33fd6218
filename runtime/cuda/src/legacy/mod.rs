//! Functions as CUDA had them before it gave them a second version.

use std::ffi::{c_int, c_uint};

use crate::abi::{INVALID_VALUE, In, Memory, OUT_OF_MEMORY, Out, Result, Text, layouts, lock};
use crate::context::{self, device};
use crate::launch;
use crate::memory;
use crate::memory::array::{self, ArrayHandle, Description, Description3D};
use crate::memory::copy::{Copy3D, Part3D};
use crate::module;
use crate::module::function::{FunctionHandle, OldLaunch};
use crate::module::loaded::ModuleHandle;
use crate::module::texture_reference::{self, TextureReferenceHandle};
use crate::stream::StreamHandle;

// Launches as before CUDA 4: parameters are set on the function, then it is launched.

/// Maximum bytes of arguments.
const MOST: usize = 4096;

/// Changes the launch parameters of a function.
fn change(function: FunctionHandle, act: impl FnOnce(&mut OldLaunch)) -> Result {
    context::current()?;
    act(&mut lock(&function.get()?.old_launch));
    Ok(())
}

fn size(number: c_int) -> Result<c_uint> {
    c_uint::try_from(number).ok().filter(|&number| number > 0).ok_or(INVALID_VALUE)
}

pub(crate) fn set_block(function: FunctionHandle, x: c_int, y: c_int, z: c_int) -> Result {
    let block = [size(x)?, size(y)?, size(z)?];
    change(function, |launch| launch.block = Some(block))
}

pub(crate) fn set_shared(function: FunctionHandle, bytes: c_uint) -> Result {
    change(function, |launch| launch.shared_bytes = bytes)
}

pub(crate) fn set_size(function: FunctionHandle, bytes: c_uint) -> Result {
    let bytes = usize::try_from(bytes).ok().filter(|&bytes| bytes <= MOST).ok_or(INVALID_VALUE)?;
    change(function, |launch| launch.size = bytes)
}

pub(crate) fn write(function: FunctionHandle, offset: c_int, bytes: &[u8]) -> Result {
    let start = usize::try_from(offset).map_err(|_| INVALID_VALUE)?;
    let end = start.checked_add(bytes.len()).filter(|&end| end <= MOST).ok_or(INVALID_VALUE)?;
    change(function, |launch| {
        if launch.arguments.len() < end {
            launch.arguments.resize(end, 0);
        }
        launch.arguments[start..end].copy_from_slice(bytes);
    })
}

pub(crate) fn set_bytes(function: FunctionHandle, offset: c_int, bytes: Memory, count: c_uint) -> Result {
    if count as usize > MOST {
        return Err(INVALID_VALUE);
    }
    write(function, offset, bytes.bytes(count.into())?)
}

/// Only checks its arguments: a module's texture references work in all of its functions anyway.
pub(crate) fn set_texture(function: FunctionHandle, unit: c_int, reference: TextureReferenceHandle) -> Result {
    /// `CU_PARAM_TR_DEFAULT`, the only texture unit.
    const DEFAULT: c_int = -1;
    context::current()?;
    function.get()?;
    reference.get()?;
    if unit == DEFAULT { Ok(()) } else { Err(INVALID_VALUE) }
}

pub(crate) fn grid_async(function: FunctionHandle, width: c_int, height: c_int, stream: StreamHandle) -> Result {
    let grid = [size(width)?, size(height)?, 1];
    let OldLaunch { block, shared_bytes, size, mut arguments } = lock(&function.get()?.old_launch).clone();
    arguments.resize(size, 0);
    let block = block.ok_or_else(|| INVALID_VALUE.because("no block shape was set"))?;
    launch::with_bytes(function, launch::config(grid, block, shared_bytes), stream, &arguments)
}

// Functions of before CUDA 3.2, whose addresses and sizes have 32 bits. `api.in` has those that differ in their arguments
// alone; here are those with results or structures of 32 bits. An address that needs more bits is out of memory.

/// The largest number of 32 bits for a size that needs more.
fn short(size: usize) -> u32 {
    u32::try_from(size).unwrap_or(u32::MAX)
}

/// An address with 32 bits.
fn short_address(address: u64) -> Result<u32> {
    u32::try_from(address).map_err(|_| OUT_OF_MEMORY.because("the address has more than 32 bits"))
}

pub(crate) fn total_memory(device: c_int) -> Result<u32> {
    device::total_memory(device).map(short)
}

pub(crate) fn memory_info() -> Result<(u32, u32)> {
    let (free, total) = memory::info()?;
    Ok((short(free), short(total)))
}

/// The address of new memory, which is freed if the address has more than 32 bits.
fn keep(allocated: u64) -> Result<u32> {
    short_address(allocated).or_else(|code| memory::free(allocated).and(Err(code)))
}

pub(crate) fn free(address: u32) -> Result {
    if context::current_if_any()?.is_some() {
        context::old()?;
    }
    memory::free(address.into())
}

pub(crate) fn allocate(address: Out<u32>, bytes: c_uint) -> Result {
    let (address, mut allocated) = (address.needed()?, 0);
    memory::allocate(Out::from(&mut allocated), bytes as usize)?;
    address.set(keep(allocated)?)
}

pub(crate) fn allocate_pitch(
    address: Out<u32>,
    pitch: Out<u32>,
    width: c_uint,
    height: c_uint,
    element: c_uint,
) -> Result {
    let (address, pitch) = (address.needed()?, pitch.needed()?);
    let (mut allocated, mut row) = (0, 0);
    memory::allocate_pitch(Out::from(&mut allocated), Out::from(&mut row), width as usize, height as usize, element)?;
    address.set(keep(allocated)?)?;
    pitch.set(short(row))
}

pub(crate) fn address_range(address: u32) -> Result<(u32, u32)> {
    let (start, size) = memory::address_range(address.into())?;
    Ok((short_address(start)?, short(size)))
}

pub(crate) fn host_device_address(pointer: Memory, flags: c_uint) -> Result<u32> {
    short_address(memory::host_device_address(pointer, flags)?)
}

pub(crate) fn global(module: ModuleHandle, name: Text) -> Result<(u32, u32)> {
    let (start, size) = module::global(module, name)?;
    Ok((short_address(start)?, short(size)))
}

/// `CUDA_ARRAY_DESCRIPTOR_v1`: width, height, format, channels.
pub(crate) type ShortDescription = [c_uint; 4];

/// `CUDA_ARRAY3D_DESCRIPTOR_v1`: width, height, depth, format, channels, flags.
pub(crate) type ShortDescription3D = [c_uint; 6];

fn description([width, height, format, channels]: ShortDescription) -> Description {
    Description { width: width as usize, height: height as usize, format, channels }
}

pub(crate) fn create_array(wanted: In<ShortDescription>) -> Result<ArrayHandle> {
    array::create(In::from(&description(wanted.get()?)))
}

pub(crate) fn create_array_3d(wanted: In<ShortDescription3D>) -> Result<ArrayHandle> {
    let [width, height, depth, format, channels, flags] = wanted.get()?;
    let [width, height, depth] = [width, height, depth].map(|size| size as usize);
    array::create_3d(In::from(&Description3D { width, height, depth, format, channels, flags }))
}

pub(crate) fn array_description(array: ArrayHandle) -> Result<ShortDescription> {
    let Description { width, height, format, channels } = array::description(array)?;
    Ok([short(width), short(height), format, channels])
}

pub(crate) fn array_description_3d(array: ArrayHandle) -> Result<ShortDescription3D> {
    let Description3D { width, height, depth, format, channels, flags } = array::description_3d(array)?;
    Ok([short(width), short(height), short(depth), format, channels, flags])
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
) -> Result {
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
) -> Result {
    texture_reference::set_address_2d(texture, In::from(&description(wanted.get()?)), address.into(), pitch as usize)
}

pub(crate) fn texture_address(texture: TextureReferenceHandle) -> Result<u32> {
    short_address(texture_reference::address(texture)?)
}

layouts! {
    ShortCopy2D = 96, to at 44;
    ShortCopy3D = 144, to at 64;
}
