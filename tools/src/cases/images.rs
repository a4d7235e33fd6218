//! Images of launch cases and their objects, after all checks that need no device.

use std::collections::BTreeMap;
use std::path::Path;

use ptx2spv_runtime::{ArrayDescriptor, ArrayShape, ChannelFormat, ResourceView, TexelFormat, TextureDescriptor};

use super::contents::{self, Array, CasePath, array_len};
use super::contents_spec::Contents;
use super::image_spec::{ImageSpec, ObjectSpec, Shape, TextureSpec, ViewSpec};
use super::spec::CaseSpec;
use super::{Result, Scalar};
use crate::picture::Picture;

/// The images of a case, and the objects that references are bound to.
#[derive(Clone, Debug, Default)]
pub struct Textures {
    /// The images by name.
    pub images: BTreeMap<String, Image>,
    /// The objects by the name of the reference.
    pub references: BTreeMap<String, Object>,
}

/// Memory for textures and surfaces.
#[derive(Clone, Debug, PartialEq)]
pub struct Image {
    /// The kind of memory.
    pub memory: ImageMemory,
    /// The numbers of all channels of all elements.
    pub contents: Array,
}

/// The kind of memory of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say what the members are")]
pub enum ImageMemory {
    /// An array. It is mip-mapped if the case sets the number of levels.
    Array { descriptor: ArrayDescriptor, levels: Option<u32> },
    /// Linear memory.
    Linear { format: TexelFormat, width: u32 },
    /// Rows of elements.
    Pitched { format: TexelFormat, width: u32, height: u32, pitch: u32 },
}

/// A texture, a surface or a sampler.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "the names say what the members are")]
pub enum Object {
    /// A texture on an image.
    Texture { image: String, descriptor: TextureDescriptor, view: Option<ResourceView> },
    /// A surface on an image.
    Surface { image: String },
    /// A sampler.
    Sampler { descriptor: TextureDescriptor },
}

impl ImageMemory {
    /// The format of the elements.
    pub fn format(&self) -> TexelFormat {
        match self {
            Self::Array { descriptor, .. } => descriptor.format,
            Self::Linear { format, .. } | Self::Pitched { format, .. } => *format,
        }
    }

    /// Sizes of the levels in elements: width, height, and depth or layers.
    pub fn levels(&self) -> Vec<[u64; 3]> {
        match self {
            Self::Array { descriptor, levels } => {
                (0..levels.unwrap_or(1)).map(|level| descriptor.shape.level_size(level)).collect()
            }
            Self::Linear { width, .. } => vec![[u64::from(*width), 1, 1]],
            Self::Pitched { width, height, .. } => vec![[u64::from(*width), u64::from(*height), 1]],
        }
    }

    /// Bytes of all elements without gaps.
    pub fn bytes(&self) -> u64 {
        self.levels().into_iter().fold(0, |sum, size| sum.saturating_add(self.level_bytes(size)))
    }

    /// Bytes of a level's elements without gaps.
    pub fn level_bytes(&self, [width, height, depth]: [u64; 3]) -> u64 {
        width.saturating_mul(height).saturating_mul(depth).saturating_mul(self.format().bytes())
    }
}

/// The type of a channel's numbers.
pub fn scalar(channel: ChannelFormat) -> Scalar {
    match channel {
        ChannelFormat::U8 | ChannelFormat::Unorm8 => Scalar::U8,
        ChannelFormat::S8 | ChannelFormat::Snorm8 => Scalar::S8,
        ChannelFormat::U16 | ChannelFormat::Unorm16 => Scalar::U16,
        ChannelFormat::S16 | ChannelFormat::Snorm16 => Scalar::S16,
        ChannelFormat::U32 => Scalar::U32,
        ChannelFormat::S32 => Scalar::S32,
        ChannelFormat::F16 => Scalar::F16,
        ChannelFormat::F32 => Scalar::F32,
    }
}

