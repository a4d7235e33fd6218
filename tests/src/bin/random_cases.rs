//! Writes the random programs of some seeds as launch cases: `random_cases DIRECTORY FIRST END`, with `parted` behind it for
//! those in which lanes meet at operations in different places.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};
use ptx2spv_tests::program::{Size, case_files};

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
    let [directory, first, end, kind @ ..] = arguments else { anyhow::bail!("expected DIRECTORY FIRST END [parted]") };
    let size = match kind {
        [] => Size::Short,
        [kind] if kind == "parted" => Size::Parted,
        _ => anyhow::bail!("expected `parted` or nothing behind END"),
    };
    for (name, text) in case_files(size, first.parse().context("FIRST")?, end.parse().context("END")?) {
        let path = Path::new(directory).join(name);
        fs::write(&path, text).with_context(|| path.display().to_string())?;
    }
    Ok(())
}
