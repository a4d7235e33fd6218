//! `ptx2spv man`: manual pages.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{Args, Command};
use ptx2spv::cli::Status;

/// Write manual pages of ptx2spv and its subcommands.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  ptx2spv man ~/.local/share/man/man1")]
pub struct Arguments {
    /// The folder to write them to; created if necessary.
    folder: PathBuf,
}

/// Writes the pages of the whole command line.
pub fn run(arguments: &Arguments, command_line: Command, out: &mut dyn Write) -> Result<Status> {
    let folder = &arguments.folder;
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    clap_mangen::generate_to(command_line, folder).with_context(|| folder.display().to_string())?;
    writeln!(out, "{}", folder.join("ptx2spv.1").display())?;
    Ok(Status::Success)
}
