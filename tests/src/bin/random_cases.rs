//! Writes the recorded random programs as launch cases into a directory: `random_cases DIRECTORY`.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use ptx2spv_tests::program::Recorded;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [directory] = &arguments[..] else { bail!("expected a directory") };
    for (name, text) in Recorded::all().flat_map(Recorded::case_files) {
        let path = Path::new(directory).join(name);
        fs::write(&path, text).with_context(|| path.display().to_string())?;
    }
    Ok(())
}
