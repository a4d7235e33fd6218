//! `ptx2spv completions`: tab completion for a shell.

use std::io::Write;

use anyhow::Result;
use clap::{Args, Command};
use clap_complete::Shell;
use ptx2spv::cli::Status;

/// Print a script that completes ptx2spv's arguments in a shell.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  ptx2spv completions bash > /etc/bash_completion.d/ptx2spv")]
pub struct Arguments {
    /// The shell.
    shell: Shell,
}

/// Prints the script for the whole command line.
pub fn run(arguments: &Arguments, mut command_line: Command, out: &mut dyn Write) -> Result<Status> {
    // The generator panics on write errors, so it writes to memory.
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command_line, "ptx2spv", &mut script);
    out.write_all(&script)?;
    Ok(Status::Success)
}
