//! Tests of the command line: exit status, messages, written files.

mod arguments;
mod cases;
mod check;
mod devices;
mod run;
mod translate;

use std::fs;
use std::process::{Command, Output};

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ptx2spv"));
    command.args(args);
    command
}

struct Done {
    status: Option<i32>,
    out: String,
    err: String,
}

impl From<Output> for Done {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Self { status: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

fn run(args: &[&str]) -> Done {
    command(args).output().unwrap().into()
}

#[track_caller]
fn fails(args: &[&str], status: i32, part: &str) {
    let done = run(args);
    assert_eq!(done.status, Some(status), "{args:?}: {}", done.err);
    assert!(done.err.contains(part), "{args:?}: {}", done.err);
    assert!(!done.err.contains("panicked"), "{args:?}: {}", done.err);
}

/// `out[i] = 2 * in[i] + 1`, and a variable.
const PTX: &str = include_str!("ptx/main.ptx");

/// A directory with `odd.ptx`, and a case for it with the given expected elements.
fn odd(expected: &str) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("odd.ptx"), PTX).unwrap();
    let case = format!(
        r#"[{{"name": "odd", "ptx": "odd.ptx", "entry": "odd", "block": [4, 1, 1],
             "args": [{{"type": "u32", "data": [5, 6, 7, 8]}}, {{"type": "u32", "zeros": 4}}],
             "expect": [{{"arg": 1, "data": {expected}}}]}}]"#
    );
    fs::write(directory.path().join("odd.json"), case).unwrap();
    directory
}
