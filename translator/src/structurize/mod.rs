//! Turns an arbitrary control-flow graph into a tree of sequences, ifs and loops, as SPIR-V and masked execution want it.
//!
//! Knows nothing of PTX or SPIR-V: block numbers go in, a tree over the same numbers comes out. Every reachable block stands in the
//! tree exactly once (no code is duplicated), irreducible graphs included. The way, after Bahmann, Reissmann, Jahre and Meyer,
//! "Perfect Reconstructability of Control Flow from Demand Dependence Graphs" (ACM TACO 2015):
//!
//! 1. `loops`: strongly connected components become loops, and again inside each of them, without the edges back to its entries.
//!    What is left in each loop, and outside of all, is an acyclic *region* in which each inner loop counts as one item.
//! 2. `region`: each region is put in topological order.
//! 3. `flow`: the dominator tree of each region is found. What one side of a branch dominates becomes an arm of its `If`; everything else that
//!    the branching item dominates *follows* the `If`. Where several ways lead on, a selector variable, set where the edge leaves its
//!    block, says which of the followers comes next.
//! 4. `build`: writes the tree down.
//! 5. `verify`: checks a tree against its graph, edge by edge, without trust in the others.
//!
//! There is one selector for each loop depth at most, and one for the entries of irreducible loops, because a selector only lives from
//! the end of one block to the start of the next. Its value is a block number: that of the item where control resumes in the region (for
//! a loop the first of its entries), or the number of blocks in the graph for leaving the region altogether.
//!
//! Nothing here recurses, and the work is O(n log n) for a bounded depth of loops.

mod build;
mod flow;
mod loops;
mod region;
#[cfg(test)]
mod tests;
mod verify;

pub use verify::verify;

/// The deepest nesting of [`Node::If`] and [`Node::Loop`] that [`structurize`] gives.
///
/// SPIR-V's universal limits allow a control-flow nesting depth of 1,023. It also bounds the stack of whoever walks a tree recursively,
/// such as the compiler's own code that drops one.
pub const MAX_DEPTH: usize = 1023;

/// A control-flow graph. A node is a basic block by number; block 0 is the entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    /// How each block ends.
    pub blocks: Vec<Terminator>,
}

/// How a block ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Terminator {
    /// The thread ends.
    Exit,
    /// Control goes on in another block.
    Goto(u32),
    /// Control goes on in one of two blocks, by a condition that belongs to this block. The same block twice is a [`Terminator::Goto`].
    Branch {
        /// Where to go if the condition holds.
        then: u32,
        /// Where to go if it doesn't.
        otherwise: u32,
    },
}

/// A part of the structured program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// Executes the straight-line code of the block.
    Block(u32),
    /// Gives a selector variable a value. A thread has its own.
    Set {
        /// Which, below [`Tree::selectors`].
        selector: u32,
        /// The constant.
        value: u32,
    },
    /// Executes one of two lists, each of which may be empty, though not both.
    If {
        /// What decides.
        condition: Condition,
        /// Executed if the condition holds.
        then: Vec<Node>,
        /// Executed if it doesn't.
        otherwise: Vec<Node>,
    },
    /// Repeats the list for ever, until [`Node::Break`].
    Loop(Vec<Node>),
    /// Leaves the innermost [`Node::Loop`]. Always the last of its list.
    Break,
}

/// What an [`Node::If`] asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// The condition that the block computed when it was last executed. Its [`Node::Block`] stands before the `If`, in the same list or
    /// one around it with no loop between, and no other block is executed between the two.
    Branch(u32),
    /// Whether a selector has a value. It has been set since the last block was executed.
    Selector {
        /// Which, below [`Tree::selectors`].
        selector: u32,
        /// The value asked for.
        equals: u32,
    },
}

/// A structured program. The thread ends where the list does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// What is executed, in order.
    pub nodes: Vec<Node>,
    /// How many selector variables there are.
    pub selectors: u32,
}

/// Why a graph can't be restructured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The tree would be deeper than [`MAX_DEPTH`].
    #[error("control flow is nested more than {MAX_DEPTH} levels deep")]
    TooDeep,
    /// A terminator names a block that isn't there, or there is none at all.
    #[error("there is no block {0} in the control-flow graph")]
    Malformed(u32),
}

impl Terminator {
    /// The blocks that may come next: none, one, or two different ones, the `then` first.
    fn successors(self) -> impl Iterator<Item = u32> + Clone {
        let (first, second) = match self {
            Self::Exit => (None, None),
            Self::Goto(target) => (Some(target), None),
            Self::Branch { then, otherwise } => (Some(then), (then != otherwise).then_some(otherwise)),
        };
        first.into_iter().chain(second)
    }
}

impl Graph {
    /// The number of blocks, once it is known that there are any and that all targets are among them.
    fn checked_len(&self) -> Result<u32, Error> {
        let len = u32::try_from(self.blocks.len()).map_err(|_| Error::Malformed(u32::MAX))?;
        let bad = self.blocks.iter().flat_map(|terminator| terminator.successors()).find(|&target| target >= len);
        match bad {
            Some(target) => Err(Error::Malformed(target)),
            None if len == 0 => Err(Error::Malformed(0)),
            None => Ok(len),
        }
    }
}

/// Restructures a graph. Blocks that can't be reached from block 0 are left out; the result depends on nothing but the graph.
///
/// All exits meet at the end of the outermost list. Loops without exit are loops without [`Node::Break`]. A natural loop comes out as
/// `Loop[head, If(head) { } else { Break }, body]`: where one arm breaks, what would be in the other stands after the `If` instead.
/// Code on the way out of a loop stands after the loop.
///
/// # Errors
/// [`Error::Malformed`] for a bad block number, [`Error::TooDeep`] when the tree would be deeper than [`MAX_DEPTH`].
pub fn structurize(graph: &Graph) -> Result<Tree, Error> {
    graph.checked_len()?;
    let forest = loops::Forest::new(graph)?;
    let regions = region::lay_out(graph, &forest);
    let tree = build::build(graph, &forest, &regions)?;
    debug_assert_eq!(verify(graph, &tree), Ok(()));
    Ok(tree)
}
