//! Processes of their own, for compilers that may crash or never end.

use std::env;
use std::ffi::OsStr;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde::de::DeserializeOwned;

/// The environment variable that has a process do the work itself, and write its results as JSON.
const WORKER: &str = "PTX2SPV_COMPILE_WORKER";

/// Whether this process does the work of another one.
pub fn is_worker() -> bool {
    env::var_os(WORKER).is_some()
}

/// Runs this program in a process with a limit of processor time in seconds, with some environment variables, and reads the process's
/// results.
pub fn run<T: DeserializeOwned>(seconds: u64, arguments: &[&OsStr], environment: &[(&str, &str)]) -> Result<T> {
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -t \"$0\" && exec \"$@\""]).arg(seconds.to_string()).arg(env::current_exe()?);
    command.args(arguments).env(WORKER, "1").envs(environment.iter().copied());
    let output = command.stdin(Stdio::null()).output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.success(),
        "the process that made its pipelines ended with {}: {}",
        output.status,
        said.trim()
    );
    serde_json::from_slice(&output.stdout).context("what that process wrote")
}
