//! `ptx2spv test`: launch cases, with their verdicts.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use ptx2spv::cases::{Backend, VulkanBackend, find, suite};
use ptx2spv::cli::{self, MathArgument, Status};
use ptx2spv_runtime::DeviceSelector;

/// Run launch cases and compare their results with what they expect.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ptx2spv test tests/kernels
  ptx2spv test tests/kernels --filter matmul -v
  ptx2spv test saxpy.json --device cpu --json report.json

Exit status: 0 if every case passed, 1 if one failed or none was found.")]
pub struct Arguments {
    /// Case files, or directories with case files.
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    device: super::DeviceArguments,
    #[command(flatten)]
    math: MathArgument,
    /// Only cases whose `file:name` contains this.
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Write a report.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Run so many cases at a time, each on a device of its own.
    #[arg(long, value_name = "N", default_value_t = 1)]
    jobs: usize,
    /// Show passing cases, whole messages, and files that were passed over.
    #[arg(short, long)]
    verbose: bool,
}

pub fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<Status> {
    let found = find(&arguments.paths)?;
    if arguments.verbose {
        for file in &found.skipped {
            cli::note(format_args!("note: {} holds no launch cases", file.display()));
        }
    }
    let mut cases = found.cases;
    cases.retain(|case| arguments.filter.as_ref().is_none_or(|filter| case.label().contains(filter)));
    if cases.is_empty() {
        bail!("no launch cases found");
    }
    let selector: DeviceSelector = arguments.device.selector();
    let validation = arguments.device.validation();
    let math = arguments.math.get();
    let make =
        || -> Result<Box<dyn Backend>> { Ok(Box::new(VulkanBackend::open(&selector, validation)?.with_math(math))) };
    let report = suite::run(&cases, &make, arguments.jobs, arguments.verbose, out)?;
    if let Some(file) = &arguments.json {
        report.save(file)?;
    }
    Ok(report.status())
}
