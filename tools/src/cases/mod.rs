//! Launch cases: kernels with inputs and expected results, as JSON files.
//!
//! [`spec`] is the form of the file, [`prepare`] turns a case into bytes, a [`Backend`] runs it on a device, and
//! [`compare`] judges the results. The same cases run on every device, including CUDA.

pub mod argument_text;
mod backend;
mod case;
pub mod compare;
pub mod contents;
pub mod cuda;
mod cuda_images;
pub mod device;
pub mod device_images;
pub mod image_spec;
mod image_text;
pub mod images;
pub mod literal;
pub mod prepare;
pub mod record;
mod scalar;
pub mod spec;
pub mod suite;
#[cfg(test)]
mod tests;
pub mod worker;

use std::path::{Path, PathBuf};

pub use backend::{Backend, Failure, Outputs};
pub use case::{Case, Found, Verdict, find, judge};
pub use cuda::CudaBackend;
pub use device::{DeviceBackend, Steps};
pub use prepare::Prepared;
pub use scalar::Scalar;

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
    fn new(file: &Path, place: impl Into<String>, message: impl Into<String>) -> Self {
        Self { file: file.to_owned(), place: place.into(), message: message.into() }
    }
}
