//! Texture, surface and sampler objects.

use std::fmt;
use std::sync::Arc;

use ptx2spv_translator::interface::texture::image::{IS_EXACT, IS_PLAIN};
use ptx2spv_translator::interface::texture::{AddressMode, Filter, Kind, RECORD_BYTES, Record, Texel, flag};
use ptx2spv_translator::target::Facts;

use crate::backend::Image;
use crate::device::Device;
use crate::device::texture_bits::{Counted, is_exact, is_plain};
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::memory::buffer::Buffer;
use crate::texel::error::TextureError;
use crate::texel::format::ReadMode;
use crate::texture::array::Array;
use crate::texture::descriptor::TextureDescriptor;
use crate::texture::resource::{Resource, ResourceView};

/// A texture object: memory, and how it is read. Clones share the object. It is destroyed with the last of them, once
/// the device has finished everything launched before. It keeps its array alive, if it has one.
///
/// As a kernel argument, a texture passes its handle.
///
/// ```
/// use ptx2spv_runtime::{ArrayDescriptor, ArrayShape, ChannelFormat, Config, Device, TextureDescriptor};
///
/// let device = Device::reference(Config::default());
/// let array = device.array(&ArrayDescriptor::new(ChannelFormat::F32, ArrayShape::OneD { width: 4 }))?;
/// array.write(&[1.0_f32, 2.0, 3.0, 4.0])?;
/// let texture = device.texture(&(&array).into(), &TextureDescriptor::default())?;
/// assert_ne!(texture.handle(), 0);
/// # Ok::<(), ptx2spv_runtime::Error>(())
/// ```
#[derive(Clone)]
pub struct Texture {
    shared: Arc<TextureShared>,
}

struct TextureShared {
    record: Buffer,
    /// The array in a form that samplers read, if there is one.
    image: Option<Box<dyn Image>>,
    _counted: Counted,
    resource: Resource,
    descriptor: TextureDescriptor,
    view: Option<ResourceView>,
}

/// A surface object: an array that kernels read and write. Clones share the object. It is destroyed with the last of
/// them, once the device has finished everything launched before.
///
/// As a kernel argument, a surface passes its handle.
///
/// ```
/// use ptx2spv_runtime::{ArrayDescriptor, ArrayShape, ChannelFormat, Config, Device};
///
/// let device = Device::reference(Config::default());
/// let descriptor = ArrayDescriptor::new(ChannelFormat::F32, ArrayShape::OneD { width: 4 }).surface();
/// let surface = device.surface(&device.array(&descriptor)?)?;
/// assert_ne!(surface.handle(), 0);
/// # Ok::<(), ptx2spv_runtime::Error>(())
/// ```
#[derive(Clone)]
pub struct Surface {
    shared: Arc<SurfaceShared>,
}

struct SurfaceShared {
    record: Buffer,
    array: Array,
}

/// A sampler object, for modules in independent mode (`texmode_independent`): how textures are read, without the
/// memory. Clones share the object.
///
/// ```
/// use ptx2spv_runtime::{Config, Device, Filter, TextureDescriptor};
///
/// let device = Device::reference(Config::default());
/// let smooth = TextureDescriptor { filter: Filter::Linear, ..TextureDescriptor::default() };
/// assert_ne!(device.sampler(&smooth)?.handle(), 0);
/// # Ok::<(), ptx2spv_runtime::Error>(())
/// ```
#[derive(Clone)]
pub struct Sampler {
    shared: Arc<SamplerShared>,
}

struct SamplerShared {
    record: Buffer,
    descriptor: TextureDescriptor,
}

