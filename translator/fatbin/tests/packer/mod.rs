//! Makes fat binaries and the files that have them, as `fatbinary` and the linkers do.

#![allow(dead_code, reason = "each test uses a part")]

use object::write::{Object, StandardSegment};
use object::{Architecture, BinaryFormat, Endianness, SectionKind};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

pub const PTX: u16 = 1;
pub const ELF: u16 = 2;
pub const LTO: u16 = 8;
pub const LZ4: u64 = 0x2000;
pub const ZSTD: u64 = 0x8000;

/// An entry to pack.
#[derive(Clone)]
pub struct Packed {
    pub kind: u16,
    pub arch: u32,
    pub flags: u64,
    pub version: (u16, u16),
    pub identifier: &'static str,
    pub options: &'static str,
    pub payload: Vec<u8>,
}

pub fn ptx(arch: u32, text: &str) -> Packed {
    let payload = [text.as_bytes(), &[0]].concat();
    Packed { kind: PTX, arch, flags: 0x11, version: (8, 1), identifier: "", options: "", payload }
}

pub fn machine_code(arch: u32) -> Packed {
    Packed { kind: ELF, payload: vec![0x7f, b'E', b'L', b'F', 1, 2, 3], ..ptx(arch, "") }
}

pub fn compress(flags: u64, payload: &[u8]) -> Vec<u8> {
    match flags {
        flags if flags & LZ4 != 0 => lz4_flex::block::compress(payload),
        flags if flags & ZSTD != 0 => compress_to_vec(payload, CompressionLevel::Fastest),
        _ => payload.to_vec(),
    }
}

fn pad(bytes: &mut Vec<u8>) {
    bytes.resize(bytes.len().next_multiple_of(8), 0);
}

impl Packed {
    pub fn with(mut self, flags: u64) -> Self {
        self.flags |= flags;
        self
    }

    /// The header with everything up to the payload; `second` is the size of the header, or where a payload begins.
    fn header(&self, second: Option<u32>, stored: u64, compressed: u32, size: u64) -> Vec<u8> {
        let mut after = Vec::new();
        let identifier = if self.identifier.is_empty() { 0 } else { 64 };
        if identifier != 0 {
            after.extend([self.identifier.as_bytes(), &[0]].concat());
            pad(&mut after);
        }
        let record = if self.options.is_empty() { 0 } else { 64 + after.len() as u32 };
        if record != 0 {
            after.extend((record + 8).to_le_bytes());
            after.extend((self.options.len() as u32).to_le_bytes());
            after.extend([self.options.as_bytes(), &[0]].concat());
            pad(&mut after);
        }
        let mut bytes = Vec::new();
        bytes.extend(self.kind.to_le_bytes());
        bytes.extend(0x0101_u16.to_le_bytes());
        bytes.extend(second.unwrap_or(64 + after.len() as u32).to_le_bytes());
        bytes.extend(stored.to_le_bytes());
        bytes.extend(compressed.to_le_bytes());
        bytes.extend(record.to_le_bytes());
        bytes.extend(self.version.1.to_le_bytes());
        bytes.extend(self.version.0.to_le_bytes());
        bytes.extend(self.arch.to_le_bytes());
        bytes.extend((identifier as u32).to_le_bytes());
        bytes.extend((self.identifier.len() as u32).to_le_bytes());
        bytes.extend(self.flags.to_le_bytes());
        bytes.extend(0_u64.to_le_bytes());
        bytes.extend(size.to_le_bytes());
        bytes.extend(after);
        bytes
    }

    pub fn bytes(&self) -> Vec<u8> {
        let compressed = self.flags & (LZ4 | ZSTD) != 0;
        let mut stored = compress(self.flags, &self.payload);
        let length = stored.len() as u32;
        pad(&mut stored);
        let sizes = if compressed { (length, self.payload.len() as u64) } else { (0, 0) };
        let mut bytes = self.header(None, stored.len() as u64, sizes.0, sizes.1);
        bytes.extend(stored);
        bytes
    }
}

