//! Joins: the blocks where all paths from a block come together.

use petgraph::Direction;
use petgraph::algo::dominators::{Dominators, simple_fast};
use petgraph::graph::{DiGraph, NodeIndex};
use rustc_hash::FxHashMap;

use super::graph::{BlockId, Cfg, End};
use crate::index::Index;

/// The post-dominators of a graph.
pub struct Joins {
    post_dominators: Dominators<NodeIndex>,
    exit: BlockId,
}

impl Joins {
    /// The joins of a graph.
    pub fn new(cfg: &Cfg) -> Self {
        Self::along(cfg, |_| true, &FxHashMap::default())
    }

    /// The joins for threads that don't fail: their paths don't pass a block with a fault.
    pub fn without_faults(cfg: &Cfg) -> Self {
        Self::past_stops(cfg, &FxHashMap::default())
    }

    /// The same where `stops` has the blocks at whose ends threads stop, each with the block where they go on later.
    pub fn past_stops(cfg: &Cfg, stops: &FxHashMap<BlockId, BlockId>) -> Self {
        Self::along(cfg, |block| !cfg.faults(block), stops)
    }

    /// The joins of paths that end after some blocks, and go on elsewhere after others.
    fn along(cfg: &Cfg, goes_on: impl Fn(BlockId) -> bool, elsewhere: &FxHashMap<BlockId, BlockId>) -> Self {
        let mut graph = DiGraph::<(), ()>::with_capacity(cfg.blocks.len() + 1, cfg.blocks.len() * 2);
        for _ in 0..=cfg.blocks.len() {
            graph.add_node(());
        }
        let exit = BlockId::new(cfg.blocks.len());
        for (number, block) in cfg.blocks.enumerated().filter(|(number, _)| goes_on(*number)) {
            let end = elsewhere.get(&number).map_or(block.end, |next| End::Goto(*next));
            let mut successors = end.successors().peekable();
            if successors.peek().is_none() {
                graph.add_edge(node(exit), node(number), ());
            }
            for next in successors {
                graph.add_edge(node(next), node(number), ());
            }
        }
        debug_assert!(graph.neighbors_directed(node(exit), Direction::Incoming).next().is_none());
        Self { post_dominators: simple_fast(&graph, node(exit)), exit }
    }

    /// The block where all paths from a block join: its immediate post-dominator. `None` if they join at the end, or never end.
    pub fn of(&self, block: BlockId) -> Option<BlockId> {
        let join = self.post_dominators.immediate_dominator(node(block))?;
        Some(BlockId::new(join.index())).filter(|join| *join != self.exit)
    }

    /// The blocks on paths from a block to its join that stay in a part of the graph; without the two, unless a path comes back to the
    /// block.
    pub fn between(&self, cfg: &Cfg, block: BlockId, part: impl Fn(BlockId) -> bool) -> Vec<bool> {
        let join = self.of(block);
        let mut found = vec![false; cfg.blocks.len()];
        let mut todo: Vec<BlockId> = cfg.successors(block).collect();
        while let Some(block) = todo.pop() {
            if Some(block) == join || !part(block) {
                continue;
            }
            if let Some(found) = found.get_mut(block.position()).filter(|found| !**found) {
                *found = true;
                todo.extend(cfg.successors(block));
            }
        }
        found
    }
}

fn node(block: BlockId) -> NodeIndex {
    NodeIndex::new(block.position())
}
