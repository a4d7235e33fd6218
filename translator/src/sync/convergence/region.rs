//! Finds the region of a kernel where members of a warp operation may be at another place of the program.
//!
//! Threads diverge at a branch. One side reaches an operation before the sides reconverge. The other side can reach one of the same kind
//! without passing a barrier of the block, where threads of the first side would be missing. Then threads of the two sides may execute the
//! operation together. Otherwise each member that the operation names is here, has exited, or never comes. A missing member is detected at
//! run time.
//!
//! Most masks name only threads that are here. Such a mask comes from a vote, a match or `activemask` after the branch, or from a vote on
//! the branch's own condition, unless threads may execute that operation at different places themselves. Threads that branch on the number
//! of their warp, `%tid.x` divided by 32 or compared with a multiple of 32, do not diverge within a warp if the block's rows are whole
//! warps. Where these assumptions are wrong, members are missing at run time, and the launch fails.

use petgraph::algo::dominators::{Dominators, simple_fast};
use petgraph::graph::{DiGraph, NodeIndex};
use rustc_hash::FxHashSet;

use super::masks::{Definitions, Source};
use super::site::{kind, site};
use crate::cfg::{BasicBlock, BlockId, Cfg, End, Joins, Kind, Stop, dependence};
use crate::index::{Index, IndexVec};
use crate::ir::{Function, Type, WarpOp};

/// A region of the graph with a single entry and a single exit.
pub struct ConvergenceRegion {
    inside: Vec<bool>,
    /// Its first block.
    pub entry: BlockId,
    /// The block after the region; `None` if all threads in the region end there.
    pub exit: Option<BlockId>,
}

impl ConvergenceRegion {
    /// Whether a block belongs to it.
    pub fn has(&self, block: BlockId) -> bool {
        self.inside.get(block.position()) == Some(&true)
    }
}

/// The smallest region with all such operations of a graph, after `split`; `None` if there are no such operations.
pub fn region(function: &Function, cfg: &Cfg) -> Option<ConvergenceRegion> {
    let graph = Graph::new(cfg);
    let joins = Joins::without_faults(cfg);
    let definitions = Definitions::new(function, cfg, &graph.before);
    let sites: Vec<Site<'_>> =
        cfg.blocks.indices().filter_map(|block| Site::new(function, cfg, block, &definitions)).collect();
    if sites.is_empty() {
        return None;
    }
    let divergent_branches = dependence::divergent_branches(function, cfg, &|value| definitions.tells_warps(value));
    let mut found = FxHashSet::default();
    let mut converging = FxHashSet::default();
    // A mask that lanes at different places have computed together doesn't tell which lanes are here.
    loop {
        let before = converging.len();
        for (branch, block) in cfg.blocks.enumerated() {
            if let (End::Branch { condition, then, otherwise }, Some(true)) =
                (&block.end, divergent_branches.get(branch.position()))
            {
                let decided_by = definitions.decided_by(*condition);
                let join = joins.of(branch);
                for (side, other) in [(*then, *otherwise), (*otherwise, *then)] {
                    let here = graph.reach(cfg, side, |block| Some(block) == join || cfg.faults(block));
                    let says_who_is_here = |source: &Source<'_>| {
                        let taken = here.contains(&source.block) || source.vote.as_ref() == Some(&decided_by);
                        taken && !(source.warp.members.is_some() && converging.contains(&source.block))
                    };
                    let waits =
                        |site: &&Site<'_>| here.contains(&site.block) && !site.sources.iter().any(says_who_is_here);
                    let waiting: Vec<&Site<'_>> = sites.iter().filter(waits).collect();
                    if waiting.is_empty() {
                        continue;
                    }
                    let near = graph.reach(cfg, other, |block| Some(block) == join || cfg.faults(block));
                    let there = graph.reach(cfg, other, |block| is_barrier(cfg, block) || cfg.faults(block));
                    for own in waiting {
                        for partner in sites.iter().filter(|site| site.kind == own.kind && there.contains(&site.block))
                        {
                            converging.extend([own.block, partner.block]);
                            found.extend([branch, own.block]);
                            // They may reach the operation in another iteration of an enclosing loop.
                            let within = if near.contains(&partner.block) { &near } else { &there };
                            found.extend(graph.ways(partner.block, |block| within.contains(&block)));
                        }
                    }
                }
            }
        }
        if converging.len() == before {
            break;
        }
    }
    // Threads that wait in a loop reach an operation later than the other threads of their warp. A mask from before the loop names
    // these threads too.
    let waits = |block: &BasicBlock| matches!(block.stop, Some(Stop::Yield { .. }));
    let loops: Vec<BlockId> =
        cfg.blocks.enumerated().filter(|(_, block)| waits(block)).map(|(number, _)| number).collect();
    for site in sites.iter().filter(|_| !loops.is_empty()) {
        let keeps_mask = |block| !is_barrier(cfg, block) && !site.sources.iter().any(|source| source.block == block);
        if keeps_mask(site.block) {
            let before = graph.ways(site.block, keeps_mask);
            let missed_in: Vec<BlockId> = loops.iter().copied().filter(|block| before.contains(block)).collect();
            found.extend(missed_in.first().map(|_| site.block));
            found.extend(missed_in);
        }
    }
    graph.around(cfg, found)
}

/// Whether a block ends with a barrier at which its threads wait.
fn is_barrier(cfg: &Cfg, block: BlockId) -> bool {
    let stop = cfg.blocks.at(block).and_then(|block| block.stop.as_ref());
    matches!(stop, Some(Stop::Barrier(barrier)) if !matches!(barrier.kind, Kind::Arrive))
}

