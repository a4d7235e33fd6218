//! Programs as launch cases: JSON beside PTX files with many kernels each.

use serde_json::{Value, json};

use super::{GATHERED, Launch, Outcome, Size, UNTOUCHED, draw, ptx};

/// Kernels of one file.
const KERNELS: u64 = 20;

/// The files of the cases of seeds, by name: short programs with one launch each, as the interpreter says.
pub fn case_files(size: Size, first: u64, end: u64) -> Vec<(String, String)> {
    let starts = (first..end).step_by(KERNELS as usize);
    starts.flat_map(|start| file(size, start, end.min(start + KERNELS))).collect()
}

/// The module of some seeds, and its cases.
fn file(size: Size, first: u64, end: u64) -> [(String, String); 2] {
    let (what, stem) = if size == Size::Parted { ("parted", "parted") } else { ("program", "programs") };
    let stem = format!("{stem}_{first:03}");
    let drawn: Vec<_> = (first..end).map(|seed| (format!("{what}_{seed}"), draw(seed, size, 1))).collect();
    let programs: Vec<_> = drawn.iter().map(|(name, drawn)| (name.as_str(), &drawn.program)).collect();
    let module = format!("{stem}.ptx");
    let cases: Vec<String> = drawn
        .iter()
        .flat_map(|(name, drawn)| drawn.launches.iter().map(move |(launch, outcome)| (name, launch, outcome)))
        .map(|(name, launch, outcome)| case(&module, name, launch, outcome).to_string())
        .collect();
    let cases = format!("[\n{}\n]\n", cases.join(",\n"));
    [(module, ptx(&programs)), (format!("{stem}.json"), cases)]
}

fn case(module: &str, name: &str, launch: &Launch, outcome: &Outcome) -> Value {
    let buffer = |len: usize| json!({"type": "u32", "fill": UNTOUCHED.to_string(), "len": len});
    let mut arguments = vec![buffer(outcome.output.len()), buffer(GATHERED + 1)];
    arguments.extend(launch.uniforms.iter().map(|uniform| json!({"type": "u32", "value": uniform})));
    json!({
        "name": name,
        "ptx": module,
        "entry": name,
        "grid": launch.grid,
        "block": launch.block,
        "args": arguments,
        "expect": [{"arg": 0, "data": outcome.output}, {"arg": 1, "data": outcome.gathered}],
    })
}
