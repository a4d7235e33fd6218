//! Control flow.

use super::Pc;

/// The reconvergence guarantees of the module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Convergence {
    /// `MaximallyReconvergesKHR`.
    pub maximal: bool,
    /// `SubgroupUniformControlFlowKHR`.
    pub subgroup_uniform: bool,
}

/// A basic block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// The block's first instruction.
    pub start: Pc,
    /// The loops around it, outermost first: indices of [`Code::loops`]. A loop contains its header but not its merge
    /// block.
    pub loops: Vec<u32>,
    /// The successors without back edges: indices of [`Code::blocks`].
    pub forward: Vec<u32>,
    /// The number of the block's function, in the order of the module.
    pub function: u32,
}

/// A loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loop {
    /// The loop's header, an index of [`Code::blocks`].
    pub header: u32,
}
