//! Texture and surface objects.

pub(crate) mod tensor_map;

use std::collections::HashMap;
use std::ffi::c_uint;
use std::sync::{Arc, LazyLock, RwLock};

use ptx2spv_runtime::{
    self as runtime, AddressMode, Filter, ReadMode, Resource, ResourceView, TexelFormat, TextureDescriptor,
};

use crate::abi::sync::{read, write};
use crate::abi::{Handle, INVALID_VALUE, In, NOT_SUPPORTED, Result, layouts};
use crate::context::{self, Context};
use crate::memory;
use crate::memory::array::{ArrayHandle, MipmappedHandle};

/// `CUDA_RESOURCE_DESC`: a kind and the fields for it.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct ResourceDescription {
    pub kind: c_uint,
    pub _gap: c_uint,
    /// The handle of an array, or an address.
    pub place: u64,
    pub format: c_uint,
    pub channels: c_uint,
    /// Bytes of linear memory, or elements of a row of pitched memory.
    pub width: usize,
    pub height: usize,
    pub pitch: usize,
    pub _reserved: [u64; 11],
    pub flags: c_uint,
}

/// Kinds of resources.
const ARRAY: c_uint = 0;
const MIPMAPPED: c_uint = 1;
const LINEAR: c_uint = 2;
const PITCHED: c_uint = 3;

/// `CUDA_TEXTURE_DESC`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct TextureDescription {
    pub address_modes: [c_uint; 3],
    pub filter: c_uint,
    pub flags: c_uint,
    pub max_anisotropy: c_uint,
    pub mip_filter: c_uint,
    pub mip_bias: f32,
    pub mip_levels: [f32; 2],
    pub border: [f32; 4],
    pub _reserved: [c_uint; 12],
}

/// Flags of textures: read as integer, normalized coordinates, sRGB, no trilinear optimization, seamless cube maps.
pub(crate) const READ_AS_INTEGER: c_uint = 1;
pub(crate) const NORMALIZED_COORDINATES: c_uint = 2;
pub(crate) const SRGB: c_uint = 0x10;
pub(crate) const NO_TRILINEAR_OPTIMIZATION: c_uint = 0x20;
pub(crate) const SEAMLESS_CUBE: c_uint = 0x40;
const FLAGS: c_uint = READ_AS_INTEGER | NORMALIZED_COORDINATES | SRGB | NO_TRILINEAR_OPTIMIZATION | SEAMLESS_CUBE;

/// The sum of the flags whose conditions hold.
pub(crate) fn flags<const N: usize>(list: [(bool, c_uint); N]) -> c_uint {
    list.into_iter().filter(|(is_set, _)| *is_set).map(|(_, flag)| flag).sum()
}

/// `CUDA_RESOURCE_VIEW_DESC`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct ViewDescription {
    pub format: c_uint,
    pub width: usize,
    pub height: usize,
    pub depth: usize,
    pub levels: [c_uint; 2],
    pub layers: [c_uint; 2],
    pub _reserved: [c_uint; 16],
}

/// A texture object with its descriptions.
struct TextureObject {
    context: Arc<Context>,
    _texture: runtime::Texture,
    resource: ResourceDescription,
    texture: TextureDescription,
    view: Option<ViewDescription>,
}

/// A surface object with its description.
struct SurfaceObject {
    context: Arc<Context>,
    _surface: runtime::Surface,
    resource: ResourceDescription,
}

/// Objects by the runtime's handles, which kernels get.
type Objects<T> = LazyLock<RwLock<HashMap<u64, Arc<T>>>>;

static TEXTURES: Objects<TextureObject> = LazyLock::new(RwLock::default);
static SURFACES: Objects<SurfaceObject> = LazyLock::new(RwLock::default);

fn find<T>(objects: &Objects<T>, handle: u64) -> Result<Arc<T>> {
    context::current()?;
    read(objects).get(&handle).cloned().ok_or(INVALID_VALUE)
}

/// Destroying an object that doesn't exist is no error, as on CUDA's driver.
fn remove<T>(objects: &Objects<T>, handle: u64) -> Result {
    context::current()?;
    // Unlocked before the object is dropped.
    let removed = write(objects).remove(&handle);
    drop(removed);
    Ok(())
}

pub(crate) fn address_mode(number: c_uint) -> Result<AddressMode> {
    AddressMode::from_code(number).ok_or(INVALID_VALUE)
}

pub(crate) fn filter(number: c_uint) -> Result<Filter> {
    Filter::from_code(number).ok_or(INVALID_VALUE)
}

