//! The subcommands of `ptx2spv`, one to a file.

use std::io::Write;

use anyhow::Result;
use clap::{Args, Parser, Subcommand};
use ptx2spv::cli::Status;
use ptx2spv_runtime::DeviceSelector;

mod completions;
mod devices;
mod inspect;
mod run;
mod test;
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
    Devices(devices::Arguments),
    Run(run::Arguments),
    Test(test::Arguments),
    Completions(completions::Arguments),
}

impl CommandLine {
    /// Runs the subcommand.
    pub fn run(self, out: &mut dyn Write) -> Result<Status> {
        match self.command {
            Command::Translate(arguments) => translate::run(&arguments, out),
            Command::Inspect(arguments) => inspect::run(&arguments, out),
            Command::Devices(arguments) => devices::run(&arguments, out),
            Command::Run(arguments) => run::run(&arguments, out),
            Command::Test(arguments) => test::run(&arguments, out),
            Command::Completions(arguments) => completions::run(&arguments, out),
        }
    }
}

/// Which device to run on, for the commands that run kernels.
#[derive(Debug, Args)]
struct DeviceArguments {
    /// Vulkan device: its number, a part of its name, or cpu, discrete, integrated, virtual, best
    /// [default: what the environment variable PTX2SPV_DEVICE says, else best].
    #[arg(long, value_name = "DEVICE")]
    device: Option<DeviceSelector>,
    /// Run under Vulkan's validation layers; what they complain about counts as a failure.
    #[arg(long)]
    validation: bool,
}

impl DeviceArguments {
    fn selector(&self) -> DeviceSelector {
        self.device.clone().unwrap_or_default()
    }

    /// As `InstanceOptions` takes it: without the flag the environment decides.
    fn validation(&self) -> Option<bool> {
        self.validation.then_some(true)
    }
}
