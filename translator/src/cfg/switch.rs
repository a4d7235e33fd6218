//! Branches to one of several blocks by a number.

use super::graph::{BasicBlock, BlockId, End};
use crate::diagnostic::Span;
use crate::index::IndexVec;
use crate::ir::{Builder, Compare, Function, Var};

/// Appends blocks that go where a variable says, by halves, if the variable always holds the number of a case. `cases` are numbers and
/// blocks by rising number. So no path leads elsewhere, the paths to the cases join where those of the program do, and no case has a test
/// of its own. Gives the first of the new blocks, or none without cases.
pub fn switch_among(
    function: &mut Function,
    blocks: &mut IndexVec<BlockId, BasicBlock>,
    at: Option<Span>,
    var: Var,
    cases: &[(u64, BlockId)],
) -> Option<BlockId> {
    halves(function, blocks, (at, var), cases, None)
}

/// Appends blocks that go where a variable says, by halves. `cases` are numbers and blocks by rising number; any other
/// number goes to `otherwise`. Gives the first of the new blocks.
pub fn switch(
    function: &mut Function,
    blocks: &mut IndexVec<BlockId, BasicBlock>,
    at: Option<Span>,
    var: Var,
    cases: &[(u64, BlockId)],
    otherwise: BlockId,
) -> BlockId {
    halves(function, blocks, (at, var), cases, Some(otherwise)).unwrap_or(otherwise)
}

fn halves(
    function: &mut Function,
    blocks: &mut IndexVec<BlockId, BasicBlock>,
    (at, var): (Option<Span>, Var),
    cases: &[(u64, BlockId)],
    otherwise: Option<BlockId>,
) -> Option<BlockId> {
    let mut todo = Vec::new();
    let first = place(blocks, cases, otherwise, &mut todo);
    while let Some((number, cases)) = todo.pop() {
        let b = Builder::new(function);
        b.at(at);
        let value = b.get(var);
        let (condition, then, other) = match (cases, otherwise) {
            (&[(case, target)], otherwise) => (b.compare_const(Compare::Equal, value, case), Some(target), otherwise),
            _ => {
                let (below, above) = cases.split_at(cases.len() / 2);
                let pivot = above.first().map_or(0, |(case, _)| *case);
                let condition = b.compare_const(Compare::LessUnsigned, value, pivot);
                let [then, other] = [below, above].map(|half| place(blocks, half, otherwise, &mut todo));
                (condition, then, other)
            }
        };
        let (Some(then), Some(otherwise)) = (then, other) else { continue };
        let body = b.into_block();
        if let Some(block) = blocks.at_mut(number) {
            *block = BasicBlock { body, stop: None, end: End::Branch { condition, then, otherwise } };
        }
    }
    first
}

/// The block for a variable that holds the number of one of these cases, or none of them if there is an `otherwise`: a
/// new block, if a test is needed.
fn place<'c>(
    blocks: &mut IndexVec<BlockId, BasicBlock>,
    cases: &'c [(u64, BlockId)],
    otherwise: Option<BlockId>,
    todo: &mut Vec<(BlockId, &'c [(u64, BlockId)])>,
) -> Option<BlockId> {
    match (cases, otherwise) {
        ([], otherwise) => otherwise,
        ([(_, target)], None) => Some(*target),
        _ => {
            let block = blocks.push(BasicBlock::default());
            todo.push((block, cases));
            Some(block)
        }
    }
}
