//! Textures and surfaces in the form of the command line: `texture:@photo.png,linear,clamp`, `surface:u8x4[640x480]`.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail, ensure};
use ptx2spv_runtime::{
    AddressMode, ArrayDescriptor, ArrayShape, ChannelFormat, Filter, ReadMode, TexelFormat, TextureDescriptor,
};

use super::contents::{Array, MAX_BUFFER_BYTES};
use super::elements_text::buffer;
use super::images::{Image, ImageMemory, Object, Textures, scalar};
use crate::picture::Picture;

/// Parses a texture or a surface, if the text begins like one. The image gets the given name.
pub fn parse(text: &str, name: &str, textures: &mut Textures) -> Option<Result<Object>> {
    let (kind, text) = text.split_once(':')?;
    match kind {
        "texture" => Some(texture(text, name, textures)),
        "surface" => Some(surface(text, name, textures)),
        _ => None,
    }
}

fn texture(text: &str, name: &str, textures: &mut Textures) -> Result<Object> {
    let mut words = words(text).into_iter();
    let mut image = image(words.next().unwrap_or_default(), false)?;
    let mut descriptor = TextureDescriptor::default();
    for word in words {
        let modes = |mode| [mode; 3];
        match word {
            "point" => descriptor.filter = Filter::Point,
            "linear" => descriptor.filter = Filter::Linear,
            "wrap" => descriptor.address_mode = modes(AddressMode::Wrap),
            "clamp" => descriptor.address_mode = modes(AddressMode::Clamp),
            "mirror" => descriptor.address_mode = modes(AddressMode::Mirror),
            "border" => descriptor.address_mode = modes(AddressMode::Border),
            "normalized" => descriptor.normalized_coordinates = true,
            "float" => descriptor.read_mode = ReadMode::NormalizedFloat,
            "srgb" => descriptor.srgb = true,
            "memory" => image.memory = linear(&image.memory)?,
            _ => bail!(
                "`{word}`: expected point, linear, wrap, clamp, mirror, border, normalized, float, srgb or memory"
            ),
        }
    }
    textures.images.insert(name.to_owned(), image);
    Ok(Object::Texture { image: name.to_owned(), descriptor, view: None })
}

/// The parts between commas, except those in parentheses.
fn words(text: &str) -> Vec<&str> {
    let mut depth = 0_u32;
    let is_separator = |c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    };
    text.split(is_separator).map(str::trim).collect()
}

/// Linear memory with the elements of an array.
fn linear(memory: &ImageMemory) -> Result<ImageMemory> {
    match *memory {
        ImageMemory::Array {
            descriptor: ArrayDescriptor { format, shape: ArrayShape::OneD { width }, .. }, ..
        } => Ok(ImageMemory::Linear { format, width }),
        _ => bail!("linear memory has one dimension"),
    }
}

fn surface(text: &str, name: &str, textures: &mut Textures) -> Result<Object> {
    textures.images.insert(name.to_owned(), image(text, true)?);
    Ok(Object::Surface { image: name.to_owned() })
}

/// `@picture.png`, or `FORMAT[WxHxD]` for zeros, or that followed by `@file` or by numbers as for buffers.
fn image(text: &str, surface: bool) -> Result<Image> {
    let (kind, file) = match text.split_once('@') {
        Some((kind, file)) => (kind, Some(Path::new(file))),
        None => (text, None),
    };
    let (kind, numbers) = match kind.split_once(':') {
        Some((kind, numbers)) => (kind, Some(numbers)),
        None => (kind, None),
    };
    let array = |format, shape| {
        let descriptor = ArrayDescriptor::new(format, shape);
        ImageMemory::Array { descriptor: if surface { descriptor.surface() } else { descriptor }, levels: None }
    };
    if let (Some(file), "") = (file, kind) {
        let Picture { width, height, format, bytes } = Picture::read(file)?;
        let memory = array(format, ArrayShape::TwoD { width, height });
        return Ok(Image { memory, contents: Array { ty: scalar(format.channel()), bytes } });
    }
    let expected = "expected a picture such as @photo.png, or a format and a size such as u8x4[640x480]";
    let (format, size) = kind.strip_suffix(']').and_then(|kind| kind.split_once('[')).context(expected)?;
    let format = self::format(format)?;
    let size = size.split('x').map(|number| number.parse().ok().filter(|&number: &u32| number > 0));
    let size = size.collect::<Option<Vec<u32>>>().with_context(|| format!("`{kind}`: {expected}"))?;
    let memory = array(
        format,
        match size[..] {
            [width] => ArrayShape::OneD { width },
            [width, height] => ArrayShape::TwoD { width, height },
            [width, height, depth] => ArrayShape::ThreeD { width, height, depth },
            _ => bail!("`{kind}`: one to three sizes"),
        },
    );
    let size = memory.bytes();
    ensure!(size <= MAX_BUFFER_BYTES, "more than the limit of a buffer ({MAX_BUFFER_BYTES} bytes)");
    let ty = scalar(format.channel());
    let bytes = match file {
        Some(file) => fs::read(file).with_context(|| file.display().to_string())?,
        None => buffer(ty, Some(size as usize / ty.size()), numbers)?,
    };
    ensure!(bytes.len() as u64 == size, "{} bytes are not the {size} bytes of the image", bytes.len());
    Ok(Image { memory, contents: Array { ty, bytes } })
}

