//! Errors of this library.

use std::path::PathBuf;

use crate::clang::{CLANG_VARIABLE, OLDEST};

/// Why nothing was compiled.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no clang, or only one that is too old.
    #[error(
        "no clang {OLDEST} or newer was found\nhelp: `apt-get install clang-{OLDEST}` installs it; {CLANG_VARIABLE} or --clang names another one"
    )]
    NoClang,
    /// A program can't be run.
    #[error("{}: {error}", program.display())]
    Run {
        /// The program.
        program: PathBuf,
        /// The reason.
        error: std::io::Error,
    },
    /// A program failed, and has said why.
    #[error("{} failed:\n{output}", program.display())]
    Failed {
        /// The program.
        program: PathBuf,
        /// What it wrote.
        output: String,
    },
    /// A file can't be read or written.
    #[error("{}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: std::io::Error,
    },
    /// nvcc has no such option, or it can't be honoured.
    #[error("{option}: {reason}")]
    Option {
        /// The option as it was written.
        option: String,
        /// Why.
        reason: String,
    },
    /// The arguments don't go together.
    #[error("{0}")]
    Usage(String),
    /// Arguments of fatbinary that aren't understood.
    #[error("fatbinary: {0}")]
    FatBinary(String),
}

impl Error {
    /// Wraps a file's error.
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |error| Self::File { path, error }
    }
}
