//! Images of launch cases on CUDA, and objects on them.

use std::collections::BTreeMap;

use super::device_images::{with_pitch, without_pitch};
use super::images::{Image, ImageMemory, Object, Textures};
use crate::cuda::textures::{self, Array, Resource};
use crate::cuda::{Context, CudaError, Memory, Module};

/// The images of a case.
pub struct Images<'c> {
    list: BTreeMap<String, MadeImage<'c>>,
}

struct MadeImage<'c> {
    memory: ImageMemory,
    made: Made<'c>,
}

enum Made<'c> {
    Array(Array<'c>),
    /// Linear or pitched memory.
    Plain(Memory<'c>),
}

impl<'c> Images<'c> {
    /// Makes and fills the images.
    pub fn new(context: &'c Context, textures: &Textures) -> Result<Self, CudaError> {
        let mut list = BTreeMap::new();
        for (name, image) in &textures.images {
            list.insert(name.clone(), MadeImage::new(context, image)?);
        }
        Ok(Self { list })
    }

    /// Makes a texture or a surface.
    pub fn make(&self, context: &'c Context, object: &Object) -> Result<textures::Object<'c>, CudaError> {
        match object {
            Object::Texture { image, descriptor, view } => {
                let image = self.image(image)?;
                let size = image.memory.levels().first().copied().unwrap_or_default();
                let view = view.as_ref().map(|view| (view, size, image.memory.format()));
                context.texture(&image.resource(), descriptor, view)
            }
            Object::Surface { image } => context.surface(self.image(image)?.array()?),
            Object::Sampler { .. } => Err(no_samplers()),
        }
    }

    /// Binds a reference of a module.
    pub fn bind(&self, module: &Module<'_>, name: &str, object: &Object) -> Result<(), CudaError> {
        match object {
            Object::Texture { image, descriptor, view: None } => {
                module.bind_texture(name, &self.image(image)?.resource(), descriptor)
            }
            Object::Texture { .. } => Err(CudaError::Arguments("CUDA's references have no views".to_owned())),
            Object::Surface { image } => module.bind_surface(name, self.image(image)?.array()?),
            Object::Sampler { .. } => Err(no_samplers()),
        }
    }

    /// The elements of each image, level by level.
    pub fn read(&self) -> Result<BTreeMap<String, Vec<u8>>, CudaError> {
        self.list.iter().map(|(name, image)| Ok((name.clone(), image.read()?))).collect()
    }

    fn image(&self, name: &str) -> Result<&MadeImage<'c>, CudaError> {
        self.list.get(name).ok_or_else(|| CudaError::Arguments(format!("there is no image `{name}`")))
    }
}

fn no_samplers() -> CudaError {
    CudaError::Arguments("CUDA's driver API has no samplers".to_owned())
}

impl<'c> MadeImage<'c> {
    fn new(context: &'c Context, image: &Image) -> Result<Self, CudaError> {
        let (memory, bytes) = (image.memory, &image.contents.bytes);
        let made = match memory {
            ImageMemory::Array { descriptor, levels } => {
                let array = context.array(&descriptor, levels)?;
                let mut rest = &bytes[..];
                for (level, size) in (0..).zip(memory.levels()) {
                    let (own, others) = rest.split_at(rest.len().min(memory.level_bytes(size) as usize));
                    array.write(level, extent(&memory, size), own)?;
                    rest = others;
                }
                Made::Array(array)
            }
            ImageMemory::Linear { .. } => Made::Plain(context.upload(bytes)?),
            ImageMemory::Pitched { format, width, height, pitch } => {
                Made::Plain(context.upload(&with_pitch(bytes, width, height, pitch, format))?)
            }
        };
        Ok(Self { memory, made })
    }

    fn resource(&self) -> Resource<'_> {
        match (&self.made, self.memory) {
            (Made::Array(array), _) => Resource::Array(array),
            (Made::Plain(plain), ImageMemory::Pitched { format, width, height, pitch }) => {
                Resource::Pitched(plain, format, [width, height, pitch])
            }
            (Made::Plain(plain), memory) => Resource::Linear(plain, memory.format()),
        }
    }

    fn array(&self) -> Result<&Array<'c>, CudaError> {
        match &self.made {
            Made::Array(array) => Ok(array),
            Made::Plain(_) => Err(CudaError::Arguments("surfaces are on arrays".to_owned())),
        }
    }

    fn read(&self) -> Result<Vec<u8>, CudaError> {
        match (&self.made, self.memory) {
            (Made::Array(array), memory) => {
                let mut bytes = Vec::new();
                for (level, size) in (0..).zip(memory.levels()) {
                    bytes.extend(array.read(level, extent(&memory, size))?);
                }
                Ok(bytes)
            }
            (Made::Plain(plain), ImageMemory::Pitched { format, width, pitch, .. }) => {
                Ok(without_pitch(&plain.read(plain.len())?, width, pitch, format))
            }
            (Made::Plain(plain), _) => plain.read(plain.len()),
        }
    }
}

/// Bytes of a row, number of rows, and slices or layers.
fn extent(memory: &ImageMemory, [width, height, depth]: [u64; 3]) -> [usize; 3] {
    [width * memory.format().bytes(), height, depth].map(|size| size as usize)
}
