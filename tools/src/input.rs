//! Reads PTX, also from executables and libraries. For other files, explains their kind, and how to get PTX from them.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use ptx2spv_fatbin::{self as fatbin, Architecture, Binary, Choice};
use ptx2spv_runtime::{Error, read_programs};
use ptx2spv_translator::{Program, Source};

use crate::cli::UsageError;
use crate::names;

/// Selects from a file with several PTX modules, and links further files.
#[derive(Debug, Default, clap::Args)]
pub struct Selection {
    /// Link with another file; may be given several times.
    #[arg(long, value_name = "FILE")]
    link: Vec<PathBuf>,
    /// For files with PTX for several architectures, use the PTX for this one, such as sm_80 or 90a [default: the
    /// newest PTX that also runs on all later architectures].
    #[arg(long, value_name = "ARCH")]
    arch: Option<Architecture>,
    /// For files with several programs, use the one with this number in `ptx2spv extract` [default: the program with
    /// the kernel].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    module: Option<u32>,
}

impl Selection {
    fn choice(&self) -> Choice {
        self.arch.map_or(Choice::Newest, Choice::Exactly)
    }

    /// Reads a file, or the standard input for `-`: PTX, or an executable, a library, an object or a fat binary with
    /// PTX. If there are several programs, a given kernel selects the one that contains it.
    ///
    /// # Errors
    /// The file can't be read, has no PTX, has several programs without a selection, or is something else that is
    /// mistaken for PTX. The message says what to do.
    pub fn read(&self, file: &Path, kernel: Option<&str>) -> Result<Source> {
        let first = self.read_one(file, kernel)?;
        if self.link.is_empty() {
            return Ok(first);
        }
        let mut parts = vec![first];
        for file in &self.link {
            parts.extend(read_parts(file, self.choice())?);
        }
        Ok(Source::linked(file.display().to_string(), parts))
    }

    fn read_one(&self, file: &Path, kernel: Option<&str>) -> Result<Source> {
        let (name, bytes) = read_file(file)?;
        if !Binary::is_binary(&bytes) {
            return text(name, bytes);
        }
        let mut programs = programs(&name, &bytes, self.choice())?;
        if let Some(wanted) = self.module {
            // Names of modules contain the file name and the number.
            let stem = file.file_name().unwrap_or_default().to_string_lossy();
            let prefix = format!("{stem}.{wanted}.");
            programs.retain(|program| program.modules().iter().any(|module| module.name.starts_with(&prefix)));
            if programs.is_empty() {
                bail!(
                    "{name} has no PTX with the number {wanted}, or another one of the same program is preferred to it: see `ptx2spv extract {name}`"
                );
            }
        }
        if let (Some(kernel), 2..) = (kernel, programs.len()) {
            programs.retain(|program| {
                Program::new(program).is_ok_and(|parsed| names::find(kernel, &parsed.entries()).is_ok())
            });
            if programs.is_empty() {
                bail!("no program in {name} has a kernel `{kernel}`: see `ptx2spv extract {name}`");
            }
        }
        match programs.len() {
            0 => bail!("{name} has nothing but CUDA's library for launches from kernels, which is part of the translator"),
            1 => programs.pop().context("a program"),
            several => Err(UsageError(format!(
                "{name} has {several} programs{}: name one by its number with --module (`ptx2spv extract {name}` lists them)",
                kernel.map(|kernel| format!(" with a kernel `{kernel}`")).unwrap_or_default()
            ))
            .into()),
        }
    }
}

/// Reads PTX from a file, or from the standard input for `-`, with default options: see [`Selection::read`].
///
/// # Errors
/// The errors of [`Selection::read`].
pub fn read_source(file: &Path) -> Result<Source> {
    Selection::default().read(file, None)
}

/// Reads all modules of a file, for a linker.
///
/// # Errors
/// The errors of [`Selection::read`].
pub fn read_parts(file: &Path, choice: Choice) -> Result<Vec<Source>> {
    let (name, bytes) = read_file(file)?;
    if Binary::is_binary(&bytes) { programs(&name, &bytes, choice) } else { Ok(vec![text(name, bytes)?]) }
}

/// Reads a file. Returns its name for messages, and the contents.
///
/// # Errors
/// The file can't be read.
pub fn read_file(file: &Path) -> Result<(String, Vec<u8>)> {
    if file == Path::new("-") {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes).context("standard input")?;
        return Ok(("<stdin>".to_owned(), bytes));
    }
    let name = file.display().to_string();
    let bytes = fs::read(file).with_context(|| name.clone())?;
    Ok((name, bytes))
}

fn programs(name: &str, bytes: &[u8], choice: Choice) -> Result<Vec<Source>> {
    read_programs(name, bytes, choice).map_err(|error| {
        let advice = match &error {
            Error::Binary { error: fatbin::Error::MachineCode, .. } => RECOMPILE,
            Error::Binary { error: fatbin::Error::NoPtx { wanted: None, .. }, .. } => WITH_PTX,
            _ => return error.into(),
        };
        anyhow!("{error}\nhelp: {advice}")
    })
}

fn text(name: String, bytes: Vec<u8>) -> Result<Source> {
    if let Some(Foreign { kind, advice }) = foreign_bytes(&bytes) {
        bail!("{name} is {kind}, not PTX\nhelp: {advice}");
    }
    let text = fatbin::text(&bytes);
    if let Some(Foreign { kind, advice }) = foreign_text(&text) {
        bail!("{name} is {kind}, not PTX\nhelp: {advice}");
    }
    Ok(Source::new(name, text))
}

/// A file that is not PTX: its kind, and advice.
struct Foreign {
    kind: &'static str,
    advice: &'static str,
}

const RECOMPILE: &str =
    "compile the source to PTX with `nvcc -ptx`, or take the program that the machine code belongs to, if that has PTX";
const WITH_PTX: &str = "compile it with PTX, as `nvcc -gencode arch=compute_80,code=compute_80` does";
const COMPILE: &str =
    "compile it: `nvcc -ptx FILE -o kernel.ptx`, or `clang++ --cuda-device-only --cuda-gpu-arch=sm_80 -S FILE`";
const LLC: &str = "if it was compiled for nvptx64, `llc -mcpu=sm_80 FILE -o kernel.ptx` writes PTX";

/// The kind of a file, according to its first bytes.
fn foreign_bytes(bytes: &[u8]) -> Option<Foreign> {
    let (kind, advice) = match bytes {
        // A structure in a program's memory that points to a fat binary.
        [0xb1, 0x43, 0x62, 0x46, ..] => ("the pointer to a CUDA fat binary, without that", RECOMPILE),
        [b'B', b'C', 0xc0, 0xde, ..] | [0xde, 0xc0, 0x17, 0x0b, ..] => ("LLVM bitcode", LLC),
        [3, 2, 0x23, 7, ..] | [7, 0x23, 2, 3, ..] => {
            ("a SPIR-V module", "it is translated already; `ptx2spv run` takes a .spv that has its .json beside it")
        }
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => ("text in UTF-16", "convert it to UTF-8"),
        _ => return None,
    };
    Some(Foreign { kind, advice })
}

/// The kind of a text that can't be PTX, which begins with `.version`.
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

    #[test]
    fn what_people_have_in_place_of_ptx() {
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
        // The last texts are left to the parser's errors.
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
