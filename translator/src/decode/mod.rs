//! Decoding: from syntax to a [`Program`](program::Program), by the instruction table in [`crate::isa::rows`].
//!
//! Every name is resolved, every instruction bound to its row and every operand checked against it. The meaning of
//! instructions is not known here; that is lowering's part.

mod arrays;
mod body;
pub(crate) mod combinations;
mod constants;
mod contraction;
mod driver;
mod extension;
mod function;
mod legacy;
mod module;
mod operands;
pub mod program;
mod references;
mod scope;
mod variables;
mod video;

pub use driver::decode;
pub(crate) use driver::refresh;