/// Reads and checks the images and references of a case.
pub(super) fn prepare(place: CasePath<'_>, spec: &CaseSpec) -> Result<Textures> {
    let mut textures = Textures::default();
    for (name, spec) in &spec.images {
        let image = place.at(&format!(".images.{name}"), |place| image(place, spec))?;
        textures.images.insert(name.clone(), image);
    }
    for (name, spec) in &spec.references {
        let object = place.at(&format!(".references.{name}"), |place| object(place, spec, &textures.images))?;
        textures.references.insert(name.clone(), object);
    }
    Ok(textures)
}

fn texel_format(place: CasePath<'_>, name: &str, channels: u32) -> Result<TexelFormat> {
    let channel = ChannelFormat::ALL.into_iter().find(|channel| channel.name() == name);
    let channel = channel.ok_or_else(|| place.error(format!("`{name}` is not a format of elements")))?;
    TexelFormat::new(channel, channels).map_err(|error| place.error(error.to_string()))
}

fn image(place: CasePath<'_>, spec: &ImageSpec) -> Result<Image> {
    let format = texel_format(place, &spec.format, spec.channels)?;
    let array = |shape| {
        let descriptor = ArrayDescriptor::new(format, shape);
        let descriptor = if spec.surface { descriptor.surface() } else { descriptor };
        if spec.levels.is_some_and(|levels| levels == 0 || levels > descriptor.most_levels()) {
            return Err(place.error(format!("there are 1 to {} levels", descriptor.most_levels())));
        }
        Ok(ImageMemory::Array { descriptor, levels: spec.levels })
    };
    let memory = match (spec.shape, &spec.size[..]) {
        (Shape::OneD, &[width]) => array(ArrayShape::OneD { width })?,
        (Shape::TwoD, &[width, height]) => array(ArrayShape::TwoD { width, height })?,
        (Shape::ThreeD, &[width, height, depth]) => array(ArrayShape::ThreeD { width, height, depth })?,
        (Shape::OneDLayered, &[width, layers]) => array(ArrayShape::OneDLayered { width, layers })?,
        (Shape::TwoDLayered, &[width, height, layers]) => array(ArrayShape::TwoDLayered { width, height, layers })?,
        (Shape::Cube, &[width]) => array(ArrayShape::Cube { width })?,
        (Shape::CubeLayered, &[width, cubes]) => array(ArrayShape::CubeLayered { width, cubes })?,
        (Shape::Linear, &[width]) => ImageMemory::Linear { format, width },
        (Shape::Pitched, &[width, height]) => {
            let pitch = spec.pitch.ok_or_else(|| place.error("`pitch` is missing"))?;
            if u64::from(pitch) < u64::from(width) * format.bytes() {
                return Err(place.error("`pitch` is less than a row"));
            }
            ImageMemory::Pitched { format, width, height, pitch }
        }
        _ => return Err(place.error("`size` has more or fewer numbers than the shape")),
    };
    let is_array = matches!(memory, ImageMemory::Array { .. });
    if (!is_array && (spec.levels.is_some() || spec.surface)) || (spec.pitch.is_some() && spec.shape != Shape::Pitched)
    {
        return Err(place.error("`levels` and `surface` are for arrays, `pitch` is for `pitched`"));
    }
    let ty = scalar(format.channel());
    let bytes = memory.bytes();
    let contents = spec.contents();
    let contents = match spec.file.as_deref().filter(|file| Picture::is_named(file)) {
        Some(file) if contents.count() == 1 => place.at(".file", |place| picture(place, file, &memory))?,
        _ => elements(place, &contents, bytes, ty)?,
    };
    if contents.bytes.len() as u64 != bytes {
        return Err(place.error(format!("{} bytes are not the {bytes} bytes of the image", contents.bytes.len())));
    }
    Ok(Image { memory, contents })
}

/// Elements in one of the forms of a buffer, or zeros.
fn elements(place: CasePath<'_>, contents: &Contents<'_>, bytes: u64, ty: Scalar) -> Result<Array> {
    if contents.count() > 0 {
        return contents::read(contents, place, ty);
    }
    let count = array_len(place, bytes / ty.size() as u64, ty)?;
    Ok(Array { ty, bytes: vec![0; count * ty.size()] })
}

