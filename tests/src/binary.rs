//! The `ptx2spv` program.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use anyhow::{Context, Result, ensure};

/// Path of the program. It is built first if necessary, since Cargo builds only the programs of the package under test.
pub fn ptx2spv() -> &'static Path {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| build().expect("building ptx2spv"))
}

/// Builds the program by way of one of its tests, as tests of the whole workspace do. The program alone would have
/// fewer features enabled, so Cargo would build most dependencies again.
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
