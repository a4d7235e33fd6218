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
const PTX: &str = "
.version 7.0
.target sm_50
.address_size 64
.global .align 4 .u32 counter[3];
.visible .entry odd(.param .u64 in, .param .u64 out)
.reqntid 4, 1, 1
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [in];
    ld.param.u64 %rd2, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd1, %rd1, %rd3;
    add.s64 %rd2, %rd2, %rd3;
    ld.global.u32 %r2, [%rd1];
    mad.lo.u32 %r2, %r2, 2, 1;
    st.global.u32 [%rd2], %r2;
    ret;
}
.visible .entry other() { ret; }
";

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
