//! Containers, and the headers of their entries.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::compression::Compression;
use crate::entry::{Architecture, Blob, Entry, Kind, Payload};
use crate::error::Error;

/// First word of a container.
pub const CONTAINER_MAGIC: u32 = 0xba55_ed50;
/// First word of containers of before CUDA 4.
const OLD_MAGIC: u32 = 0x1ee5_5a01;
pub(crate) const CONTAINER_VERSION: u16 = 1;
/// Bytes of a container's header.
pub(crate) const CONTAINER_HEADER: usize = 16;
/// Bytes of an entry's header; more may follow.
pub(crate) const ENTRY_HEADER: usize = 64;
/// The kind of an entry with several payloads.
const SEVERAL: u16 = 0x100;

const LZ4: u64 = 0x2000;
const ZSTD: u64 = 0x8000;
const SCRAMBLED: u64 = 0x1_0000;
const OF_ARCHITECTURE: u64 = 0x10_0000;
const OF_FAMILY: u64 = 0x20_0000;

/// A container of a fat binary.
#[derive(Clone, Debug)]
pub struct Container<'a> {
    /// Whether the container was made for the linker (`nvcc -rdc=true`), so that only all containers together are a
    /// program.
    pub relocatable: bool,
    /// The object of a static library that it lies in.
    pub member: Option<String>,
    /// Its entries.
    pub entries: Vec<Entry<'a>>,
}

/// Numbers in bytes.
#[derive(Clone, Copy)]
struct Header<'a>(&'a [u8]);

impl<'a> Header<'a> {
    fn bytes<const N: usize>(self, at: usize) -> Option<[u8; N]> {
        self.0.get(at..)?.first_chunk().copied()
    }

    fn u16(self, at: usize) -> Option<u16> {
        self.bytes(at).map(u16::from_le_bytes)
    }

    fn u32(self, at: usize) -> Option<u32> {
        self.bytes(at).map(u32::from_le_bytes)
    }

    fn u64(self, at: usize) -> Option<u64> {
        self.bytes(at).map(u64::from_le_bytes)
    }

    /// Text at a place that two words say.
    fn text(self, offset: usize, length: usize) -> Option<(&'a [u8], usize)> {
        let (start, length) = (self.u32(offset)? as usize, self.u32(length)? as usize);
        let end = start.checked_add(length)?;
        Some((self.0.get(start..end)?, end))
    }
}

/// The containers in a section. Between them may be padding.
pub(crate) fn all<'a>(section: &'a [u8], relocatable: bool, member: Option<&str>) -> Result<Vec<Container<'a>>, Error> {
    let mut containers = Vec::new();
    let mut at = 0_usize;
    while let Some(magic) = Header(section).u32(at) {
        match magic {
            CONTAINER_MAGIC => {
                let (container, end) = read(section, at)?;
                containers.push(Container { relocatable, member: member.map(str::to_owned), ..container });
                at = end.next_multiple_of(8);
            }
            OLD_MAGIC => return Err(Error::OldContainer),
            _ => at += 8,
        }
    }
    Ok(containers)
}

/// The container that begins at an offset, and where it ends.
pub(crate) fn read(section: &[u8], at: usize) -> Result<(Container<'_>, usize), Error> {
    let damaged = |what| Error::Damaged { at, what };
    let header = Header(section.get(at..).unwrap_or_default());
    match header.u32(0) {
        Some(CONTAINER_MAGIC) => {}
        Some(OLD_MAGIC) => return Err(Error::OldContainer),
        _ => return Err(damaged("no container begins here")),
    }
    let (version, skip, size) = (header.u16(4), header.u16(6), header.u64(8));
    let (Some(version), Some(skip), Some(size)) = (version, skip, size) else {
        return Err(damaged("the header of a container is cut off"));
    };
    if version != CONTAINER_VERSION {
        return Err(damaged("a container of an unknown version"));
    }
    let start = at + usize::from(skip);
    let end = usize::try_from(size).ok().and_then(|size| start.checked_add(size)).filter(|end| *end <= section.len());
    let (Some(end), true) = (end, usize::from(skip) >= CONTAINER_HEADER) else {
        return Err(damaged("the sizes of a container don't fit the file"));
    };
    let mut entries = Vec::new();
    let mut next = start;
    while next < end {
        next = entry(section, next..end, &mut entries)?;
    }
    Ok((Container { relocatable: false, member: None, entries }, end))
}

