//! Runs a command that launches kernels in a separate process. A kernel that accesses unmapped memory, or a failing
//! driver, ends that process without a message; the watching process then reports the kernel.
//!
//! The processes communicate in two ways: a journal file, in which the watched process records the kernels that begin
//! and end, and the standard input of the watched process, whose end tells it that the watching process is gone.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::SystemTime;

use anyhow::Context;

use crate::cli::Status;

/// The environment variable that names the journal, in the watched process.
const JOURNAL_VARIABLE: &str = "PTX2SPV_JOURNAL";

/// The journal of this process; `None` if it isn't watched.
fn journal() -> Option<&'static Mutex<File>> {
    static JOURNAL: OnceLock<Option<Mutex<File>>> = OnceLock::new();
    let open = || OpenOptions::new().append(true).open(std::env::var_os(JOURNAL_VARIABLE)?).ok().map(Mutex::new);
    JOURNAL.get_or_init(open).as_ref()
}

/// Whether this process is watched.
pub fn is_watched() -> bool {
    journal().is_some()
}

/// An entry in the journal, which is there as long as this value lives.
#[derive(Debug)]
pub struct Running(String);

/// Records that a kernel is running, described like "kernel `add` on llvmpipe".
pub fn running(kernel: String) -> Running {
    let entry = Running(kernel);
    entry.write('+');
    entry
}

impl Running {
    /// If the journal can't be written, the kernel still runs, but is not named if it crashes.
    fn write(&self, sign: char) {
        if let Some(journal) = journal() {
            let line = format!("{sign}{}\n", self.0.replace('\n', " "));
            let _ = journal.lock().unwrap_or_else(PoisonError::into_inner).write_all(line.as_bytes());
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.write('-');
    }
}

/// The entries that are running according to a journal.
fn still_running(journal: &str) -> Vec<&str> {
    let mut counts = BTreeMap::<&str, i64>::new();
    for line in journal.lines() {
        if let Some(kernel) = line.strip_prefix('+') {
            *counts.entry(kernel).or_default() += 1;
        } else if let Some(kernel) = line.strip_prefix('-') {
            *counts.entry(kernel).or_default() -= 1;
        }
    }
    counts.into_iter().filter(|(_, count)| *count > 0).map(|(kernel, _)| kernel).collect()
}

/// A temporary file, removed when dropped.
struct Journal(PathBuf);

impl Journal {
    fn create() -> io::Result<Self> {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let path = std::env::temp_dir().join(format!("ptx2spv-{}-{}", std::process::id(), now.as_nanos()));
        OpenOptions::new().write(true).create_new(true).open(&path)?;
        Ok(Self(path))
    }

    fn read(&self) -> String {
        fs::read(&self.0).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Runs this program again with the same arguments, and watches it. `None` if that is not possible here, so that the
/// work has to be done in this process.
pub fn watch(reads_stdin: bool) -> Option<anyhow::Result<Status>> {
    let program = std::env::current_exe().ok()?;
    let journal = Journal::create().ok()?;
    Some(spawn(&program, &journal, reads_stdin))
}

fn spawn(program: &Path, journal: &Journal, reads_stdin: bool) -> anyhow::Result<Status> {
    let mut child = Command::new(program)
        .args(std::env::args_os().skip(1))
        .env(JOURNAL_VARIABLE, &journal.0)
        .stdin(if reads_stdin { Stdio::inherit() } else { Stdio::piped() })
        .spawn()
        .with_context(|| program.display().to_string())?;
    // Held open until the child has ended.
    let lifeline = child.stdin.take();
    let status = child.wait().context("waiting for the process that runs kernels")?;
    drop(lifeline);
    verdict(status, &still_running(&journal.read()))
}

/// The result of the watched process.
pub(crate) fn verdict(status: ExitStatus, running: &[&str]) -> anyhow::Result<Status> {
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    if let (Some(code), []) = (code, running) {
        return Ok(Status::Code(code));
    }
    if was_killed(status) {
        anyhow::bail!("the process that ran {} was killed ({status})", list(running));
    }
    let reason = "it accessed memory that is not there, or the driver failed";
    let help = "`--device reference --check` finds out what is wrong, without a driver";
    match running {
        [] => anyhow::bail!("the driver ended the process ({status}), while no kernel was running"),
        _ => anyhow::bail!("{} ended the process ({status}): {reason}\nhelp: {help}", list(running)),
    }
}

/// The kernels that may have ended the process.
fn list(running: &[&str]) -> String {
    if running.is_empty() { "no kernel".to_owned() } else { running.join(" or ") }
}

/// Whether the process was ended from outside: by the user, or by a system without memory.
#[cfg(unix)]
fn was_killed(status: ExitStatus) -> bool {
    use std::os::unix::process::ExitStatusExt;
    // SIGHUP, SIGINT, SIGKILL, SIGTERM.
    status.signal().is_some_and(|signal| [1, 2, 9, 15].contains(&signal))
}

#[cfg(not(unix))]
fn was_killed(_status: ExitStatus) -> bool {
    false
}

/// Ends this process when the watching process is gone, since nothing else would stop it.
pub fn end_with_watcher() {
    std::thread::spawn(|| {
        let mut byte = [0];
        while !matches!(io::stdin().lock().read(&mut byte), Ok(0) | Err(_)) {}
        // Not `exit`: on exit, drivers clean up and would wait for their kernels.
        std::process::abort();
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_begun_and_not_ended_is_running() {
        assert!(still_running("").is_empty());
        assert_eq!(still_running("+a\n+b\n-a\n+c\n-c\n+b\n-b\n"), ["b"]);
        assert_eq!(still_running("+a\n-a\n+a\n+z"), ["a", "z"]);
    }

    #[test]
    fn a_journal_is_gone_with_its_end() {
        let journal = Journal::create().unwrap();
        let path = journal.0.clone();
        fs::write(&path, "+x\n").unwrap();
        assert_eq!(still_running(&journal.read()), ["x"]);
        drop(journal);
        assert!(!path.exists());
    }
}
