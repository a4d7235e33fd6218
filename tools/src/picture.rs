//! Pictures in PNG files, as elements of images.

use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use png::{BitDepth, ColorType, Decoder, Encoder, Transformations};
use ptx2spv_runtime::{ChannelFormat, TexelFormat};

use crate::cases::contents::MAX_BUFFER_BYTES;

/// A picture: contiguous rows of elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Elements of a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Channels: gray, gray and alpha, or red, green, blue and alpha.
    pub format: TexelFormat,
    /// The numbers of all channels, little-endian.
    pub bytes: Vec<u8>,
}

impl Picture {
    /// Whether a file has the extension of a picture.
    pub fn is_named(path: &Path) -> bool {
        path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("png"))
    }

    /// Reads a PNG file. Palettes become colors, and colors without alpha get an opaque one, since elements have one,
    /// two or four channels.
    ///
    /// # Errors
    /// The file can't be read, or is not a PNG file.
    pub fn read(path: &Path) -> Result<Self> {
        Self::decode(path).with_context(|| path.display().to_string())
    }

    fn decode(path: &Path) -> Result<Self> {
        let mut decoder = Decoder::new(BufReader::new(File::open(path)?));
        decoder.set_transformations(Transformations::EXPAND | Transformations::ALPHA);
        let mut reader = decoder.read_info()?;
        let size = reader.output_buffer_size().filter(|&size| size as u64 <= MAX_BUFFER_BYTES);
        let mut bytes = vec![0; size.context("the picture is too large")?];
        let info = reader.next_frame(&mut bytes)?;
        bytes.truncate(info.buffer_size());
        let is_opaque = !has_alpha(reader.info());
        let channel = match info.bit_depth {
            BitDepth::Eight => ChannelFormat::U8,
            BitDepth::Sixteen => ChannelFormat::U16,
            depth => bail!("{depth:?} bits of a channel"),
        };
        if channel == ChannelFormat::U16 {
            // PNG is big-endian.
            bytes.chunks_exact_mut(2).for_each(<[u8]>::reverse);
        }
        let channels = match info.color_type {
            // Gray pictures without alpha keep a single channel.
            ColorType::GrayscaleAlpha if is_opaque => {
                let step = channel.bytes() as usize;
                bytes = bytes.chunks_exact(2 * step).flat_map(|pair| &pair[..step]).copied().collect();
                1
            }
            ColorType::Grayscale => 1,
            ColorType::GrayscaleAlpha => 2,
            ColorType::Rgba => 4,
            other => bail!("pixels of the kind {other:?}"),
        };
        let format = TexelFormat::new(channel, channels)?;
        Ok(Self { width: info.width, height: info.height, format, bytes })
    }

    /// Writes a PNG file.
    ///
    /// # Errors
    /// The channels are not unsigned integers of 8 or 16 bits, or the file can't be written.
    pub fn write(&self, path: &Path) -> Result<()> {
        self.encode(path).with_context(|| path.display().to_string())
    }

    fn encode(&self, path: &Path) -> Result<()> {
        let depth = match self.format.channel() {
            ChannelFormat::U8 | ChannelFormat::Unorm8 => BitDepth::Eight,
            ChannelFormat::U16 | ChannelFormat::Unorm16 => BitDepth::Sixteen,
            other => bail!("a PNG has unsigned channels of 8 or 16 bits, not {}", other.name()),
        };
        let color = match self.format.channels() {
            1 => ColorType::Grayscale,
            2 => ColorType::GrayscaleAlpha,
            _ => ColorType::Rgba,
        };
        let bytes = u64::from(self.width) * u64::from(self.height) * self.format.bytes();
        ensure!(self.bytes.len() as u64 == bytes, "{} bytes are not the picture's {bytes}", self.bytes.len());
        let mut encoder = Encoder::new(BufWriter::new(File::create(path)?), self.width, self.height);
        encoder.set_color(color);
        encoder.set_depth(depth);
        let mut bytes = self.bytes.clone();
        if depth == BitDepth::Sixteen {
            bytes.chunks_exact_mut(2).for_each(<[u8]>::reverse);
        }
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&bytes)?;
        Ok(writer.finish()?)
    }
}

/// Whether the file has alpha, in its pixels or as a transparent color.
fn has_alpha(info: &png::Info<'_>) -> bool {
    info.trns.is_some() || matches!(info.color_type, ColorType::GrayscaleAlpha | ColorType::Rgba)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(channel: ChannelFormat, channels: u32, bytes: &[u8]) -> Picture {
        let format = TexelFormat::new(channel, channels).unwrap();
        Picture { width: 2, height: 1, format, bytes: bytes.to_vec() }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x.PNG");
        assert!(Picture::is_named(&file));
        for picture in [
            picture(ChannelFormat::U8, 1, &[1, 200]),
            picture(ChannelFormat::U8, 2, &[1, 200, 3, 4]),
            picture(ChannelFormat::U8, 4, &[1, 2, 3, 4, 5, 6, 7, 8]),
            picture(ChannelFormat::U16, 1, &[0x34, 0x12, 0xff, 0]),
            picture(ChannelFormat::U16, 4, &[1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8, 1]),
        ] {
            picture.write(&file).unwrap();
            assert_eq!(Picture::read(&file).unwrap(), picture);
        }
        let error = picture(ChannelFormat::F32, 1, &[0; 8]).write(&file).unwrap_err();
        assert!(format!("{error:#}").contains("not f32"));
        assert!(picture(ChannelFormat::U8, 4, &[0; 7]).write(&file).is_err());
    }

    #[test]
    fn colours_get_an_alpha_and_palettes_become_colours() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x.png");
        let mut encoder = Encoder::new(File::create(&file).unwrap(), 2, 1);
        encoder.set_color(ColorType::Rgb);
        encoder.write_header().unwrap().write_image_data(&[1, 2, 3, 4, 5, 6]).unwrap();
        let rgb = Picture::read(&file).unwrap();
        assert_eq!((rgb.format.channels(), &rgb.bytes[..]), (4, &[1, 2, 3, 255, 4, 5, 6, 255][..]));
        let mut encoder = Encoder::new(File::create(&file).unwrap(), 2, 1);
        encoder.set_color(ColorType::Indexed);
        encoder.set_depth(BitDepth::One);
        encoder.set_palette(vec![9, 8, 7, 10, 20, 30]);
        encoder.write_header().unwrap().write_image_data(&[0b0100_0000]).unwrap();
        assert_eq!(Picture::read(&file).unwrap().bytes, [9, 8, 7, 255, 10, 20, 30, 255]);
        std::fs::write(&file, b"no picture").unwrap();
        assert!(Picture::read(&file).is_err());
        assert!(Picture::read(&folder.path().join("none.png")).is_err());
    }
}
