//! Finds launch cases in files and directories, and judges their outcome.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use super::compare::compare;
use super::contents_spec::Tables;
use super::prepare::{Expectation, Prepared, Subject, prepare};
use super::spec::{self, CaseSpec};
use super::{Backend, CaseError, Failure, Outputs, Ptx, Result};

/// A case and its origin.
#[derive(Clone, Debug)]
pub struct Case {
    /// The file that contains the case.
    pub file: PathBuf,
    /// The JSON path in the file: `$`, or `$[index]` in an array.
    pub path: String,
    /// The case as written.
    pub spec: CaseSpec,
    /// The tables of the file.
    pub tables: Arc<Tables>,
    /// The PTX, once a case of the file has read it.
    pub(super) ptx: Arc<OnceLock<Ptx>>,
}

/// The verdict on a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The outcome is as expected.
    Passed,
    /// The outcome is not as expected, for this reason.
    Failed(String),
    /// The device lacks resources: which one, how much the case needs, and how much there is.
    LeftOut(String),
}

impl Case {
    /// Reads all cases of a file. Names must be unique, because reports identify cases by name.
    pub fn load(file: &Path) -> Result<Vec<Case>> {
        let loaded = spec::load(file)?;
        let mut names = HashSet::new();
        let mut cases = Vec::new();
        let mut modules = HashMap::<&Path, Arc<OnceLock<Ptx>>>::new();
        for (index, spec) in loaded.cases.iter().enumerate() {
            let path = loaded.path(index);
            if !names.insert(spec.name.clone()) {
                let message = format!("there is another case `{}` in this file", spec.name);
                return Err(CaseError::new(file, path + ".name", message));
            }
            let (tables, ptx) = (Arc::clone(&loaded.tables), Arc::clone(modules.entry(&spec.ptx).or_default()));
            cases.push(Case { file: file.to_owned(), path, spec: spec.clone(), tables, ptx });
        }
        Ok(cases)
    }

    /// The name in reports: `file:name`.
    pub fn label(&self) -> String {
        format!("{}:{}", self.file.display(), self.spec.name)
    }

    /// Reads all files that the case refers to, and checks the case.
    pub fn prepare(&self) -> Result<Prepared> {
        prepare(&self.spec, &self.tables, &self.file, &self.path, &self.ptx)
    }

    /// Prepares and runs the case, and judges the outcome.
    pub fn run(&self, backend: &mut dyn Backend) -> Verdict {
        match self.prepare() {
            Ok(prepared) => judge(&prepared.expectation, &backend.run(&prepared)),
            Err(error) => Verdict::Failed(error.to_string()),
        }
    }
}

/// Judges the outcome of a run. A case without expectations fails, because it would pass whatever the kernel does.
pub fn judge(expectation: &Expectation, outcome: &Result<Outputs, Failure>) -> Verdict {
    let complaint = match (expectation, outcome) {
        (Expectation::Error(part), Err(Failure::Refused(message) | Failure::TooLarge(message)))
            if message.contains(part) =>
        {
            None
        }
        (Expectation::Results(_), Err(Failure::TooLarge(message))) => return Verdict::LeftOut(message.clone()),
        (Expectation::Error(part), Ok(_)) => Some(format!("it ran, but an error with `{part}` was expected")),
        (Expectation::Error(part), Err(failure)) => Some(format!("expected an error with `{part}`, got: {failure}")),
        (Expectation::Results(_), Err(failure)) => Some(failure.to_string()),
        (Expectation::Results(checks), Ok(_)) if checks.is_empty() => Some("it expects nothing".to_owned()),
        (Expectation::Results(checks), Ok(outputs)) => {
            let mismatches = checks.iter().filter_map(|check| compare(check, outputs.bytes(&check.subject)));
            let mut texts: Vec<String> = mismatches.map(|mismatch| mismatch.to_string()).collect();
            texts.extend(outputs.findings.iter().map(|finding| finding.to_string()));
            (!texts.is_empty()).then(|| texts.join("\n"))
        }
    };
    complaint.map_or(Verdict::Passed, Verdict::Failed)
}

impl Outputs {
    /// The contents of a buffer, variable or image; empty if it was not read.
    pub fn bytes(&self, subject: &Subject) -> &[u8] {
        let bytes = match subject {
            Subject::Arg(index) => self.buffers.get(*index).and_then(Option::as_ref),
            Subject::Global(name) => self.globals.get(name),
            Subject::Image(name) => self.images.get(name),
        };
        bytes.map_or(&[], Vec::as_slice)
    }
}

/// Cases found under a list of paths.
#[derive(Debug, Default)]
pub struct Found {
    /// The cases, by path and then in file order.
    pub cases: Vec<Case>,
    /// JSON files in directories that contain no cases.
    pub skipped: Vec<PathBuf>,
}

/// Loads the given files, and the case files under the given directories. In directories, JSON files without an object
/// that has an `entry` key are skipped. Files given by name are always treated as case files.
pub fn find(paths: &[PathBuf]) -> Result<Found> {
    let mut found = Found::default();
    for path in paths {
        if path.is_dir() {
            walk(path, &mut found)?;
        } else {
            found.cases.extend(Case::load(path)?);
        }
    }
    Ok(found)
}

fn walk(directory: &Path, found: &mut Found) -> Result {
    let unreadable = |error: std::io::Error| CaseError::new(directory, "", error.to_string());
    let mut paths = Vec::new();
    for entry in fs::read_dir(directory).map_err(unreadable)? {
        paths.push(entry.map_err(unreadable)?.path());
    }
    paths.sort();
    for path in paths {
        // A link to a directory could lead to a cycle.
        if path.is_dir() && !path.is_symlink() {
            walk(&path, found)?;
        } else if path.is_file() && path.extension().is_some_and(|extension| extension == "json") {
            if holds_cases(&path)? {
                found.cases.extend(Case::load(&path)?);
            } else {
                found.skipped.push(path);
            }
        }
    }
    Ok(())
}

fn holds_cases(file: &Path) -> Result<bool> {
    let text = fs::read_to_string(file).map_err(|error| CaseError::new(file, "", error.to_string()))?;
    let value: Value = serde_json::from_str(&text).map_err(|error| CaseError::new(file, "", error.to_string()))?;
    Ok(match value.get("cases").unwrap_or(&value) {
        Value::Array(list) => list.iter().any(|item| item.get("entry").is_some()),
        value => value.get("entry").is_some(),
    })
}
