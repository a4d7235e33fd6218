//! Results of the self-test: facts about a device, and outcomes of single attempts.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{LazyLock, Mutex};

use ptx2spv_translator::target::Facts;
use serde::{Deserialize, Serialize};

use crate::cache::Cache;
use crate::error::{Error, Result};
use crate::info::DeviceInfo;
use crate::sync::lock;

/// The results of the self-test.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Findings {
    /// The facts that hold.
    pub facts: Facts,
    /// For each fact that doesn't hold, an instruction with operands on which it is wrong.
    pub seen: Vec<String>,
}

/// The outcome of testing an instruction.
pub(super) enum Attempt {
    /// All results are right.
    Right,
    /// A result is wrong, as described, or the driver stopped the kernel.
    Wrong(String),
    /// The device can't run the instruction.
    Impossible,
}

/// The error of a stopped kernel, which is a result like any other. Other errors are passed on.
pub(super) fn stopped(run: Result) -> Result<Option<Error>> {
    match run {
        Err(error) if error.is_of_stopped_kernels() => Ok(Some(error)),
        run => run.map(|()| None),
    }
}

// Stores results of the self-test, in this process and in files of the user's cache folder.
//
// A file belongs to a device, a version of its driver, and a version of the self-test. Its text includes these and is
// compared as a whole. A file that can't be read or written only costs another self-test.

/// Version of the self-test. Increased when the test, or the translation of its instructions, changes in a way that can
/// change results.
const VERSION: u32 = 27;

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

/// Everything that the results depend on.
fn key(info: &DeviceInfo) -> String {
    format!("self-test {VERSION} of {}", info.identity())
}

/// The name of the file.
fn file(key: &str) -> String {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    format!("device-{:016x}.json", hasher.finish())
}
