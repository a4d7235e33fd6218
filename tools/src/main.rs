//! The `ptx2spv` command line.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use clap::Parser;

mod commands;

fn main() -> ExitCode {
    let command_line = commands::CommandLine::parse_from(arguments());
    ptx2spv::cli::main(|out| command_line.run(out))
}

/// The program's arguments. Under the name ptxas, they are those of that program.
fn arguments() -> Vec<OsString> {
    let mut arguments: Vec<_> = std::env::args_os().collect();
    let is_ptxas = |name: &OsString| Path::new(name).file_name().is_some_and(|name| name == commands::cuda::PTXAS);
    if arguments.first().is_some_and(is_ptxas) {
        arguments.insert(1, commands::cuda::PTXAS.into());
    }
    arguments
}
