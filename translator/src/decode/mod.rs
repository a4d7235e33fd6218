//! Decoding: from syntax to a [`Program`](program::Program), by the instruction table in [`crate::isa::rows`].
//!
//! Every name is resolved, every instruction bound to its row and every operand checked against it. What instructions
//! do is not known here; that is lowering's part.

mod arrays;
pub(crate) mod combinations;
pub(crate) mod function;
mod legacy;
mod module;
mod operands;
pub mod program;
mod scope;
pub mod support;
mod variables;
mod video;

pub use module::decode;
