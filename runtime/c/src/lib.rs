//! ptx2spv for programs in C, and in all languages that call C: `include/ptx2spv.h`.
//!
//! Functions give a [`Status`], and results through pointers. What went wrong is told by [`ptx2spv_error`], for each thread. Objects
//! are freed by the function for their kind, once; a null pointer is freed by doing nothing. An object may be used by several threads
//! at the same time, but not while it is freed. Modules and kernels keep their device alive. Texts are UTF-8 and end with a zero.
//!
//! No function panics into the caller: a panic is [`Status::Other`].

mod device;
mod error;
mod kernel;
mod pointer;
mod translation;

pub use device::*;
pub use error::*;
pub use kernel::*;
pub use translation::*;
