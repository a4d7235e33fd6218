//! Makes the pipelines of SPIR-V modules on a Vulkan device, and shows the compiler's output: instructions, registers, spills, and the
//! machine code. Nothing is launched, so that devices without hardware serve too, such as RADV's (`RADV_FORCE_FAMILY=navi21`).
//!
//! Each file is compiled in a process of its own, which a limit of processor time ends.

mod adreno;
mod amd;
mod corpus;
mod cost;
mod document;
mod intel;
mod pipelines;
mod worker;

use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Parser, Subcommand};
use pipelines::{Compiled, Vulkan};
use ptx2spv::cli::{self, Status};
use ptx2spv::table;

/// Compiles SPIR-V modules on a Vulkan device, and prints the statistics of their pipelines.
#[derive(Debug, Parser)]
#[command(name = "compile", version, max_term_width = 100)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
struct CommandLine {
    #[command(flatten)]
    files: Files,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Compile this repository's kernels on Mesa's devices without hardware, and write docs/machine-code.md or compare with it.
    Document(document::Arguments),
}

#[derive(Debug, Args)]
struct Files {
    /// Modules, each with its interface beside it (`.json`); without one, its entry point is `main`.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// The first device whose name contains this.
    #[arg(long, value_name = "TEXT", default_value = "")]
    device: String,
    /// Threads of a block, where the kernel leaves them open.
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..))]
    block: u32,
    /// Processor time for the pipelines of one file, in seconds.
    #[arg(long, value_name = "N", default_value_t = 60)]
    seconds: u64,
    /// Show the issue cycles of AMD's, Intel's or Adreno's code too, ten times as many for each loop.
    #[arg(long)]
    costs: bool,
    /// Show the machine code too.
    #[arg(long)]
    code: bool,
    /// Write the statistics as JSON.
    #[arg(long)]
    json: bool,
}

fn main() -> ExitCode {
    let arguments = CommandLine::parse();
    cli::main(|out| match (&arguments.command, worker::is_worker()) {
        (Some(Command::Document(arguments)), false) => document::run(arguments, out),
        (Some(Command::Document(arguments)), true) => document::compile_here(arguments, out),
        (None, false) => compile_all(&arguments.files, out),
        (None, true) => compile_here(&arguments.files, out),
    })
}

/// Compiles files in this process.
fn compile_here(arguments: &Files, out: &mut dyn Write) -> Result<Status> {
    let vulkan = Vulkan::new(&arguments.device)?;
    let mut compiled = Vec::new();
    for file in &arguments.files {
        compiled.extend(vulkan.compile(file, arguments.block)?);
    }
    serde_json::to_writer(out, &compiled)?;
    Ok(Status::Success)
}

fn compile_all(arguments: &Files, out: &mut dyn Write) -> Result<Status> {
    let mut compiled: Vec<Compiled> = Vec::new();
    let mut status = Status::Success;
    for file in &arguments.files {
        let block = arguments.block.to_string();
        let words =
            [file.as_os_str(), "--block".as_ref(), block.as_ref(), "--device".as_ref(), arguments.device.as_ref()];
        match worker::run::<Vec<Compiled>>(arguments.seconds, &words, &[]) {
            Ok(found) => compiled.extend(found),
            Err(error) => {
                status = Status::Failure;
                cli::warn(format_args!("error: {}: {error:#}", file.display()));
            }
        }
    }
    if arguments.costs {
        for kernel in &mut compiled {
            let cost = kernel.cost(1);
            kernel.statistics.extend(cost.map(|cost| ("Cycles".to_owned(), cost.cycles as f64)));
        }
    }
    if arguments.json {
        serde_json::to_writer_pretty(&mut *out, &compiled)?;
        writeln!(out)?;
        return Ok(status);
    }
    // Executables of one driver have the same statistics, as far as they are made the same way.
    let names: BTreeSet<&String> = compiled.iter().flat_map(|kernel| kernel.statistics.keys()).collect();
    let head = ["kernel", "seconds"].into_iter().map(str::to_owned).chain(names.iter().map(|name| name.to_lowercase()));
    let mut rows = vec![head.collect::<Vec<_>>()];
    for kernel in &compiled {
        let value = |name: &&String| kernel.statistics.get(*name).map_or_else(String::new, |value| value.to_string());
        let row = [kernel.name.clone(), format!("{:.2}", kernel.seconds)].into_iter().chain(names.iter().map(value));
        rows.push(row.collect());
    }
    table::write(out, "", &rows)?;
    if arguments.code {
        for kernel in &compiled {
            writeln!(out, "\n{}:\n{}", kernel.name, kernel.code)?;
        }
    }
    Ok(status)
}
