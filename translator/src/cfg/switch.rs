//! Branches to one of several blocks by a number.

use super::graph::{BasicBlock, BlockId, End};
use crate::diagnostic::Span;
use crate::index::IndexVec;
use crate::ir::{Builder, Compare, Function, Var};

/// Appends blocks that go where a variable says, as [`switch`] does, if the variable always holds the number of a case. So no path
/// leads elsewhere, and the paths to the cases join where those of the program do. Gives the first of the new blocks, or none without
/// cases.
pub fn switch_among(
    function: &mut Function,
    blocks: &mut IndexVec<BlockId, BasicBlock>,
    at: Option<Span>,
    var: Var,
    cases: &[(u64, BlockId)],
) -> Option<BlockId> {
    let ((_, last), others) = cases.split_last()?;
    Some(switch(function, blocks, at, var, others, *last))
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
    let first = blocks.push(BasicBlock::default());
    let mut todo = vec![(first, cases)];
    while let Some((number, cases)) = todo.pop() {
        let mut b = Builder::new(function);
        b.at(at);
        let end = match *cases {
            [] => End::Goto(otherwise),
            [(case, target)] => {
                let value = b.get(var);
                let condition = b.compare_const(Compare::Equal, value, case);
                End::Branch { condition, then: target, otherwise }
            }
            _ => {
                let (below, above) = cases.split_at(cases.len() / 2);
                let pivot = above.first().map_or(0, |(case, _)| *case);
                let value = b.get(var);
                let condition = b.compare_const(Compare::LessUnsigned, value, pivot);
                let [then, other] = [(); 2].map(|()| blocks.push(BasicBlock::default()));
                todo.push((then, below));
                todo.push((other, above));
                End::Branch { condition, then, otherwise: other }
            }
        };
        let body = b.block;
        if let Some(block) = blocks.at_mut(number) {
            *block = BasicBlock { body, stop: None, end };
        }
    }
    first
}
