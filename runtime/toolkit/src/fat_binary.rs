//! Fat binaries with PTX, and the command line of NVIDIA's `fatbinary`, which clang calls to make them.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::error::Error;

/// PTX for an architecture.
#[derive(Clone, Debug)]
pub struct Image {
    /// The number of the virtual architecture, such as 75.
    pub architecture: u32,
    /// The text.
    pub ptx: Vec<u8>,
}

const MAGIC: u32 = 0xba55_ed50;
const CONTAINER_HEADER: u16 = 16;
const ENTRY_HEADER: u32 = 64;
const PTX: u16 = 1;
const VERSION: u16 = 0x0101;
/// 64 bits, Linux.
const FLAGS: u64 = 0x11;

/// The bytes of a fat binary with these images.
pub fn fat_binary(images: &[Image]) -> Vec<u8> {
    let mut entries = Vec::new();
    for image in images {
        // The text ends with a zero, and is padded to eight bytes.
        let size = (image.ptx.len() + 8) / 8 * 8;
        let mut header = Vec::new();
        header.extend(PTX.to_le_bytes());
        header.extend(VERSION.to_le_bytes());
        header.extend(ENTRY_HEADER.to_le_bytes());
        header.extend((size as u64).to_le_bytes());
        // No compression: its size, and the offset of options.
        header.extend([0; 8]);
        // The version of PTX, minor and major, of which loaders read the text's own.
        header.extend([0; 4]);
        header.extend(image.architecture.to_le_bytes());
        // No name.
        header.extend([0; 8]);
        header.extend(FLAGS.to_le_bytes());
        header.resize(ENTRY_HEADER as usize, 0);
        entries.extend(header);
        entries.extend(&image.ptx);
        entries.resize(entries.len() + size - image.ptx.len(), 0);
    }
    let mut bytes = Vec::new();
    bytes.extend(MAGIC.to_le_bytes());
    bytes.extend(1_u16.to_le_bytes());
    bytes.extend(CONTAINER_HEADER.to_le_bytes());
    bytes.extend((entries.len() as u64).to_le_bytes());
    bytes.extend(entries);
    bytes
}

/// What a command line of `fatbinary` asks for.
#[derive(Debug)]
pub struct FatBinary {
    output: PathBuf,
    images: Vec<(u32, PathBuf)>,
}

impl FatBinary {
    /// Reads the arguments: `--create OUT` and `--image=profile=compute_75,file=IN`, or `--image3=kind=ptx,sm=75,file=IN` of later clangs.
    /// Images of machine code are what our ptxas wrote, the same PTX again, and are left out.
    ///
    /// # Errors
    /// [`Error::FatBinary`]
    pub fn parse(arguments: &[OsString]) -> Result<Self, Error> {
        let (mut output, mut images) = (None, Vec::new());
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let text = argument.to_string_lossy();
            if text == "--create" {
                output = rest.next().map(PathBuf::from);
            } else if let Some(path) = text.strip_prefix("--create=") {
                output = Some(path.into());
            } else if let Some((_, image)) = text.strip_prefix("--image").and_then(|rest| rest.split_once('=')) {
                let field = |name: &str| image.split(',').find_map(|part| part.strip_prefix(name)?.strip_prefix('='));
                let profile = field("profile").and_then(|profile| profile.strip_prefix("compute_"));
                let virtual_architecture = profile.or_else(|| field("sm").filter(|_| field("kind") == Some("ptx")));
                let Some(name) = virtual_architecture else { continue };
                let number = name.trim_end_matches(|c: char| c.is_ascii_alphabetic()).parse();
                let number = number.map_err(|_| Error::FatBinary(format!("no architecture: {image}")))?;
                let file = field("file").ok_or_else(|| Error::FatBinary(format!("no file: {image}")))?;
                images.push((number, file.into()));
            }
        }
        let output = output.ok_or_else(|| Error::FatBinary("--create is missing".to_owned()))?;
        Ok(Self { output, images })
    }

    /// Writes the file.
    ///
    /// # Errors
    /// A file can't be read or written.
    pub fn write(&self) -> Result<(), Error> {
        let read = |(architecture, path): &(u32, PathBuf)| {
            let ptx = std::fs::read(path).map_err(Error::file(path))?;
            Ok(Image { architecture: *architecture, ptx })
        };
        let images = self.images.iter().map(read).collect::<Result<Vec<_>, Error>>()?;
        std::fs::write(&self.output, fat_binary(&images)).map_err(Error::file(&self.output))
    }
}
