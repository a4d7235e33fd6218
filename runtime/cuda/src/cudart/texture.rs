//! Texture and surface objects, with descriptions in the runtime API's form.

use std::ffi::c_uint;

use crate::abi::{In, Memory, Result, layouts};
use crate::cudart::types::ChannelFormat;
use crate::cudart::version::{self, Version};
use crate::texture::{
    self, NO_TRILINEAR_OPTIMIZATION, NORMALIZED_COORDINATES, READ_AS_INTEGER, ResourceDescription, SEAMLESS_CUBE, SRGB,
    TextureDescription, ViewDescription,
};

/// `cudaResourceDesc`. Version 13 appends fields that are unused here.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Resource {
    kind: c_uint,
    _gap: c_uint,
    /// The handle of an array, or an address.
    place: u64,
    format: ChannelFormat,
    /// Bytes of linear memory, or elements of a row of pitched memory.
    width: usize,
    height: usize,
    pitch: usize,
}

/// Linear and pitched memory, the only kinds that have a format.
const LINEAR: c_uint = 2;
const PITCHED: c_uint = 3;

/// `cudaTextureDesc` of version 11.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Texture {
    address_modes: [c_uint; 3],
    filter: c_uint,
    is_normalized_float: c_uint,
    srgb: c_uint,
    border: [f32; 4],
    has_normalized_coordinates: c_uint,
    max_anisotropy: c_uint,
    mip_filter: c_uint,
    mip_bias: f32,
    mip_levels: [f32; 2],
    has_no_trilinear_optimization: c_uint,
}

/// `cudaResourceViewDesc`. Version 13 appends fields that are unused here.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct View {
    format: c_uint,
    width: usize,
    height: usize,
    depth: usize,
    levels: [c_uint; 2],
    layers: [c_uint; 2],
}

impl Resource {
    fn driver(self) -> Result<ResourceDescription> {
        let Self { kind, _gap, place, format, width, height, pitch } = self;
        let (format, channels) = if matches!(kind, LINEAR | PITCHED) { format.driver()? } else { (0, 0) };
        let (width, height, pitch) = match kind {
            LINEAR => (width, 0, 0),
            PITCHED => (width, height, pitch),
            _ => (0, 0, 0),
        };
        Ok(ResourceDescription {
            kind,
            _gap: 0,
            place,
            format,
            channels,
            width,
            height,
            pitch,
            _reserved: [0; 11],
            flags: 0,
        })
    }

    fn of(driver: &ResourceDescription) -> Result<Self> {
        let &ResourceDescription { kind, place, format, channels, width, height, pitch, .. } = driver;
        let format = match kind {
            LINEAR | PITCHED => ChannelFormat::of(format, channels)?,
            _ => ChannelFormat { bits: [0; 4], kind: 0 },
        };
        Ok(Self { kind, _gap: 0, place, format, width, height, pitch })
    }
}

impl Texture {
    fn driver(self, is_seamless: bool) -> TextureDescription {
        TextureDescription {
            address_modes: self.address_modes,
            filter: self.filter,
            flags: texture::flags([
                (self.is_normalized_float == 0, READ_AS_INTEGER),
                (self.has_normalized_coordinates != 0, NORMALIZED_COORDINATES),
                (self.srgb != 0, SRGB),
                (self.has_no_trilinear_optimization != 0, NO_TRILINEAR_OPTIMIZATION),
                (is_seamless, SEAMLESS_CUBE),
            ]),
            max_anisotropy: self.max_anisotropy,
            mip_filter: self.mip_filter,
            mip_bias: self.mip_bias,
            mip_levels: self.mip_levels,
            border: self.border,
            _reserved: [0; 12],
        }
    }

    fn of(driver: &TextureDescription) -> Self {
        let has = |flag: c_uint| c_uint::from(driver.flags & flag != 0);
        Self {
            address_modes: driver.address_modes,
            filter: driver.filter,
            is_normalized_float: 1 - has(READ_AS_INTEGER),
            srgb: has(SRGB),
            border: driver.border,
            has_normalized_coordinates: has(NORMALIZED_COORDINATES),
            max_anisotropy: driver.max_anisotropy,
            mip_filter: driver.mip_filter,
            mip_bias: driver.mip_bias,
            mip_levels: driver.mip_levels,
            has_no_trilinear_optimization: has(NO_TRILINEAR_OPTIMIZATION),
        }
    }
}

