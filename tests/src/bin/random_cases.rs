//! Writes the random programs of some seeds as launch cases: `random_cases DIRECTORY FIRST END`.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};
use ptx2spv_tests::program::case_files;

fn main() -> ExitCode {
    match run(&std::env::args().skip(1).collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<()> {
    let [directory, first, end] = arguments else { anyhow::bail!("expected DIRECTORY FIRST END") };
    for (name, text) in case_files(first.parse().context("FIRST")?, end.parse().context("END")?) {
        let path = Path::new(directory).join(name);
        fs::write(&path, text).with_context(|| path.display().to_string())?;
    }
    Ok(())
}