/// An operation that waits for members.
struct Site<'c> {
    block: BlockId,
    /// The sources of its mask.
    sources: Vec<Source<'c>>,
    kind: (WarpOp, Vec<Type>),
}

impl<'c> Site<'c> {
    fn new(function: &Function, cfg: &'c Cfg, block: BlockId, definitions: &Definitions<'c>) -> Option<Self> {
        let (warp, members) = cfg.blocks.at(block)?.body.iter().find_map(site)?;
        Some(Self { block, sources: definitions.sources(members), kind: kind(function, warp) })
    }
}

fn node(block: BlockId) -> NodeIndex {
    NodeIndex::new(block.position())
}

fn block_of(node: NodeIndex) -> BlockId {
    BlockId::new(node.index())
}

/// The control-flow graph with dominators; the last node stands for the end.
struct Graph {
    dominators: Dominators<NodeIndex>,
    post_dominators: Dominators<NodeIndex>,
    before: IndexVec<BlockId, Vec<BlockId>>,
    end: BlockId,
}

impl Graph {
    fn new(cfg: &Cfg) -> Self {
        let end = BlockId::new(cfg.blocks.len());
        let mut graph = DiGraph::<(), ()>::new();
        for _ in 0..=cfg.blocks.len() {
            graph.add_node(());
        }
        let (mut before, mut last) = (cfg.predecessors(), Vec::new());
        for (number, block) in cfg.blocks.enumerated() {
            let mut successors = block.end.successors().peekable();
            if successors.peek().is_none() {
                graph.add_edge(node(number), node(end), ());
                last.push(number);
            }
            for next in successors {
                graph.add_edge(node(number), node(next), ());
            }
        }
        before.push(last);
        let dominators = simple_fast(&graph, node(BlockId::ENTRY));
        graph.reverse();
        let post_dominators = simple_fast(&graph, node(end));
        Self { dominators, post_dominators, before, end }
    }

    /// The block where all paths from a block join (its immediate postdominator); `None` at the end.
    fn join(&self, block: BlockId) -> Option<BlockId> {
        let join = self.post_dominators.immediate_dominator(node(block)).map(block_of);
        join.filter(|join| *join != self.end)
    }

    /// The blocks on paths from a block, up to those where `stops` holds. A barrier is the last block of its path; the block where the
    /// sides join is not on the path.
    fn reach(&self, cfg: &Cfg, from: BlockId, stops: impl Fn(BlockId) -> bool) -> FxHashSet<BlockId> {
        let mut reached = FxHashSet::default();
        let mut todo = vec![from];
        while let Some(block) = todo.pop() {
            if stops(block) || !reached.insert(block) {
                continue;
            }
            todo.extend(cfg.blocks.at(block).into_iter().flat_map(|block| block.end.successors()));
        }
        reached
    }

    /// The blocks on paths to a block, all of which but the last satisfy a condition.
    fn ways(&self, to: BlockId, within: impl Fn(BlockId) -> bool) -> FxHashSet<BlockId> {
        let mut found = FxHashSet::default();
        let mut todo = vec![to];
        while let Some(block) = todo.pop() {
            if found.insert(block) {
                let before = self.before.at(block).into_iter().flatten();
                todo.extend(before.copied().filter(|before| within(*before)));
            }
        }
        found
    }

    /// The nearest common dominator of two blocks.
    fn common(dominators: &Dominators<NodeIndex>, a: BlockId, b: BlockId) -> Option<BlockId> {
        let above: Vec<NodeIndex> = dominators.dominators(node(a))?.collect();
        dominators.dominators(node(b))?.find(|node| above.contains(node)).map(block_of)
    }

    fn is_reachable(&self, block: BlockId) -> bool {
        self.dominators.dominators(node(block)).is_some()
    }

    /// The smallest region that has all these blocks.
    fn around(&self, cfg: &Cfg, blocks: FxHashSet<BlockId>) -> Option<ConvergenceRegion> {
        let mut blocks = blocks.into_iter().filter(|block| self.is_reachable(*block));
        let first = blocks.next()?;
        let rest: Vec<BlockId> = blocks.collect();
        let mut entry = first;
        for block in &rest {
            entry = Self::common(&self.dominators, entry, *block)?;
        }
        // The exit postdominates all blocks, and also the entry, from which a path may bypass them.
        let mut exit = self.join(first).unwrap_or(self.end);
        let mut seen = vec![first];
        seen.extend(rest);
        loop {
            for block in seen.drain(..).chain([entry]) {
                let join = self.join(block).unwrap_or(self.end);
                exit = Self::common(&self.post_dominators, exit, join).unwrap_or(self.end);
            }
            let inside = self.reach(cfg, entry, |block| block == exit);
            let outside = inside
                .iter()
                .filter(|block| **block != entry)
                .flat_map(|block| self.before.at(*block).into_iter().flatten())
                .find(|before| !inside.contains(before) && self.is_reachable(**before));
            match outside {
                Some(outside) => {
                    entry = Self::common(&self.dominators, entry, *outside)?;
                    seen.push(*outside);
                }
                None => {
                    let inside = cfg.blocks.indices().map(|block| inside.contains(&block)).collect();
                    let exit = (exit != self.end).then_some(exit);
                    return Some(ConvergenceRegion { inside, entry, exit });
                }
            }
        }
    }
}
