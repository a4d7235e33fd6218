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

/// The program's arguments. Under the name of another program that it stands in for, they are that program's arguments.
fn arguments() -> Vec<OsString> {
    let mut arguments: Vec<_> = std::env::args_os().collect();
    let name = arguments.first().and_then(|program| Path::new(program).file_name());
    let stands_in_for = commands::STAND_INS.iter().find(|stand_in| name.is_some_and(|name| name == **stand_in));
    if let Some(command) = stands_in_for {
        arguments.insert(1, command.into());
    }
    arguments
}
