//! A kernel on its way to SPIR-V.

use ptx2spv_translator::internals::pipeline::{Observer, PASSES, Step};
use ptx2spv_translator::internals::translate_watched;
use ptx2spv_translator::target::Version;
use ptx2spv_translator::{Diagnostics, Options, Program, Source, Target, Translation};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::check::{NAME, diagnostics};

/// A request to translate a kernel.
#[derive(Deserialize)]
pub struct Request {
    ptx: String,
    /// The name of a target.
    preset: String,
    kernel: String,
}

/// The presets, with the devices that they describe.
pub fn presets() -> Value {
    Target::presets().iter().map(|preset| json!({"name": preset.name, "device": preset.device})).collect()
}

/// The texts of the kernel after each pass that changes it, its SPIR-V as text, and the answer of [`size`].
pub fn translate(request: &Request) -> Value {
    let mut stages = Stages::default();
    match watched(request, Some(&mut stages)) {
        Ok(made) => {
            let mut answer = summary(&made);
            answer["stages"] = stages.list.into();
            answer["spirv"] = made.disassemble().into();
            answer
        }
        Err(errors) => errors,
    }
}

/// Bytes of the SPIR-V, and the device features that it needs.
pub fn size(request: &Request) -> Value {
    watched(request, None).map_or_else(|errors| errors, |made| summary(&made))
}

fn summary(made: &Translation) -> Value {
    let Version(major, minor) = made.interface.spirv;
    json!({
        "diagnostics": [],
        "bytes": 4 * made.spirv.len(),
        "version": format!("{major}.{minor}"),
        "features": made.interface.features,
        // With those that are seen to be pointers.
        "params": made.interface.entries.first().map(|entry| &entry.params),
    })
}

fn watched(request: &Request, observer: Option<&mut dyn Observer>) -> Result<Translation, Value> {
    let unknown = || json!({"error": format!("there is no preset `{}`", request.preset)});
    let wrong = |errors: Diagnostics| json!({"diagnostics": diagnostics(&errors)});
    let target = Target::preset(&request.preset).ok_or_else(unknown)?;
    let entries = [request.kernel.clone()];
    let options = Options::new(&target).entries(Some(&entries)).launched(false);
    let program = Program::new(&Source::new(NAME, &*request.ptx)).map_err(wrong)?;
    translate_watched(&program, &options, observer).map_err(wrong)
}

/// The kernel after each pass that changes it.
#[derive(Default)]
struct Stages {
    list: Vec<Value>,
    text: String,
}

impl Observer for Stages {
    fn passed(&mut self, step: &Step<'_>) {
        let text = step.unit.to_string();
        let is_last = step.number == PASSES.len();
        if text != self.text || is_last {
            self.list.push(json!({"number": step.number, "name": step.pass, "size": step.unit.size(), "text": text}));
            self.text = text;
        }
    }
}
