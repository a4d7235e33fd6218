//! Stages of kernels on their way through the passes.

use std::fmt;

/// The stage of a kernel. Each stage has the rules of those before it and its own: see [`verify`](super::verify()).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// A control-flow graph, as lowering makes it.
    Graph,
    /// A graph without stops.
    Uniform,
    /// A tree of statements.
    Tree,
    /// A tree without operations of a warp.
    Mapped,
    /// A tree that emission accepts.
    Legal,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stage::Graph => "graph",
            Stage::Uniform => "uniform",
            Stage::Tree => "tree",
            Stage::Mapped => "mapped",
            Stage::Legal => "legal",
        })
    }
}
