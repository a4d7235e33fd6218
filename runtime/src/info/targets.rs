//! Targets by name: presets, and descriptions of devices in files.

use std::fs;
use std::path::Path;

use ptx2spv_translator::Target;

use crate::error::Error;
use crate::error::suggest::{closest, question};

/// The target of a name: a preset, or else a file written by `ptx2spv devices --device X --json`.
///
/// # Errors
/// [`Error::Target`] if it is neither.
pub fn target_by_name(name: &str) -> Result<Target, Error> {
    if let Some(target) = Target::preset(name) {
        return Ok(target);
    }
    if !Path::new(name).exists() {
        let meant = question(closest(name, Target::PRESETS.iter().copied()));
        let presets = Target::PRESETS.join(", ");
        return Err(Error::Target(format!("no target `{name}`{meant}: it is neither a preset ({presets}) nor a file")));
    }
    let text = fs::read_to_string(name).map_err(|error| Error::Target(format!("{name}: {error}")))?;
    if text.trim_start().starts_with('[') {
        let hint = "write one with `ptx2spv devices --device X --json`";
        return Err(Error::Target(format!("{name} describes several devices: {hint}")));
    }
    serde_json::from_str(&text).map_err(|error| Error::Target(format!("{name} is not a target description: {error}")))
}
