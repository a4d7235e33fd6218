//! Measures the translator's speed, kernels, launches and copies on Vulkan compared with CUDA on the same chip, the
//! cost of checks, the time of later starts, and the speed of the reference device.
//!
//! The binary includes its kernels, and measures what is available: CUDA, Vulkan, or both.

mod chart;
mod checked;
mod clock;
mod copies;
mod devices;
mod kernels;
mod launch;
mod limits;
mod long_kernels;
mod opencl;
mod reference;
mod replicate;
mod report;
mod results;
mod selection;
mod sides;
mod start;
mod translate;
mod twins;
mod workloads;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use ptx2spv::cli::{self, Status};

/// Measures ptx2spv. Prints Markdown tables.
#[derive(Debug, Parser)]
#[command(name = "bench", version, max_term_width = 100)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
    /// Write the numbers as JSON too.
    #[arg(long, global = true, value_name = "FILE")]
    json: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Command {
    Translate(translate::Arguments),
    Kernels(kernels::Arguments),
    Launch(launch::Arguments),
    Copies(copies::Arguments),
    Checked(checked::Arguments),
    Start(start::Arguments),
    Reference(reference::Arguments),
    Opencl(opencl::Arguments),
}

fn main() -> ExitCode {
    let command_line = CommandLine::parse();
    cli::main(|out| {
        let report = match &command_line.command {
            Command::Translate(arguments) => translate::measure(arguments)?,
            Command::Kernels(arguments) => kernels::measure(arguments)?,
            Command::Launch(arguments) => launch::measure(arguments)?,
            Command::Copies(arguments) => copies::measure(arguments)?,
            Command::Checked(arguments) => checked::measure(arguments)?,
            Command::Start(arguments) => start::measure(arguments)?,
            Command::Reference(arguments) => reference::measure(arguments)?,
            Command::Opencl(arguments) => opencl::measure(arguments)?,
        };
        report.print(out)?;
        if let Some(file) = &command_line.json {
            report.save(file)?;
        }
        Ok(Status::Success)
    })
}
