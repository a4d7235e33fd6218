//! Finds the PTX in executables, libraries and fat binaries that CUDA compilers make.
//!
//! A fat binary is a row of containers, each for one source file or one linked program. A container has entries: PTX, machine
//! code (cubins), or intermediate code for the linker, for several architectures and perhaps compressed. [`Binary::read`] finds
//! the containers in a file, [`Binary::programs`] chooses the PTX. No size in a file is trusted, and no I/O is done here.

mod choose;
mod compression;
mod container;
mod entry;
mod error;
mod file;

pub use choose::{Choice, Module, Program};
pub use compression::Compression;
pub use container::{CONTAINER_MAGIC, Container};
pub use entry::{Architecture, Entry, Kind};
pub use error::Error;

/// First word of what points to a container in the memory of a program (`.nvFatBinSegment`).
pub const WRAPPER_MAGIC: u32 = 0x4662_43b1;

/// The fat binaries of a file.
#[derive(Clone, Debug)]
pub struct Binary<'a> {
    /// In the order of the file.
    pub containers: Vec<Container<'a>>,
}

impl<'a> Binary<'a> {
    /// Whether bytes begin as the files do that can be read here; if not, [`Binary::read`] will refuse them.
    pub fn is_binary(bytes: &[u8]) -> bool {
        file::is_known(bytes)
    }

    /// Finds the fat binaries in an executable, a shared library, an object or a static library of ELF, PE, COFF or Mach-O form,
    /// or in a file that is one itself.
    ///
    /// # Errors
    /// The file has none, is none of these, or is damaged.
    pub fn read(bytes: &'a [u8]) -> Result<Self, Error> {
        file::read(bytes).map(|containers| Self { containers })
    }

    /// Reads one container, whose end its own sizes say.
    ///
    /// # Errors
    /// The bytes are none, or are damaged.
    pub fn container(bytes: &'a [u8]) -> Result<Self, Error> {
        let (container, _) = container::read(bytes, 0)?;
        Ok(Self { containers: vec![container] })
    }

    /// All entries with the numbers that [`Entry::file_name`] takes, from 1.
    pub fn entries(&self) -> impl Iterator<Item = (usize, &Entry<'a>)> {
        (1..).zip(self.containers.iter().flat_map(|container| &container.entries))
    }
}
