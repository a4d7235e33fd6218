//! Reads PTX, and says of other files what they are and how to get PTX from them.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use anyhow::{Context, Result, bail};
use ptx2spv_translator::Source;

/// Reads PTX from a file, or from the standard input if it is `-`.
///
/// # Errors
/// The file can't be read, or is something else that people have in place of PTX; what to do about it is part of the message.
pub fn read_source(file: &Path) -> Result<Source> {
    let (name, bytes) = if file == Path::new("-") {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes).context("standard input")?;
        ("<stdin>".to_owned(), bytes)
    } else {
        let name = file.display().to_string();
        let bytes = fs::read(file).with_context(|| name.clone())?;
        (name, bytes)
    };
    if let Some(Foreign { kind, advice }) = foreign_bytes(&bytes) {
        bail!("{name} is {kind}, not PTX\nhelp: {advice}");
    }
    let text = String::from_utf8(bytes).with_context(|| format!("{name} is not text"))?;
    if let Some(Foreign { kind, advice }) = foreign_text(&text) {
        bail!("{name} is {kind}, not PTX\nhelp: {advice}");
    }
    Ok(Source::new(name, text))
}

/// What a file is, and what to do about it.
struct Foreign {
    kind: &'static str,
    advice: &'static str,
}

const EXTRACT: &str = "`cuobjdump -xptx all FILE` writes the PTX in it to files, if it was compiled with some \
                       (`nvcc -gencode arch=compute_80,code=compute_80`)";
const RECOMPILE: &str = "it is machine code for one kind of GPU; compile the source to PTX with `nvcc -ptx`, or take the PTX out of the \
                         program that it belongs to with `cuobjdump -xptx all PROGRAM`";
const COMPILE: &str =
    "compile it: `nvcc -ptx FILE -o kernel.ptx`, or `clang++ --cuda-device-only --cuda-gpu-arch=sm_80 -S FILE`";
const LLC: &str = "if it was compiled for nvptx64, `llc -mcpu=sm_80 FILE -o kernel.ptx` writes PTX";

/// What the first bytes of a file say.
fn foreign_bytes(bytes: &[u8]) -> Option<Foreign> {
    /// `e_machine` of ELF files for NVIDIA GPUs.
    const EM_CUDA: [u8; 2] = 190_u16.to_le_bytes();
    const PROGRAM: &str = "an executable, library or object file";
    let (kind, advice) = match bytes {
        [0x7f, b'E', b'L', b'F', ..] if bytes.get(18..20) == Some(&EM_CUDA[..]) => ("a CUBIN", RECOMPILE),
        [0x7f, b'E', b'L', b'F', ..] | [b'M', b'Z', ..] => (PROGRAM, EXTRACT),
        [0xcf | 0xce, 0xfa, 0xed, 0xfe, ..] | [0xca, 0xfe, 0xba, 0xbe, ..] => (PROGRAM, EXTRACT),
        [b'!', b'<', b'a', b'r', b'c', b'h', b'>', ..] => ("a static library", EXTRACT),
        // 0xba55ed50, and the wrapper that points to it.
        [0x50, 0xed, 0x55, 0xba, ..] | [0xb1, 0x43, 0x62, 0x46, ..] => ("a CUDA fat binary", EXTRACT),
        [b'B', b'C', 0xc0, 0xde, ..] | [0xde, 0xc0, 0x17, 0x0b, ..] => ("LLVM bitcode", LLC),
        [3, 2, 0x23, 7, ..] | [7, 0x23, 2, 3, ..] => {
            ("a SPIR-V module", "it is translated already; `ptx2spv run` takes a .spv that has its .json beside it")
        }
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => ("text in UTF-16", "convert it to UTF-8"),
        _ => return None,
    };
    Some(Foreign { kind, advice })
}

/// What a text is that can't be PTX, which begins with `.version`.
fn foreign_text(text: &str) -> Option<Foreign> {
    let lines = || text.lines().map(str::trim_start);
    let starts = |words: &[&str]| lines().any(|line| words.iter().any(|word| line.starts_with(word)));
    if starts(&[".version"]) || text.contains(".version") {
        return None;
    }
    let (kind, advice) = if starts(&["target triple =", "target datalayout =", "; ModuleID", "source_filename ="]) {
        ("LLVM assembly", LLC)
    } else if text.contains("__global__") || starts(&["#include", "#pragma", "#define", "using namespace", "template"])
    {
        ("a source file in C++", COMPILE)
    } else if starts(&[".headerflags", ".elftype"]) || text.contains("/*0000*/") {
        ("a listing of machine code (SASS)", RECOMPILE)
    } else if text.trim_start().starts_with(['{', '[']) {
        ("JSON", "launch cases and modules that were translated before go by names that end in .json")
    } else {
        return None;
    };
    Some(Foreign { kind, advice })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn kind(bytes: &[u8]) -> Option<&'static str> {
        let text = || foreign_text(std::str::from_utf8(bytes).ok()?);
        foreign_bytes(bytes).or_else(text).map(|foreign| foreign.kind)
    }

    /// The first 20 bytes of an ELF file for a machine.
    fn elf(machine: u16) -> Vec<u8> {
        let mut bytes = vec![0x7f, b'E', b'L', b'F', 2, 1, 1, 0x33, 7, 0, 0, 0, 0, 0, 0, 0, 2, 0];
        bytes.extend(machine.to_le_bytes());
        bytes
    }

    #[test]
    fn what_people_have_in_place_of_ptx() {
        assert_eq!(kind(&elf(190)), Some("a CUBIN"));
        assert_eq!(kind(&elf(62)), Some("an executable, library or object file"));
        assert_eq!(kind(b"MZ\x90\0"), Some("an executable, library or object file"));
        assert_eq!(kind(b"!<arch>\nx"), Some("a static library"));
        assert_eq!(kind(&0xba55_ed50_u32.to_le_bytes()), Some("a CUDA fat binary"));
        assert_eq!(kind(b"BC\xc0\xde5\x14"), Some("LLVM bitcode"));
        assert_eq!(kind(&0x0723_0203_u32.to_le_bytes()), Some("a SPIR-V module"));
        assert_eq!(kind(b"\xff\xfe.\0v\0"), Some("text in UTF-16"));
        assert_eq!(kind(b"; ModuleID = 'k'\ndefine void @k() {\n"), Some("LLVM assembly"));
        assert_eq!(kind(b"#include <cuda.h>\nint main() {}\n"), Some("a source file in C++"));
        assert_eq!(kind(b"extern \"C\" __global__ void k() {}\n"), Some("a source file in C++"));
        assert_eq!(kind(b"{\"name\": 1}"), Some("JSON"));
    }

    #[test]
    fn ptx_and_what_is_nearly_ptx() {
        // The last ones are for the parser to complain about.
        for text in [
            "// __global__\n.version 7.0\n",
            "/* #include */ .version 7.0 .target sm_50",
            "",
            "mov.u32 %r1, 5;",
            "\x7fEL",
        ] {
            assert_eq!(kind(text.as_bytes()), None, "{text}");
        }
    }
}
