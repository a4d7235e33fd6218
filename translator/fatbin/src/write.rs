//! Fat binaries of PTX as CUDA's compilers would make them.

use crate::container::{CONTAINER_HEADER, CONTAINER_MAGIC, CONTAINER_VERSION, ENTRY_HEADER};
use crate::entry::Kind;

/// PTX for an architecture.
#[derive(Clone, Debug)]
pub struct Image {
    /// The number of the virtual architecture, such as 75.
    pub architecture: u32,
    /// The text.
    pub ptx: Vec<u8>,
}

/// The version of an entry's header.
const ENTRY_VERSION: u16 = 0x0101;
/// 64 bits, Linux.
const FLAGS: u64 = 0x11;

/// The bytes of a fat binary with these images, uncompressed.
pub fn fat_binary(images: &[Image]) -> Vec<u8> {
    let mut entries = Vec::new();
    for image in images {
        // The text ends with a zero, and is padded to eight bytes.
        let size = (image.ptx.len() + 8) / 8 * 8;
        let mut header = Vec::new();
        header.extend(Kind::PTX.to_le_bytes());
        header.extend(ENTRY_VERSION.to_le_bytes());
        header.extend((ENTRY_HEADER as u32).to_le_bytes());
        header.extend((size as u64).to_le_bytes());
        // No compression: its size, and the offset of options.
        header.extend([0; 8]);
        // The version of PTX, minor and major, of which loaders read the text's own.
        header.extend([0; 4]);
        header.extend(image.architecture.to_le_bytes());
        // No name.
        header.extend([0; 8]);
        header.extend(FLAGS.to_le_bytes());
        header.resize(ENTRY_HEADER, 0);
        entries.extend(header);
        entries.extend(&image.ptx);
        entries.resize(entries.len() + size - image.ptx.len(), 0);
    }
    let mut bytes = Vec::new();
    bytes.extend(CONTAINER_MAGIC.to_le_bytes());
    bytes.extend(CONTAINER_VERSION.to_le_bytes());
    bytes.extend((CONTAINER_HEADER as u16).to_le_bytes());
    bytes.extend((entries.len() as u64).to_le_bytes());
    bytes.extend(entries);
    bytes
}
