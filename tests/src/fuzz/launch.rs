//! Launch cases.

use std::env::temp_dir;
use std::fs;
use std::path::Path;
use std::process;
use std::sync::OnceLock;

use ptx2spv::cases::{Backend, DeviceBackend, judge, prepare, spec};
use ptx2spv_translator::{Options, Program, Source, Target};
use serde_json::Value;

use super::draw;
use super::{parts, seed};
use crate::random::Random;

/// Limits on a case's bytes of variables and numbers of elements.
const MOST_BYTES: u64 = 1 << 24;
const MOST_ELEMENTS: u64 = 1 << 16;
const MOST_TEXELS: u64 = 64;

/// Runs a case file on a reference device. The PTX after it replaces the file that the case names.
pub fn launch(data: &[u8]) {
    let (json, ptx) = parts(data);
    let (json, ptx) = (String::from_utf8_lossy(json), String::from_utf8_lossy(ptx));
    // Skip cases that read other files or need huge buffers.
    if json.contains("\"file\"") || !serde_json::from_str(&json).is_ok_and(|value| is_modest(&value)) {
        return;
    }
    let file = Path::new("fuzzed.json");
    let Ok(cases) = spec::parse(file, &json) else { return };
    let variables = variables(&ptx);
    if variables.is_none_or(|bytes| bytes > MOST_BYTES) {
        return;
    }
    let path = temp_dir().join(format!("ptx2spv-fuzz-{}.ptx", process::id()));
    fs::write(&path, &*ptx).expect("a place for temporary files");
    let mut random = Random::new(seed(&ptx));
    for (index, mut case) in cases.cases.iter().cloned().enumerate().take(3) {
        case.ptx.clone_from(&path);
        let Ok(prepared) = prepare::prepare(&case, &cases.tables, file, &cases.path(index), &OnceLock::new()) else {
            continue;
        };
        let config = draw::reference(&mut random).config().expect("options that exist");
        let mut device = DeviceBackend::reference(config).expect("a reference device");
        let _ = judge(&prepared.expectation, &device.run(&prepared));
    }
    // Ignore errors: the next input overwrites the file, which is in the temporary directory.
    let _ = fs::remove_file(&path);
}

/// Bytes of the variables of a module, if the text is a valid one.
fn variables(ptx: &str) -> Option<u64> {
    let source = Source::new("fuzzed.ptx", ptx);
    let target = Target::reference();
    let program = Program::new(&source).ok()?;
    let described = program.translate(&Options::new(&target).entries(Some(&[])));
    described.ok().map(|translation| translation.interface.variables.size)
}

/// Whether all sizes in a case are small enough.
fn is_modest(value: &Value) -> bool {
    let small = |value: &Value, most: u64| match value {
        Value::Number(number) => number.as_u64().is_some_and(|number| number <= most),
        Value::Array(list) => list.iter().all(|value| value.as_u64().is_none_or(|number| number <= most)),
        _ => true,
    };
    match value {
        Value::Object(members) => members.iter().all(|(key, value)| match key.as_str() {
            "zeros" | "len" | "dynamic_shared_bytes" => small(value, MOST_ELEMENTS),
            "grid" | "size" | "levels" => small(value, MOST_TEXELS),
            "pitch" => small(value, MOST_ELEMENTS),
            "bits" => value.as_str().is_none_or(|text| {
                text.split('*').skip(1).all(|count| count.bytes().take_while(u8::is_ascii_digit).count() < 6)
            }),
            _ => is_modest(value),
        }),
        Value::Array(list) => list.iter().all(is_modest),
        _ => true,
    }
}
