//! Remembers what the self-test found out, in this process and in files of the user's cache folder.
//!
//! A file belongs to a device, a version of its driver, and a version of the self-test. It says so in its text, which is
//! compared as a whole. A file that can't be read or written costs another self-test, nothing else.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{LazyLock, Mutex};

use ptx2spv_translator::target::Facts;
use serde::{Deserialize, Serialize};

use super::findings::Findings;
use crate::cache::Cache;
use crate::info::{DeviceInfo, DeviceKind};
use crate::sync::lock;

/// Counts changes of the self-test, or of what the translator makes of its instructions, that can change what it finds.
const VERSION: u32 = 13;

/// What the self-test found out about a device.
#[derive(Serialize, Deserialize)]
struct Record {
    device: String,
    findings: Findings,
}

static FOUND: LazyLock<Mutex<BTreeMap<String, Findings>>> = LazyLock::new(Mutex::default);

/// What is known of a device from earlier.
pub(crate) fn known(info: &DeviceInfo) -> Option<Findings> {
    let key = key(info);
    if let Some(findings) = lock(&FOUND).get(&key) {
        return Some(findings.clone());
    }
    let record: Record = serde_json::from_slice(&fs::read(Cache::of_user()?.path(&file(&key))).ok()?).ok()?;
    (record.device == key).then_some(record.findings)
}

/// Remembers what was found out about a device.
pub(crate) fn keep(info: &DeviceInfo, findings: &Findings) {
    let key = key(info);
    let record = Record { device: key.clone(), findings: findings.clone() };
    if let (Some(cache), Ok(text)) = (Cache::of_user(), serde_json::to_vec_pretty(&record)) {
        cache.write_file(&file(&key), &text);
    }
    lock(&FOUND).insert(key, findings.clone());
}

/// What the answer depends on. The target holds the driver's workarounds and float controls. What a processor does as a device
/// depends on the instructions that it has: the folder may be shared by several machines.
pub(crate) fn key(info: &DeviceInfo) -> String {
    let processor = if info.kind == DeviceKind::Cpu { processor() } else { Vec::new() };
    let target = ptx2spv_translator::Target { facts: Facts::default(), ..info.target.clone() };
    let target = serde_json::to_string(&target).unwrap_or_default();
    let uuid = hex::encode(info.uuid);
    format!(
        "self-test {VERSION} of {}: {} {} {} {uuid} {} {target}",
        env!("CARGO_PKG_VERSION"),
        info.driver_name,
        info.driver_info,
        info.driver_version,
        processor.join("+"),
    )
}

/// What drivers for processors choose instructions by: what this one has, and what Mesa is told to do without.
fn processor() -> Vec<String> {
    let overridden = std::env::var("GALLIUM_OVERRIDE_CPU_CAPS").ok();
    instructions().into_iter().map(str::to_owned).chain(overridden).collect()
}

#[cfg(target_arch = "x86_64")]
fn instructions() -> Vec<&'static str> {
    let known = [
        ("sse4.1", is_x86_feature_detected!("sse4.1")),
        ("avx", is_x86_feature_detected!("avx")),
        ("avx2", is_x86_feature_detected!("avx2")),
        ("fma", is_x86_feature_detected!("fma")),
        ("f16c", is_x86_feature_detected!("f16c")),
        ("avx512f", is_x86_feature_detected!("avx512f")),
    ];
    known.into_iter().filter_map(|(name, present)| present.then_some(name)).collect()
}

#[cfg(not(target_arch = "x86_64"))]
fn instructions() -> Vec<&'static str> {
    vec![std::env::consts::ARCH]
}

/// The name of the file.
fn file(key: &str) -> String {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    format!("device-{:016x}.json", hasher.finish())
}
