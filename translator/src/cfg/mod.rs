//! The control-flow graph of a kernel, with calls inlined and instructions lowered, as [`crate::lower`] makes it.
//!
//! [`crate::sync`] gives stops a form that Vulkan has, and [`tree`] turns the graph into the structured form with the help of
//! [`crate::structurize`].

pub mod dependence;
mod graph;
mod joins;
pub mod liveness;
pub mod loops;
mod stop;
pub mod switch;
mod text;
mod tree;
mod verify;

pub use graph::{BasicBlock, BlockId, Cfg, End};
pub use joins::Joins;
pub use stop::{Barrier, Kind, Red, Reduction, Stop};
pub use text::Graph;
pub use tree::{barriers_unconditional, structure};
pub use verify::verify;
