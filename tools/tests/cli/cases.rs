//! Running launch cases.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use crate::{command, odd, run};

#[test]
fn cases_pass_and_fail_by_what_the_kernel_computes() {
    for (expected, status, words) in
        [("[11, 13, 15, 17]", 0, "1 passed, 0 failed"), ("[11, 13, 15, 16]", 1, "[3] expected 16")]
    {
        let directory = odd(expected);
        for command in ["test", "run"] {
            let done = run(&[command, directory.path().join("odd.json").to_str().unwrap()]);
            assert_eq!(done.status, Some(status), "{}{}", done.out, done.err);
            assert!(command == "run" || done.out.contains(words), "{}", done.out);
        }
    }
}

/// A case with an empty PTX file, which always fails.
fn failing_case(directory: &Path) -> String {
    fs::write(directory.join("empty.ptx"), "").unwrap();
    let case = r#"{"name": "c", "ptx": "empty.ptx", "entry": "k", "args": [{"type": "u8", "zeros": 1}],
                   "expect": [{"arg": 0, "data": [1]}]}"#;
    let file = directory.join("case.json");
    fs::write(&file, case).unwrap();
    file.to_str().unwrap().to_owned()
}

#[test]
fn failing_cases_are_counted_and_reported() {
    let directory = tempfile::tempdir().unwrap();
    let file = failing_case(directory.path());
    let report = directory.path().join("report.out");
    let done = run(&["test", directory.path().to_str().unwrap(), "--json", report.to_str().unwrap()]);
    assert_eq!(done.status, Some(1), "{}", done.err);
    let lines: Vec<&str> = done.out.lines().collect();
    assert_eq!(lines.len(), 2, "{}", done.out);
    assert!(lines[0].starts_with(&format!("FAIL {file}:c: ")), "{}", lines[0]);
    assert!(lines[1].ends_with("0 passed, 1 failed"), "{}", lines[1]);
    let report: serde_json::Value = serde_json::from_str(&fs::read_to_string(report).unwrap()).unwrap();
    assert_eq!(report["failed"], 1);
    assert_eq!(run(&["test", &file, "--filter", "nothing"]).status, Some(1));
    let done = run(&["run", &file]);
    assert_eq!(done.status, Some(1));
    assert!(done.out.contains("FAILED"), "{}", done.out);
}

/// Stores to an unmapped address.
const CRASHING: &str = include_str!("ptx/cases.ptx");

/// On CPU devices, such a kernel ends the process. Other devices fail differently, and the reference device reports the
/// fault.
#[test]
fn a_crash_names_the_kernel() {
    let directory = tempfile::tempdir().unwrap();
    let ptx = directory.path().join("crashing.ptx").display().to_string();
    fs::write(&ptx, CRASHING).unwrap();
    let case = r#"{"name": "wild", "ptx": "crashing.ptx", "entry": "crashing", "args": [{"type": "u64", "value": 1}],
                   "expect": [{"global": "g", "type": "u32", "data": [1]}]}"#;
    let cases = directory.path().join("cases.json").display().to_string();
    fs::write(&cases, case).unwrap();
    let here = run(&["devices", "--device", "default"]);
    let crashes = here.out.contains("llvmpipe");
    for (args, name) in [
        (vec!["run", &ptx, "u64:1"], "kernel `crashing` on"),
        (vec!["run", &cases], "kernel `crashing` (case `wild`) on"),
    ] {
        let done = run(&args);
        assert_eq!(done.status, Some(1), "{args:?}: {}{}", done.out, done.err);
        if crashes {
            for part in [name, " ended the process (", "SIGSEGV", "\nhelp: `--device reference --check` finds out"] {
                assert!(done.err.contains(part), "{args:?}: {}", done.err);
            }
        }
    }
    let done = run(&["run", &ptx, "--device", "reference", "u64:1"]);
    assert_eq!(done.status, Some(1), "{}", done.err);
    assert!(done.out.contains("ut-of-bounds access"), "{}", done.out);

    // Other cases still run, in their order.
    let other = odd("[11, 13, 15, 17]");
    let other = other.path().join("odd.json").display().to_string();
    for jobs in ["1", "3"] {
        let done = run(&["test", &other, &cases, &other, "--jobs", jobs, "--verbose"]);
        assert_eq!(done.status, Some(1), "{}{}", done.out, done.err);
        assert!(done.out.ends_with("2 passed, 1 failed\n"), "{}{}", done.out, done.err);
        if crashes {
            let failed = done.out.lines().nth(1).unwrap();
            for part in ["FAIL ", "kernel `crashing` (case `wild`) on", " ended the process (", "SIGSEGV", "--check"] {
                assert!(failed.contains(part), "{}", done.out);
            }
        }
    }
}

/// The process that runs kernels ends when its watching process is killed.
#[test]
fn nothing_runs_on_unwatched() {
    let directory = tempfile::tempdir().unwrap();
    let ptx = directory.path().join("many.ptx");
    fs::write(&ptx, ".version 7.0 .target sm_50 .address_size 64 .entry k() { ret; }").unwrap();
    // This many blocks take hours.
    let mut watcher = command(&["run", ptx.to_str().unwrap(), "--grid", "2147483647,65535"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut output = watcher.stdout.take().unwrap();
    std::thread::sleep(Duration::from_millis(500));
    watcher.kill().unwrap();
    watcher.wait().unwrap();
    let (sender, receiver) = std::sync::mpsc::channel();
    // The read returns when no process has the other end of the pipe any more.
    std::thread::spawn(move || sender.send(output.read_to_string(&mut String::new()).is_ok()));
    assert_eq!(receiver.recv_timeout(Duration::from_secs(60)), Ok(true), "the kernel runs on");
}
