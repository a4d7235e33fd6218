//! Sharpens a PNG picture: a kernel reads the pixels through a texture, and writes a surface.
//!
//! `cargo run -p ptx2spv-runtime --example filter -- in.png out.png` runs this.

use std::error::Error;
use std::fs::File;
use std::io::{BufReader, BufWriter};

use ptx2spv_runtime::{
    AddressMode, ArrayDescriptor, ArrayShape, ChannelFormat, Device, DeviceSelector, LaunchConfig, ReadMode, Source,
    TexelFormat, TextureDescriptor,
};

/// Reads the picture from the first file and writes the sharpened one to the second.
pub fn main() -> Result<(), Box<dyn Error>> {
    let files: Vec<String> = std::env::args().skip(1).collect();
    let [input, output] = &files[..] else { return Err("expected two files: in.png out.png".into()) };
    sharpen(&Device::open(&DeviceSelector::Default)?, input, output, 1.0)
}

/// Sharpens a picture.
pub fn sharpen(device: &Device, input: &str, output: &str, amount: f32) -> Result<(), Box<dyn Error>> {
    let mut decoder = png::Decoder::new(BufReader::new(File::open(input)?));
    // Convert any format to red, green, blue and alpha of eight bits each; grey pictures stay grey.
    decoder.set_transformations(png::Transformations::normalize_to_color8() | png::Transformations::ALPHA);
    let mut reader = decoder.read_info()?;
    let mut pixels = vec![0; reader.output_buffer_size().ok_or("the picture is too large")?];
    let png::OutputInfo { width, height, color_type, .. } = reader.next_frame(&mut pixels)?;
    if color_type == png::ColorType::GrayscaleAlpha {
        pixels = pixels.chunks_exact(2).flat_map(|pixel| [pixel[0], pixel[0], pixel[0], pixel[1]]).collect();
    }

    let shape = ArrayShape::TwoD { width, height };
    let format = TexelFormat::new(ChannelFormat::U8, 4)?;
    let picture = device.array(&ArrayDescriptor::new(format, shape))?;
    picture.write(&pixels)?;
    let descriptor = TextureDescriptor {
        address_mode: [AddressMode::Clamp; 3],
        read_mode: ReadMode::NormalizedFloat,
        ..TextureDescriptor::default()
    };
    let texture = device.texture(&(&picture).into(), &descriptor)?;
    let sharpened = device.array(&ArrayDescriptor::new(format, shape).surface())?;
    let surface = device.surface(&sharpened)?;

    let kernel = device.load(&Source::new("sharpen.ptx", include_str!("sharpen.ptx")))?.kernel("sharpen")?;
    let config = LaunchConfig::covering([width, height, 1], [16, 16, 1]);
    let arguments = [(&texture).into(), (&surface).into(), width.into(), height.into(), amount.into()];
    // SAFETY: the kernel takes a texture and a surface of this size, and numbers by value.
    unsafe { kernel.launch(&config, &arguments) }?;

    let mut encoder = png::Encoder::new(BufWriter::new(File::create(output)?), width, height);
    encoder.set_color(png::ColorType::Rgba);
    encoder.write_header()?.write_image_data(&sharpened.read::<u8>()?)?;
    Ok(())
}
