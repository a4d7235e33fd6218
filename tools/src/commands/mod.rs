//! The subcommands of `ptx2spv`, one to a file.

use std::io::Write;

use anyhow::Result;
use clap::{Parser, Subcommand};
use ptx2spv::cli::Status;

mod completions;
mod inspect;
mod translate;

/// Translates NVIDIA PTX to Vulkan SPIR-V compute shaders, and runs them on any Vulkan device.
///
/// Exit status: 0 if all went well, 1 if the input was refused or a launch case failed, 2 for wrong arguments.
#[derive(Debug, Parser)]
#[command(name = "ptx2spv", version, max_term_width = 100)]
pub struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Translate(translate::Arguments),
    Inspect(inspect::Arguments),
    Completions(completions::Arguments),
}

impl CommandLine {
    /// Runs the subcommand.
    pub fn run(self, out: &mut dyn Write) -> Result<Status> {
        match self.command {
            Command::Translate(arguments) => translate::run(&arguments, out),
            Command::Inspect(arguments) => inspect::run(&arguments, out),
            Command::Completions(arguments) => completions::run(&arguments, out),
        }
    }
}