/// `f32`, `u8x4`.
fn format(text: &str) -> Result<TexelFormat> {
    let (name, channels) = text.split_once('x').unwrap_or((text, "1"));
    let channel = ChannelFormat::ALL.into_iter().find(|channel| channel.name() == name);
    let channel = channel.ok_or_else(|| anyhow!("`{name}` is not a format of elements"))?;
    let channels = channels.parse().ok().with_context(|| format!("`{channels}` is not a number of channels"))?;
    Ok(TexelFormat::new(channel, channels)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<(Object, Image)> {
        let mut textures = Textures::default();
        let object = parse(text, "0", &mut textures).unwrap()?;
        Ok((object, textures.images.remove("0").unwrap()))
    }

    #[track_caller]
    fn bad(text: &str, part: &str) {
        let message = format!("{:#}", parsed(text).expect_err(text));
        assert!(message.contains(part), "{message}");
    }

    #[test]
    fn textures_and_surfaces() {
        let (object, image) = parsed("texture:f32x2[3x4],linear,mirror,normalized").unwrap();
        let Object::Texture { image: name, descriptor, view: None } = object else { panic!("{object:?}") };
        assert_eq!((&name[..], descriptor.address_mode), ("0", [AddressMode::Mirror; 3]));
        assert!(descriptor.normalized_coordinates && descriptor.filter == Filter::Linear);
        assert_eq!(image.contents.bytes, [0; 96]);
        let (object, image) = parsed("surface:unorm16[7]").unwrap();
        assert_eq!(object, Object::Surface { image: "0".to_owned() });
        let ImageMemory::Array { descriptor, levels: None } = image.memory else { panic!("{image:?}") };
        assert!(descriptor.surface && descriptor.shape == ArrayShape::OneD { width: 7 });
        assert!(parse("u32:7", "0", &mut Textures::default()).is_none());
    }

    #[test]
    fn numbers_and_linear_memory() {
        let (_, image) = parsed("texture:u8[2x3]:iota(2)").unwrap();
        assert_eq!(image.contents.bytes, [0, 2, 4, 6, 8, 10]);
        let (object, image) = parsed("texture:u8x2[50]:random(1,3,5),memory,wrap").unwrap();
        assert!(image.contents.bytes.iter().all(|byte| (3..5).contains(byte)));
        assert!(matches!(image.memory, ImageMemory::Linear { width: 50, .. }));
        let Object::Texture { descriptor, .. } = object else { panic!("{object:?}") };
        assert_eq!(descriptor.address_mode, [AddressMode::Wrap; 3]);
        bad("texture:u8[2x2],memory", "one dimension");
        bad("texture:u8[2]:1,2,memory", "`2`: expected point");
        bad("texture:u8[2]:300", "does not fit u8");
    }

    #[test]
    fn files() {
        let folder = tempfile::tempdir().unwrap();
        let raw = folder.path().join("volume.raw");
        fs::write(&raw, [1, 2, 3, 4, 5, 6, 7, 8]).unwrap();
        let raw = raw.display();
        assert_eq!(parsed(&format!("texture:u8[2x2x2]@{raw}")).unwrap().1.contents.bytes, [1, 2, 3, 4, 5, 6, 7, 8]);
        bad(&format!("texture:u8[3x3]@{raw}"), "8 bytes are not the 9 bytes");
        let file = folder.path().join("x.png");
        let format = TexelFormat::new(ChannelFormat::U8, 4).unwrap();
        Picture { width: 1, height: 2, format, bytes: (0..8).collect() }.write(&file).unwrap();
        let (_, image) = parsed(&format!("texture:@{},float,srgb", file.display())).unwrap();
        assert_eq!((image.contents.bytes, image.memory.levels()), ((0..8).collect(), vec![[1, 2, 1]]));
        bad("texture:@no/such.png", "no/such.png");
    }

    #[test]
    fn slips() {
        bad("texture:f33[4]", "`f33` is not a format");
        bad("texture:f32x3[4]", "not 3");
        bad("texture:f32[4x]", "expected a picture");
        bad("texture:f32[0]", "expected a picture");
        bad("texture:f32[1x2x3x4]", "one to three");
        bad("texture:f32[4],smooth", "`smooth`: expected point");
        bad("surface:", "expected a picture");
        bad("texture:f32x4[131072x65536x9]", "more than the limit of a buffer");
    }
}
