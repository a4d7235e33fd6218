//! Calls of functions that the translator provides, such as `vprintf` and `malloc`, and what kernels and functions begin with.

pub(in crate::lower) mod grid;
pub(in crate::lower) mod heap;
pub mod prologue;
pub mod services;