/// The pixels of a PNG file, which must have the image's size and format.
fn picture(place: CasePath<'_>, file: &Path, memory: &ImageMemory) -> Result<Array> {
    let picture = Picture::read(&place.folder().join(file)).map_err(|error| place.error(format!("{error:#}")))?;
    let (given, own) = (picture.format, memory.format());
    let size = [u64::from(picture.width), u64::from(picture.height), 1];
    let (ty, own_ty) = (scalar(given.channel()), scalar(own.channel()));
    if memory.levels() != [size] || given.channels() != own.channels() || ty != own_ty {
        return Err(place.error(format!(
            "the picture is {} x {} pixels of {} channels of {ty}, the image is not",
            picture.width,
            picture.height,
            given.channels()
        )));
    }
    Ok(Array { ty, bytes: picture.bytes })
}

/// Reads and checks a texture, a surface or a sampler.
pub(super) fn object(place: CasePath<'_>, spec: &ObjectSpec, images: &BTreeMap<String, Image>) -> Result<Object> {
    let known = |place: CasePath<'_>, name: &str| match images.get(name) {
        Some(image) => Ok(image.clone().memory),
        None => Err(place.error(format!("there is no image `{name}`"))),
    };
    match (&spec.texture, &spec.surface, &spec.sampler) {
        (Some(texture), None, None) => place.at(".texture", |place| {
            let image = texture.image.clone().ok_or_else(|| place.error("`image` is missing"))?;
            known(place, &image)?;
            let view = texture.view.as_ref().map(|view| self::view(place, view)).transpose()?;
            Ok(Object::Texture { image, descriptor: descriptor(place, texture)?, view })
        }),
        (None, Some(image), None) => place.at(".surface", |place| match known(place, image)? {
            ImageMemory::Array { levels: None, .. } => Ok(Object::Surface { image: image.clone() }),
            _ => Err(place.error("surfaces are on arrays without levels")),
        }),
        (None, None, Some(sampler)) => place.at(".sampler", |place| {
            if sampler.image.is_some() || sampler.view.is_some() {
                return Err(place.error("a sampler has no image"));
            }
            Ok(Object::Sampler { descriptor: descriptor(place, sampler)? })
        }),
        _ => Err(place.error("expected exactly one of `texture`, `surface` and `sampler`")),
    }
}

fn descriptor(place: CasePath<'_>, spec: &TextureSpec) -> Result<TextureDescriptor> {
    let last = spec.address.last().copied();
    if spec.address.len() > 3 {
        return Err(place.error("there are three address modes at most"));
    }
    let mode = |dimension: usize| spec.address.get(dimension).copied().or(last).map(Into::into).unwrap_or_default();
    let [min_mip_level, max_mip_level] = spec.mip_levels.unwrap_or_default();
    Ok(TextureDescriptor {
        address_mode: [mode(0), mode(1), mode(2)],
        filter: spec.filter.map(Into::into).unwrap_or_default(),
        read_mode: spec.read.map(Into::into).unwrap_or_default(),
        normalized_coordinates: spec.normalized,
        srgb: spec.srgb,
        max_anisotropy: spec.max_anisotropy.unwrap_or_default(),
        mip_filter: spec.mip_filter.map(Into::into).unwrap_or_default(),
        mip_bias: spec.mip_bias.unwrap_or_default(),
        min_mip_level,
        max_mip_level,
        border_color: spec.border.unwrap_or_default(),
        seamless_cube: spec.seamless,
        no_trilinear_optimization: false,
    })
}

fn view(place: CasePath<'_>, spec: &ViewSpec) -> Result<ResourceView> {
    let format = spec.format.as_deref().map(|name| texel_format(place, name, spec.channels)).transpose()?;
    Ok(ResourceView { format, levels: (spec.levels[0], spec.levels[1]), layers: (spec.layers[0], spec.layers[1]) })
}
