//! Control flow of a function: reachable blocks, loops, and back edges.

use petgraph::algo::dominators::simple_fast;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::DfsPostOrder;

use super::Result;
use crate::module::{Block, Function, Merge, Refusal, rule};

/// Maximum number of blocks of a function.
const BLOCK_LIMIT: usize = 1 << 16;

/// The depth of nested control flow that SPIR-V consumers must accept.
const NESTING_LIMIT: usize = 1023;

/// The control flow of a function. Blocks are numbered as in the function.
#[derive(Debug)]
pub(super) struct Flow {
    /// Whether control can reach a block.
    pub(super) reached: Vec<bool>,
    /// The headers of loops, outer ones before those in them.
    pub(super) loops: Vec<usize>,
    /// For every block, the loops around it, outermost first.
    pub(super) around: Vec<Vec<usize>>,
    /// For every block, the loop that it heads.
    pub(super) headed: Vec<Option<usize>>,
}

impl Flow {
    /// Analyses a function.
    ///
    /// # Errors
    /// The control flow is not structured: an edge goes back to a block that is not the header of a loop around it.
    pub(super) fn new(function: &Function) -> Result<Self> {
        let blocks = &function.blocks;
        if blocks.len() > BLOCK_LIMIT {
            return Err(Refusal::new(rule::UNSUPPORTED, format!("a function of more than {BLOCK_LIMIT} blocks")));
        }
        let mut flow = Self {
            reached: vec![false; blocks.len()],
            loops: Vec::new(),
            around: vec![Vec::new(); blocks.len()],
            headed: vec![None; blocks.len()],
        };
        for block in postorder(&graph(blocks, |block| block.terminator.successors())) {
            flow.reached[block] = true;
        }
        let structural = graph(blocks, with_merge);
        let dominators = simple_fast(&structural, NodeIndex::new(0));
        let order: Vec<usize> = postorder(&structural).into_iter().rev().collect();
        // Dominators are visited before the blocks that they dominate.
        for &block in &order {
            let parent = dominators.immediate_dominator(NodeIndex::new(block));
            let mut around = parent.map_or_else(Vec::new, |parent| flow.around[parent.index()].clone());
            around.retain(|&number: &usize| merge_of(&blocks[flow.loops[number]]) != Some(block));
            if let Some(Merge::Loop { .. }) = blocks[block].merge {
                flow.headed[block] = Some(flow.loops.len());
                around.push(flow.loops.len());
                flow.loops.push(block);
            }
            if around.len() > NESTING_LIMIT {
                return Err(Refusal::new(rule::LIMITS, format!("loops nest more than {NESTING_LIMIT} deep")));
            }
            flow.around[block] = around;
        }
        let mut position = vec![0; blocks.len()];
        order.iter().enumerate().for_each(|(at, &block)| position[block] = at);
        for &block in &order {
            for next in with_merge(&blocks[block]) {
                if position[next] <= position[block] && !flow.goes_back(block, next) {
                    let (from, to) = (blocks[block].label, blocks[next].label);
                    let message = format!("the branch from %{from} back to %{to} is not the back edge of a loop");
                    return Err(Refusal::new(rule::STRUCTURE, message));
                }
            }
        }
        Ok(flow)
    }

    /// Whether an edge goes back to the header of a loop around it.
    pub(super) fn goes_back(&self, from: usize, to: usize) -> bool {
        self.headed[to].is_some_and(|number| self.around[from].contains(&number))
    }
}

fn graph(blocks: &[Block], next: impl Fn(&Block) -> Vec<usize>) -> DiGraph<(), ()> {
    let mut graph = DiGraph::new();
    let nodes: Vec<NodeIndex> = blocks.iter().map(|_| graph.add_node(())).collect();
    for (&from, block) in nodes.iter().zip(blocks) {
        for to in next(block) {
            graph.add_edge(from, nodes[to], ());
        }
    }
    graph
}

/// The nodes reachable from the first one, each after all its successors except those along back edges.
fn postorder(graph: &DiGraph<(), ()>) -> Vec<usize> {
    let mut walk = DfsPostOrder::new(graph, NodeIndex::new(0));
    std::iter::from_fn(|| walk.next(graph)).map(NodeIndex::index).collect()
}

fn merge_of(block: &Block) -> Option<usize> {
    match block.merge {
        Some(Merge::Loop { merge, .. } | Merge::Selection { merge }) => Some(merge),
        None => None,
    }
}

/// The successors, and the blocks named by a merge instruction.
fn with_merge(block: &Block) -> Vec<usize> {
    let mut next = block.terminator.successors();
    match block.merge {
        Some(Merge::Loop { merge, next: again }) => next.extend([merge, again]),
        Some(Merge::Selection { merge }) => next.push(merge),
        None => {}
    }
    next
}