/// Reads the entry at the start of a range, and says where the next one begins.
fn entry<'a>(section: &'a [u8], range: Range<usize>, entries: &mut Vec<Entry<'a>>) -> Result<usize, Error> {
    let at = range.start;
    let damaged = |what| Error::Damaged { at, what };
    let bytes = section.get(range).unwrap_or_default();
    let header = Header(bytes);
    let sizes = header.u32(4).zip(header.u64(8)).and_then(|(skip, size)| {
        let (skip, size) = (skip as usize, usize::try_from(size).ok()?);
        let end = skip.checked_add(size)?;
        (skip >= ENTRY_HEADER && skip % 8 == 0).then_some((skip, bytes.get(skip..end)?, end))
    });
    let Some((skip, payload, end)) = sizes else {
        return Err(damaged("the sizes of an entry don't fit its container"));
    };
    let header = Header(bytes.get(..skip).unwrap_or_default());
    let described = describe(header).ok_or_else(|| damaged("the header of an entry points outside of itself"))?;
    let Described { number, compression, stored, size, .. } = described;
    let stored = match compression {
        Compression::None => Some(payload),
        _ => payload.get(..stored),
    };
    let stored = stored.ok_or_else(|| damaged("an entry is compressed to more than there is"))?;
    let size = if compression == Compression::None { payload.len() as u64 } else { size };
    if number == SEVERAL {
        let blob = Blob { stored, compression, size, content: OnceLock::new() };
        several(header, Arc::new(blob), entries).ok_or_else(|| damaged("a table of payloads isn't as it should be"))?;
    } else {
        entries.push(described.entry(stored.len() as u64, size, Payload::Whole(stored)));
    }
    Ok(at + end.next_multiple_of(8))
}

/// The contents of an entry's header.
struct Described {
    number: u16,
    compression: Compression,
    /// The size when compressed.
    stored: usize,
    /// The size when decompressed.
    size: u64,
    version: (u16, u16),
    architecture: Architecture,
    identifier: Option<String>,
    options: Option<String>,
    /// The end of the header and its strings.
    end: usize,
}

impl Described {
    fn entry(self, stored_size: u64, size: u64, payload: Payload<'_>) -> Entry<'_> {
        let Self { number, compression, version, architecture, identifier, options, .. } = self;
        let kind = Kind::of(number);
        Entry { kind, version, architecture, compression, stored_size, size, identifier, options, payload }
    }
}

/// Reads a header; nothing if it points outside of itself.
fn describe(header: Header<'_>) -> Option<Described> {
    let flags = header.u64(40)?;
    let size = header.u64(56)?;
    let compression = match flags {
        // What is scrambled is neither LZ4 nor Zstandard as it stands: whatever the other flags say, the payload is what there is.
        flags if size == 0 || flags & SCRAMBLED != 0 => Compression::None,
        flags if flags & ZSTD != 0 => Compression::Zstd,
        flags if flags & LZ4 != 0 => Compression::Lz4,
        _ => Compression::None,
    };
    let suffix = match flags {
        flags if flags & OF_ARCHITECTURE != 0 => Some('a'),
        flags if flags & OF_FAMILY != 0 => Some('f'),
        _ => None,
    };
    let mut end = ENTRY_HEADER;
    let mut text = |offset: usize| {
        let (text, after) = header.text(offset, offset + 4)?;
        // With the zero after it.
        end = end.max(after + 1);
        let text = String::from_utf8_lossy(text);
        Some(text.trim_end_matches('\0').to_owned())
    };
    let identifier = match header.u32(36)? {
        0 => None,
        _ => Some(text(32)?),
    };
    let options = match header.u32(20)? as usize {
        0 => None,
        record => Some(text(record)?.trim().to_owned()),
    };
    Some(Described {
        number: header.u16(0)?,
        compression,
        stored: header.u32(16)? as usize,
        size,
        version: (header.u16(26)?, header.u16(24)?),
        architecture: Architecture { number: header.u32(28)?, suffix },
        identifier,
        options,
        end,
    })
}

/// Reads the table of an entry with several payloads, which follows its header: copies of the headers that the payloads would
/// have, with the offset of the payload where the size of the header is otherwise.
fn several<'a>(header: Header<'a>, blob: Arc<Blob<'a>>, entries: &mut Vec<Entry<'a>>) -> Option<()> {
    let table = Header(header.0.get(ENTRY_HEADER..)?);
    let (count, bytes) = (table.u32(0)?, table.u32(4)? as usize);
    let mut at = 8;
    for _ in 0..count {
        let one = Header(table.0.get(at..bytes)?);
        let (offset, size) = (u64::from(one.u32(4)?), one.u64(8)?);
        offset.checked_add(size).filter(|end| *end <= blob.size)?;
        let described = describe(one)?;
        at += described.end.next_multiple_of(8);
        let described = Described { compression: blob.compression, ..described };
        entries.push(described.entry(blob.stored.len() as u64, size, Payload::Part(blob.clone(), offset)));
    }
    Some(())
}
