//! A kernel on its way through the passes, and the settings of the passes.

use std::collections::BTreeSet;
use std::fmt;

use crate::cfg::{self, Cfg, Graph};
use crate::diagnostic::Span;
use crate::ir::{self, Function, ParseError, Stage};
use crate::legalize::{Allocations, Lengths};
use crate::policy::Policy;
use crate::sync::{Resolved, RoundsLeft, SavedLayout, SuspendedLoops};
use crate::warp::Blocks;
use ptx2spv_interface::{LoopSuspension, Status, push_constant};

/// The bit that separates a kernel's number from its version for large blocks. No text has this many kernels.
const LANES_SHIFT: u32 = 24;

/// A kernel between lowering and emission. Its `Display` is the text form of its graph or tree.
#[derive(Clone, Debug, Default)]
pub struct Unit {
    /// Values, variables and, from [`Stage::Tree`] on, statements.
    pub function: Function,
    /// The control-flow graph; empty from [`Stage::Tree`] on.
    pub graph: Cfg,
    /// The result of resolving the barriers.
    pub(super) resolved: Resolved,
    /// Whether blocks may wait for each other.
    pub(super) waits: bool,
    /// Whether loops may take more rounds than the driver allows.
    pub(super) has_long_loops: bool,
    /// The rounds of threads that pause in its long loops, if they do.
    pub(super) rounds: Option<RoundsLeft>,
    /// The result of suspending threads in the kernel's long loops, if they are suspended there.
    pub(super) suspended: Option<SuspendedLoops>,
    /// Whether the kernel's long loops stay as they are, though threads were to be suspended there: then the rest of
    /// the passes would be for nothing.
    pub(super) leaves_loops: bool,
    /// The needs of launches whose threads are suspended in loops, if they are.
    pub(super) suspends_in_loops: Option<LoopSuspension>,
    /// Offsets of the push constants that are pointers.
    pub(super) pointers: BTreeSet<u32>,
    /// The places that reports name.
    pub(super) reports: Vec<Option<Span>>,
}

impl Unit {
    /// A kernel at [`Stage::Graph`].
    pub fn of_graph(function: Function, graph: Cfg) -> Self {
        Self { function, graph, ..Self::default() }
    }

    /// A kernel at [`Stage::Tree`] or further.
    pub fn of_tree(function: Function) -> Self {
        Self { function, ..Self::default() }
    }

    /// Reads a graph.
    ///
    /// # Errors
    /// [`ParseError`].
    pub fn parse_graph(text: &str) -> Result<Self, ParseError> {
        let (function, graph) = Cfg::parse(text)?;
        Ok(Self::of_graph(function, graph))
    }

    /// Reads a tree.
    ///
    /// # Errors
    /// [`ParseError`].
    pub fn parse_tree(text: &str) -> Result<Self, ParseError> {
        Ok(Self::of_tree(Function::parse(text)?))
    }

    /// Returns the first broken rule of a stage in words.
    ///
    /// # Errors
    /// The rule.
    pub fn verify(&self, stage: Stage) -> Result<(), String> {
        match stage {
            Stage::Graph | Stage::Uniform => cfg::verify(&self.function, &self.graph, stage),
            Stage::Tree | Stage::Mapped | Stage::Legal => ir::verify_at(&self.function, stage),
        }
    }

    /// The layout of the state that its suspended threads or blocks save, if they can be suspended.
    pub(super) fn saved(&self) -> Option<SavedLayout> {
        self.suspended.map(|suspended| suspended.saved).or(self.resolved.saved)
    }

    /// Offsets of the push constants that are pointers, once they have been found.
    pub fn pointers(&self) -> &BTreeSet<u32> {
        &self.pointers
    }

    /// The number of statements, those of nested lists included.
    pub fn size(&self) -> usize {
        let blocks: usize = self.graph.blocks.iter().map(|block| ir::size(&block.body)).sum();
        let helpers: usize = self.function.helpers.iter().map(|helper| ir::size(&helper.function.body)).sum();
        blocks + helpers + ir::size(&self.function.body)
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.graph.blocks.is_empty() {
            self.function.fmt(f)
        } else {
            Graph { function: &self.function, cfg: &self.graph }.fmt(f)
        }
    }
}

/// The inputs of the passes.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'a> {
    /// The decisions about the device.
    pub policy: &'a Policy,
    /// The number of the architecture that the PTX is for, such as 70.
    pub architecture: Option<u32>,
    /// Threads of the kernel's blocks in x, y and z, if it says so.
    pub required_block: Option<[u32; 3]>,
    /// The blocks that the kernel must be able to take.
    pub blocks: Blocks,
    /// The kernel's position among those of its module.
    pub kernel: u32,
    /// Whether this is one of several versions for blocks of different sizes.
    pub sized: bool,
    /// The record for reports of faults, if a kernel may report one.
    pub status: Option<Status>,
    /// Offset of the locks that stand in for 64-bit atomics, if a kernel may need them.
    pub locks: Option<u64>,
    /// Offset in the push constants of the address of the launch's scratch memory.
    pub scratch: u32,
    /// Bytes of dynamic shared memory of the launches.
    pub dynamic_shared_bytes: u32,
    /// Whether to mark kernels for the reference device's checks.
    pub checks: bool,
    /// Offset in the push constants of the address of the launch's workspace, if the launch is cooperative.
    pub workspace: Option<u32>,
    /// Offset in the push constants of the workspace's address, if threads are to be suspended in long loops.
    pub loop_workspace: Option<u32>,
    /// Offset in the push constants of the workspace's address, if threads are to pause in long loops, so that their
    /// blocks are suspended.
    pub pauses: Option<u32>,
    /// The launch's data about live allocations, if accesses are checked.
    pub allocations: Option<Allocations>,
    /// Lengths of operations that the module's other kernels have found.
    pub lengths: Option<&'a Lengths>,
}

impl<'a> Settings<'a> {
    /// The settings for a kernel of its own that says nothing about its blocks.
    pub fn new(policy: &'a Policy) -> Self {
        Self {
            policy,
            architecture: None,
            required_block: None,
            blocks: Blocks::Fitting,
            kernel: 0,
            sized: false,
            status: None,
            locks: None,
            scratch: push_constant::PARAMS_ADDRESS,
            dynamic_shared_bytes: 0,
            checks: false,
            workspace: None,
            loop_workspace: None,
            pauses: None,
            allocations: None,
            lengths: None,
        }
    }

    /// Offset in the push constants of the address of the workspace that threads save their state in, if they may be
    /// suspended.
    pub(super) fn saves(&self) -> Option<u32> {
        self.workspace.or(self.loop_workspace).or(self.pauses)
    }

    /// Threads of the kernel's blocks, if it says so.
    pub(super) fn required_threads(&self) -> Option<u64> {
        self.required_block.map(|sizes| sizes.into_iter().map(u64::from).fold(1, u64::saturating_mul))
    }

    /// The kernel's number in reports. Versions for blocks of different sizes may report from other places.
    pub(super) fn number(&self, function: &Function) -> u32 {
        let lanes = function.packing.filter(|_| self.sized).map_or(1, |packing| packing.lanes);
        self.kernel | lanes.trailing_zeros() << LANES_SHIFT
    }
}
