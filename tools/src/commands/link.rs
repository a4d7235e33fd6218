//! `ptx2spv link`: combines several PTX modules into one file, after a check that they fit together.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use ptx2spv::cli::Status;
use ptx2spv::input;
use ptx2spv::progress::Progress;
use ptx2spv_fatbin::{Architecture, Choice};
use ptx2spv_translator::{Program, Source};

/// Link PTX modules by the rules of NVIDIA's linker, and write a file that can be used like PTX.
///
/// The file contains the text of all modules, each under a comment with its name, so that each keeps the meaning of its
/// version and target.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ptx2spv link a.ptx b.ptx -o program.ptx
  ptx2spv link main.o libkernels.a -o program.ptx   objects of nvcc -rdc=true with PTX in them
  ptx2spv run program.ptx --entry k --block 32 f32[32]")]
pub struct Arguments {
    /// PTX files, or executables, libraries, objects and fat binaries with PTX, in the order that matters for weak
    /// symbols.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// The file to write; `-` for the standard output.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// For files with PTX for several architectures, use the PTX for this one, such as sm_80 or 90a [default: the
    /// newest PTX that also runs on all later architectures].
    #[arg(long, value_name = "ARCH")]
    arch: Option<Architecture>,
}

pub fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<Status> {
    let choice = arguments.arch.map_or(Choice::Newest, Choice::Exactly);
    // The files one by one, and then all together.
    let progress = Progress::new(arguments.files.len() + 1, "linking");
    let mut parts = Vec::new();
    for file in &arguments.files {
        parts.extend(input::read_parts(file, choice)?);
        progress.step();
    }
    let linked = Source::linked(arguments.output.display().to_string(), parts);
    Program::new(&linked)?;
    drop(progress);
    if arguments.output == Path::new("-") {
        out.write_all(linked.text().as_bytes())?;
    } else {
        fs::write(&arguments.output, linked.text()).with_context(|| arguments.output.display().to_string())?;
        writeln!(out, "{}", arguments.output.display())?;
    }
    Ok(Status::Success)
}
