//! Runs `spirv-val` of SPIRV-Tools for the tests.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;

/// Checks a module for an environment such as `vulkan1.3`.
///
/// # Errors
/// The messages of `spirv-val`.
///
/// # Panics
/// If `spirv-val` can't be run.
pub fn validate(environment: &str, spirv: &[u32]) -> Result<(), String> {
    let output = run(environment, spirv).expect("spirv-val of SPIRV-Tools must be installed");
    let message = String::from_utf8_lossy(&output.stderr) + String::from_utf8_lossy(&output.stdout);
    if output.status.success() { Ok(()) } else { Err(format!("spirv-val --target-env {environment}: {message}")) }
}

fn run(environment: &str, spirv: &[u32]) -> io::Result<Output> {
    let mut child = Command::new(&*PROGRAM)
        .args(["--target-env", environment, "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let bytes: Vec<u8> = spirv.iter().flat_map(|word| word.to_le_bytes()).collect();
    if let Some(mut pipe) = child.stdin.take() {
        // It may end before it has read all; then it says why.
        let _ = pipe.write_all(&bytes);
    }
    child.wait_with_output()
}

/// The program that `scripts/test` unpacked into the build directory because the system's is too old, or the system's.
static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| {
    let test = std::env::current_exe().unwrap_or_default();
    let unpacked = test.ancestors().map(|folder| folder.join("spirv-tools/spirv-val")).find(|path| path.is_file());
    unpacked.unwrap_or_else(|| "spirv-val".into())
});
