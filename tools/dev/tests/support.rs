//! `docs/support.md` is up to date.

use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn support_table_is_up_to_date() {
    let output = Command::new(env!("CARGO_BIN_EXE_support")).output().unwrap();
    assert!(output.status.success());
    let made = String::from_utf8(output.stdout).unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/support.md");
    let committed = fs::read_to_string(&path).unwrap();
    let line = made.lines().zip(committed.lines()).position(|(made, committed)| made != committed);
    let line = line.unwrap_or(made.lines().count().min(committed.lines().count())) + 1;
    assert!(
        made == committed,
        "docs/support.md differs from line {line} on; make it with `cargo run -p ptx2spv-dev --bin support > docs/support.md`"
    );
}
