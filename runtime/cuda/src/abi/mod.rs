//! What all exported functions share: their table, errors, handles and pointers.

pub(crate) mod call;
pub(crate) mod code;
pub(crate) mod handle;
pub(crate) mod raw;
pub(crate) mod sync;
pub(crate) mod trace;
