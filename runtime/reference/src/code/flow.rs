//! Control flow.

use super::{Pc, Slot};

/// The reconvergence that the module may rely on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Convergence {
    /// `MaximallyReconvergesKHR`.
    pub maximal: bool,
    /// `SubgroupUniformControlFlowKHR`.
    pub subgroup_uniform: bool,
}

/// A multiway branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switch {
    /// The value that it tests.
    pub selector: Slot,
    /// Targets by value.
    pub cases: Vec<(u64, Pc)>,
    /// Target for all other values.
    pub default: Pc,
}

/// A basic block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// Its first instruction.
    pub start: Pc,
    /// The loops around it, outermost first: indices of [`Code::loops`]. A loop's header is in it, its merge block not.
    pub loops: Vec<u32>,
    /// Blocks that control can go to next, back edges left out: indices of [`Code::blocks`].
    pub forward: Vec<u32>,
    /// Number of its function, in the order of the module.
    pub function: u32,
}

/// A loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loop {
    /// Its header, an index of [`Code::blocks`].
    pub header: u32,
}