impl TextureDescription {
    pub fn descriptor(&self) -> Result<TextureDescriptor> {
        let has = |flag: c_uint| self.flags & flag != 0;
        if self.flags & !FLAGS != 0 {
            return Err(INVALID_VALUE);
        }
        let [x, y, z] = self.address_modes;
        let [min_mip_level, max_mip_level] = self.mip_levels;
        Ok(TextureDescriptor {
            address_mode: [address_mode(x)?, address_mode(y)?, address_mode(z)?],
            filter: filter(self.filter)?,
            read_mode: if has(READ_AS_INTEGER) { ReadMode::ElementType } else { ReadMode::NormalizedFloat },
            normalized_coordinates: has(NORMALIZED_COORDINATES),
            srgb: has(SRGB),
            max_anisotropy: self.max_anisotropy,
            mip_filter: filter(self.mip_filter)?,
            mip_bias: self.mip_bias,
            min_mip_level,
            max_mip_level,
            border_color: self.border,
            seamless_cube: has(SEAMLESS_CUBE),
            no_trilinear_optimization: has(NO_TRILINEAR_OPTIMIZATION),
        })
    }

    /// The description of a runtime descriptor.
    pub fn of(descriptor: &TextureDescriptor) -> Self {
        Self {
            address_modes: descriptor.address_mode.map(AddressMode::code),
            filter: descriptor.filter.code(),
            flags: flags([
                (descriptor.read_mode == ReadMode::ElementType, READ_AS_INTEGER),
                (descriptor.normalized_coordinates, NORMALIZED_COORDINATES),
                (descriptor.srgb, SRGB),
                (descriptor.no_trilinear_optimization, NO_TRILINEAR_OPTIMIZATION),
                (descriptor.seamless_cube, SEAMLESS_CUBE),
            ]),
            max_anisotropy: descriptor.max_anisotropy,
            mip_filter: descriptor.mip_filter.code(),
            mip_bias: descriptor.mip_bias,
            mip_levels: [descriptor.min_mip_level, descriptor.max_mip_level],
            border: descriptor.border_color,
            _reserved: [0; 12],
        }
    }
}

impl ResourceDescription {
    fn resource(&self, context: &Context) -> Result<Resource> {
        if self.flags != 0 {
            return Err(INVALID_VALUE);
        }
        let format = || TexelFormat::from_cuda_number(self.format, self.channels);
        if self.place == 0 {
            return Err(INVALID_VALUE);
        }
        match self.kind {
            ARRAY => Ok((&self.array()?.get()?.array).into()),
            MIPMAPPED => Ok((&MipmappedHandle::from_value(self.place as usize).get()?.array).into()),
            LINEAR => linear(context, self.place, format()?, self.width as u64),
            PITCHED => {
                let [width, height, pitch] = [self.width, self.height, self.pitch].map(|value| value as u64);
                pitched(context, self.place, format()?, [width, height], pitch)
            }
            _ => Err(INVALID_VALUE),
        }
    }

    fn array(&self) -> Result<ArrayHandle> {
        if self.kind == ARRAY && self.place != 0 {
            Ok(Handle::from_value(self.place as usize))
        } else {
            Err(INVALID_VALUE)
        }
    }
}

/// Linear memory, which may be the host's pinned memory.
pub(crate) fn linear(context: &Context, address: u64, format: TexelFormat, bytes: u64) -> Result<Resource> {
    let address = memory::on_device(context, address, bytes)?.ok_or(INVALID_VALUE)?;
    Ok(Resource::Linear { address, format, bytes })
}

/// Pitched memory.
pub(crate) fn pitched(
    context: &Context,
    address: u64,
    format: TexelFormat,
    [width, height]: [u64; 2],
    pitch: u64,
) -> Result<Resource> {
    let address = memory::on_device(context, address, 1)?.ok_or(INVALID_VALUE)?;
    Ok(Resource::Pitched { address, format, width, height, pitch })
}

impl ViewDescription {
    /// The view of a resource. Its size has to match.
    fn view(&self, resource: &Resource) -> Result<ResourceView> {
        let (size, descriptor) = match resource {
            Resource::Array(array) => (array.size(), array.descriptor()),
            Resource::Mipmapped(array) => (array.level(0)?.size(), array.descriptor()),
            _ => return Err(INVALID_VALUE.because("only arrays can have views")),
        };
        let given = [self.width, self.height, self.depth].map(|size| (size as u64).max(1));
        let [width, height, depth] = size;
        // A view may have fewer layers.
        let has_layers = descriptor.shape.layers().is_some();
        if given[..2] != [width, height] || (!has_layers && given[2] != depth) {
            return Err(INVALID_VALUE.because("a view whose size differs from the array's"));
        }
        let [first, last] = self.levels;
        let [first_layer, last_layer] = self.layers;
        Ok(ResourceView { format: view_format(self.format)?, levels: (first, last), layers: (first_layer, last_layer) })
    }
}

