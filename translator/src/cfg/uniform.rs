//! Which blocks of a graph all threads of the CTA execute together, by divergence analysis.
//!
//! Flow-insensitive over variables, so that it is simple and errs only towards "divergent". A value diverges if it
//! depends on the thread's place, on what atomics gave, on local, generic or volatile memory, or on a variable that
//! diverges. A variable diverges if a divergent value is assigned to it, or any value where control has diverged. Control
//! diverges behind a branch on a divergent condition, up to where all ways out of the branch meet again.
//!
//! Ordinary loads from global or shared memory at a uniform address count as uniform: a value that differed between
//! threads would come from a data race, which PTX leaves undefined for ordinary accesses.

use petgraph::Direction;
use petgraph::algo::dominators::{Dominators, simple_fast};
use petgraph::graph::{DiGraph, NodeIndex};

use super::{Cfg, End};
use crate::ir::{Block, Builtin, Function, Op, Order, Space, Stmt, Value, Warp};

/// For each block, whether threads of a CTA may execute it without the others.
pub fn divergent_blocks(function: &Function, cfg: &Cfg) -> Vec<bool> {
    let mut analysis = Analysis {
        values: vec![false; function.values.len()],
        vars: vec![false; function.vars.len()],
        blocks: vec![false; cfg.blocks.len()],
        changed: true,
    };
    let reach = Reach::new(cfg);
    let mut spread = vec![false; cfg.blocks.len()];
    while analysis.changed {
        analysis.changed = false;
        for (number, block) in cfg.blocks.iter().enumerate() {
            let diverged = analysis.blocks.get(number) == Some(&true);
            analysis.block(&block.body, diverged);
        }
        for (number, block) in cfg.blocks.iter().enumerate() {
            let End::Branch { condition, .. } = block.end else { continue };
            if analysis.value(condition) && spread.get(number) == Some(&false) {
                spread[number] = true; // `get` has shown that it exists
                reach.spread(cfg, number, &mut analysis);
            }
        }
    }
    analysis.blocks
}

/// The control-flow graph with post-dominators.
struct Reach {
    post_dominators: Dominators<NodeIndex>,
    exit: NodeIndex,
}

impl Reach {
    fn new(cfg: &Cfg) -> Self {
        let mut graph = DiGraph::<(), ()>::with_capacity(cfg.blocks.len() + 1, cfg.blocks.len() * 2);
        for _ in 0..=cfg.blocks.len() {
            graph.add_node(());
        }
        let exit = NodeIndex::new(cfg.blocks.len());
        for (number, block) in cfg.blocks.iter().enumerate() {
            let mut successors = block.end.successors().peekable();
            if successors.peek().is_none() {
                graph.add_edge(exit, NodeIndex::new(number), ());
            }
            for next in successors {
                graph.add_edge(NodeIndex::new(next as usize), NodeIndex::new(number), ());
            }
        }
        debug_assert!(graph.neighbors_directed(exit, Direction::Incoming).next().is_none());
        Self { post_dominators: simple_fast(&graph, exit), exit }
    }

    /// Marks everything between a branch and its post-dominator; a branch that can't reach an exit has none.
    fn spread(&self, cfg: &Cfg, branch: usize, analysis: &mut Analysis) {
        let meet = self.post_dominators.immediate_dominator(NodeIndex::new(branch));
        let meet = meet.filter(|meet| *meet != self.exit).map(NodeIndex::index);
        let mut seen = vec![false; cfg.blocks.len()];
        let mut todo: Vec<u32> = cfg.blocks.get(branch).into_iter().flat_map(|block| block.end.successors()).collect();
        while let Some(block) = todo.pop() {
            let block = block as usize;
            if Some(block) == meet || seen.get(block) != Some(&false) {
                continue;
            }
            seen[block] = true; // `get` has shown that it exists
            if let Some(flag) = analysis.blocks.get_mut(block) {
                analysis.changed |= !*flag;
                *flag = true;
            }
            todo.extend(cfg.blocks.get(block).into_iter().flat_map(|block| block.end.successors()));
        }
    }
}

struct Analysis {
    values: Vec<bool>,
    vars: Vec<bool>,
    blocks: Vec<bool>,
    changed: bool,
}

impl Analysis {
    fn value(&self, value: Value) -> bool {
        self.values.get(value.0 as usize).copied().unwrap_or(true)
    }

    fn mark(flags: &mut [bool], index: u32, changed: &mut bool) {
        if let Some(flag) = flags.get_mut(index as usize) {
            *changed |= !*flag;
            *flag = true;
        }
    }

    fn block(&mut self, block: &Block, diverged: bool) {
        for stmt in block {
            match stmt {
                Stmt::Let(value, op) => {
                    if self.op(op) {
                        Self::mark(&mut self.values, value.0, &mut self.changed);
                    }
                }
                Stmt::Set(var, value) => {
                    if diverged || self.value(*value) {
                        Self::mark(&mut self.vars, var.0, &mut self.changed);
                    }
                }
                Stmt::Load { results, access, address } => {
                    let shared_view = matches!(access.space, Space::Global | Space::Shared);
                    if !shared_view || access.order != Order::Weak || self.value(*address) {
                        for result in results {
                            Self::mark(&mut self.values, result.0, &mut self.changed);
                        }
                    }
                }
                Stmt::Atomic(atomic) => {
                    if let Some(result) = atomic.result {
                        Self::mark(&mut self.values, result.0, &mut self.changed);
                    }
                }
                // Warps differ from each other.
                Stmt::Warp(Warp { results, .. }) | Stmt::Subgroup(results, _) => {
                    for result in results {
                        Self::mark(&mut self.values, result.0, &mut self.changed);
                    }
                }
                // Nested lists come from guards and small loops of single instructions.
                Stmt::If { condition, then, otherwise } => {
                    let diverged = diverged || self.value(*condition);
                    self.block(then, diverged);
                    self.block(otherwise, diverged);
                }
                Stmt::Loop(body) => self.block(body, true),
                Stmt::At(_) | Stmt::Store { .. } | Stmt::Barrier | Stmt::Report(..) | Stmt::Fence(_) | Stmt::Break => {}
            }
        }
    }

    fn op(&self, op: &Op) -> bool {
        match *op {
            Op::Const(_) => false,
            Op::Get(var) => self.vars.get(var.0 as usize).copied().unwrap_or(true),
            Op::Unary(_, a) => self.value(a),
            Op::Binary(_, a, b) | Op::Compare(_, a, b) => self.value(a) || self.value(b),
            Op::Select(a, b, c) | Op::Fma(a, b, c) => self.value(a) || self.value(b) || self.value(c),
            Op::Rounded(_, arithmetic) | Op::Flushed(_, arithmetic) => arithmetic.any(|value| self.value(value)),
            Op::Builtin(builtin) => {
                matches!(
                    builtin,
                    Builtin::ThreadId(_)
                        | Builtin::ThreadIndex
                        | Builtin::SubgroupId
                        | Builtin::SubgroupLane
                        | Builtin::Clock
                )
            }
        }
    }
}
