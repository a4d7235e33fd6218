//! What modules are loaded from: PTX text. Machine code of NVIDIA's devices is refused.

use std::path::Path;

use crate::code::{Code, FILE_NOT_FOUND, INVALID_IMAGE, INVALID_VALUE, NO_BINARY_FOR_GPU};
use crate::raw::{Memory, Text};

/// First bytes of machine code.
const ELF: [u8; 4] = *b"\x7fELF";

/// First words of fat binaries: of the container, and of what points to one.
const FAT_BINARY: u32 = 0xba55_ed50;
const FAT_BINARY_WRAPPER: u32 = 0x4662_43b1;

/// The PTX of an image in memory.
pub(crate) fn read(image: Memory) -> Result<String, Code> {
    if image.is_null() {
        return Err(INVALID_VALUE);
    }
    // Text may be shorter than four bytes, but has an end.
    let mut first = [0; 4];
    for (place, offset) in first.iter_mut().zip(0..) {
        *place = image.offset(offset).as_in().get()?;
        if *place == 0 {
            break;
        }
    }
    if first == ELF {
        return Err(machine_code());
    }
    match u32::from_le_bytes(first) {
        FAT_BINARY | FAT_BINARY_WRAPPER => {
            Err(crate::code::NOT_SUPPORTED.because("fat binaries aren't read yet: pass the PTX"))
        }
        _ => Text::from(image).get(),
    }
}

/// The PTX of an image of a known length.
pub(crate) fn from_bytes(bytes: &[u8]) -> Result<String, Code> {
    if bytes.starts_with(&ELF) {
        return Err(machine_code());
    }
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    std::str::from_utf8(&bytes[..end]).map(str::to_owned).map_err(|error| INVALID_IMAGE.because(error))
}

/// The PTX of a file.
pub(crate) fn from_file(path: &Path) -> Result<String, Code> {
    let bytes = std::fs::read(path).map_err(|error| FILE_NOT_FOUND.because(format!("{}: {error}", path.display())))?;
    from_bytes(&bytes)
}

fn machine_code() -> Code {
    NO_BINARY_FOR_GPU.because("machine code (a cubin) for NVIDIA's devices, where PTX is needed")
}