/// The flag for seamless cubes, which later versions append.
fn seamless(texture: Memory) -> Memory {
    texture.offset(size_of::<Texture>() as u64)
}

pub(crate) fn create(resource: In<Resource>, texture: Memory, view: In<View>) -> Result<u64> {
    let resource = resource.get()?.driver()?;
    let description = texture.as_in::<Texture>().get()?;
    let is_seamless = version::of_program()? != Version::V11 && seamless(texture).as_in::<c_uint>().get()? != 0;
    create_with(resource, description.driver(is_seamless), view)
}

/// The variant of CUDA 11.8, with the flag for seamless cubes.
pub(crate) fn create_v2(resource: In<Resource>, texture: Memory, view: In<View>) -> Result<u64> {
    let resource = resource.get()?.driver()?;
    let description = texture.as_in::<Texture>().get()?;
    let is_seamless = seamless(texture).as_in::<c_uint>().get()? != 0;
    create_with(resource, description.driver(is_seamless), view)
}

fn create_with(resource: ResourceDescription, texture: TextureDescription, view: In<View>) -> Result<u64> {
    let view = if view.is_null() { None } else { Some(view.get()?.driver()) };
    let view = view.as_ref().map_or(Memory::NULL.as_in(), In::from);
    texture::create(In::from(&resource), In::from(&texture), view)
}

impl View {
    fn driver(self) -> ViewDescription {
        let Self { format, width, height, depth, levels, layers } = self;
        ViewDescription { format, width, height, depth, levels, layers, _reserved: [0; 16] }
    }
}

pub(crate) fn resource(handle: u64) -> Result<Resource> {
    Resource::of(&texture::resource(handle)?)
}

pub(crate) fn description(texture: Memory, handle: u64) -> Result {
    if version::of_program()? == Version::V11 {
        write(texture, handle).map(|_| ())
    } else {
        description_v2(texture, handle)
    }
}

/// The variant with the flag for seamless cubes.
pub(crate) fn description_v2(texture: Memory, handle: u64) -> Result {
    let flags = write(texture, handle)?;
    seamless(texture).as_out().set(c_uint::from(flags & SEAMLESS_CUBE != 0))
}

fn write(texture: Memory, handle: u64) -> Result<c_uint> {
    let known = texture::description(handle)?;
    texture.as_out().set(Texture::of(&known))?;
    Ok(known.flags)
}

pub(crate) fn view(handle: u64) -> Result<View> {
    let known = texture::view(handle)?;
    let ViewDescription { format, width, height, depth, levels, layers, .. } = known;
    Ok(View { format, width, height, depth, levels, layers })
}

pub(crate) fn create_surface(resource: In<Resource>) -> Result<u64> {
    texture::create_surface(In::from(&resource.get()?.driver()?))
}

pub(crate) fn surface_resource(handle: u64) -> Result<Resource> {
    Resource::of(&texture::surface_resource(handle)?)
}

layouts! {
    Resource = 64, format at 16, width at 40;
    Texture = 68, border at 24;
    View = 48, layers at 40;
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptx2spv_runtime::TextureDescriptor;

    #[test]
    fn descriptions_there_and_back() {
        let zero = TextureDescription::of(&TextureDescriptor::default());
        for flags in [0, READ_AS_INTEGER, NORMALIZED_COORDINATES, SRGB, NO_TRILINEAR_OPTIMIZATION | READ_AS_INTEGER] {
            let known = TextureDescription { flags, filter: 1, address_modes: [1, 2, 3], ..zero };
            let again = Texture::of(&known).driver(false);
            assert_eq!((again.flags, again.filter, again.address_modes), (flags, 1, [1, 2, 3]));
            assert_eq!(Texture::of(&known).driver(true).flags, flags | SEAMLESS_CUBE);
        }
    }
}
