//! From the graph to the structured tree: fills the tree that [`crate::structurize`] gives with the blocks' statements.

use super::graph::{BasicBlock, BlockId, Cfg, End};
use crate::diagnostic::Span;
use crate::index::IndexVec;
use crate::ir::{Block, Builder, Compare, Function, Stmt, Type, Var, any_stmt, last_mark};
use crate::structurize::{self, Condition, Graph, Node, Terminator, structurize};

/// Gives the function its body. Fails where control flow nests too deeply.
pub fn structure(function: &mut Function, cfg: Cfg) -> Result<(), structurize::Error> {
    let blocks = cfg.blocks.iter().map(|block| match block.end {
        End::Exit => Terminator::Exit,
        End::Goto(next) => Terminator::Goto(next.0),
        End::Branch { then, otherwise, .. } => Terminator::Branch { then: then.0, otherwise: otherwise.0 },
    });
    let tree = structurize(&Graph { blocks: blocks.collect() })?;
    let selectors = (0..tree.selectors).map(|_| function.var(Type::I32)).collect();
    let marks = cfg.blocks.iter().map(|block| last_mark(&block.body)).collect();
    let mut filler = Filler { function, blocks: cfg.blocks, marks, selectors };
    let mut body = Block::new();
    filler.fill(tree.nodes, &mut body);
    function.body = body;
    Ok(())
}

struct Filler<'f> {
    function: &'f mut Function,
    blocks: IndexVec<BlockId, BasicBlock>,
    /// The last mark of each block: where it branches, the branch's.
    marks: IndexVec<BlockId, Option<Option<Span>>>,
    selectors: Vec<Var>,
}

impl Filler<'_> {
    /// The tree is at most [`structurize::MAX_DEPTH`] deep, and so is this recursion.
    fn fill(&mut self, nodes: Vec<Node>, out: &mut Block) {
        for node in nodes {
            match node {
                Node::Block(number) => {
                    if let Some(block) = self.blocks.at_mut(BlockId(number)) {
                        out.append(&mut block.body);
                    }
                }
                Node::Set { selector, value } => {
                    let Some(var) = self.selectors.get(selector as usize).copied() else { continue };
                    let b = Builder::new(self.function);
                    b.set(var, b.i32(value));
                    out.append(&mut b.take_block());
                }
                Node::If { condition, then, otherwise } => {
                    let condition = match condition {
                        Condition::Branch(number) => match self.blocks.at(BlockId(number)).map(|block| block.end) {
                            Some(End::Branch { condition, .. }) => {
                                let mark = self.marks.of(BlockId(number));
                                out.extend(mark.map(Stmt::At));
                                condition
                            }
                            _ => continue,
                        },
                        Condition::Selector { selector, equals } => {
                            let Some(var) = self.selectors.get(selector as usize).copied() else { continue };
                            let b = Builder::new(self.function);
                            let value = b.get(var);
                            let condition = b.compare_const(Compare::Equal, value, u64::from(equals));
                            out.append(&mut b.take_block());
                            condition
                        }
                    };
                    let mut then_block = Block::new();
                    self.fill(then, &mut then_block);
                    let mut otherwise_block = Block::new();
                    self.fill(otherwise, &mut otherwise_block);
                    out.push(Stmt::If { condition, then: then_block, otherwise: otherwise_block });
                }
                Node::Loop(nodes) => {
                    let mut body = Block::new();
                    self.fill(nodes, &mut body);
                    out.push(Stmt::Loop(body));
                }
                Node::Break => out.push(Stmt::Break),
            }
        }
    }
}

/// Whether every barrier stands in loops only, as [`crate::sync::resolve_barriers`] promises where it merges them.
pub fn barriers_unconditional(block: &Block) -> bool {
    block.iter().all(|stmt| match stmt {
        Stmt::If { then, otherwise, .. } => !has_barrier(then) && !has_barrier(otherwise),
        Stmt::Loop(body) => barriers_unconditional(body),
        _ => true,
    })
}

fn has_barrier(block: &Block) -> bool {
    any_stmt(block, &|stmt| matches!(stmt, Stmt::Barrier(_)))
}
