//! `bench checked`: the device time of kernels that check their accesses, relative to the same kernels without checks.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use clap::Args;
use ptx2spv::cases::device::Made;
use ptx2spv::cases::prepare::Prepared;
use ptx2spv::cli;
use ptx2spv_runtime::{Device, DeviceSelector, LaunchConfig, LoadOptions};
use ptx2spv_translator::Math;
use serde::Serialize;

use crate::devices::Devices;
use crate::report::{Report, median, milliseconds};
use crate::selection::Selection;
use crate::sides::prepare;
use crate::workloads;

/// Measure the cost of `--check` for kernels on a Vulkan device.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    selection: Selection,
    /// Number of measured launches.
    #[arg(long, default_value_t = 10, value_name = "N")]
    repeats: u32,
    /// Use small sizes, to test the program itself.
    #[arg(long)]
    quick: bool,
    /// Vulkan device.
    #[arg(long, default_value = "default", value_name = "DEVICE")]
    device: DeviceSelector,
}

#[derive(Serialize)]
struct Row {
    kernel: &'static str,
    plain_seconds: f64,
    checked_seconds: f64,
    /// Time with checks divided by time without.
    ratio: f64,
    /// Time to translate the kernel and make the pipeline.
    plain_load_seconds: f64,
    checked_load_seconds: f64,
}

pub fn measure(arguments: &Arguments) -> Result<Report> {
    let devices = Devices::open(&arguments.device)?;
    let Some(device) = &devices.vulkan else { bail!("no Vulkan device is here") };
    let mut report =
        Report::new(&["kernel", "plain ms", "checked ms", "checked / plain", "load ms", "checked load ms"]);
    report.notes = devices.names()?;
    report.notes.push(format!("Median device time of {} launches after one.", arguments.repeats));
    let mut ratios = Vec::new();
    for workload in workloads::all(arguments.quick) {
        if !arguments.selection.takes(&workload) {
            continue;
        }
        cli::note(format_args!("{} …", workload.name));
        let case = prepare(&workload)?;
        let (plain_load, plain) = times(device, &case, false, arguments.repeats)?;
        let (checked_load, checked) = times(device, &case, true, arguments.repeats)?;
        let row = Row {
            kernel: workload.name,
            plain_seconds: plain.as_secs_f64(),
            checked_seconds: checked.as_secs_f64(),
            ratio: checked.as_secs_f64() / plain.as_secs_f64().max(f64::MIN_POSITIVE),
            plain_load_seconds: plain_load.as_secs_f64(),
            checked_load_seconds: checked_load.as_secs_f64(),
        };
        let cells = vec![
            row.kernel.to_owned(),
            milliseconds(Some(plain)),
            milliseconds(Some(checked)),
            format!("{:.2}", row.ratio),
            milliseconds(Some(plain_load)),
            milliseconds(Some(checked_load)),
        ];
        report.push(cells, &row)?;
        ratios.push(row.ratio);
    }
    if !ratios.is_empty() {
        let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
        let most = ratios.iter().copied().fold(0.0, f64::max);
        report.notes.push(format!("Geometric mean {mean:.2}, at most {most:.2}."));
    }
    Ok(report)
}

/// The time until the end of the first launch, and the median of later launches.
fn times(device: &Device, case: &Prepared, check_accesses: bool, repeats: u32) -> Result<(Duration, Duration)> {
    let source = case.ptx.source();
    let made = Made::new(device, case)?;
    let args = made.arguments(case);
    let config = LaunchConfig::from(case);
    let start = Instant::now();
    let options = LoadOptions::uncached(Math::EXACT).check_accesses(check_accesses);
    let module = device.load_with(source, options)?;
    made.bind(&module, case)?;
    let kernel = module.kernel(&case.entry)?;
    // SAFETY: the workloads pass the arguments that their kernels were written for.
    unsafe { kernel.launch(&config, &args) }?;
    device.synchronize()?;
    let load = start.elapsed();
    // SAFETY: as above.
    let times = unsafe { kernel.time(&config, &args, repeats) }?;
    Ok((load, median(times).context("no launches")?))
}
