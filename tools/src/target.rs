//! Which device to translate for: a preset, a description in a file, or the device that is here.

use std::path::Path;

use anyhow::Result;
use ptx2spv_runtime::{DeviceSelector, InstanceOptions, find_device, target_by_name};
use ptx2spv_translator::Target;

use crate::cli::UsageError;

/// The preset that is taken when no target is named and no Vulkan device is here.
pub const FALLBACK: &str = "lavapipe";

/// Targets that are named one by one, separated by commas, and what each is called in names of files: a preset's name, or
/// that of the file without its extension. Without any, the one that [`choose`] finds.
pub fn choose_all(names: &[String]) -> Result<Vec<(Target, String)>> {
    if names.is_empty() {
        return Ok(vec![choose(None)?]);
    }
    let mut targets = Vec::with_capacity(names.len());
    for name in names {
        let target = target_by_name(name)?;
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

/// The named target; without a name that of the device that would be used here, and else [`FALLBACK`]. The second part
/// says which it is, for a note to the user.
pub fn choose(name: Option<&str>) -> Result<(Target, String)> {
    if let Some(name) = name {
        return Ok((target_by_name(name)?, name.to_owned()));
    }
    match find_device(&DeviceSelector::Default, &InstanceOptions::default()) {
        Ok((device, None)) => {
            let note = format!("the device here, {}", device.name);
            Ok((device.target, note))
        }
        Ok((_, Some(_))) | Err(_) => {
            Ok((target_by_name(FALLBACK)?, format!("the preset {FALLBACK}, as there is no Vulkan device here")))
        }
    }
}
