//! Basic blocks and their ends.

use std::fmt;

use super::stop::{Barrier, Stop};
use crate::index::{Index, IndexVec, indices};
use crate::ir::{Block, Stmt, Value};

/// A block of a [`Cfg`], by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockId(pub u32);

indices!(BlockId);

impl BlockId {
    /// The block where a kernel begins.
    pub const ENTRY: BlockId = BlockId(0);
}

impl fmt::Display for BlockId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "b{}", self.0)
    }
}

/// A control-flow graph; block 0 is the entry.
#[derive(Clone, Debug, Default)]
pub struct Cfg {
    pub blocks: IndexVec<BlockId, BasicBlock>,
}

impl Cfg {
    /// The blocks that may follow a block.
    pub fn successors(&self, block: BlockId) -> impl Iterator<Item = BlockId> + use<> {
        self.blocks.at(block).map_or(End::Exit, |block| block.end).successors()
    }

    /// The blocks that each block may follow.
    pub fn predecessors(&self) -> IndexVec<BlockId, Vec<BlockId>> {
        let mut predecessors = IndexVec::filled(Vec::new(), self.blocks.len());
        for (number, block) in self.blocks.enumerated() {
            for next in block.end.successors() {
                if let Some(list) = predecessors.at_mut(next) {
                    list.push(number);
                }
            }
        }
        predecessors
    }

    /// All blocks, each before those that may follow it, except on the way back in a loop. Those that can't be reached come last.
    pub fn reverse_postorder(&self) -> Vec<BlockId> {
        let mut reached = IndexVec::filled(false, self.blocks.len());
        let mut order = Vec::with_capacity(self.blocks.len());
        // The blocks on the path to where the search is, each with those after it that have not been looked at.
        let mut path = Vec::new();
        let mut next = Some(BlockId::ENTRY);
        loop {
            if let Some(reached) = next.and_then(|next| reached.at_mut(next)).filter(|reached| !**reached) {
                *reached = true;
                path.extend(next.map(|block| (block, self.successors(block))));
            }
            let Some((block, successors)) = path.last_mut() else { break };
            next = successors.next();
            if next.is_none() {
                order.push(*block);
                path.pop();
            }
        }
        order.reverse();
        order.extend(self.blocks.indices().filter(|block| reached.at(*block) == Some(&false)));
        order
    }

    /// Whether each thread that executes a block reports a fault there, so that the launch fails.
    pub fn faults(&self, block: BlockId) -> bool {
        let body = self.blocks.at(block).map_or(&[][..], |block| &block.body);
        body.iter().any(|stmt| matches!(stmt, Stmt::Report(..)))
    }

    /// Empties the blocks that can't be reached.
    pub fn clear_unreachable(&mut self) {
        let mut reached = vec![false; self.blocks.len()];
        let mut todo = vec![BlockId::ENTRY];
        while let Some(block) = todo.pop() {
            if let Some(reached) = reached.get_mut(block.position()).filter(|reached| !**reached) {
                *reached = true;
                todo.extend(self.successors(block));
            }
        }
        for (block, _) in self.blocks.iter_mut().zip(reached).filter(|(_, reached)| !*reached) {
            *block = BasicBlock::default();
        }
    }
}

/// Straight-line statements and where control goes after them.
#[derive(Clone, Debug, Default)]
pub struct BasicBlock {
    pub body: Block,
    /// The stop before the block's end; [`resolve_barriers`](crate::sync::resolve_barriers) replaces stops.
    pub stop: Option<Stop>,
    /// The jump to the next block, or the exit.
    pub end: End,
}

impl BasicBlock {
    /// The barrier that the block ends with.
    pub fn barrier(&self) -> Option<&Barrier> {
        match &self.stop {
            Some(Stop::Barrier(barrier)) => Some(barrier),
            _ => None,
        }
    }
}

/// The end of a basic block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum End {
    /// The thread ends.
    #[default]
    Exit,
    /// Goes on there.
    Goto(BlockId),
    /// Goes on in one of two blocks.
    Branch {
        /// A `Bool` that this block has computed; its last mark is the branch's.
        condition: Value,
        /// If true.
        then: BlockId,
        /// If false.
        otherwise: BlockId,
    },
}

impl End {
    /// The same end with every successor replaced by the result of `map`.
    pub fn redirected(self, map: impl Fn(BlockId) -> BlockId) -> End {
        match self {
            End::Exit => End::Exit,
            End::Goto(next) => End::Goto(map(next)),
            End::Branch { condition, then, otherwise } => {
                End::Branch { condition, then: map(then), otherwise: map(otherwise) }
            }
        }
    }

    /// The blocks that may follow.
    pub fn successors(self) -> impl Iterator<Item = BlockId> + use<> {
        let (first, second) = match self {
            End::Exit => (None, None),
            End::Goto(next) => (Some(next), None),
            End::Branch { then, otherwise, .. } => (Some(then), Some(otherwise)),
        };
        first.into_iter().chain(second)
    }
}
