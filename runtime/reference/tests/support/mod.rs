//! Shared code of the reference device's tests.

#![allow(dead_code, reason = "each test uses a part of it")]

use std::path::{Path, PathBuf};

use ptx2spv_reference::{Config, Device, Mode};
use ptx2spv_translator::Target;

/// No checks, and no arbitrary choices.
pub const PLAIN: Mode = Mode { check: false, seed: None };
/// All checks, and no arbitrary choices.
pub const CHECKED: Mode = Mode { check: true, seed: None };

pub fn adversarial(seed: u64) -> Mode {
    Mode { check: true, seed: Some(seed) }
}

/// A device with a given subgroup size and all features.
pub fn device(subgroup_size: u32, mode: Mode, step_budget: u64) -> Device {
    let mut target = Target::reference();
    target.subgroups.size = subgroup_size;
    Device::new(Config { target, mode, threads: 2, step_budget: Some(step_budget), trace: None })
}

/// A directory next to the tests.
pub fn directory(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

pub fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect()
}

pub fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}
