//! `bench reference`: how many instructions the reference device interprets in a second on one core, and what checks cost.

use std::num::NonZeroUsize;
use std::time::Duration;

use anyhow::{Context as _, Result};
use clap::Args;
use ptx2spv::cases::device as runtime;
use ptx2spv::cases::prepare::Prepared;
use ptx2spv::cli;
use ptx2spv_runtime::{Device, LaunchConfig, ReferenceOptions};
use ptx2spv_translator::Source;
use serde::Serialize;

use crate::kernels::prepare;
use crate::report::{Report, median};
use crate::workloads::{self, Workload};

/// Measure the reference device's interpreter on one core, without checks and with all of them.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Only kernels whose name contains this.
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Launches that are timed; with and without checks take turns.
    #[arg(long, default_value_t = 5, value_name = "N")]
    repeats: u32,
}

#[derive(Serialize)]
struct Row {
    kernel: &'static str,
    size: String,
    /// Of one launch.
    instructions: u64,
    plain_per_second: f64,
    checked_per_second: f64,
    /// Time of a launch with checks by that of one without.
    ratio: f64,
}

pub fn measure(arguments: &Arguments) -> Result<Report> {
    let mut report = Report::new(&["kernel", "size", "instructions", "plain M/s", "checked M/s", "checked / plain"]);
    report.notes.push(format!("One thread; the median of {} launches each, by turns.", arguments.repeats));
    let chosen = |workload: &Workload| arguments.filter.as_ref().is_none_or(|filter| workload.name.contains(filter));
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
        let options = ReferenceOptions { check, threads: NonZeroUsize::new(1), ..ReferenceOptions::default() };
        Ok::<_, anyhow::Error>(Device::reference(options.config()?))
    };
    let (plain, checked) = (open(false)?, open(true)?);
    let (mut plain_times, mut checked_times) = (Vec::new(), Vec::new());
    let mut steps = 0;
    for _ in 0..arguments.repeats {
        let (taken, time) = run(&plain, &case)?;
        plain_times.push(time);
        steps = taken;
        checked_times.push(run(&checked, &case)?.1);
    }
    let seconds = |times| Ok::<_, anyhow::Error>(median(times).context("no launches")?.as_secs_f64());
    let (plain, checked) = (seconds(plain_times)?, seconds(checked_times)?);
    Ok(Row {
        kernel: workload.name,
        size: workload.size.clone(),
        instructions: steps,
        plain_per_second: steps as f64 / plain,
        checked_per_second: steps as f64 / checked,
        ratio: checked / plain,
    })
}

/// Runs a kernel once on new buffers; gives its instructions and how long it took.
fn run(device: &Device, case: &Prepared) -> Result<(u64, Duration)> {
    let module = device.load(&Source::new(case.ptx_name.clone(), case.ptx.clone()))?;
    let kernel = module.kernel(&case.entry)?;
    let buffers = runtime::buffers(device, &case.args)?;
    let args = runtime::arguments(&case.args, &buffers);
    let before = device.steps();
    let times = kernel.time(&LaunchConfig::from(case), &args, 1)?;
    Ok((device.steps() - before, *times.first().context("no time")?))
}
