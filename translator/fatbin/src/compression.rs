//! Compression of payloads, and their decompression.

use std::borrow::Cow;
use std::fmt;
use std::io::Read;

use ruzstd::decoding::StreamingDecoder;

use crate::error::Error;

/// The largest payload that is decompressed: 512 MiB. Those of large libraries have some tens.
const MAX_SIZE: u64 = 1 << 29;

/// The compression of a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    None,
    /// LZ4's block format, as up to CUDA 12.
    Lz4,
    /// One frame of Zstandard, as from CUDA 13 on.
    Zstd,
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Lz4 => "LZ4",
            Self::Zstd => "zstd",
        })
    }
}

impl Compression {
    /// The decompressed payload: as many bytes as the entry says, or an error.
    pub(crate) fn decompress(self, stored: &[u8], size: u64) -> Result<Cow<'_, [u8]>, Error> {
        if self == Self::None {
            return Ok(Cow::Borrowed(stored));
        }
        let length = usize::try_from(size).ok().filter(|_| size <= MAX_SIZE).ok_or(Error::TooLarge(size))?;
        let bytes = match self {
            Self::Lz4 => lz4(stored, length)?,
            _ => zstd(stored, size)?,
        };
        if bytes.len() != length {
            return Err(Error::Compression(format!("{} bytes in place of {size}", bytes.len())));
        }
        Ok(Cow::Owned(bytes))
    }
}

fn lz4(stored: &[u8], length: usize) -> Result<Vec<u8>, Error> {
    // A byte stands for at most 255 others, so that no file makes us take much more memory than it has.
    if length / 255 > stored.len() {
        return Err(Error::Compression(format!("{length} bytes can't come from {}", stored.len())));
    }
    lz4_flex::block::decompress(stored, length).map_err(|error| Error::Compression(error.to_string()))
}

fn zstd(stored: &[u8], size: u64) -> Result<Vec<u8>, Error> {
    let failed = |error: &dyn fmt::Display| Error::Compression(error.to_string());
    let decoder = StreamingDecoder::new(stored).map_err(|error| failed(&error))?;
    let mut bytes = Vec::new();
    // One more, so that too long a frame is noticed.
    decoder.take(size + 1).read_to_end(&mut bytes).map_err(|error| failed(&error))?;
    Ok(bytes)
}
