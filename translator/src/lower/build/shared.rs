//! Functions that are called too often to be inlined, and choices that calls through registers share: each has one copy in the kernel's graph.
//!
//! They are not recursive, so a thread is in such a function once at most. Its registers, its parameters and the number of the call to
//! return to are variables, and need no stack.

use super::Build;
use super::recursion::Slot;
use crate::cfg::switch::switch_among;
use crate::cfg::{BasicBlock, BlockId, End};
use crate::index::{IndexVec, number};
use crate::ir::{Function, Stmt, Type, Var};
use crate::lower::layout::call_graph::Code;

/// The one copy of a function or a choice.
pub(super) struct Shared {
    pub(super) code: Code,
    pub(super) entry: BlockId,
    /// Its parameters and then its results.
    pub(super) slots: Vec<Slot>,
    pub(super) returns: Returns,
}

/// The return from one copy of code to those who called it.
pub(super) struct Returns {
    /// The block that ends with the return.
    block: BlockId,
    /// The call that a thread came from, by its position in `sites`.
    pub(super) site: Var,
    /// The blocks after calls.
    sites: Vec<BlockId>,
}

impl Returns {
    /// The return at the end of a block.
    pub(super) fn from(function: &mut Function, block: BlockId) -> Returns {
        Returns { block, site: function.var(Type::I32), sites: Vec::new() }
    }

    /// Adds a call after which control goes to a block. Gives the call's number.
    pub(super) fn add_site(&mut self, back: BlockId) -> u32 {
        let site = number(self.sites.len());
        self.sites.push(back);
        site
    }

    /// Makes the return go to where each call came from, once all calls are built.
    pub(super) fn finish(self, function: &mut Function, blocks: &mut IndexVec<BlockId, BasicBlock>) {
        let cases: Vec<(u64, BlockId)> = (0..).zip(self.sites.iter().copied()).collect();
        let Some(first) = switch_among(function, blocks, None, self.site, &cases) else { return };
        if let Some(block) = blocks.at_mut(self.block) {
            block.end = End::Goto(first);
        }
    }
}

impl Build<'_> {
    /// A block with code that many calls share, and the return from it.
    pub(super) fn copy(&mut self, code: Vec<Stmt>) -> (BlockId, Returns) {
        let entry = self.new_block();
        if let Some(block) = self.blocks.at_mut(entry) {
            block.body = code;
        }
        (entry, Returns::from(&mut self.function, entry))
    }
}
