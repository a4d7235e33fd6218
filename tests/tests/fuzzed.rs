//! A small corpus of the fuzzers, and inputs that failed once, each in a folder named after its target: the target must
//! not panic or hang, and `spirv-val` accepts every module.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use libtest_mimic::{Failed, Trial};
use ptx2spv_tests::{files, fuzz, suite};

/// Generous, since test machines may be busy: fuzzers take a few seconds for a hang.
const TIME_LIMIT: Duration = Duration::from_secs(120);

type Target = fn(&[u8]);

/// All targets, by the fuzzers' names.
const TARGETS: [(&str, Target); 5] = [
    ("parse", fuzz::parse),
    ("translate", |data| fuzz::translate(data, 1)),
    ("load", fuzz::load),
    ("binary", fuzz::binary),
    ("launch", fuzz::launch),
];

fn main() -> ExitCode {
    suite::main(trials)
}

fn trials() -> Result<Vec<Trial>> {
    let mut trials = Vec::new();
    for (name, target) in TARGETS {
        let folder = files::root().join("fuzzed").join(name);
        for path in inputs(&folder)? {
            trials.push(Trial::test(files::short_name(&path), move || run(target, &path)));
        }
    }
    ensure!(!trials.is_empty(), "no inputs found");
    Ok(trials)
}

fn inputs(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    entries.map(|entry| Ok(entry?.path())).collect()
}

/// Fails if a target takes too long. A panic fails the test by itself, with the input's name.
fn run(target: Target, path: &Path) -> Result<(), Failed> {
    let data = fs::read(path).map_err(|error| error.to_string())?;
    let (done, wait) = channel();
    let worker = thread::spawn(move || {
        target(&data);
        let _ = done.send(());
    });
    match wait.recv_timeout(TIME_LIMIT) {
        Ok(()) => Ok(()),
        Err(RecvTimeoutError::Timeout) => Err(Failed::from(format!("takes longer than {TIME_LIMIT:?}"))),
        Err(RecvTimeoutError::Disconnected) => {
            let panic = worker.join().expect_err("it ended without saying so");
            let message = panic.downcast_ref::<String>().map(String::as_str);
            Err(Failed::from(message.or(panic.downcast_ref::<&str>().copied()).unwrap_or("panicked").to_owned()))
        }
    }
}
