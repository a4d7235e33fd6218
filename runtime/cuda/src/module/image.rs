//! Images that modules are loaded from: PTX text, or fat binaries with PTX. Machine code of NVIDIA's devices is
//! refused.

use std::path::Path;

use ptx2spv_fatbin::{Binary, CONTAINER_MAGIC, Choice, Error as Wrong, WRAPPER_MAGIC};
use ptx2spv_runtime::{Error, Source, read_programs};

use crate::abi::{
    Code, FILE_NOT_FOUND, INVALID_IMAGE, INVALID_VALUE, In, Memory, NO_BINARY_FOR_GPU, Result, Text, trace,
};
use crate::context::device;

/// The first bytes of machine code (ELF).
const ELF: [u8; 4] = *b"\x7fELF";

/// The name in errors for PTX from memory.
const NAME: &str = "module.ptx";

/// The name in errors for fat binaries from memory.
const BINARY: &str = "module";

/// Maximum number of containers that a linked program may have.
const MOST_CONTAINERS: u64 = 1 << 16;

/// The PTX of an image in memory.
pub(crate) fn read(image: Memory) -> Result<Source> {
    if image.is_null() {
        return Err(INVALID_VALUE);
    }
    // Text may be shorter than four bytes, but ends with a zero.
    let mut first = [0; 4];
    for (place, offset) in first.iter_mut().zip(0..) {
        *place = image.offset(offset).as_in().get()?;
        if *place == 0 {
            break;
        }
    }
    if first == ELF {
        return Err(NO_BINARY_FOR_GPU.because(Wrong::MachineCode));
    }
    match u32::from_le_bytes(first) {
        CONTAINER_MAGIC => only(BINARY, container(image)?),
        WRAPPER_MAGIC => wrapper(image),
        _ => {
            let text = Text::from(image).get()?;
            // CUDA's driver doesn't give other text to its compiler.
            if text.contains(".version") { Ok(Source::new(NAME, text)) } else { Err(INVALID_IMAGE.because("no PTX")) }
        }
    }
}

/// The bytes of a container in memory.
fn container<'a>(image: Memory) -> Result<&'a [u8]> {
    const HEADER: u64 = 16;
    if image.as_in::<u32>().get()? != CONTAINER_MAGIC {
        return Err(INVALID_IMAGE.because("a pointer to a fat binary points to something else"));
    }
    let (header, size) = (image.offset(6).as_in::<u16>().get()?, image.offset(8).as_in::<u64>().get()?);
    image.bytes(size.saturating_add(u64::from(header)).max(HEADER))
}

/// Reads the wrapper that programs have for each container: a pointer to the container and, in a separately compiled
/// program, a list of pointers to the containers that were linked, which have the PTX.
fn wrapper(image: Memory) -> Result<Source> {
    const LINKED: u32 = 2;
    let pointer = |offset| Ok::<_, Code>(Memory::from_address(image.offset(offset).as_in::<u64>().get()?));
    let (version, data, list) = (image.offset(4).as_in::<u32>().get()?, pointer(8)?, pointer(16)?);
    if version != LINKED || list.is_null() {
        return only(BINARY, container(data)?);
    }
    let list: In<u64> = list.as_in();
    let mut parts = Vec::new();
    for index in 0..MOST_CONTAINERS {
        let one = Memory::from_address(list.at(index as usize)?);
        if one.is_null() {
            break;
        }
        parts.extend(programs(&format!("{BINARY}-{index}"), container(one)?)?);
    }
    if parts.is_empty() { only(BINARY, container(data)?) } else { Ok(Source::linked(BINARY, parts)) }
}

/// The programs in a file, each with all of its modules.
fn programs(name: &str, bytes: &[u8]) -> Result<Vec<Source>> {
    if !Binary::is_binary(bytes) {
        return Ok(vec![Source::new(name, ptx2spv_fatbin::text(bytes))]);
    }
    read_programs(name, bytes, choice()).map_err(|error| {
        if let Error::Binary { error: Wrong::NoPtx { wanted, .. }, .. } = &error {
            let help = if wanted.is_some() { "; PTX2SPV_CUDA_CC sets the compute capability" } else { "" };
            trace::say(&format!("module not loaded: {error}{help}"));
        }
        error.into()
    })
}

/// Chooses the newest PTX for the compute capability that this library reports.
pub(crate) fn choice() -> Choice {
    let (major, minor) = device::capability();
    Choice::For(u32::try_from(10 * major + minor).unwrap_or(0))
}

/// The only program in a file.
fn only(name: &str, bytes: &[u8]) -> Result<Source> {
    let mut programs = programs(name, bytes)?;
    match (programs.pop(), programs.len()) {
        (Some(only), 0) => Ok(only),
        (last, others) => {
            let count = others + usize::from(last.is_some());
            Err(INVALID_IMAGE.because(format!("the file has {count} programs, not one")))
        }
    }
}

/// The PTX of a file.
pub(crate) fn from_file(path: Text) -> Result<Source> {
    let path = path.get()?;
    if path.is_empty() {
        return Err(INVALID_VALUE);
    }
    only(&path, &read_file(Path::new(&path))?)
}

/// The bytes of a file.
pub(crate) fn read_file(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|error| FILE_NOT_FOUND.because(format!("{}: {error}", path.display())))
}
