//! `ptx2spv devices`: the devices of this machine.

use std::io::Write;

use anyhow::{Context, Result};
use clap::Args;
use ptx2spv::cli::{self, Status};
use ptx2spv::progress::Progress;
use ptx2spv::table;
use ptx2spv_runtime::{DeviceInfo, DeviceSelector, FoundDevices, InstanceOptions, devices, find_device};
use ptx2spv_translator::Target;
use ptx2spv_translator::target::{Preset, Version};

/// List the devices of this machine, the reference device last, or describe them for translating on another machine.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ptx2spv devices
  ptx2spv devices --presets                       devices that need not be here to translate for them
  ptx2spv devices --device 0                      with an example of what it computes wrong, and its driver's bugs
  ptx2spv devices --device 0 --against nvidia     whether the preset is still right about the card and its driver
  ptx2spv devices --device 0 --json > card.json   then elsewhere: ptx2spv translate k.ptx --target card.json
                                                  or to try there: ptx2spv run k.ptx --device reference:target=card.json")]
pub struct Arguments {
    /// Only this device: its number, a part of its name, or cpu, discrete, integrated, virtual, best, vulkan, reference.
    #[arg(long, value_name = "DEVICE")]
    device: Option<DeviceSelector>,
    /// Show the presets instead of the devices: targets by name for `ptx2spv translate --target`.
    #[arg(long, conflicts_with = "device")]
    presets: bool,
    /// Show the facts of each device that don't hold, which the translator works around.
    #[arg(long, conflicts_with_all = ["presets", "json"])]
    facts: bool,
    /// Compare what was found of the device with this preset, and fail if they differ.
    #[arg(long, value_name = "PRESET", requires = "device", conflicts_with_all = ["presets", "facts", "json"])]
    against: Option<String>,
    /// Write target descriptions as JSON: with --device one object, else an array.
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<Status> {
    if arguments.presets {
        return presets(arguments.json, out);
    }
    let options = InstanceOptions::default();
    // On their first use, devices are tested.
    let found = Progress::during("asking and testing devices", || match &arguments.device {
        Some(selector) => find_device(selector, &options),
        None => Ok(devices(&options)),
    });
    let FoundDevices { devices: list, no_vulkan, .. } = found?;
    if let Some(reason) = no_vulkan {
        cli::warn(format_args!("warning: {reason}"));
    }
    if let (Some(name), [device]) = (&arguments.against, &list[..]) {
        let preset = Target::preset(name).with_context(|| format!("there is no preset `{name}`"))?;
        let differences = differences(&device.target, &preset)?;
        differences.iter().try_for_each(|difference| writeln!(out, "{difference}"))?;
        return Ok(if differences.is_empty() { Status::Success } else { Status::Failure });
    }
    match (&list[..], arguments.json) {
        ([device], true) if arguments.device.is_some() => {
            writeln!(out, "{}", serde_json::to_string_pretty(&device.target)?)?;
        }
        (list, true) => {
            let targets: Vec<&Target> = list.iter().map(|device| &device.target).collect();
            writeln!(out, "{}", serde_json::to_string_pretty(&targets)?)?;
        }
        (list, false) => {
            print(list, out)?;
            if arguments.facts {
                print_facts(list, out)?;
            }
            if let ([device], Some(_)) = (list, &arguments.device) {
                for seen in &device.seen {
                    writeln!(out, "  {seen}")?;
                }
                for bug in &device.bugs {
                    writeln!(out, "worked around ({}): {}; see {}", bug.drivers, bug.description, bug.evidence)?;
                }
            }
        }
    }
    Ok(Status::Success)
}

/// The differences of a device's facts, quirks and features from a preset's. Features that only the device has don't count, nor do the
/// facts about samplers, which only such features make useful: a preset stands for lesser cards, too.
fn differences(found: &Target, preset: &Target) -> Result<Vec<String>> {
    let mut differences = Vec::new();
    let parts =
        |target: &Target| anyhow::Ok([serde_json::to_value(&target.facts)?, serde_json::to_value(&target.quirks)?]);
    for (found, preset) in parts(found)?.iter().zip(&parts(preset)?) {
        for (name, holds) in found.as_object().into_iter().flatten().filter(|(name, _)| !name.starts_with("sampled_")) {
            let promised = preset.get(name).unwrap_or(&serde_json::Value::Null);
            if holds != promised {
                differences.push(format!("{name} is {holds}, and {promised} in the preset"));
            }
        }
    }
    let missing = preset.features.difference(&found.features);
    differences.extend(missing.map(|feature| format!("the device lacks {}", feature.name())));
    Ok(differences)
}

/// Lists the presets, or writes all of them as JSON.
fn presets(json: bool, out: &mut dyn Write) -> Result<Status> {
    let targets: Vec<Target> = Target::presets().iter().filter_map(Preset::target).collect();
    if json {
        writeln!(out, "{}", serde_json::to_string_pretty(&targets)?)?;
        return Ok(Status::Success);
    }
    let mut rows = vec![["name", "Vulkan", "subgroups", "device"].map(str::to_owned).to_vec()];
    for (preset, target) in Target::presets().iter().zip(&targets) {
        let Version(major, minor) = target.vulkan;
        let version = format!("{major}.{minor}");
        rows.push(vec![preset.name.to_owned(), version, subgroups(target), preset.device.to_owned()]);
    }
    table::write(out, "", &rows)?;
    Ok(Status::Success)
}

fn print(devices: &[DeviceInfo], out: &mut dyn Write) -> Result<()> {
    let head = ["", "name", "kind", "Vulkan", "subgroups", "driver", "kernels"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for device in devices {
        let Version(major, minor) = device.api_version;
        let missing = device.missing();
        rows.push(vec![
            device.index.map(|index| index.to_string()).unwrap_or_default(),
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

/// Lists the facts that don't hold on each device that can run kernels.
fn print_facts(devices: &[DeviceInfo], out: &mut dyn Write) -> Result<()> {
    for device in devices.iter().filter(|device| device.missing().is_empty()) {
        let index = device.index.map_or_else(|| device.kind.to_string(), |index| index.to_string());
        let facts = device.target.facts.named();
        let untrusted: Vec<_> = facts.filter_map(|(name, holds)| (!holds).then_some(name)).collect();
        let untrusted = if untrusted.is_empty() { "nothing".to_owned() } else { untrusted.join(", ") };
        writeln!(out, "not to be trusted on {index}: {untrusted}")?;
    }
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
