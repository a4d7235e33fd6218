//! Stores results of the self-test, in this process and in files of the user's cache folder.
//!
//! A file belongs to a device, a version of its driver, and a version of the self-test. Its text includes these and is
//! compared as a whole. A file that can't be read or written only costs another self-test.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{LazyLock, Mutex};

use ptx2spv_translator::target::Facts;
use serde::{Deserialize, Serialize};

use super::findings::Findings;
use crate::cache::Cache;
use crate::device::info::{DeviceInfo, DeviceKind};
use crate::sync::lock;

/// Version of the self-test. Increased when the test, or the translation of its instructions, changes in a way that can
/// change results.
const VERSION: u32 = 15;

/// The results of the self-test of a device.
#[derive(Serialize, Deserialize)]
struct Record {
    device: String,
    findings: Findings,
}

static FOUND: LazyLock<Mutex<BTreeMap<String, Findings>>> = LazyLock::new(Mutex::default);

/// The stored results for a device.
pub(crate) fn known(info: &DeviceInfo) -> Option<Findings> {
    let key = key(info);
    if let Some(findings) = lock(&FOUND).get(&key) {
        return Some(findings.clone());
    }
    let record: Record = serde_json::from_slice(&fs::read(Cache::of_user()?.path(&file(&key))).ok()?).ok()?;
    (record.device == key).then_some(record.findings)
}

/// Stores the results for a device.
pub(crate) fn keep(info: &DeviceInfo, findings: &Findings) {
    let key = key(info);
    let record = Record { device: key.clone(), findings: findings.clone() };
    if let (Some(cache), Ok(text)) = (Cache::of_user(), serde_json::to_vec_pretty(&record)) {
        cache.write_file(&file(&key), &text);
    }
    lock(&FOUND).insert(key, findings.clone());
}

/// Everything that the results depend on. The target includes the driver's workarounds and float controls. On CPU
/// devices, results depend on the processor's instructions, and several machines may share the folder.
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

/// The properties by which CPU drivers choose instructions: the processor's features, and Mesa's override of them.
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
