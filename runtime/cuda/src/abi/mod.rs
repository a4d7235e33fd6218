//! What all exported functions share: their table, errors, handles and pointers.

pub(crate) mod call;
pub(crate) mod code;
pub(crate) mod exports;
pub(crate) mod handle;
pub(crate) mod output;
pub(crate) mod raw;
pub(crate) mod sync;
pub(crate) mod thread_list;
pub(crate) mod trace;
