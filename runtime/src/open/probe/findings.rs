//! Results of the self-test: facts about a device, and outcomes of single attempts.

use ptx2spv_translator::target::Facts;
use serde::{Deserialize, Serialize};

use crate::error::Error;

/// The results of the self-test.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Findings {
    /// The facts that hold.
    pub facts: Facts,
    /// For each fact that doesn't hold, an instruction with operands on which it is wrong.
    pub seen: Vec<String>,
}

/// The outcome of testing an instruction.
pub(super) enum Attempt {
    /// All results are right.
    Right,
    /// A result is wrong, as described, or the driver stopped the kernel.
    Wrong(String),
    /// The device can't run the instruction.
    Impossible,
}

/// The error of a stopped kernel, which is a result like any other. Other errors are passed on.
pub(super) fn stopped(run: Result<(), Error>) -> Result<Option<Error>, Error> {
    match run {
        Err(error) if error.is_of_stopped_kernels() => Ok(Some(error)),
        run => run.map(|()| None),
    }
}
