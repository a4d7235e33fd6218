//! The part of the CUDA driver API that reference runs need. The library is loaded at run time, so that building needs
//! no CUDA.
//!
//! Everything belongs to a [`Context`]. After a kernel's fault, every call in its context returns that error, so that a
//! new context is needed to continue.

mod api;
mod context;
mod error;
mod pinned;
pub mod textures;

pub use context::{BoundFunction, Context, Function, Launch, Memory, Module};
pub use error::CudaError;
pub use pinned::Pinned;