/// Defines the functions that all objects have.
macro_rules! objects {
    ($($object:ident: $member:ident),*) => {$(
        impl fmt::Debug for $object {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({:#x}, {:?})", stringify!($object), self.handle(), self.shared.$member)
            }
        }

        impl $object {
            /// The handle, which kernels get as an argument or read from memory. It is valid as long as the object lives.
            pub fn handle(&self) -> u64 {
                self.shared.record.address()
            }

            pub(crate) fn device(&self) -> &Device {
                self.shared.record.device()
            }
        }
    )*};
}

objects!(Texture: resource, Surface: array, Sampler: descriptor);

impl Device {
    /// Makes a texture object.
    ///
    /// # Errors
    /// [`Error::Texture`] and [`Error::Misaligned`] for violated rules, [`Error::NotAllocated`], [`Error::OutOfRange`],
    /// [`Error::ForeignBuffer`], [`Error::OutOfMemory`], [`Error::DeviceLost`].
    pub fn texture(&self, resource: &Resource, descriptor: &TextureDescriptor) -> Result<Texture> {
        self.make_texture(resource, descriptor, None)
    }

    /// Makes a texture object of a part of an array, or of an array with elements of another format.
    ///
    /// # Errors
    /// The errors of [`Device::texture`].
    pub fn texture_view(
        &self,
        resource: &Resource,
        descriptor: &TextureDescriptor,
        view: &ResourceView,
    ) -> Result<Texture> {
        self.make_texture(resource, descriptor, Some(view))
    }

    fn make_texture(
        &self,
        resource: &Resource,
        descriptor: &TextureDescriptor,
        view: Option<&ResourceView>,
    ) -> Result<Texture> {
        let (first, _) = texture_record(self, resource, descriptor, view, 0)?;
        let image = if may_have_image(resource, view, &first) { self.image(&first)? } else { None };
        let exact = if is_exact(&self.target().facts, &first) { IS_EXACT } else { 0 };
        let word = first.image | image.as_ref().map_or(0, |image| image.place() | exact);
        let counted = self.texture_bits().count(word);
        let record = keep(self, |at| {
            let (record, table) = texture_record(self, resource, descriptor, view, at)?;
            Ok((Record { image: word, ..record }, table))
        })?;
        let (resource, descriptor, view) = (resource.clone(), *descriptor, view.copied());
        Ok(Texture { shared: Arc::new(TextureShared { record, image, _counted: counted, resource, descriptor, view }) })
    }

    /// Makes a surface object.
    ///
    /// # Errors
    /// [`TextureError::NotForSurfaces`], [`Error::ForeignBuffer`], [`Error::OutOfMemory`], [`Error::DeviceLost`].
    pub fn surface(&self, array: &Array) -> Result<Surface> {
        let record = keep(self, |_| Ok((surface_record(self, array)?, Vec::new())))?;
        Ok(Surface { shared: Arc::new(SurfaceShared { record, array: array.clone() }) })
    }

    /// Makes a sampler object. Read mode and sRGB of the descriptor have no effect.
    ///
    /// # Errors
    /// [`TextureError::NotANumber`], [`Error::OutOfMemory`], [`Error::DeviceLost`].
    pub fn sampler(&self, descriptor: &TextureDescriptor) -> Result<Sampler> {
        let record = keep(self, |_| Ok((sampler_record(descriptor)?, Vec::new())))?;
        Ok(Sampler { shared: Arc::new(SamplerShared { record, descriptor: *descriptor }) })
    }
}

impl Texture {
    /// The texture's memory.
    pub fn resource(&self) -> &Resource {
        &self.shared.resource
    }

    /// The texture's sampling parameters.
    pub fn descriptor(&self) -> &TextureDescriptor {
        &self.shared.descriptor
    }

    /// The view of the resource, if the texture was made with one.
    pub fn view(&self) -> Option<&ResourceView> {
        self.shared.view.as_ref()
    }

    /// Whether the texture has an image that samplers read.
    pub(crate) fn has_image(&self) -> bool {
        self.shared.image.is_some()
    }
}

impl Surface {
    /// The surface's array.
    pub fn array(&self) -> &Array {
        &self.shared.array
    }
}

/// Whether a texture can have an image. The image has to show the whole of an array without levels and layers that only the host changes,
/// and a sampler has to read the image in the texture's way.
fn may_have_image(resource: &Resource, view: Option<&ResourceView>, record: &Record) -> bool {
    let Resource::Array(array) = resource else { return false };
    let is_whole = view.is_none() && array.storage().levels.len() == 1 && !array.descriptor().surface;
    // In wider textures, hardware rounds normalized coordinates otherwise than a sampler on the same hardware does.
    let is_narrow = record.width.max(record.height) <= Facts::SAMPLED_EXTENT;
    let is_normalized = record.flags & flag::NORMALIZED != 0;
    let has_sampler = match record.kind {
        Kind::Array1d | Kind::Array2d => true,
        // Samplers that count texels read planes only.
        Kind::Array3d => is_normalized,
        _ => false,
    };
    let has_border = record.address_mode.contains(&AddressMode::Border) && record.border != [0.0; 4];
    is_whole && (is_narrow || !is_normalized) && has_sampler && !has_border
}

/// Allocates a record and the data after it. `make` gets the address of that data.
fn keep(device: &Device, make: impl Fn(u64) -> Result<(Record, Vec<u8>)>) -> Result<Buffer> {
    // The size doesn't depend on the address.
    let size = RECORD_BYTES + make(0)?.1.len() as u64;
    let buffer = device.alloc(size)?;
    let (record, table) = make(buffer.address() + RECORD_BYTES)?;
    buffer.write(0, &[&record.to_bytes()[..], &table].concat())?;
    Ok(buffer)
}

/// A texture's record, and its table of levels at an address.
pub(crate) fn texture_record(
    device: &Device,
    resource: &Resource,
    descriptor: &TextureDescriptor,
    view: Option<&ResourceView>,
    level_table: u64,
) -> Result<(Record, Vec<u8>)> {
    let memory = resource.memory(device, view)?;
    let channel = memory.format.channel();
    let is_linear = memory.kind == Kind::Linear;
    // Linear memory can't be filtered.
    let filters = |filter| if is_linear { Filter::Point } else { filter };
    let descriptor = TextureDescriptor {
        filter: filters(descriptor.filter),
        mip_filter: filters(descriptor.mip_filter),
        ..*descriptor
    };
    descriptor.check(channel, memory.has_levels)?;
    let texel = channel.texel(descriptor.read_mode, descriptor.srgb);
    let place = memory.record(level_table);
    let reading = descriptor.record();
    let record = Record {
        texel,
        flags: reading.flags,
        address_mode: reading.address_mode,
        filter: reading.filter,
        mip_filter: reading.mip_filter,
        mip_bias: reading.mip_bias,
        min_level: reading.min_level,
        max_level: reading.max_level,
        border: if texel == Texel::Srgb8 { encoded(reading.border, place.channels) } else { reading.border },
        anisotropy: reading.anisotropy,
        ..place
    };
    let record = Record { image: if is_plain(&record) { IS_PLAIN } else { 0 }, ..record };
    Ok((record, memory.table()))
}

/// The border color as an sRGB texture has it: each channel is rounded to a byte, whose value is the middle of the
/// numbers that are truncated to it. The fourth channel and the second of two are not encoded as sRGB.
fn encoded(border: [f32; 4], channels: u32) -> [f32; 4] {
    let curve = |intensity: f32| {
        let intensity = f64::from(intensity.clamp(0.0, 1.0));
        if intensity <= 0.003_130_8 { 12.92 * intensity } else { 1.055 * intensity.powf(1.0 / 2.4) - 0.055 }
    };
    // Hardware has twelve bits of a channel that isn't encoded, and rounds half down.
    let linear = |number: f32| ((f64::from(number.clamp(0.0, 1.0)) * 4096.0).floor() * 255.0 + 2047.0) / 4096.0;
    let [red, green, blue, alpha] = border;
    let byte = |number| 255.0 * curve(number) + 0.5;
    let [green, blue] = [green, blue].map(|number| if channels == 2 { linear(number) } else { byte(number) });
    [byte(red), green, blue, linear(alpha)].map(|byte| ((byte.floor() + 0.5) / 255.0) as f32)
}

pub(crate) fn surface_record(device: &Device, array: &Array) -> Result<Record> {
    let channel = array.descriptor().format.channel();
    if !array.descriptor().surface {
        return Err(TextureError::NotForSurfaces.into());
    }
    let texel = channel.texel(ReadMode::ElementType, false);
    Ok(Record { texel, ..Resource::from(array).memory(device, None)?.record(0) })
}

pub(crate) fn sampler_record(descriptor: &TextureDescriptor) -> Result<Record> {
    descriptor.check_numbers()?;
    Ok(descriptor.record())
}
