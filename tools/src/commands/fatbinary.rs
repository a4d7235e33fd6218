//! `ptx2spv fatbinary`: replaces NVIDIA's program of that name, which clang calls to put PTX into objects.

use std::ffi::OsString;

use anyhow::Result;
use clap::Args;
use ptx2spv::cli::Status;
use ptx2spv_toolkit::FatBinary;

/// Make a fat binary of PTX like fatbinary, for clang.
#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub struct Arguments {
    /// Arguments of fatbinary.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
    arguments: Vec<OsString>,
}

pub fn run(arguments: &Arguments) -> Result<Status> {
    FatBinary::parse(&arguments.arguments)?.write()?;
    Ok(Status::Success)
}
