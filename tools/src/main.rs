//! The `ptx2spv` command line.

use std::process::ExitCode;

use clap::Parser;

mod commands;

fn main() -> ExitCode {
    let command_line = commands::CommandLine::parse();
    ptx2spv::cli::main(|out| command_line.run(out))
}
