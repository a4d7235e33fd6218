//! Runs many cases, on several threads if requested, and reports them in their order.

use std::collections::BTreeMap;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use super::{Backend, Case, Verdict};
use crate::cli::Status;
use crate::progress::Progress;
use crate::style;

/// Something that runs whole cases.
pub trait Runner {
    /// The device's name.
    fn device(&self) -> String;

    /// Runs a case and judges the outcome.
    fn run_case(&mut self, case: &Case) -> Verdict;
}

impl<B: Backend> Runner for B {
    fn device(&self) -> String {
        self.name()
    }

    fn run_case(&mut self, case: &Case) -> Verdict {
        case.run(self)
    }
}

/// Makes the runner of a thread.
pub type MakeRunner<'a> = dyn Fn() -> Result<Box<dyn Runner>> + Sync + 'a;

/// Lines of a failure's message to show, unless verbose.
const SHOWN_LINES: usize = 3;

/// The outcome of many cases, as stored in a report file.
#[derive(Debug, Serialize, Deserialize)]
pub struct Report {
    /// The device, or the first one if there were several.
    pub device: String,
    /// Number of passed cases.
    pub passed: usize,
    /// Number of failed cases.
    pub failed: usize,
    /// Number of cases for which the device lacks resources.
    pub left_out: usize,
    /// The outcome of each case.
    pub cases: Vec<CaseReport>,
}

/// The outcome of one case.
#[derive(Debug, Serialize, Deserialize)]
pub struct CaseReport {
    /// The device it ran on.
    pub device: String,
    /// The file that contains the case.
    pub file: String,
    /// The name of the case.
    pub name: String,
    /// The outcome.
    pub outcome: Outcome,
    /// The reason if the case did not pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The time in seconds, including reading and translating.
    pub seconds: f64,
}

/// The outcome of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Outcome {
    Passed,
    Failed,
    LeftOut,
}

/// Runs all cases. Writes a line for each failed case (for each case if verbose), and a last one with the totals.
pub fn run(cases: &[Case], make: &MakeRunner<'_>, jobs: usize, verbose: bool, out: &mut dyn Write) -> Result<Report> {
    let device = make()?.device();
    let mut report = Report { device, passed: 0, failed: 0, left_out: 0, cases: Vec::new() };
    let next = AtomicUsize::new(0);
    let progress = Progress::new(cases.len(), "cases");
    thread::scope(|scope| {
        let (sender, receiver) = channel();
        for _ in 0..jobs.clamp(1, cases.len().max(1)) {
            let sender = sender.clone();
            let next = &next;
            scope.spawn(move || work(cases, make, next, &sender));
        }
        drop(sender);
        let mut waiting = BTreeMap::new();
        for (index, outcome) in receiver {
            waiting.insert(index, outcome?);
            while let Some(outcome) = waiting.remove(&report.cases.len()) {
                let case = &cases[report.cases.len()];
                progress.step();
                if let Err(error) = progress.aside(|| report.add(case, outcome, verbose, out)) {
                    // The output was closed: let the threads finish their current cases.
                    next.store(cases.len(), Ordering::Relaxed);
                    return Err(error);
                }
            }
        }
        Ok(())
    })?;
    drop(progress);
    let left_out = match report.left_out {
        0 => String::new(),
        count => format!(", {count} left out for lack of resources"),
    };
    writeln!(out, "{}: {} passed, {} failed{left_out}", report.device, report.passed, report.failed)?;
    Ok(report)
}

type Judged = (Verdict, f64);

fn work(cases: &[Case], make: &MakeRunner<'_>, next: &AtomicUsize, sender: &Sender<(usize, Result<Judged>)>) {
    let mut backend = None;
    loop {
        let index = next.fetch_add(1, Ordering::Relaxed);
        let Some(case) = cases.get(index) else { return };
        let start = Instant::now();
        let mut device = match backend.take().map_or_else(make, Ok) {
            Ok(device) => device,
            Err(error) => {
                // The receiver ends the run.
                let _ = sender.send((index, Err(error)));
                return;
            }
        };
        // A panic is a bug in this program. The other cases still run, on a new device.
        let verdict = catch_unwind(AssertUnwindSafe(|| device.run_case(case)));
        let verdict = match verdict {
            Ok(verdict) => {
                backend = Some(device);
                verdict
            }
            Err(_) => Verdict::Failed("internal error: panic".to_owned()),
        };
        if sender.send((index, Ok((verdict, start.elapsed().as_secs_f64())))).is_err() {
            return;
        }
    }
}

