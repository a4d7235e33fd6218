//! The loops of a graph: strongly connected components, and again those inside of them without the edges back to their entries.

use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use rustc_hash::{FxHashMap, FxHashSet};

use super::graph::{BlockId, Cfg};
use crate::index::{Index, IndexVec};

pub type Edge = (BlockId, BlockId);

/// The strongly connected components of a part of the graph, without the edges in `cut`. Each is ascending.
pub fn components(cfg: &Cfg, part: &[BlockId], cut: &FxHashSet<Edge>) -> Vec<Vec<BlockId>> {
    let mut graph = DiGraph::<BlockId, ()>::with_capacity(part.len(), 2 * part.len());
    let nodes: FxHashMap<BlockId, NodeIndex> = part.iter().map(|block| (*block, graph.add_node(*block))).collect();
    let mut own = FxHashSet::default();
    for (block, node) in &nodes {
        for next in cfg.successors(*block) {
            if let Some(to) = nodes.get(&next)
                && !cut.contains(&(*block, next))
            {
                graph.add_edge(*node, *to, ());
                if next == *block {
                    own.insert(*block);
                }
            }
        }
    }
    let mut components: Vec<Vec<BlockId>> = tarjan_scc(&graph)
        .into_iter()
        .map(|component| component.into_iter().filter_map(|node| graph.node_weight(node).copied()).collect())
        .filter(|component: &Vec<BlockId>| component.len() > 1 || component.iter().any(|block| own.contains(block)))
        .collect();
    components.iter_mut().for_each(|component| component.sort_unstable());
    components.sort_unstable();
    components
}

/// A mark for each block of a graph, set for some.
pub fn marked(cfg: &Cfg, blocks: &[BlockId]) -> Vec<bool> {
    let mut marks = vec![false; cfg.blocks.len()];
    for block in blocks {
        if let Some(mark) = marks.get_mut(block.position()) {
            *mark = true;
        }
    }
    marks
}

/// The back edges of a loop: those inside it that lead to an entry. `predecessors` are those of the graph.
pub fn ways_back(
    cfg: &Cfg,
    predecessors: &IndexVec<BlockId, Vec<BlockId>>,
    component: &[BlockId],
    inside: &[bool],
) -> Vec<Edge> {
    let is_outside = |block: &BlockId| inside.get(block.position()) != Some(&true);
    let is_entry = |block: &&BlockId| predecessors.at(**block).into_iter().flatten().any(is_outside);
    let entries: FxHashSet<BlockId> = component.iter().filter(is_entry).copied().collect();
    let edges = component.iter().flat_map(|from| cfg.successors(*from).map(|to| (*from, to)));
    edges.filter(|(_, to)| entries.contains(to)).collect()
}
