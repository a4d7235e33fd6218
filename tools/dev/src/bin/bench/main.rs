//! Measures the translator's speed, kernels and launches on Vulkan against CUDA on the same chip, and the reference
//! device's speed.
//!
//! The binary carries its kernels with it and measures what is there: CUDA, Vulkan, or both.

mod devices;
mod kernels;
mod launch;
mod reference;
mod replicate;
mod report;
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
    Reference(reference::Arguments),
}

fn main() -> ExitCode {
    let command_line = CommandLine::parse();
    cli::main(|out| {
        let report = match &command_line.command {
            Command::Translate(arguments) => translate::measure(arguments)?,
            Command::Kernels(arguments) => kernels::measure(arguments)?,
            Command::Launch(arguments) => launch::measure(arguments)?,
            Command::Reference(arguments) => reference::measure(arguments)?,
        };
        report.print(out)?;
        if let Some(file) = &command_line.json {
            report.save(file)?;
        }
        Ok(Status::Success)
    })
}
