//! `ptx2spv nvidia-smi`: answers for NVIDIA's program of that name, which scripts ask whether there is a device.

use std::io::Write;

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use ptx2spv::cli::Status;
use ptx2spv_runtime::{Device, InstanceOptions, ListedDevice, listed_devices};

/// Show the devices that CUDA programs get, like nvidia-smi.
#[derive(Debug, Args)]
pub struct Arguments {
    /// List the devices with their UUIDs.
    #[arg(short = 'L', long)]
    list_gpus: bool,
    /// Only this device: its number or UUID.
    #[arg(short, long)]
    id: Option<String>,
    /// Properties to write in a row. Those that Vulkan has no query for are `[N/A]`.
    #[arg(long, value_delimiter = ',', conflicts_with = "list_gpus", requires = "format")]
    query_gpu: Vec<String>,
    /// The form of rows.
    #[arg(long, value_delimiter = ',')]
    format: Vec<Format>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Csv,
    #[value(name = "noheader")]
    NoHeader,
    #[value(name = "nounits")]
    NoUnits,
}

pub fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<Status> {
    let listed = listed_devices(&InstanceOptions::default())?;
    let count = listed.len();
    let is_asked = |(number, listed): &(usize, ListedDevice)| {
        arguments.id.as_ref().is_none_or(|id| *id == number.to_string() || *id == listed.info().cuda_uuid())
    };
    let asked: Vec<_> = listed.into_iter().enumerate().filter(is_asked).collect();
    if asked.is_empty() {
        bail!("no device {}: there are {count}, from number 0 on", arguments.id.as_deref().unwrap_or_default());
    }
    if arguments.list_gpus {
        for (number, listed) in &asked {
            writeln!(out, "GPU {number}: {} (UUID: {})", listed.info().name, listed.info().cuda_uuid())?;
        }
    } else if !arguments.query_gpu.is_empty() {
        let has = |format| arguments.format.contains(&format);
        if !has(Format::NoHeader) {
            let unit = |name: &String| if name.starts_with("memory.") && !has(Format::NoUnits) { " [MiB]" } else { "" };
            let titles: Vec<_> = arguments.query_gpu.iter().map(|name| format!("{name}{}", unit(name))).collect();
            writeln!(out, "{}", titles.join(", "))?;
        }
        let unit = if has(Format::NoUnits) { "" } else { " MiB" };
        for (number, listed) in &asked {
            let device = listed.open()?;
            let value = |name: &String| match name.as_str() {
                "index" => number.to_string(),
                "count" => count.to_string(),
                name => property(&device, name, unit),
            };
            let values: Vec<_> = arguments.query_gpu.iter().map(value).collect();
            writeln!(out, "{}", values.join(", "))?;
        }
    } else {
        let driver = asked.first().map_or("0.0", |(_, listed)| listed.info().driver_number());
        writeln!(out, "NVIDIA-SMI of ptx2spv    Driver Version: {driver}")?;
        for (number, listed) in &asked {
            let device = listed.open()?;
            let memory = ["memory.used", "memory.total"].map(|name| property(&device, name, " MiB"));
            writeln!(out, "  {number}  {}    {} / {}", listed.info().name, memory[0], memory[1])?;
        }
    }
    Ok(Status::Success)
}

/// A property by its name in queries.
fn property(device: &Device, name: &str, unit: &str) -> String {
    let (info, memory) = (device.info(), device.memory().info());
    let mebibytes = |bytes: u64| format!("{}{unit}", bytes >> 20);
    match name {
        "name" | "gpu_name" => info.name.clone(),
        "uuid" | "gpu_uuid" => info.cuda_uuid(),
        "driver_version" => info.driver_number().to_owned(),
        "compute_cap" => {
            let (major, minor) = Device::cuda_capability();
            format!("{major}.{minor}")
        }
        "memory.total" => mebibytes(memory.total),
        "memory.free" => mebibytes(memory.free),
        "memory.used" => mebibytes(memory.total.saturating_sub(memory.free)),
        _ => "[N/A]".to_owned(),
    }
}
