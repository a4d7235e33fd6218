//! `tested`: writes the table of tested devices in `docs/devices.md` from reports of `ptx2spv test --json`.
//!
//! It only writes the table. `scripts/test-devices` runs the tests, and calls it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Parser;
use ptx2spv::cases::suite::{CaseReport, Outcome, Report};
use ptx2spv::cli::{self, Status};

/// The lines of the document around the table.
const MARKS: [&str; 2] = ["<!-- tested -->\n", "<!-- end of tested -->\n"];

/// Writes the table of tested devices into a document, between its marks.
#[derive(Debug, Parser)]
#[command(name = "tested", version, max_term_width = 100)]
struct CommandLine {
    /// The document.
    #[arg(long, value_name = "FILE", default_value = "docs/devices.md")]
    document: PathBuf,
    /// Runs in the order of the table: the name of the device, and the report.
    #[arg(required = true, value_name = "NAME=REPORT", value_parser = run)]
    runs: Vec<(String, PathBuf)>,
}

fn run(text: &str) -> Result<(String, PathBuf), String> {
    let (name, file) = text.rsplit_once('=').ok_or_else(|| format!("`{text}` is not NAME=REPORT"))?;
    Ok((name.to_owned(), file.into()))
}

fn main() -> ExitCode {
    let arguments = CommandLine::parse();
    cli::main(|out| {
        let mut runs = Vec::new();
        for (name, file) in &arguments.runs {
            let text = fs::read_to_string(file).with_context(|| file.display().to_string())?;
            let report: Report = serde_json::from_str(&text).with_context(|| file.display().to_string())?;
            runs.push((name.clone(), report));
        }
        let document = fs::read_to_string(&arguments.document)
            .with_context(|| format!("can't read {}", arguments.document.display()))?;
        let (before, rest) =
            document.split_once(MARKS[0]).context("the document has no mark where the table begins")?;
        let (_, after) = rest.split_once(MARKS[1]).context("the document has no mark where the table ends")?;
        let text = format!("{before}{}\n{}\n{}{after}", MARKS[0], table(&runs), MARKS[1]);
        fs::write(&arguments.document, text)?;
        writeln!(out, "{}", arguments.document.display())?;
        Ok(if runs.iter().all(|(_, report)| report.failed == 0) { Status::Success } else { Status::Failure })
    })
}

/// One row for each run, and one column for each folder of cases; below, the cases that were left out, and why.
fn table(runs: &[(String, Report)]) -> String {
    let cases = || runs.iter().flat_map(|(_, report)| &report.cases);
    let folders: BTreeSet<String> = cases().map(folder).collect();
    let mut text = "| device |".to_owned();
    for folder in &folders {
        text += &format!(" {folder} |");
    }
    text += " failed | left out |\n|";
    text += &" --- |".repeat(folders.len() + 3);
    text += "\n";
    for (name, report) in runs {
        text += &format!("| {name} |");
        for folder in &folders {
            let passed = of(report, Outcome::Passed).filter(|case| self::folder(case) == *folder).count();
            text += &format!(" {passed} |");
        }
        text += &format!(" {} | {} |\n", report.failed, report.left_out);
    }
    let mut reasons: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (name, report) in runs {
        for case in of(report, Outcome::LeftOut) {
            let message = case.message.as_deref().unwrap_or_default().replace('\n', "; ");
            let file = Path::new(&case.file).file_stem().unwrap_or_default().to_string_lossy();
            reasons.entry(format!("`{file}`, {}: {message}", case.name)).or_default().insert(name.clone());
        }
    }
    if !reasons.is_empty() {
        text += "\nLeft out:\n\n";
    }
    for (reason, names) in reasons {
        let names: Vec<String> = names.into_iter().collect();
        text += &format!("* {reason} ({})\n", names.join("; "));
    }
    text
}

fn of(report: &Report, outcome: Outcome) -> impl Iterator<Item = &CaseReport> {
    report.cases.iter().filter(move |case| case.outcome == outcome)
}

/// The name of the folder that contains a case's file.
fn folder(case: &CaseReport) -> String {
    let parent = Path::new(&case.file).parent().and_then(Path::file_name);
    parent.map_or_else(|| "other".to_owned(), |name| name.to_string_lossy().replace('_', " "))
}
