//! The fat binaries of a file.

use crate::container::{self, Container};
use crate::entry::Entry;
use crate::error::Error;
use crate::file;

/// The fat binaries of a file.
#[derive(Clone, Debug)]
pub struct Binary<'a> {
    /// In the order of the file.
    pub containers: Vec<Container<'a>>,
}

impl<'a> Binary<'a> {
    /// Whether bytes begin like a file that [`Binary::read`] knows; all others are refused.
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
