//! Makes the pipelines of SPIR-V modules on a Vulkan device, and shows what its compiler made of them: instructions, registers, spills,
//! and the machine code. Nothing is launched, so that devices without hardware serve too, such as RADV's (`RADV_FORCE_FAMILY=navi21`).
//!
//! Each file is compiled in a process of its own, which a limit of processor time ends.

mod pipelines;

use std::collections::BTreeSet;
use std::env;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result};
use clap::Parser;
use pipelines::{Compiled, Vulkan};
use ptx2spv::cli::{self, Status};
use ptx2spv::table;

/// Compiles SPIR-V modules on a Vulkan device, and prints the statistics of their pipelines.
#[derive(Debug, Parser)]
#[command(name = "compile", version, max_term_width = 100)]
struct CommandLine {
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
    /// Show the machine code too.
    #[arg(long)]
    code: bool,
    /// Write the statistics as JSON.
    #[arg(long)]
    json: bool,
}

/// The environment variable that has a process compile its only file, and write what it found as JSON.
const WORKER: &str = "PTX2SPV_COMPILE_WORKER";

fn main() -> ExitCode {
    let arguments = CommandLine::parse();
    cli::main(|out| {
        if env::var_os(WORKER).is_none() {
            return compile_all(&arguments, out);
        }
        let vulkan = Vulkan::new(&arguments.device)?;
        for file in &arguments.files {
            serde_json::to_writer(&mut *out, &vulkan.compile(file, arguments.block)?)?;
        }
        Ok(Status::Success)
    })
}

fn compile_all(arguments: &CommandLine, out: &mut dyn Write) -> Result<Status> {
    let mut compiled: Vec<Compiled> = Vec::new();
    let mut status = Status::Success;
    for file in &arguments.files {
        match compile_apart(arguments, file) {
            Ok(found) => compiled.extend(found),
            Err(error) => {
                status = Status::Failure;
                cli::warn(format_args!("error: {}: {error:#}", file.display()));
            }
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

/// Compiles a file in a process of its own.
fn compile_apart(arguments: &CommandLine, file: &Path) -> Result<Vec<Compiled>> {
    let program = env::current_exe()?;
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -t \"$0\" && exec \"$@\""]).arg(arguments.seconds.to_string()).arg(program).arg(file);
    command.args(["--block", &arguments.block.to_string(), "--device", &arguments.device]);
    let output = command.env(WORKER, "1").stderr(Stdio::inherit()).output()?;
    anyhow::ensure!(output.status.success(), "the process that made its pipelines ended with {}", output.status);
    serde_json::from_slice(&output.stdout).context("what that process wrote")
}
