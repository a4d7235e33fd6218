//! `bench start`: the time to load a module for the first time, and later from the cache.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use clap::Args;
use ptx2spv_runtime::{Cache, Device, DeviceSelector};
use ptx2spv_translator::Source;
use serde::Serialize;

use crate::devices::Devices;
use crate::replicate::{Template, large_module};
use crate::report::{Report, median, milliseconds};
use crate::workloads::modules;

/// Measure first and later starts of a program with much PTX. Uses the cache folder in `PTX2SPV_CACHE`, which should be
/// empty.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Size of the module in megabytes.
    #[arg(long, default_value_t = 1, value_name = "MB")]
    size: usize,
    /// Number of later starts; the median is reported.
    #[arg(long, default_value_t = 9, value_name = "N")]
    repeats: u32,
    /// Vulkan device.
    #[arg(long, default_value = "default", value_name = "DEVICE")]
    device: DeviceSelector,
}

#[derive(Serialize)]
struct Row {
    start: &'static str,
    /// Time for the module alone.
    load_seconds: f64,
    /// Time for the module and all its kernels, without the driver's pipelines.
    kernels_seconds: f64,
}

pub fn measure(arguments: &Arguments) -> Result<Report> {
    let devices = Devices::open(&arguments.device)?;
    let Some(device) = &devices.vulkan else { bail!("no Vulkan device is here") };
    if Cache::of_user().is_none() {
        bail!("no cache: set PTX2SPV_CACHE to an empty folder");
    }
    let templates: Vec<Template<'_>> = modules().into_iter().map(Template::new).collect();
    let text = large_module(&templates, arguments.size.saturating_mul(1_000_000));
    let mut report = Report::new(&["start", "module ms", "module and all kernels ms"]);
    report.notes = devices.names()?;
    let first = load(device, &text)?;
    report.notes.push(format!("{} bytes of PTX with {} kernels.", text.len(), first.kernels));
    let later = (0..arguments.repeats).map(|_| load(device, &text)).collect::<Result<Vec<_>>>()?;
    let middle = |part: fn(&Loaded) -> Duration| median(later.iter().map(part).collect()).context("no second start");
    for (start, module, all) in
        [("first", first.module, first.all), ("second", middle(|loaded| loaded.module)?, middle(|loaded| loaded.all)?)]
    {
        let row = Row { start, load_seconds: module.as_secs_f64(), kernels_seconds: all.as_secs_f64() };
        report.push(vec![start.to_owned(), milliseconds(Some(module)), milliseconds(Some(all))], &row)?;
    }
    Ok(report)
}

struct Loaded {
    kernels: usize,
    module: Duration,
    all: Duration,
}

fn load(device: &Device, text: &str) -> Result<Loaded> {
    let source = Source::new("large.ptx", text);
    let start = Instant::now();
    let module = device.load(&source)?;
    let loaded = start.elapsed();
    module.kernels().into_iter().try_for_each(|kernel| kernel.map(|_| ()))?;
    Ok(Loaded { kernels: module.kernel_names().len(), module: loaded, all: start.elapsed() })
}
