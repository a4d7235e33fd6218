//! Finds the PTX in executables, libraries and fat binaries that CUDA compilers make, and makes fat binaries of PTX.
//!
//! A fat binary is a row of containers, each for one source file or one linked program. A container has entries: PTX, machine
//! code (cubins), or intermediate code for the linker, for several architectures and perhaps compressed. [`Binary::read`] finds
//! the containers in a file, [`Binary::programs`] chooses the PTX. No size in a file is trusted, and no I/O is done here.

#![forbid(unsafe_code)]
// Callers get errors, not panics.
#![cfg_attr(
    not(test),
    warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable, clippy::todo)
)]

use std::borrow::Cow;

mod binary;
mod choose;
mod compression;
mod container;
mod entry;
mod error;
mod file;
mod write;

pub use binary::Binary;
pub use choose::{Choice, Module, Program};
pub use compression::Compression;
pub use container::{CONTAINER_MAGIC, Container};
pub use entry::{Architecture, Entry, Kind};
pub use error::Error;
pub use file::Registrations;
pub use write::{Image, fat_binary};

/// PTX from the bytes of a file: up to the zero by which CUDA programs end text. Bytes that are not UTF-8, such as umlauts of a
/// source that compilers quote in comments, become U+FFFD.
pub fn text(bytes: &[u8]) -> Cow<'_, str> {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(bytes.get(..end).unwrap_or_default())
}

/// First word of the structure that points to a container in the memory of a program (`.nvFatBinSegment`).
pub const WRAPPER_MAGIC: u32 = 0x4662_43b1;
