//! Shared code of the test programs without Rust's harness: launch cases and a `main`.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Result, ensure};
use libtest_mimic::{Arguments, Trial};
use ptx2spv::cases::{Backend, Case, Prepared, Verdict, find, judge};

use crate::files;
use crate::program::Recorded;

/// Runs the tests that the arguments select.
pub fn main(trials: impl FnOnce() -> Result<Vec<Trial>>) -> ExitCode {
    let arguments = Arguments::from_args();
    let found = trials().and_then(|trials| {
        ensure!(!trials.is_empty(), "there is nothing to test");
        Ok(trials)
    });
    match found {
        Ok(trials) => libtest_mimic::run(&arguments, trials).exit_code(),
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

/// A launch case.
#[derive(Clone, Debug)]
pub enum Launch {
    /// A case of a file.
    Case(Arc<Case>),
    /// A random program.
    Random(Recorded),
}

/// A case by its file and its name.
pub fn case_name(case: &Case) -> String {
    format!("{}: {}", files::short_name(&case.file), case.spec.name)
}

impl Launch {
    /// All launch cases: the cases of files, then the random programs.
    ///
    /// # Errors
    /// A file can't be read, or is not a valid case file.
    pub fn all() -> Result<Vec<Self>> {
        let cases = find(&files::case_directories())?.cases.into_iter().map(|case| Self::Case(Arc::new(case)));
        Ok(cases.chain(Recorded::all().map(Self::Random)).collect())
    }

    /// The name in reports.
    pub fn name(&self) -> String {
        match self {
            Self::Case(case) => case_name(case),
            Self::Random(program) => format!("random: {}", program.name()),
        }
    }

    /// The launch with its expected outcome.
    ///
    /// # Errors
    /// The case is wrong, or a file that it names can't be read.
    pub fn prepare(&self) -> Result<Prepared> {
        match self {
            Self::Case(case) => Ok(case.prepare()?),
            Self::Random(program) => Ok(program.prepare()),
        }
    }

    /// Runs the case and judges the outcome.
    pub fn run(&self, backend: &mut dyn Backend) -> Verdict {
        match self.prepare() {
            Ok(prepared) => judge(&prepared.expectation, &backend.run(&prepared)),
            Err(error) => Verdict::Failed(error.to_string()),
        }
    }
}
