//! `bench copies`: the bandwidth between host and device, with and without pinned memory.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use clap::Args;
use ptx2spv::cuda::Context;
use ptx2spv_runtime::{Device, DeviceSelector};
use serde::Serialize;

use crate::devices::Devices;
use crate::report::{Report, median};

/// Measure copies between host and device.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Bytes of a copy; may be given several times.
    #[arg(long, value_delimiter = ',', default_values_t = [1 << 16, 1 << 20, 1 << 24, 1 << 28], value_name = "BYTES")]
    sizes: Vec<usize>,
    /// Copies of each kind, after one for warm-up; the median is reported.
    #[arg(long, default_value_t = 15, value_name = "N")]
    repeats: u32,
    /// Vulkan device.
    #[arg(long, default_value = "default", value_name = "DEVICE")]
    device: DeviceSelector,
}

/// The kinds of copies, in the order of measurement.
const KINDS: [&str; 4] = ["host to device", "device to host", "pinned host to device", "device to pinned host"];

#[derive(Serialize)]
struct Row {
    kind: &'static str,
    bytes: usize,
    cuda_bytes_per_second: Option<f64>,
    vulkan_bytes_per_second: Option<f64>,
    /// Vulkan's bandwidth divided by CUDA's: above 1, Vulkan is faster.
    ratio: Option<f64>,
}

pub fn measure(arguments: &Arguments) -> Result<Report> {
    let devices = Devices::open(&arguments.device)?;
    let mut report = Report::new(&["copy", "bytes", "CUDA GB/s", "Vulkan GB/s", "Vulkan / CUDA"]);
    report.notes = devices.names()?;
    report.notes.push(format!("By the host's clock, until the copy is complete; median of {}.", arguments.repeats));
    for &bytes in &arguments.sizes {
        let cuda = devices.cuda.as_ref().map(|context| cuda(context, bytes, arguments.repeats)).transpose()?;
        let vulkan = devices.vulkan.as_ref().map(|device| vulkan(device, bytes, arguments.repeats)).transpose()?;
        for (index, kind) in KINDS.into_iter().enumerate() {
            let rate = |times: &Option<[Duration; 4]>| {
                times.map(|times| bytes as f64 / times[index].as_secs_f64().max(f64::MIN_POSITIVE))
            };
            let (cuda, vulkan) = (rate(&cuda), rate(&vulkan));
            let ratio = vulkan.zip(cuda).map(|(vulkan, cuda)| vulkan / cuda);
            let row = Row { kind, bytes, cuda_bytes_per_second: cuda, vulkan_bytes_per_second: vulkan, ratio };
            let number = |number: Option<f64>| number.map_or_else(|| "–".to_owned(), |number| format!("{number:.2}"));
            let giga = |rate: Option<f64>| number(rate.map(|rate| rate / 1e9));
            report.push(vec![kind.to_owned(), bytes.to_string(), giga(cuda), giga(vulkan), number(ratio)], &row)?;
        }
    }
    Ok(report)
}

fn cuda(context: &Context, bytes: usize, repeats: u32) -> Result<[Duration; 4]> {
    let memory = context.alloc(bytes)?;
    let (mut pageable, mut pinned) = (vec![1; bytes], context.alloc_pinned(bytes)?);
    Ok([
        time(repeats, || Ok(memory.write(&pageable)?))?,
        time(repeats, || Ok(memory.read_to(&mut pageable)?))?,
        time(repeats, || Ok(memory.write(pinned.bytes())?))?,
        time(repeats, || Ok(memory.read_to(pinned.bytes_mut())?))?,
    ])
}

fn vulkan(device: &Device, bytes: usize, repeats: u32) -> Result<[Duration; 4]> {
    let buffer = device.alloc(bytes as u64)?;
    let (mut pageable, pinned) = (vec![1; bytes], device.alloc_pinned(bytes as u64)?);
    let stream = device.stream();
    let copy = |from, to| {
        stream.copy(from, to, bytes as u64)?;
        Ok(stream.synchronize()?)
    };
    Ok([
        time(repeats, || Ok(buffer.write(0, &pageable).and_then(|()| device.synchronize())?))?,
        time(repeats, || Ok(buffer.read(0, &mut pageable)?))?,
        time(repeats, || copy(pinned.address(), buffer.address()))?,
        time(repeats, || copy(buffer.address(), pinned.address()))?,
    ])
}

fn time(repeats: u32, mut copy: impl FnMut() -> Result<()>) -> Result<Duration> {
    copy()?;
    let mut times = Vec::new();
    for _ in 0..repeats {
        let start = Instant::now();
        copy()?;
        times.push(start.elapsed());
    }
    median(times).context("no copies")
}
