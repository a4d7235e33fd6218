//! ptx2spv for programs in C, and in all languages that call C: `include/ptx2spv.h`.
//!
//! Functions return a [`Status`], and results through pointers. [`ptx2spv_error`] is the message of the last error of
//! each thread. Every object has a function that frees it and is called once; freeing a null pointer does nothing.
//! Several threads may use an object at the same time, but not while it is freed. Modules and kernels keep their device
//! alive. Texts are UTF-8 and end with a zero.
//!
//! No function panics into the caller: a panic is [`Status::Other`].

// Callers get errors, not panics.
#![cfg_attr(
    not(test),
    warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable, clippy::todo)
)]

mod device;
mod error;
mod kernel;
mod pointer;
mod translation;

pub use device::*;
pub use error::*;
pub use kernel::*;
pub use translation::*;
