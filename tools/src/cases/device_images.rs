//! Images of launch cases on a device, and objects on them.

use std::collections::BTreeMap;

use ptx2spv_runtime::{
    Arg, Buffer, Device, Error, MipmappedArray, Module, Resource, Sampler, Surface, TexelFormat, Texture,
};

use super::images::{Image, ImageMemory, Object, Textures};

/// The images of a case.
pub struct Images {
    list: BTreeMap<String, MadeImage>,
}

enum MadeImage {
    /// An array, and whether textures use all of its levels.
    Array(MipmappedArray, bool),
    Linear(Buffer, TexelFormat),
    Pitched {
        buffer: Buffer,
        format: TexelFormat,
        width: u32,
        height: u32,
        pitch: u32,
    },
}

/// A texture, a surface or a sampler.
pub enum MadeObject {
    /// A texture.
    Texture(Texture),
    /// A surface.
    Surface(Surface),
    /// A sampler.
    Sampler(Sampler),
}

impl MadeObject {
    /// The handle for kernels.
    pub fn handle(&self) -> u64 {
        match self {
            Self::Texture(texture) => texture.handle(),
            Self::Surface(surface) => surface.handle(),
            Self::Sampler(sampler) => sampler.handle(),
        }
    }

    /// The object as an argument.
    pub fn argument(&self) -> Arg<'_> {
        match self {
            Self::Texture(texture) => texture.into(),
            Self::Surface(surface) => surface.into(),
            Self::Sampler(sampler) => sampler.into(),
        }
    }
}

impl Images {
    /// Makes and fills the images.
    pub fn new(device: &Device, textures: &Textures) -> Result<Self, Error> {
        let mut list = BTreeMap::new();
        for (name, image) in &textures.images {
            list.insert(name.clone(), MadeImage::new(device, image)?);
        }
        Ok(Self { list })
    }

    /// Makes a texture, a surface or a sampler.
    pub fn make(&self, device: &Device, object: &Object) -> Result<MadeObject, Error> {
        Ok(match object {
            Object::Texture { image, descriptor, view } => {
                let resource = self.image(image)?.resource()?;
                MadeObject::Texture(match view {
                    Some(view) => device.texture_view(&resource, descriptor, view)?,
                    None => device.texture(&resource, descriptor)?,
                })
            }
            Object::Surface { image } => MadeObject::Surface(device.surface(&self.image(image)?.array()?)?),
            Object::Sampler { descriptor } => MadeObject::Sampler(device.sampler(descriptor)?),
        })
    }

    /// Binds a reference of a module.
    pub fn bind(&self, module: &Module, name: &str, object: &Object) -> Result<(), Error> {
        let reference = module.reference(name)?;
        match object {
            Object::Texture { image, descriptor, view } => {
                reference.bind_texture_view(&self.image(image)?.resource()?, descriptor, view.as_ref())
            }
            Object::Surface { image } => reference.bind_surface(&self.image(image)?.array()?),
            Object::Sampler { descriptor } => reference.bind_sampler(descriptor),
        }
    }

    /// The elements of each image, level by level.
    pub fn read(&self) -> Result<BTreeMap<String, Vec<u8>>, Error> {
        self.list.iter().map(|(name, image)| Ok((name.clone(), image.read()?))).collect()
    }

    fn image(&self, name: &str) -> Result<&MadeImage, Error> {
        // The case was checked for this.
        self.list.get(name).ok_or_else(|| Error::NoVariable(name.to_owned()))
    }
}

impl MadeImage {
    fn new(device: &Device, image: &Image) -> Result<Self, Error> {
        let bytes = &image.contents.bytes;
        match image.memory {
            ImageMemory::Array { descriptor, levels } => {
                let array = device.mipmapped_array(&descriptor, levels.unwrap_or(1))?;
                let mut rest = &bytes[..];
                for (level, size) in image.memory.levels().into_iter().enumerate() {
                    let (own, others) = rest.split_at(rest.len().min(image.memory.level_bytes(size) as usize));
                    array.level(level as u32)?.write(own)?;
                    rest = others;
                }
                Ok(Self::Array(array, levels.is_some()))
            }
            ImageMemory::Linear { format, .. } => Ok(Self::Linear(device.upload(bytes)?, format)),
            ImageMemory::Pitched { format, width, height, pitch } => {
                let buffer = device.upload(&with_pitch(bytes, width, height, pitch, format))?;
                Ok(Self::Pitched { buffer, format, width, height, pitch })
            }
        }
    }

    fn resource(&self) -> Result<Resource, Error> {
        Ok(match self {
            Self::Array(array, true) => array.into(),
            Self::Array(array, false) => (&array.level(0)?).into(),
            Self::Linear(buffer, format) => {
                Resource::Linear { address: buffer.address(), format: *format, bytes: buffer.len() }
            }
            &Self::Pitched { ref buffer, format, width, height, pitch } => Resource::Pitched {
                address: buffer.address(),
                format,
                width: width.into(),
                height: height.into(),
                pitch: pitch.into(),
            },
        })
    }

    fn array(&self) -> Result<ptx2spv_runtime::Array, Error> {
        match self {
            Self::Array(array, _) => array.level(0),
            // The case was checked for this.
            _ => Err(ptx2spv_runtime::TextureError::NotForSurfaces.into()),
        }
    }

    fn read(&self) -> Result<Vec<u8>, Error> {
        match self {
            Self::Array(array, _) => {
                let mut bytes = Vec::new();
                for level in 0..array.levels() {
                    bytes.extend(array.level(level)?.read::<u8>()?);
                }
                Ok(bytes)
            }
            Self::Linear(buffer, _) => buffer.download(),
            &Self::Pitched { ref buffer, format, width, pitch, .. } => {
                Ok(without_pitch(&buffer.download::<u8>()?, width, pitch, format))
            }
        }
    }
}

/// Inserts zeros between rows to get a pitch.
pub fn with_pitch(bytes: &[u8], width: u32, height: u32, pitch: u32, format: TexelFormat) -> Vec<u8> {
    let row = width as usize * format.bytes() as usize;
    let mut pitched = vec![0; pitch as usize * height as usize];
    for (to, from) in pitched.chunks_exact_mut(pitch as usize).zip(bytes.chunks_exact(row)) {
        to[..row].copy_from_slice(from);
    }
    pitched
}

/// Removes the bytes between rows.
pub fn without_pitch(bytes: &[u8], width: u32, pitch: u32, format: TexelFormat) -> Vec<u8> {
    let row = width as usize * format.bytes() as usize;
    bytes.chunks_exact(pitch as usize).flat_map(|pitched| &pitched[..row]).copied().collect()
}
