//! Which device to translate for: a preset, a description in a file, or the device that is here.

use anyhow::Result;
use ptx2spv_runtime::{DeviceSelector, InstanceOptions, find_device, target_by_name};
use ptx2spv_translator::Target;

/// The preset that is taken when no target is named and no Vulkan device is here.
pub const FALLBACK: &str = "lavapipe";

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
