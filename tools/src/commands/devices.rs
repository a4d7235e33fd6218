//! `ptx2spv devices`: the Vulkan devices of this machine.

use std::io::Write;

use anyhow::Result;
use clap::Args;
use ptx2spv::cli::Status;
use ptx2spv::table;
use ptx2spv_runtime::{DeviceInfo, DeviceSelector, Instance, InstanceOptions};
use ptx2spv_translator::Target;
use ptx2spv_translator::target::Version;

/// List the Vulkan devices here, or describe them for translating on another machine.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ptx2spv devices
  ptx2spv devices --device 0 --json > card.json   then elsewhere: ptx2spv translate k.ptx --target card.json")]
pub struct Arguments {
    /// One device only: its number, a part of its name, or cpu, discrete, integrated, virtual, best.
    #[arg(long, value_name = "DEVICE")]
    device: Option<DeviceSelector>,
    /// Write target descriptions as JSON: with --device one object, else an array.
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<Status> {
    let devices = Instance::new(&InstanceOptions::default())?.devices()?;
    let chosen = arguments.device.as_ref().map(|selector| selector.choose(&devices)).transpose()?;
    match (chosen, arguments.json) {
        (Some(device), true) => writeln!(out, "{}", serde_json::to_string_pretty(&device.target)?)?,
        (None, true) => {
            let targets: Vec<&Target> = devices.iter().map(|device| &device.target).collect();
            writeln!(out, "{}", serde_json::to_string_pretty(&targets)?)?;
        }
        (Some(device), false) => print(&[device], out)?,
        (None, false) => print(&devices.iter().collect::<Vec<_>>(), out)?,
    }
    Ok(Status::Success)
}

fn print(devices: &[&DeviceInfo], out: &mut dyn Write) -> Result<()> {
    let head = ["", "name", "kind", "Vulkan", "subgroups", "driver", "kernels"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for device in devices {
        let Version(major, minor) = device.api_version;
        let missing = device.missing();
        rows.push(vec![
            device.index.to_string(),
            device.name.clone(),
            device.kind.to_string(),
            format!("{major}.{minor}"),
            subgroups(&device.target),
            format!("{} {}", device.driver_name, device.driver_info),
            if missing.is_empty() { "yes".to_owned() } else { format!("no: lacks {}", missing.join(", ")) },
        ]);
    }
    table::write(out, "", &rows)?;
    Ok(())
}

fn subgroups(target: &Target) -> String {
    let sizes = &target.subgroups;
    if sizes.min_size == sizes.max_size {
        sizes.size.to_string()
    } else {
        format!("{} to {}", sizes.min_size, sizes.max_size)
    }
}
