//! Branches to one of several blocks by a number.

use super::{BasicBlock, End};
use crate::diagnostic::Span;
use crate::ir::{Builder, Compare, Function, Var};

/// Appends blocks that go where a variable says, by halves. `cases` are numbers and blocks by rising number; any other
/// number goes to `otherwise`. Gives the first of the new blocks.
pub fn switch(
    function: &mut Function,
    blocks: &mut Vec<BasicBlock>,
    at: Option<Span>,
    var: Var,
    cases: &[(u64, u32)],
    otherwise: u32,
) -> u32 {
    let first = push(blocks);
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
                let (then, other) = (push(blocks), push(blocks));
                todo.push((then, below));
                todo.push((other, above));
                End::Branch { condition, then, otherwise: other }
            }
        };
        let body = b.block;
        if let Some(block) = blocks.get_mut(number as usize) {
            *block = BasicBlock { body, stop: None, end };
        }
    }
    first
}

fn push(blocks: &mut Vec<BasicBlock>) -> u32 {
    blocks.push(BasicBlock::default());
    u32::try_from(blocks.len() - 1).unwrap_or(u32::MAX)
}
