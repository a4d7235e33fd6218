//! Errors in case files.

use std::path::{Path, PathBuf};

/// An error in a case file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {}{message}", file.display(), if place.is_empty() { String::new() } else { format!("{place}: ") })]
pub struct CaseError {
    /// The case file.
    pub file: PathBuf,
    /// JSON path of the wrong part, such as `$[2].args[0]`; empty for the whole file.
    pub place: String,
    /// The error.
    pub message: String,
}

impl CaseError {
    pub(super) fn new(file: &Path, place: impl Into<String>, message: impl Into<String>) -> Self {
        Self { file: file.to_owned(), place: place.into(), message: message.into() }
    }
}
