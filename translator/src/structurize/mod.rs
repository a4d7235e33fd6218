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
mod graph;
mod loops;
mod region;
#[cfg(test)]
mod tests;
mod tree;
mod verify;

pub use graph::{Error, Graph, Terminator};
pub use tree::{Condition, MAX_DEPTH, Node, Tree};
pub use verify::verify;

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
