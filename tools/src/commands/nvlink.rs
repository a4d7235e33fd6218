//! `ptx2spv nvlink`: links the device code of a program's objects, for `ptx2spv nvcc`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use ptx2spv::cli::Status;
use ptx2spv_fatbin::{Binary, Choice, Image, Kind, Registrations, fat_binary};
use ptx2spv_toolkit::registration;
use ptx2spv_translator::{Program, Source};

use super::ptxas;

/// Link the device code of objects and static libraries that were compiled by `nvcc -dc`.
///
/// Writes C source with the linked program and with the functions by which the objects register what they have. Files without such code
/// are passed over.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Objects and static libraries.
    files: Vec<PathBuf>,
    /// The file to write.
    #[arg(short, value_name = "FILE")]
    output: PathBuf,
}

/// A file, and the functions that it calls and has.
struct Part {
    name: String,
    bytes: Vec<u8>,
    registrations: Registrations,
}

pub fn run(arguments: &Arguments) -> Result<Status> {
    let mut parts = Vec::new();
    for path in &arguments.files {
        let name = || path.display().to_string();
        let bytes = std::fs::read(path).with_context(name)?;
        if Binary::is_binary(&bytes) {
            let registrations = Registrations::read(&bytes).with_context(name)?;
            parts.push(Part { name: name(), bytes, registrations });
        }
    }
    // What was linked before stays as it is.
    let defined: BTreeSet<_> = parts.iter().flat_map(|part| part.registrations.defined.clone()).collect();
    for part in &mut parts {
        part.registrations.called.retain(|function| !defined.contains(function));
    }
    parts.retain(|part| !part.registrations.called.is_empty());
    let functions: BTreeSet<_> = parts.iter().flat_map(|part| part.registrations.called.clone()).collect();

    let binaries = parts.iter().map(|part| Ok((part, Binary::read(&part.bytes).with_context(|| part.name.clone())?)));
    let binaries: Vec<_> = binaries.collect::<Result<_>>()?;
    let entries = binaries.iter().flat_map(|(_, binary)| binary.entries());
    let architectures: BTreeSet<_> =
        entries.filter(|(_, entry)| entry.kind == Kind::Ptx).map(|(_, entry)| entry.architecture.number).collect();
    let mut images = Vec::new();
    for architecture in architectures {
        // Objects may be older than this; if one is newer, the others' newest architecture has it.
        let Some(modules) = modules(&binaries, architecture)? else { continue };
        let linked = Source::linked(format!("sm_{architecture}"), modules);
        let program = match Program::new(&linked) {
            Ok(program) => program,
            Err(errors) => return Ok(ptxas::refuse("nvlink", &errors)),
        };
        if let Some(errors) = ptxas::check(&program, false)? {
            return Ok(ptxas::refuse("nvlink", &errors));
        }
        images.push(Image { architecture, ptx: linked.text().as_bytes().to_vec() });
    }
    let text = if functions.is_empty() { String::new() } else { registration(&fat_binary(&images), &functions) };
    std::fs::write(&arguments.output, text).with_context(|| arguments.output.display().to_string())?;
    Ok(Status::Success)
}

/// The modules that the linker gets for an architecture, unless an object has none.
fn modules(binaries: &[(&Part, Binary<'_>)], architecture: u32) -> Result<Option<Vec<Source>>> {
    let mut modules = Vec::new();
    for (part, binary) in binaries {
        let stem = Path::new(&part.name).file_name().unwrap_or_default().to_string_lossy();
        let programs = match binary.programs(&stem, Choice::For(architecture)) {
            Err(ptx2spv_fatbin::Error::NoPtx { wanted: Some(_), .. }) => return Ok(None),
            programs => programs.with_context(|| part.name.clone())?,
        };
        let relocatable = programs.into_iter().filter(|program| program.relocatable);
        modules
            .extend(relocatable.flat_map(|program| program.modules).map(|module| Source::new(module.name, module.ptx)));
    }
    Ok(Some(modules))
}