/// One entry of kind 0x100 with several payloads.
pub fn several(list: &[Packed], flags: u64) -> Vec<u8> {
    let (mut blob, mut table) = (Vec::new(), Vec::new());
    for one in list {
        table.extend(one.header(Some(blob.len() as u32), one.payload.len() as u64, 0, 0));
        blob.extend(&one.payload);
        pad(&mut blob);
    }
    let whole = Packed { kind: 0x100, payload: blob, ..ptx(0, "") }.with(flags);
    let mut bytes = whole.bytes();
    let after = [(list.len() as u32).to_le_bytes(), (table.len() as u32 + 8).to_le_bytes()].concat();
    bytes[4..8].copy_from_slice(&(64 + 8 + table.len() as u32).to_le_bytes());
    bytes.splice(64..64, after.into_iter().chain(table));
    bytes
}

/// A container of entries.
pub fn container(entries: &[Vec<u8>]) -> Vec<u8> {
    let body = entries.concat();
    let mut bytes = 0xba55_ed50_u32.to_le_bytes().to_vec();
    bytes.extend([1, 0, 16, 0]);
    bytes.extend((body.len() as u64).to_le_bytes());
    bytes.extend(body);
    bytes
}

pub fn pack(list: &[Packed]) -> Vec<u8> {
    container(&list.iter().map(Packed::bytes).collect::<Vec<_>>())
}

/// An object of a format with a section.
pub fn object(format: BinaryFormat, name: &str, content: &[u8]) -> Vec<u8> {
    let mut object = Object::new(format, Architecture::X86_64, Endianness::Little);
    let segment = match format {
        BinaryFormat::MachO => b"__NV_CUDA".to_vec(),
        _ => object.segment_name(StandardSegment::Data).to_vec(),
    };
    let section = object.add_section(segment, name.as_bytes().to_vec(), SectionKind::Data);
    object.append_section_data(section, content, 8);
    object.write().unwrap()
}

/// A static library of objects.
pub fn library(members: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut bytes = b"!<arch>\n".to_vec();
    for (name, data) in members {
        let name = format!("{name}/");
        bytes.extend(format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", 0, 0, 0, 644, data.len()).bytes());
        bytes.extend(data);
        if data.len() % 2 == 1 {
            bytes.push(b'\n');
        }
    }
    bytes
}

/// A program for Windows with one section, whose name is cut to eight bytes.
pub fn windows_program(name: &str, content: &[u8]) -> Vec<u8> {
    const START: u32 = 0x200;
    let mut bytes = vec![0; 0x40];
    bytes[..2].copy_from_slice(b"MZ");
    bytes[0x3c] = 0x40;
    bytes.extend(b"PE\0\0");
    bytes.extend(0x8664_u16.to_le_bytes());
    bytes.extend(1_u16.to_le_bytes());
    bytes.extend([0; 12]);
    bytes.extend(240_u16.to_le_bytes());
    bytes.extend(0x22_u16.to_le_bytes());
    let mut optional = vec![0_u8; 240];
    optional[..2].copy_from_slice(&0x20b_u16.to_le_bytes());
    optional[32..36].copy_from_slice(&0x1000_u32.to_le_bytes());
    optional[36..40].copy_from_slice(&0x200_u32.to_le_bytes());
    optional[108..112].copy_from_slice(&16_u32.to_le_bytes());
    bytes.extend(optional);
    let mut short = [0; 8];
    let length = name.len().min(8);
    short[..length].copy_from_slice(&name.as_bytes()[..length]);
    bytes.extend(short);
    let size = content.len() as u32;
    for word in [size, 0x1000, size.next_multiple_of(0x200), START, 0, 0, 0, 0x4000_0040] {
        bytes.extend(word.to_le_bytes());
    }
    bytes.resize(START as usize, 0);
    bytes.extend(content);
    bytes.resize(bytes.len().next_multiple_of(0x200), 0);
    bytes
}
