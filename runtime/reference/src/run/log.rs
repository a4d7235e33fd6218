//! The log of an invocation that is traced.

use std::sync::{Mutex, PoisonError};

use crate::code::Pc;

/// The log of an invocation.
#[derive(Debug, Default)]
pub(crate) struct Log {
    pub(super) lines: Vec<String>,
    /// The instruction that the last line got to, and how long the line was before an address in it that the next
    /// instruction may only add to.
    pub(super) last: Option<(Pc, Option<usize>)>,
}

impl Log {
    /// The lines until now, which are then forgotten.
    pub fn take(log: &Mutex<Self>) -> Vec<String> {
        std::mem::take(&mut *log.lock().unwrap_or_else(PoisonError::into_inner)).lines
    }
}
