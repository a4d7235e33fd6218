//! Calls of functions that the translator provides, such as `vprintf` and `malloc`, and the prologues of kernels and
//! functions.

pub(in crate::lower) mod grid;
pub(in crate::lower) mod heap;
pub mod prologue;
pub mod services;
