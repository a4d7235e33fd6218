//! `ptx2spv test`: runs launch cases and shows their verdicts.

use std::io::Write;
use std::ops::Range;
use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use ptx2spv::cases::find;
use ptx2spv::cases::suite::{self, Report, Runner};
use ptx2spv::cases::worker::{self, Worker};
use ptx2spv::cli::{self, Status};
use ptx2spv_runtime::DeviceSelector;

use super::device_arguments::{DeviceArguments, reference_only};

/// Run launch cases and compare their results with the expected ones.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ptx2spv test tests/kernels
  ptx2spv test tests/kernels --filter matmul -v
  ptx2spv test saxpy.json --device cpu --json report.json
  ptx2spv test saxpy.json --device reference:subgroup=64 --check --seeds 0..50

A kernel that crashes fails its case. A case that needs more of something than the device has, such as shared memory, is left out, and named with both numbers.

Exit status: 0 if no case failed, 1 if one failed or none was found.")]
pub struct Arguments {
    /// Case files, or directories with case files.
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    device: DeviceArguments,
    /// With --device reference: run every case with each of these seeds.
    #[arg(long, value_parser = seeds, value_name = "FIRST..END", conflicts_with = "seed")]
    seeds: Option<Range<u64>>,
    /// Only cases whose `file:name` contains this.
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Write a report.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Number of cases to run at a time, each on its own device.
    #[arg(long, value_name = "N", default_value_t = 1)]
    jobs: usize,
    /// Show passing cases, whole messages, and skipped files.
    #[arg(short, long)]
    verbose: bool,
}

pub fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<Status> {
    if worker::is_worker() {
        worker::serve(|| arguments.device.open(&arguments.device.selector()?))?;
        return Ok(Status::Success);
    }
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
    let mut report: Option<Report> = None;
    for selector in selectors(arguments)? {
        let make = || -> Result<Box<dyn Runner>> {
            Ok(match selector {
                // Kernels can't crash the reference device.
                DeviceSelector::Reference(_) => Box::new(arguments.device.open(&selector)?),
                _ => Box::new(Worker::start()?),
            })
        };
        let one = suite::run(&cases, &make, arguments.jobs, arguments.verbose, out)?;
        match &mut report {
            Some(report) => report.merge(one),
            none => *none = Some(one),
        }
    }
    let Some(report) = report else { bail!("no seeds to run with") };
    if let Some(file) = &arguments.json {
        report.save(file)?;
    }
    Ok(report.status())
}

/// The device, or the reference device once for each seed.
fn selectors(arguments: &Arguments) -> Result<Vec<DeviceSelector>> {
    let selector = arguments.device.selector()?;
    match (&arguments.seeds, selector) {
        (None, selector) => Ok(vec![selector]),
        (Some(seeds), DeviceSelector::Reference(options)) => {
            let with = |seed| DeviceSelector::Reference(options.clone().seed(Some(seed)));
            Ok(seeds.clone().map(with).collect())
        }
        (Some(_), _) => Err(reference_only("--seeds")),
    }
}

fn seeds(text: &str) -> Result<Range<u64>, String> {
    let range = text.split_once("..").and_then(|(first, end)| Some(first.parse().ok()?..end.parse().ok()?));
    range.filter(|range| !range.is_empty()).ok_or_else(|| format!("`{text}` is not a range such as 0..50"))
}
