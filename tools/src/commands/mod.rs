//! The subcommands of `ptx2spv`, one to a file.

use std::io::Write;
use std::time::Duration;

use anyhow::Result;
use clap::{Args, Parser, Subcommand};
use ptx2spv::cases::DeviceBackend;
use ptx2spv::cli::{self, MathArgument, Status, UsageError};
use ptx2spv::watch;
use ptx2spv_runtime::{DeviceSelector, ReferenceOptions};

mod cache;
mod completions;
pub mod cuda;
mod devices;
mod extract;
mod inspect;
mod link;
mod passes;
mod ptxas;
mod run;
mod test;
mod translate;

/// Translates NVIDIA PTX to Vulkan SPIR-V compute shaders, and runs them on any Vulkan device, or on a reference device that
/// needs no driver.
///
/// Exit status: 0 if all went well, 1 if the input was refused, a launch case failed, a kernel crashed or the reference device
/// found something, 2 for wrong arguments.
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
    Inspect(inspect::Arguments),
    Extract(extract::Arguments),
    Link(link::Arguments),
    Devices(devices::Arguments),
    Run(run::Arguments),
    Test(test::Arguments),
    Cuda(cuda::Arguments),
    Ptxas(ptxas::Arguments),
    Cache(cache::Arguments),
    Completions(completions::Arguments),
}

impl CommandLine {
    /// Runs the subcommand; one that runs kernels in a process of its own, except on the reference device, which they can't crash.
    /// `test` sees to that itself.
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
            Command::Inspect(arguments) => inspect::run(&arguments, out),
            Command::Extract(arguments) => extract::run(&arguments, out),
            Command::Link(arguments) => link::run(&arguments, out),
            Command::Devices(arguments) => devices::run(&arguments, out),
            Command::Run(arguments) => run::run(&arguments, out),
            Command::Test(arguments) => test::run(&arguments, out),
            Command::Cuda(arguments) => cuda::run(&arguments, out),
            Command::Ptxas(arguments) => ptxas::run(&arguments, out),
            Command::Cache(arguments) => cache::run(&arguments, out),
            Command::Completions(arguments) => completions::run(&arguments, out),
        }
    }
}

/// Which device to run on, for the commands that run kernels.
#[derive(Debug, Args)]
struct DeviceArguments {
    /// Device: its number, a part of its name, or cpu, discrete, integrated, virtual, best, reference
    /// [default: what the environment variable PTX2SPV_DEVICE says, else best].
    ///
    /// The reference device takes options, such as reference:subgroup=64,without=shaderFloat64 (see
    /// docs/reference-device.md). The best device is the reference device if there is no Vulkan device here. The environment variable
    /// PTX2SPV_RESTRICT uses other devices as if they were poorer, such as vulkan=1.1,without=shaderInt64 (see docs/devices.md).
    #[arg(long, value_name = "DEVICE")]
    device: Option<DeviceSelector>,
    /// Run under Vulkan's validation layers; what they complain about counts as a failure.
    #[arg(long)]
    validation: bool,
    /// With --device reference: report out-of-bounds accesses, races, uninitialised values and the like.
    #[arg(long)]
    check: bool,
    /// With --device reference: decide what Vulkan leaves open by this seed, badly on purpose.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Submit long grids in parts, so that none takes much longer than N milliseconds and no watchdog stops it; but not grids whose
    /// blocks may wait for each other.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_dispatch_ms: Option<u64>,
    #[command(flatten)]
    math: MathArgument,
}

impl DeviceArguments {
    /// Whether the device looks for what is undefined.
    fn is_checking(&self) -> Result<bool> {
        Ok(matches!(self.selector()?, DeviceSelector::Reference(options) if options.check))
    }

    /// The device with the flags that are the reference device's alone; these are errors where it is another one.
    fn selector(&self) -> Result<DeviceSelector> {
        let selector = self.device.clone().unwrap_or_default().resolve()?;
        match selector {
            DeviceSelector::Reference(options) => Ok(DeviceSelector::Reference(ReferenceOptions {
                check: self.check || options.check,
                seed: self.seed.or(options.seed),
                ..options
            })),
            _ if self.check => Err(reference_only("--check")),
            _ if self.seed.is_some() => Err(reference_only("--seed")),
            other => Ok(other),
        }
    }

    /// Has a device run kernels as the flags say.
    fn configure(&self, backend: DeviceBackend) -> DeviceBackend {
        let most = self.max_dispatch_ms.map(Duration::from_millis);
        backend.with_math(self.math.get()).with_max_dispatch_time(most)
    }

    /// Opens the device.
    fn open(&self, selector: &DeviceSelector) -> Result<DeviceBackend> {
        // As `InstanceOptions` takes it: without the flag the environment decides.
        let validation = self.validation.then_some(true);
        let backend = match selector {
            DeviceSelector::Reference(_) => DeviceBackend::open(selector, validation)?,
            // As it was asked for, so that errors name the environment variable if that is where it comes from.
            _ => DeviceBackend::open(&self.device.clone().unwrap_or_default(), validation)?,
        };
        if let Some(device) = backend.device() {
            cli::warn_of_fallback(device);
        }
        Ok(self.configure(backend))
    }
}

/// A flag that only the reference device takes.
fn reference_only(flag: &str) -> anyhow::Error {
    UsageError(format!("{flag} is for the reference device: add --device reference")).into()
}