/// The format of a `CUresourceViewFormat`: none, then one, two and four channels of each type.
fn view_format(number: c_uint) -> Result<Option<TexelFormat>> {
    /// `CUarray_format` of U8, S8, U16, S16, U32, S32, F16, F32.
    const KINDS: [c_uint; 8] = [1, 8, 2, 9, 3, 10, 0x10, 0x20];
    let Some(index) = number.checked_sub(1) else { return Ok(None) };
    match KINDS.get(index as usize / 3) {
        Some(&kind) => Ok(Some(TexelFormat::from_cuda_number(kind, 1 << (index % 3))?)),
        None if number <= 0x22 => Err(NOT_SUPPORTED.because("a view with a block-compressed format")),
        None => Err(INVALID_VALUE),
    }
}

pub(crate) fn create(
    resource: In<ResourceDescription>,
    texture: In<TextureDescription>,
    view: In<ViewDescription>,
) -> Result<u64> {
    let context = context::current()?;
    let (resource, texture) = (resource.get()?, texture.get()?);
    let view = if view.is_null() { None } else { Some(view.get()?) };
    let (made_of, descriptor) = (resource.resource(&context)?, texture.descriptor()?);
    let made = match view {
        Some(view) => context.device.texture_view(&made_of, &descriptor, &view.view(&made_of)?)?,
        None => context.device.texture(&made_of, &descriptor)?,
    };
    let handle = made.handle();
    write(&TEXTURES).insert(handle, Arc::new(TextureObject { context, _texture: made, resource, texture, view }));
    Ok(handle)
}

pub(crate) fn destroy(texture: u64) -> Result {
    remove(&TEXTURES, texture)
}

pub(crate) fn resource(texture: u64) -> Result<ResourceDescription> {
    Ok(find(&TEXTURES, texture)?.resource)
}

pub(crate) fn description(texture: u64) -> Result<TextureDescription> {
    Ok(find(&TEXTURES, texture)?.texture)
}

pub(crate) fn view(texture: u64) -> Result<ViewDescription> {
    find(&TEXTURES, texture)?.view.ok_or(INVALID_VALUE)
}

pub(crate) fn create_surface(resource: In<ResourceDescription>) -> Result<u64> {
    let context = context::current()?;
    let resource = resource.get()?;
    let made = context.device.surface(&resource.array()?.get()?.array)?;
    let handle = made.handle();
    write(&SURFACES).insert(handle, Arc::new(SurfaceObject { context, _surface: made, resource }));
    Ok(handle)
}

pub(crate) fn destroy_surface(surface: u64) -> Result {
    remove(&SURFACES, surface)
}

pub(crate) fn surface_resource(surface: u64) -> Result<ResourceDescription> {
    Ok(find(&SURFACES, surface)?.resource)
}

/// Destroys the objects of a context.
pub(crate) fn end_context(context: &Context) {
    write(&TEXTURES).retain(|_, texture| !texture.context.is(context));
    write(&SURFACES).retain(|_, surface| !surface.context.is(context));
}

layouts! {
    ResourceDescription = 144, flags at 136, width at 24, pitch at 40;
    TextureDescription = 104, border at 40;
    ViewDescription = 112, layers at 40;
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptx2spv_runtime::ChannelFormat;

    #[test]
    fn formats_of_views() {
        let format = |channel, channels| TexelFormat::new(channel, channels).ok();
        // CU_RES_VIEW_FORMAT_UINT_1X8, SINT_4X8, UINT_2X16, SINT_4X32, FLOAT_1X16, FLOAT_4X32.
        let cases = [
            (0, None),
            (1, format(ChannelFormat::U8, 1)),
            (6, format(ChannelFormat::S8, 4)),
            (8, format(ChannelFormat::U16, 2)),
            (18, format(ChannelFormat::S32, 4)),
            (19, format(ChannelFormat::F16, 1)),
            (24, format(ChannelFormat::F32, 4)),
        ];
        for (number, expected) in cases {
            assert_eq!(view_format(number), Ok(expected));
        }
        // CU_RES_VIEW_FORMAT_UNSIGNED_BC1, and an invalid number.
        assert_eq!((view_format(25), view_format(0x23)), (Err(NOT_SUPPORTED), Err(INVALID_VALUE)));
    }

    #[test]
    fn descriptions_there_and_back() {
        let zero = TextureDescription::of(&TextureDescriptor::default());
        assert_eq!(zero.flags, READ_AS_INTEGER);
        for flags in [0, READ_AS_INTEGER, NORMALIZED_COORDINATES, SRGB | NO_TRILINEAR_OPTIMIZATION, SEAMLESS_CUBE] {
            let description = TextureDescription { flags, address_modes: [3, 2, 1], filter: 1, ..zero };
            let again = TextureDescription::of(&description.descriptor().unwrap());
            assert_eq!((again.flags, again.address_modes, again.filter), (flags, [3, 2, 1], 1));
        }
        assert!(TextureDescription { flags: 4, ..zero }.descriptor().is_err());
        assert!(TextureDescription { filter: 2, ..zero }.descriptor().is_err());
    }
}
