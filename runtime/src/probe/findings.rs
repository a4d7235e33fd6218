//! What the self-test finds: facts about a device, and what came of single attempts.

use ptx2spv_translator::target::Facts;
use serde::{Deserialize, Serialize};

use crate::error::Error;

/// What the self-test found out.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Findings {
    /// What holds.
    pub facts: Facts,
    /// For what doesn't hold, an instruction with operands that it is wrong on.
    pub seen: Vec<String>,
}

/// What came of an instruction.
pub(super) enum Attempt {
    /// It gives what it should on all its operands.
    Right,
    /// It doesn't, for instance here, or the driver stopped its kernel.
    Wrong(String),
    /// The device can't run it.
    Impossible,
}

/// Why a kernel was stopped, if that is what went wrong with it: an answer about the device like any other.
pub(super) fn stopped(run: Result<(), Error>) -> Result<Option<Error>, Error> {
    match run {
        Err(error) if error.is_of_stopped_kernels() => Ok(Some(error)),
        run => run.map(|()| None),
    }
}
