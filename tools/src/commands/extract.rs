//! `ptx2spv extract`: lists the CUDA code in an executable, a library or a fat binary, and writes its PTX to files.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use ptx2spv::cli::Status;
use ptx2spv::input::{self, Selection};
use ptx2spv::progress::Progress;
use ptx2spv::table;
use ptx2spv_fatbin::{Architecture, Binary, Entry, Kind};
use ptx2spv_translator::{Program, Source, names};
use serde::Serialize;

/// List the CUDA code in an executable, a library, an object or a fat binary, or write its PTX to files.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ptx2spv extract program
  ptx2spv extract program -o out                  every PTX in it, to out/program.1.sm_80.ptx and so on
  ptx2spv extract libkernels.a -o out --arch sm_80
  ptx2spv extract program --json | jq '.[].kernels'")]
pub struct Arguments {
    /// Executable, shared library, object, static library or fat binary: ELF, PE, COFF or Mach-O.
    file: PathBuf,
    /// Write the PTX to files in this directory.
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Write machine code and other entries too.
    #[arg(long, requires = "output")]
    all: bool,
    /// List or write only entries for this architecture, such as sm_80 or 90a.
    #[arg(long, value_name = "ARCH")]
    arch: Option<Architecture>,
    /// Write the list as JSON.
    #[arg(long, conflicts_with = "output")]
    json: bool,
}

#[derive(Serialize)]
struct Listed {
    /// The number for `--module`.
    number: usize,
    kind: String,
    architecture: String,
    /// The version of the PTX, or else of the format.
    version: String,
    /// Decompressed bytes.
    size: u64,
    /// Bytes in the file.
    stored_size: u64,
    compression: String,
    /// Whether the entry has to be linked with other relocatable entries.
    relocatable: bool,
    /// The object in a static library that contains it.
    #[serde(skip_serializing_if = "Option::is_none")]
    member: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    identifier: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    options: Option<String>,
    /// The kernels of PTX, unless it can't be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    kernels: Option<Vec<String>>,
}

pub fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<Status> {
    let (name, bytes) = input::read_file(&arguments.file)?;
    let binary = Progress::during(&format!("reading {name}"), || Binary::read(&bytes)).with_context(|| name.clone())?;
    let wanted = |entry: &Entry<'_>| arguments.arch.is_none_or(|arch| arch == entry.architecture);
    if let Some(folder) = &arguments.output {
        return write(arguments, folder, &binary, wanted, out);
    }
    let progress = Progress::new(binary.entries().count(), &format!("decompressing and reading PTX of {name}"));
    let mut list = Vec::new();
    let mut number = 0;
    for container in &binary.containers {
        for entry in &container.entries {
            number += 1;
            progress.step();
            if wanted(entry) {
                list.push(describe(entry, number, container.relocatable, container.member.clone()));
            }
        }
    }
    drop(progress);
    if arguments.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&list)?)?;
    } else {
        print(&list, &name, out)?;
    }
    Ok(Status::Success)
}

fn write(
    arguments: &Arguments,
    folder: &PathBuf,
    binary: &Binary<'_>,
    wanted: impl Fn(&Entry<'_>) -> bool,
    out: &mut dyn Write,
) -> Result<Status> {
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let stem = arguments.file.file_name().unwrap_or_default().to_string_lossy();
    let mut status = Status::Failure;
    for (number, entry) in binary.entries() {
        if !wanted(entry) || !(arguments.all || entry.kind == Kind::Ptx) {
            continue;
        }
        let path = folder.join(entry.file_name(&stem, number));
        let content = match entry.kind {
            // Without the terminating zero.
            Kind::Ptx => entry.ptx().map(String::into_bytes),
            _ => entry.bytes().map(std::borrow::Cow::into_owned),
        };
        let content = content.with_context(|| format!("entry {number}"))?;
        fs::write(&path, content).with_context(|| path.display().to_string())?;
        writeln!(out, "{}", path.display())?;
        status = Status::Success;
    }
    if status == Status::Failure {
        // The error describes what the file has instead.
        Selection::default().read(&arguments.file, None)?;
    }
    Ok(status)
}

fn describe(entry: &Entry<'_>, number: usize, relocatable: bool, member: Option<String>) -> Listed {
    let (major, minor) = entry.version;
    let ptx = entry.ptx().ok().map(|text| Source::new("", text));
    let kernels = ptx.and_then(|source| {
        let program = Program::new(&source).ok()?;
        Some(program.entries().into_iter().map(str::to_owned).collect())
    });
    Listed {
        number,
        kind: entry.kind.to_string(),
        architecture: entry.architecture.to_string(),
        version: format!("{major}.{minor}"),
        size: entry.size,
        stored_size: entry.stored_size,
        compression: entry.compression.to_string(),
        relocatable,
        member,
        identifier: entry.identifier.clone(),
        options: entry.options.clone(),
        kernels,
    }
}

fn print(list: &[Listed], name: &str, out: &mut dyn Write) -> Result<()> {
    let ptx = list.iter().filter(|entry| entry.kind == Kind::Ptx.to_string()).count();
    writeln!(out, "{name}: {} entries, {ptx} of them PTX", list.len())?;
    let head = ["", "kind", "for", "version", "size", "in the file", "compression", "linked", "from"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for entry in list {
        let from: Vec<&str> = entry.member.iter().chain(&entry.identifier).map(String::as_str).collect();
        let linked = if entry.relocatable { "with others" } else { "alone" };
        rows.push(vec![
            entry.number.to_string(),
            entry.kind.clone(),
            entry.architecture.clone(),
            entry.version.clone(),
            entry.size.to_string(),
            entry.stored_size.to_string(),
            entry.compression.clone(),
            linked.to_owned(),
            from.join(": "),
        ]);
    }
    table::write(out, "  ", &rows)?;
    for entry in list {
        if let Some(kernels) = entry.kernels.as_ref().filter(|kernels| !kernels.is_empty()) {
            writeln!(out, "\nkernels of {}", entry.number)?;
            for kernel in kernels {
                writeln!(out, "  {}", names::demangled(kernel))?;
            }
        }
    }
    Ok(())
}
