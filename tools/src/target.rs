//! The device to translate for: a preset, a description in a file, or a device of this machine.

use std::path::Path;

use anyhow::Result;
use ptx2spv_runtime::{DeviceSelector, InstanceOptions, find_device, target_by_name};
use ptx2spv_translator::Target;

use crate::cli::UsageError;
use crate::progress::Progress;

/// The preset to use if no target is given and there is no Vulkan device.
pub const FALLBACK: &str = "lavapipe";

/// Facts that are taken for granted of a preset besides the measured and the documented ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Assume {
    /// Facts for which there is evidence, but nobody's word.
    Likely,
}

/// The targets in a list, each with a label for file names: the preset's name, or the file's name without extension.
/// For an empty list, the result of [`choose`]. Likely facts are for presets only.
pub fn choose_all(names: &[String], assume: Option<Assume>) -> Result<Vec<(Target, String)>> {
    if assume.is_some() && !names.iter().any(|name| Target::likely_preset(name).is_some()) {
        return Err(UsageError("--assume is about presets: name one with --target".to_owned()).into());
    }
    if names.is_empty() {
        return Ok(vec![choose(None)?]);
    }
    let mut targets = Vec::with_capacity(names.len());
    for name in names {
        let likely = assume.and_then(|Assume::Likely| Target::likely_preset(name));
        let target = likely.map_or_else(|| target_by_name(name), Ok)?;
        let label = if Target::PRESETS.contains(&name.as_str()) {
            name.clone()
        } else {
            Path::new(name).file_stem().unwrap_or_default().to_string_lossy().into_owned()
        };
        if targets.iter().any(|(_, other)| *other == label) {
            return Err(UsageError(format!("two targets are called `{label}`")).into());
        }
        targets.push((target, label));
    }
    Ok(targets)
}

/// The target with this name. Without a name, that of the machine's device, or else [`FALLBACK`]. The second value
/// describes the target, for a note to the user.
pub fn choose(name: Option<&str>) -> Result<(Target, String)> {
    if let Some(name) = name {
        return Ok((target_by_name(name)?, name.to_owned()));
    }
    // On its first use, a device is tested.
    let found = Progress::during("asking and testing devices", || {
        find_device(&DeviceSelector::Default, &InstanceOptions::default())
    });
    match found.map(|found| (found.devices.into_iter().next(), found.no_vulkan)) {
        Ok((Some(device), None)) => Ok((device.target, format!("the device here, {}", device.name))),
        _ => Ok((target_by_name(FALLBACK)?, format!("the preset {FALLBACK}, as there is no Vulkan device here"))),
    }
}
