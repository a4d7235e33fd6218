//! Translates `src/saxpy.ptx` at build time: an error in the PTX is a compile error with a line number.

use std::error::Error;
use std::path::Path;
use std::{env, fs};

use ptx2spv_translator::interface::Bundle;
use ptx2spv_translator::{Options, Program, Source, Target};

const PTX: &str = "src/saxpy.ptx";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={PTX}");
    let source = Source::new(PTX, fs::read_to_string(PTX)?);
    let program = Program::new(&source)?;
    let mut variants = Vec::new();
    // The device that loads the bundle takes the first variant that it supports. Every device supports the last one.
    for name in ["nvidia", "amd-rdna", "vulkan1.1-minimum"] {
        let target = Target::preset(name).ok_or("no such preset")?;
        variants.push(program.translate(&Options::new(&target))?);
    }
    let bundle = serde_json::to_vec(&Bundle::new(variants))?;
    fs::write(Path::new(&env::var("OUT_DIR")?).join("saxpy.json"), bundle)?;
    Ok(())
}
