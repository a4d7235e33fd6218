//! The subcommands of `ptx2spv`, each in a file of its own.

use std::io::Write;

use anyhow::Result;
use clap::{CommandFactory, Parser, Subcommand};
use ptx2spv::cli::{self, Status};
use ptx2spv::watch;
use ptx2spv_runtime::DeviceSelector;

mod cache;
mod check;
mod completions;
mod cuda;
mod device_arguments;
mod devices;
mod extract;
mod fatbinary;
mod inspect;
mod link;
mod man;
mod nvcc;
mod nvidia_smi;
mod nvlink;
mod passes;
mod ptxas;
mod run;
mod test;
mod translate;

/// Programs of NVIDIA's toolkit and driver that this program replaces where it is called by their names. Each is a subcommand.
pub const STAND_INS: [&str; 5] = ["fatbinary", "nvcc", "nvidia-smi", "nvlink", "ptxas"];

/// Translates NVIDIA PTX to Vulkan SPIR-V compute shaders, and runs them on any Vulkan device, or on a reference device
/// that needs no driver.
///
/// Exit status: 0 for success; 1 if the input was refused, a launch case failed, a kernel crashed or the reference
/// device had findings; 2 for wrong arguments.
#[derive(Debug, Parser)]
#[command(name = "ptx2spv", version, max_term_width = 100)]
pub struct CommandLine {
    #[command(subcommand)]
    command: Command,
    /// Write results, errors and warnings, but no notes and no progress.
    #[arg(short, long, global = true)]
    quiet: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    Translate(translate::Arguments),
    Check(check::Arguments),
    Inspect(inspect::Arguments),
    Extract(extract::Arguments),
    Link(link::Arguments),
    Devices(devices::Arguments),
    Run(run::Arguments),
    Test(test::Arguments),
    Cuda(cuda::Arguments),
    Ptxas(ptxas::Arguments),
    Nvcc(nvcc::Arguments),
    #[command(hide = true)]
    Fatbinary(fatbinary::Arguments),
    #[command(hide = true)]
    NvidiaSmi(nvidia_smi::Arguments),
    #[command(hide = true)]
    Nvlink(nvlink::Arguments),
    Cache(cache::Arguments),
    Completions(completions::Arguments),
    Man(man::Arguments),
}

impl CommandLine {
    /// Runs the subcommand. Kernels run in a separate process, except on the reference device, which they can't crash.
    /// `test` handles that itself.
    pub fn run(self, out: &mut dyn Write) -> Result<Status> {
        if self.quiet {
            cli::be_quiet();
        }
        let (device, reads_stdin) = match &self.command {
            Command::Run(arguments) => (Some(arguments.device()), arguments.reads_stdin()),
            _ => (None, false),
        };
        match device {
            Some(_) if watch::is_watched() && !reads_stdin => watch::end_with_watcher(),
            Some(_) if watch::is_watched() => {}
            Some(device) if !matches!(device.selector()?, DeviceSelector::Reference(_)) => {
                if let Some(status) = watch::watch(reads_stdin) {
                    return status;
                }
            }
            _ => {}
        }
        match self.command {
            Command::Translate(arguments) => translate::run(&arguments, out),
            Command::Check(arguments) => check::run(&arguments, out),
            Command::Inspect(arguments) => inspect::run(&arguments, out),
            Command::Extract(arguments) => extract::run(&arguments, out),
            Command::Link(arguments) => link::run(&arguments, out),
            Command::Devices(arguments) => devices::run(&arguments, out),
            Command::Run(arguments) => run::run(&arguments, out),
            Command::Test(arguments) => test::run(&arguments, out),
            Command::Cuda(arguments) => cuda::run(&arguments, out),
            Command::Ptxas(arguments) => ptxas::run(&arguments, out),
            Command::Nvcc(arguments) => nvcc::run(&arguments, out),
            Command::Fatbinary(arguments) => fatbinary::run(&arguments),
            Command::NvidiaSmi(arguments) => nvidia_smi::run(&arguments, out),
            Command::Nvlink(arguments) => nvlink::run(&arguments),
            Command::Cache(arguments) => cache::run(&arguments, out),
            Command::Completions(arguments) => completions::run(&arguments, Self::command(), out),
            Command::Man(arguments) => man::run(&arguments, Self::command(), out),
        }
    }
}
