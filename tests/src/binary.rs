//! The `ptx2spv` program, run as its users run it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use anyhow::{Context, Result, ensure};

/// Path of the program, which is built first if need be: Cargo builds the programs of the package under test only.
pub fn ptx2spv() -> &'static Path {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| build().expect("building ptx2spv"))
}

/// Builds the program by way of one of its tests. Tests of the whole workspace have built exactly that before: the program alone would be
/// built once more, with most dependencies, for lack of some features that only tests ask for.
fn build() -> Result<PathBuf> {
    // Tests lie in `deps` inside the directory of the profile that they were built with.
    let test = std::env::current_exe()?;
    let directory = test.parent().and_then(Path::parent).context("a test that isn't in target/PROFILE/deps")?;
    let target = directory.parent().context("no target directory")?;
    let mut command = Command::new(env!("CARGO"));
    command.args(["test", "--no-run", "--quiet", "--workspace", "--test", "cli", "--target-dir"]).arg(target);
    match directory.file_name().and_then(|name| name.to_str()).context("no profile")? {
        "debug" => &mut command,
        profile => command.args(["--profile", profile]),
    };
    let status = command.current_dir(env!("CARGO_MANIFEST_DIR")).status()?;
    ensure!(status.success(), "cargo build failed");
    Ok(directory.join(format!("ptx2spv{}", std::env::consts::EXE_SUFFIX)))
}
