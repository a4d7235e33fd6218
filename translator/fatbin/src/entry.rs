//! Entries of containers.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::compression::Compression;
use crate::error::Error;

/// The kind of an entry's payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// PTX.
    Ptx,
    /// Machine code: a cubin.
    Elf,
    /// Intermediate code for NVIDIA's linker, readable by that linker only.
    Lto,
    /// Something else, by its number.
    Other(u16),
}

impl Kind {
    /// The number of PTX in an entry's header.
    pub(crate) const PTX: u16 = 1;

    pub(crate) fn of(number: u16) -> Self {
        match number {
            Self::PTX => Self::Ptx,
            2 | 0x10 => Self::Elf,
            8 => Self::Lto,
            other => Self::Other(other),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ptx => f.write_str("PTX"),
            Self::Elf => f.write_str("machine code"),
            Self::Lto => f.write_str("code for the linker (LTO)"),
            Self::Other(number) => write!(f, "kind {number:#x}"),
        }
    }
}

/// The architecture that an entry was compiled for: `sm_90a` and the like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Architecture {
    /// The number: 90 of `sm_90a`.
    pub number: u32,
    /// `a` for instructions of this architecture alone, `f` for those of its family.
    pub suffix: Option<char>,
}

impl Architecture {
    /// Whether a device of a compute capability, as in 86, runs code for this architecture: its own, or an older one.
    /// Code for a family or one architecture alone runs nowhere else.
    pub fn runs_on(self, capability: u32) -> bool {
        match self.suffix {
            None => self.number <= capability,
            Some('f') => self.number <= capability && self.number / 10 == capability / 10,
            Some(_) => self.number == capability,
        }
    }
}

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sm_{}", self.number)?;
        self.suffix.map_or(Ok(()), |suffix| write!(f, "{suffix}"))
    }
}

impl std::str::FromStr for Architecture {
    type Err = String;

    /// `80`, `sm_80`, `compute_80`, `sm_90a`.
    fn from_str(text: &str) -> Result<Self, String> {
        let rest = text.strip_prefix("sm_").or(text.strip_prefix("compute_")).unwrap_or(text);
        let (digits, suffix) = match rest.strip_suffix(['a', 'f']) {
            Some(digits) => (digits, rest.chars().last()),
            None => (rest, None),
        };
        let number = digits.parse().map_err(|_| format!("`{text}` is not an architecture such as sm_80"))?;
        Ok(Self { number, suffix })
    }
}

/// One payload with the contents of its header.
#[derive(Clone, Debug)]
pub struct Entry<'a> {
    /// The payload's kind.
    pub kind: Kind,
    /// The version of PTX, or of the format of machine code: major and minor.
    pub version: (u16, u16),
    /// The architecture that the entry was compiled for.
    pub architecture: Architecture,
    /// The payload's compression.
    pub compression: Compression,
    /// Its size in the file, and of several payloads that are compressed together the size of all of them.
    pub stored_size: u64,
    /// Its size when decompressed.
    pub size: u64,
    /// The source file, or the name that the compiler was told.
    pub identifier: Option<String>,
    /// Options for NVIDIA's assembler.
    pub options: Option<String>,
    pub(crate) payload: Payload<'a>,
}

#[derive(Clone, Debug)]
pub(crate) enum Payload<'a> {
    /// The entry's own.
    Whole(&'a [u8]),
    /// A part of a payload that several entries share, by its offset.
    Part(Arc<Blob<'a>>, u64),
}

/// Payloads that are compressed together.
#[derive(Debug)]
pub(crate) struct Blob<'a> {
    pub stored: &'a [u8],
    pub compression: Compression,
    pub size: u64,
    /// Decompressed when first asked for.
    pub content: OnceLock<Result<Cow<'a, [u8]>, Error>>,
}

impl Blob<'_> {
    fn content(&self) -> Result<&[u8], Error> {
        let content = self.content.get_or_init(|| self.compression.decompress(self.stored, self.size));
        content.as_ref().map(|bytes| &**bytes).map_err(Error::clone)
    }
}

impl Entry<'_> {
    /// The payload, decompressed.
    ///
    /// # Errors
    /// It doesn't decompress to the size in the header.
    pub fn bytes(&self) -> Result<Cow<'_, [u8]>, Error> {
        match &self.payload {
            Payload::Whole(stored) => self.compression.decompress(stored, self.size),
            Payload::Part(blob, offset) => {
                let part = usize::try_from(*offset).ok().zip(usize::try_from(self.size).ok());
                let part =
                    part.and_then(|(start, size)| blob.content().map(|all| all.get(start..)?.get(..size)).transpose());
                let missing = || Error::Compression("a part lies outside of what it is a part of".to_owned());
                part.ok_or_else(missing)?.map(Cow::Borrowed)
            }
        }
    }

    /// The text of PTX.
    ///
    /// # Errors
    /// It is no PTX, or doesn't decompress.
    pub fn ptx(&self) -> Result<String, Error> {
        if self.kind != Kind::Ptx {
            return Err(Error::NotPtx);
        }
        Ok(crate::text(&self.bytes()?).into_owned())
    }

    /// Name of a file for this entry of a file or program called `stem`; `number` tells the entry from others.
    pub fn file_name(&self, stem: &str, number: usize) -> String {
        let extension = match self.kind {
            Kind::Ptx => "ptx",
            Kind::Elf => "cubin",
            Kind::Lto => "ltoir",
            Kind::Other(_) => "bin",
        };
        format!("{stem}.{number}.{}.{extension}", self.architecture)
    }
}
