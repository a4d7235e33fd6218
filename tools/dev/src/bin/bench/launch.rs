//! `bench launch`: the host's cost of launching a kernel that does nothing.

use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Args;
use ptx2spv::cuda::{Context, Launch};
use ptx2spv_runtime::{Arg, Device, DeviceSelector, LaunchConfig};
use ptx2spv_translator::Source;
use serde::Serialize;

use crate::devices::Devices;
use crate::report::{Report, median};

/// Measure the cost of launches, asynchronous and synchronous.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Number of launches in a row.
    #[arg(long, default_value_t = 10_000, value_name = "N")]
    count: u32,
    /// Number of measurements, after one for warm-up; the median is reported.
    #[arg(long, default_value_t = 9, value_name = "N")]
    rounds: u32,
    /// Vulkan device.
    #[arg(long, default_value = "default", value_name = "DEVICE")]
    device: DeviceSelector,
}

/// A kernel with a few arguments that returns at once.
const PTX: &str = include_str!("ptx/launch.ptx");

#[derive(Serialize)]
struct Row {
    interface: &'static str,
    /// Time until the call returns.
    call_seconds: f64,
    /// Time until all launches have finished, divided by their number.
    total_seconds: f64,
    /// Time of a launch with an immediate wait.
    wait_seconds: f64,
}

pub fn measure(arguments: &Arguments) -> Result<Report> {
    let devices = Devices::open(&arguments.device)?;
    let mut report =
        Report::new(&["interface", "µs per call", "µs per launch until all have run", "µs per launch and wait"]);
    report.notes = devices.names()?;
    report.notes.push(format!("Median of {} rounds of {} launches.", arguments.rounds, arguments.count));
    let rows = [
        devices.cuda.as_ref().map(|context| cuda(context, arguments)),
        devices.vulkan.as_ref().map(|device| vulkan(device, arguments)),
    ];
    for row in rows.into_iter().flatten() {
        let row = row?;
        let micro = |seconds: f64| format!("{:.2}", 1e6 * seconds);
        report.push(
            vec![row.interface.to_owned(), micro(row.call_seconds), micro(row.total_seconds), micro(row.wait_seconds)],
            &row,
        )?;
    }
    Ok(report)
}

fn cuda(context: &Context, arguments: &Arguments) -> Result<Row> {
    let module = context.load(PTX)?;
    let launch = Launch { grid: [1; 3], block: [32, 1, 1], dynamic_shared_bytes: 0 };
    let kernel = module.function("nothing")?.bind(launch, vec![vec![0; 8], vec![0; 8], vec![0; 4]])?;
    rounds("CUDA", arguments, || Ok(kernel.launch()?), || Ok(context.synchronize()?))
}

fn vulkan(device: &Device, arguments: &Arguments) -> Result<Row> {
    let kernel = device.load(&Source::new("nothing.ptx", PTX))?.kernel("nothing")?;
    let config = LaunchConfig::new([1; 3], [32, 1, 1]);
    let args = [Arg::Address(0), Arg::Address(0), Arg::U32(0)];
    // SAFETY: the kernel does nothing.
    let launch = || unsafe { kernel.launch(&config, &args) };
    rounds("Vulkan", arguments, || Ok(launch()?), || Ok(device.synchronize()?))
}

fn rounds(
    interface: &'static str,
    arguments: &Arguments,
    launch: impl Fn() -> Result<()>,
    synchronize: impl Fn() -> Result<()>,
) -> Result<Row> {
    let (mut calls, mut totals, mut waits) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..=arguments.rounds {
        let start = Instant::now();
        for _ in 0..arguments.count {
            launch()?;
        }
        let called = start.elapsed();
        synchronize()?;
        if round > 0 {
            calls.push(called);
            totals.push(start.elapsed());
        }
        let start = Instant::now();
        for _ in 0..arguments.count {
            launch()?;
            synchronize()?;
        }
        if round > 0 {
            waits.push(start.elapsed());
        }
    }
    let each = |times| median(times).unwrap_or(Duration::ZERO).as_secs_f64() / f64::from(arguments.count.max(1));
    Ok(Row { interface, call_seconds: each(calls), total_seconds: each(totals), wait_seconds: each(waits) })
}
