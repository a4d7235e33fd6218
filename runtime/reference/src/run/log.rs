//! The log of a traced invocation.

use std::sync::{Mutex, PoisonError};

use crate::code::Pc;

/// The log of an invocation.
#[derive(Debug, Default)]
pub(crate) struct Log {
    pub(super) lines: Vec<String>,
    /// The instruction at the end of the last line, and the length of the line before an address that the next
    /// instruction may still adjust.
    pub(super) last: Option<(Pc, Option<usize>)>,
}

impl Log {
    /// Takes the lines.
    pub fn take(log: &Mutex<Self>) -> Vec<String> {
        std::mem::take(&mut *log.lock().unwrap_or_else(PoisonError::into_inner)).lines
    }
}
