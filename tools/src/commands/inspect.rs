//! `ptx2spv inspect`: the contents of a PTX file, and the information that a host needs for launches.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use ptx2spv::cli::Status;
use ptx2spv::input::Selection;
use ptx2spv::progress::Progress;
use ptx2spv::table;
use ptx2spv_translator::interface::{BlockSize, Entry, Interface, Shared, Variables};
use ptx2spv_translator::target::Scratch;
use ptx2spv_translator::{Diagnostics, Feature, Options, Program, Target, names};
use serde::Serialize;

/// Show the contents of a PTX file: kernels, parameters, shared memory, variables, and parts that can't be translated.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ptx2spv inspect kernel.ptx
  ptx2spv inspect kernel.ptx --json | jq '.kernels[].name'")]
pub struct Arguments {
    /// PTX file, executable or library with PTX in it, or `-` for the standard input.
    file: PathBuf,
    #[command(flatten)]
    selection: Selection,
    /// Write JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    file: String,
    /// One module, unless several are linked.
    modules: Vec<Module>,
    kernels: Vec<Kernel>,
    variables: Variables,
}

#[derive(Serialize)]
struct Module {
    name: String,
    /// `.version`: major and minor.
    version: (u32, u32),
    /// `.target`: the architecture and its options.
    target: Vec<String>,
    /// Width of addresses in bits.
    address_bits: u32,
}

#[derive(Serialize)]
struct Kernel {
    name: String,
    /// The interface, if the kernel can be translated.
    interface: Option<Entry>,
    /// The Vulkan features that the kernel needs.
    features: Vec<Feature>,
    /// The errors if the kernel can't be translated.
    errors: Option<String>,
}

pub fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<Status> {
    let source = arguments.selection.read(&arguments.file, None)?;
    let program = Progress::during(&format!("reading {}", source.name()), || Program::new(&source))?;
    // Kernels are translated one by one, for a device with all features: an error here applies to every device.
    let target = Target::preset("nvidia").context("the preset `nvidia` is missing")?;
    let modules = program.headers().iter().map(|header| Module {
        name: header.module.clone(),
        version: header.version,
        target: header.target.clone(),
        address_bits: header.address_bits,
    });
    let mut report = Report {
        file: source.name().to_owned(),
        modules: modules.collect(),
        kernels: Vec::new(),
        variables: Variables::default(),
    };
    let kernels = program.entries();
    let progress = Progress::new(kernels.len(), &format!("translating {}", source.name()));
    for name in kernels {
        let entries = [name.to_owned()];
        let options = Options::new(&target).entries(Some(&entries)).launched(false);
        let kernel = match program.translate(&options) {
            Ok(translation) => {
                let kernel = translatable(name, &translation.interface);
                merge(&mut report.variables, translation.interface.variables);
                kernel
            }
            Err(errors) => untranslatable(name, &errors),
        };
        report.kernels.push(kernel);
        progress.step();
    }
    drop(progress);
    if arguments.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&report)?)?;
    } else {
        print(&report, out)?;
    }
    Ok(Status::Success)
}

fn translatable(name: &str, interface: &Interface) -> Kernel {
    Kernel {
        name: name.to_owned(),
        interface: interface.entry(name).cloned(),
        features: interface.features.iter().copied().collect(),
        errors: None,
    }
}

fn untranslatable(name: &str, errors: &Diagnostics) -> Kernel {
    Kernel { name: name.to_owned(), interface: None, features: Vec::new(), errors: Some(errors.to_string()) }
}

/// Adds the variables that are not in the list yet. Which variables a kernel's module lists is up to the translator.
fn merge(all: &mut Variables, variables: Variables) {
    for variable in variables.list {
        if !all.list.iter().any(|known| known.name == variable.name) {
            all.list.push(variable);
        }
    }
}

fn print(report: &Report, out: &mut dyn Write) -> Result<()> {
    let failed = report.kernels.iter().filter(|kernel| kernel.errors.is_some()).count();
    writeln!(out, "{}: {} kernels, {failed} of them can't be translated", report.file, report.kernels.len())?;
    for Module { name, version: (major, minor), target, address_bits } in &report.modules {
        let name = if report.modules.len() > 1 { format!("{name}: ") } else { String::new() };
        writeln!(out, "{name}PTX {major}.{minor}, target {}, {address_bits}-bit addresses", target.join(", "))?;
    }
    for kernel in &report.kernels {
        let name = names::demangled(&kernel.name);
        writeln!(out, "\nkernel {name}")?;
        if name != kernel.name {
            writeln!(out, "  symbol    {}", kernel.name)?;
        }
        if let Some(entry) = &kernel.interface {
            print_entry(entry, &kernel.features, out)?;
        }
        for line in kernel.errors.as_deref().unwrap_or_default().lines() {
            writeln!(out, "{}", format!("  {line}").trim_end())?;
        }
    }
    if !report.variables.list.is_empty() {
        writeln!(out, "\nvariables")?;
        let mut rows = vec![["size", "space", "type", "name"].map(str::to_owned).to_vec()];
        for variable in &report.variables.list {
            let size = variable.size.to_string();
            rows.push(vec![size, variable.space.clone(), variable.ty.clone(), variable.name.clone()]);
        }
        table::write(out, "  ", &rows)?;
    }
    Ok(())
}

fn print_entry(entry: &Entry, features: &[Feature], out: &mut dyn Write) -> Result<()> {
    writeln!(out, "  block     {}", block_text(&entry.block))?;
    writeln!(out, "  shared    {}", shared_text(entry))?;
    if let Some(Scratch { local_bytes: bytes @ 1.., .. }) = entry.scratch {
        writeln!(out, "  local     {bytes} bytes for each invocation, in device memory, which is slower")?;
    }
    let names: Vec<&str> = features.iter().map(|feature| feature.name()).collect();
    writeln!(out, "  features  {}", names.join(", "))?;
    writeln!(out, "  params    {} bytes", entry.params_size)?;
    let mut rows = vec![["offset", "size", "align", "type", "name"].map(str::to_owned).to_vec()];
    for param in &entry.params {
        let array = if param.array { "[]" } else { "" };
        let pointer = if param.pointer { " pointer" } else { "" };
        rows.push(vec![
            param.offset.to_string(),
            param.size.to_string(),
            param.align.to_string(),
            format!("{}{array}{pointer}", param.ty),
            param.name.clone(),
        ]);
    }
    if rows.len() > 1 {
        table::write(out, "    ", &rows)?;
    }
    Ok(())
}

fn block_text(block: &BlockSize) -> String {
    match (block.required, block.max) {
        (Some([x, y, z]), _) => format!("exactly {x} x {y} x {z}"),
        (None, Some([x, y, z])) => {
            let threads = [x, y, z].into_iter().map(u64::from).fold(1, u64::saturating_mul);
            format!("at most {threads} threads")
        }
        (None, None) => "any size".to_owned(),
    }
}

fn shared_text(entry: &Entry) -> String {
    let Shared { static_bytes, dynamic, .. } = entry.shared;
    let dynamic = if dynamic { ", and dynamic" } else { "" };
    let scratch = entry.scratch.is_some_and(|scratch| scratch.shared);
    let place = if scratch { ", in device memory, which is slower" } else { "" };
    format!("{static_bytes} bytes{dynamic}{place}")
}
