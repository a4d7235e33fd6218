//! `bench reference`: the number of instructions that the reference device interprets per second on one core, and the
//! cost of checks.

use std::num::NonZeroUsize;
use std::time::Duration;

use anyhow::{Context as _, Result};
use clap::Args;
use ptx2spv::cases::device::Made;
use ptx2spv::cases::prepare::Prepared;
use ptx2spv::cli;
use ptx2spv_runtime::{Device, LaunchConfig, ReferenceDevice, ReferenceOptions};
use serde::Serialize;

use crate::clock::Clock;
use crate::report::{Report, median};
use crate::selection::Selection;
use crate::sides::prepare;
use crate::workloads::{self, Workload};

/// Measure the reference device's interpreter on one core, without checks and with all of them.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    selection: Selection,
    /// Number of measurements; those with and without checks alternate.
    #[arg(long, default_value_t = 5, value_name = "N")]
    rounds: u32,
}

/// Minimum number of instructions of a measurement.
const WORTHWHILE: u64 = 20_000_000;

#[derive(Serialize)]
struct Row {
    kernel: &'static str,
    size: String,
    /// Instructions of one launch.
    instructions: u64,
    plain_per_second: f64,
    checked_per_second: f64,
    /// Time of a launch with checks divided by one without.
    ratio: f64,
}

pub fn measure(arguments: &Arguments) -> Result<Report> {
    let mut report = Report::new(&["kernel", "size", "instructions", "plain M/s", "checked M/s", "checked / plain"]);
    report
        .notes
        .push(format!("Processor time of one thread; the median of {} measurements each, by turns.", arguments.rounds));
    let chosen = |workload: &Workload| arguments.selection.takes(workload);
    for workload in workloads::arithmetic().into_iter().chain(workloads::all(true)).filter(chosen) {
        cli::note(format_args!("{} …", workload.name));
        let row = measure_workload(arguments, &workload)?;
        let mega = |rate: f64| format!("{:.1}", rate / 1e6);
        let cells = vec![
            row.kernel.to_owned(),
            row.size.clone(),
            row.instructions.to_string(),
            mega(row.plain_per_second),
            mega(row.checked_per_second),
            format!("{:.2}", row.ratio),
        ];
        report.push(cells, &row)?;
    }
    Ok(report)
}

fn measure_workload(arguments: &Arguments, workload: &Workload) -> Result<Row> {
    let case = prepare(workload)?;
    let open = |check| {
        let options = ReferenceOptions::default().check(check).threads(NonZeroUsize::new(1));
        Ok::<_, anyhow::Error>(Device::reference(options.config()?))
    };
    let (plain, checked) = (open(false)?, open(true)?);
    let instructions = run(&plain, &case, 1)?.0;
    // Enough launches that even small kernels take a while.
    let launches = u32::try_from(WORTHWHILE / instructions.max(1))?.max(1);
    let (mut plain_times, mut checked_times) = (Vec::new(), Vec::new());
    for _ in 0..arguments.rounds {
        plain_times.push(run(&plain, &case, launches)?.1);
        checked_times.push(run(&checked, &case, launches)?.1);
    }
    let seconds = |times| Ok::<_, anyhow::Error>(median(times).context("no rounds")?.as_secs_f64());
    let (plain, checked) = (seconds(plain_times)?, seconds(checked_times)?);
    let all = instructions as f64 * f64::from(launches);
    Ok(Row {
        kernel: workload.name,
        size: workload.size.clone(),
        instructions,
        plain_per_second: all / plain,
        checked_per_second: all / checked,
        ratio: checked / plain,
    })
}

/// Runs a kernel several times on new buffers. Returns the instructions and the time of all launches.
fn run(device: &Device, case: &Prepared, launches: u32) -> Result<(u64, Duration)> {
    let module = device.load(case.ptx.source())?;
    let kernel = module.kernel(&case.entry)?;
    let made = Made::new(device, case)?;
    let args = made.arguments(case);
    let steps = || device.as_reference().map_or(0, ReferenceDevice::steps);
    let (before, clock) = (steps(), Clock::start());
    // SAFETY: the device is the reference device, which checks every access.
    unsafe { kernel.time(&LaunchConfig::from(case), &args, launches) }?;
    Ok((steps() - before, clock.elapsed()))
}