impl Report {
    fn add(&mut self, case: &Case, (verdict, seconds): Judged, verbose: bool, out: &mut dyn Write) -> Result<()> {
        let shown = if verbose { usize::MAX } else { SHOWN_LINES };
        let (outcome, message) = match verdict {
            Verdict::Passed => {
                self.passed += 1;
                if verbose {
                    writeln!(out, "{} {} ({seconds:.3} s)", style::out(style::GOOD, "pass"), case.label())?;
                }
                (Outcome::Passed, None)
            }
            Verdict::LeftOut(message) => {
                self.left_out += 1;
                let words = style::out(style::WARNING, "left out");
                writeln!(out, "{words} {}: {}", case.label(), one_line(&message, shown))?;
                (Outcome::LeftOut, Some(message))
            }
            Verdict::Failed(message) => {
                self.failed += 1;
                let word = style::out(style::BAD, "FAIL");
                writeln!(out, "{word} {}: {}", case.label(), one_line(&message, shown))?;
                (Outcome::Failed, Some(message))
            }
        };
        out.flush()?;
        let file = case.file.display().to_string();
        let name = case.spec.name.clone();
        let device = self.device.clone();
        self.cases.push(CaseReport { device, file, name, outcome, message, seconds });
        Ok(())
    }

    /// Adds the cases of another report.
    pub fn merge(&mut self, other: Report) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.left_out += other.left_out;
        self.cases.extend(other.cases);
    }

    /// A failure if any case failed.
    pub fn status(&self) -> Status {
        if self.failed == 0 { Status::Success } else { Status::Failure }
    }

    /// Writes the report to a file as JSON.
    pub fn save(&self, file: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(self)? + "\n";
        std::fs::write(file, text).with_context(|| file.display().to_string())
    }
}

fn one_line(message: &str, shown: usize) -> String {
    let lines: Vec<&str> = message.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let more = lines.len().saturating_sub(shown);
    let text = lines[..lines.len() - more].join(" | ");
    if more > 0 { format!("{text} | … {more} more lines (-v shows them)") } else { text }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::Arc;

    use super::super::{Failure, Outputs, Prepared};
    use super::*;

    /// Refuses cases whose name contains `bad`, panics for `panic`, and loses the device for `lost`.
    struct ByName;

    impl Backend for ByName {
        fn name(&self) -> String {
            "by name".to_owned()
        }

        fn run(&mut self, case: &Prepared) -> Result<Outputs, Failure> {
            match case.name.as_str() {
                "bad" => Err(Failure::Refused("one\ntwo\nthree\nfour\n".to_owned())),
                "panic" => panic!("as asked"),
                _ => Ok(Outputs { buffers: vec![Some(vec![1])], ..Default::default() }),
            }
        }
    }

    fn cases(names: &[&str]) -> (tempfile::TempDir, Vec<Case>) {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("c.json");
        std::fs::write(directory.path().join("k.ptx"), "").unwrap();
        let cases = names.iter().map(|name| {
            let rest = r#""args": [{"type": "u8", "zeros": 1}], "expect": [{"arg": 0, "data": [1]}]"#;
            let spec = serde_json::from_str(&format!(r#"{{"name": "{name}", "ptx": "k.ptx", "entry": "k", {rest}}}"#));
            Case {
                file: file.clone(),
                path: "$".to_owned(),
                spec: spec.unwrap(),
                tables: Arc::default(),
                ptx: Arc::default(),
            }
        });
        let cases = cases.collect();
        (directory, cases)
    }

    fn run_text(names: &[&str], jobs: usize) -> (Report, String) {
        let (_directory, cases) = cases(names);
        let mut out = Vec::new();
        let report = run(&cases, &|| Ok(Box::new(ByName)), jobs, false, &mut out).unwrap();
        (report, String::from_utf8(out).unwrap())
    }

    #[test]
    fn failures_are_told_and_counted_in_order_on_any_number_of_threads() {
        for jobs in [1, 3, 100] {
            let (report, text) = run_text(&["a", "bad", "c", "panic", "e"], jobs);
            assert_eq!((report.passed, report.failed, report.status()), (3, 2, Status::Failure));
            let names: Vec<&str> = report.cases.iter().map(|case| case.name.as_str()).collect();
            assert_eq!(names, ["a", "bad", "c", "panic", "e"]);
            let lines: Vec<&str> = text.lines().collect();
            assert_eq!(lines.len(), 3, "{text}");
            assert!(lines[0].ends_with(":bad: one | two | three | … 1 more lines (-v shows them)"), "{text}");
            assert!(lines[1].contains(":panic: internal error"), "{text}");
            assert_eq!(lines[2], "by name: 3 passed, 2 failed");
        }
        assert_eq!(run_text(&["a"], 1).0.status(), Status::Success);
    }

    #[test]
    fn a_device_that_is_not_there_is_an_error() {
        let (_directory, cases) = cases(&["a"]);
        let result = run(&cases, &|| anyhow::bail!("none here"), 1, false, &mut Vec::new());
        assert_eq!(result.unwrap_err().to_string(), "none here");
    }

    #[test]
    fn the_report_can_be_read_by_programs() {
        let (report, _) = run_text(&["a", "bad"], 1);
        let file = tempfile::NamedTempFile::new().unwrap();
        report.save(file.path()).unwrap();
        let text = std::fs::read_to_string(file.path()).unwrap();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&value["failed"], &value["cases"][1]["outcome"]), (&1.into(), &"failed".into()));
        assert!(report.save(&PathBuf::from("/no/such/directory/report.json")).is_err());
    }
}
