//! Which device to translate for: a preset, a description in a file, or the device that is here.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use ptx2spv_runtime::{DeviceSelector, Instance, InstanceOptions};
use ptx2spv_translator::Target;

/// The preset that is taken when no target is named and no Vulkan device is here.
pub const FALLBACK: &str = "lavapipe";

/// The target of that name: a preset, else a file that `ptx2spv devices --device X --json` wrote.
pub fn named(name: &str) -> Result<Target> {
    if let Some(target) = Target::preset(name) {
        return Ok(target);
    }
    let presets = Target::PRESETS.join(", ");
    if !Path::new(name).exists() {
        bail!("no target `{name}`: it is neither a preset ({presets}) nor a file");
    }
    let text = fs::read_to_string(name).with_context(|| name.to_owned())?;
    if text.trim_start().starts_with('[') {
        bail!("{name} describes several devices: write one with `ptx2spv devices --device X --json`");
    }
    serde_json::from_str(&text).with_context(|| format!("{name} is no target description"))
}

/// The named target; without a name that of the device that would be used here, and else [`FALLBACK`]. The second part
/// says which it is, for a note to the user.
pub fn choose(name: Option<&str>) -> Result<(Target, String)> {
    if let Some(name) = name {
        return Ok((named(name)?, name.to_owned()));
    }
    match here() {
        Ok(target) => {
            let name = target.name.clone();
            Ok((target, format!("the device here, {name}")))
        }
        Err(_) => Ok((named(FALLBACK)?, format!("the preset {FALLBACK}, as there is no Vulkan device here"))),
    }
}

fn here() -> Result<Target, ptx2spv_runtime::Error> {
    let devices = Instance::new(&InstanceOptions::default())?.devices()?;
    DeviceSelector::Default.choose(&devices).map(|device| device.target.clone())
}
