//! Finds the region of a kernel where members of a warp operation may be at another place of the program.
//!
//! Threads diverge at a branch. One side reaches an operation before the sides reconverge. The other side can reach one of the same kind
//! without passing a barrier of the block, where threads of the first side would be missing; or each side passes one on its way, perhaps in
//! a function that both call. Then threads of the two sides may execute the operation together. Otherwise each member that the operation
//! names is here, has exited, or never comes. A missing member is detected at run time.
//!
//! All threads of a warp execute an aligned barrier together, so threads on different sides of a branch pass none. A barrier that waits for
//! a number of threads doesn't need those of the other side.
//!
//! Most masks name only threads that are here. Such a mask comes from a vote, a match or `activemask` after the branch, or from a vote on
//! the branch's own condition, unless threads may execute that operation at different places themselves. Threads that branch on the number
//! of their warp, `%tid.x` divided by 32 or compared with a multiple of 32, do not diverge within a warp if the block's rows are whole
//! warps. Where these assumptions are wrong, members are missing at run time, and the launch fails.

use std::ops::Range;

use fixedbitset::FixedBitSet;
use petgraph::algo::dominators::simple_fast;
use petgraph::graph::{DiGraph, NodeIndex};
use rustc_hash::FxHashSet;

use super::masks::{self, Decision, Definitions, Source};
use super::site::{kind, site};
use crate::cfg::{Barrier, BasicBlock, BlockId, Cfg, End, Joins, Kind, Stop, dependence};
use crate::index::{Index, IndexVec};
use crate::ir::{Function, Type, Value, WarpOp};

/// A region of the graph with a single entry and a single exit.
pub struct ConvergenceRegion {
    inside: Vec<bool>,
    /// Its first block.
    pub entry: BlockId,
    /// The block after the region; `None` if all threads in the region end there.
    pub exit: Option<BlockId>,
}

impl ConvergenceRegion {
    /// Whether a block belongs to the region.
    pub fn has(&self, block: BlockId) -> bool {
        self.inside.get(block.position()) == Some(&true)
    }
}

/// A small region with all such operations of a graph, after `split`; `None` if there are no such operations.
pub fn region(function: &Function, cfg: &Cfg) -> Option<ConvergenceRegion> {
    let graph = Graph::new(cfg);
    let definitions = Definitions::new(function, cfg, &graph.before);
    let mut kinds = Vec::new();
    let site = |block| Site::new(function, cfg, block, &definitions, &mut kinds);
    let reached = |block: &BlockId| graph.dominators.has(*block);
    let sites: Vec<Site<'_>> = cfg.blocks.indices().filter(reached).filter_map(site).collect();
    if sites.is_empty() {
        return None;
    }
    let mut found = Found::default();
    let mut sides = sides(function, cfg, &definitions);
    sides.retain(|side| reached(&side.branch));
    // A mask that lanes at different places have computed together doesn't tell which lanes are here. This ends: a round is the last one
    // unless it adds a block.
    loop {
        let before = found.converging.len();
        for side in &mut sides {
            side.converge(cfg, &graph, (&sites, kinds.len()), &definitions, &mut found);
        }
        if found.converging.len() == before {
            break;
        }
    }
    let mut found = found.blocks;
    // Threads that stop in a loop reach an operation later than the other threads of their warp. A mask from before the loop names
    // these threads too.
    let waits = |block: &BasicBlock| matches!(block.stop, Some(Stop::Yield { .. } | Stop::Pause));
    let loops: Vec<BlockId> =
        cfg.blocks.enumerated().filter(|(_, block)| waits(block)).map(|(number, _)| number).filter(reached).collect();
    let region = graph.around(cfg, found.iter().copied().collect());
    let has_all = |region: &ConvergenceRegion| {
        sites.iter().map(|site| site.block).chain(loops.iter().copied()).all(|block| region.has(block))
    };
    if loops.is_empty() || region.as_ref().is_some_and(has_all) {
        return region;
    }
    for site in &sites {
        let keeps_mask = |block| !graph.barriers.has(block) && !site.sources.iter().any(|source| source.block == block);
        // An operation whose mask is its own last result waits for threads that come round again, and the first time for others. A mask that
        // `activemask` makes in the same block names only threads that are there.
        let is_made_here = |source: &Source<'_>| source.block == site.block && source.warp.members.is_none();
        if !site.sources.iter().any(is_made_here) {
            let before = graph.ways([site.block], keeps_mask);
            let missed_in: Vec<BlockId> = loops.iter().copied().filter(|block| before.has(*block)).collect();
            found.extend(missed_in.first().map(|_| site.block));
            found.extend(missed_in);
        }
    }
    graph.around(cfg, found)
}

/// The blocks that have been found so far, with a region around them.
#[derive(Default)]
struct Found {
    /// Branches, operations, and the paths to them.
    blocks: FxHashSet<BlockId>,
    /// Operations that threads at different places execute together.
    converging: FxHashSet<BlockId>,
    /// A region around the blocks, if it has been computed, and no operation can be reached after it.
    closed: Option<ConvergenceRegion>,
    /// The number of sides that have been followed.
    followed: usize,
}

impl Found {
    /// Whether all operations that can be reached from a block, and the paths to them, are in the region for certain.
    fn has_all_after(&self, block: BlockId) -> bool {
        self.closed.as_ref().is_some_and(|region| region.has(block))
    }

    /// Computes a region, each time after twice as many sides: a region takes as long as following the paths of some sides, or of very many.
    fn update(&mut self, cfg: &Cfg, graph: &Graph, sites: &[Site<'_>]) {
        self.followed += 1;
        if self.followed >= 4 && self.followed.is_power_of_two() {
            self.closed = graph.around(cfg, self.blocks.iter().copied().collect()).filter(|region| {
                region.exit.is_none_or(|exit| {
                    let after = graph.reach(cfg, [exit], |_| false);
                    !sites.iter().any(|site| after.has(site.block))
                })
            });
        }
    }
}

/// A side of a branch where threads of a warp may diverge.
struct Side {
    branch: BlockId,
    condition: Value,
    /// The block to which the branch leads threads of this side.
    first: BlockId,
    /// The block to which the branch leads threads of the other side.
    other: BlockId,
    join: Option<BlockId>,
    /// Facts about this side, once it is looked at.
    known: Option<Known>,
}

/// Facts about a side.
struct Known {
    decided_by: Decision,
    /// The blocks of the side.
    here: BlockSet,
    /// The blocks of the side that threads can reach past a barrier.
    past: BlockSet,
    /// The operations of the side that have not been found to wait for threads elsewhere, by their numbers among the sites.
    sites: Vec<usize>,
}

/// The sides of all branches where threads of a warp may diverge.
fn sides(function: &Function, cfg: &Cfg, definitions: &Definitions<'_>) -> Vec<Side> {
    let joins = Joins::without_faults(cfg);
    let divergent_branches = dependence::divergent_branches(function, cfg, &|value| definitions.tells_warps(value));
    let mut sides = Vec::new();
    for ((branch, block), diverges) in cfg.blocks.enumerated().zip(divergent_branches) {
        let End::Branch { condition, then, otherwise } = block.end else { continue };
        if diverges {
            let join = joins.of(branch);
            let side = |first, other| Side { branch, condition, first, other, join, known: None };
            sides.extend([side(then, otherwise), side(otherwise, then)]);
        }
    }
    sides
}

impl Side {
    /// Finds the operations with which operations of this side that wait may be executed together, and the paths to them.
    fn converge(
        &mut self,
        cfg: &Cfg,
        graph: &Graph,
        (sites, kinds): (&[Site<'_>], usize),
        definitions: &Definitions<'_>,
        found: &mut Found,
    ) {
        if found.has_all_after(self.branch) {
            return;
        }
        let (condition, join) = (self.condition, self.join);
        let known = self.known.get_or_insert_with(|| {
            let ends = |block| Some(block) == join || graph.faults.has(block);
            let here = graph.reach(cfg, [self.first], ends);
            let past = graph.past_barriers(cfg, self.first, ends);
            let sites = sites.iter().enumerate().filter(|(_, site)| here.has(site.block));
            let sites = sites.map(|(number, _)| number).collect();
            Known { decided_by: definitions.decided_by(condition), here, past, sites }
        });
        let here =
            masks::Side { branch: self.branch, decided_by: &known.decided_by, has: &|block| known.here.has(block) };
        let is_known = |site: &usize| {
            let mask = sites.get(*site).map(|site| site.mask);
            mask.is_some_and(|mask| definitions.names_only_threads_on(&here, mask, &found.converging))
        };
        let (remaining, waiting): (Vec<usize>, Vec<usize>) =
            std::mem::take(&mut known.sites).into_iter().partition(is_known);
        known.sites = remaining;
        if waiting.is_empty() {
            return;
        }
        let own: Vec<&Site<'_>> = waiting.iter().filter_map(|site| sites.get(*site)).collect();
        let near = graph.reach(cfg, [self.other], |block| Some(block) == join || graph.faults.has(block));
        let before = graph.reach(cfg, [self.other], |block| graph.meets.has(block) || graph.faults.has(block));
        let mut meet = |own: &[&Site<'_>], there: &BlockSet, on_the_way: &BlockSet| {
            let mut own_kinds = FixedBitSet::with_capacity(kinds);
            let mut partner_kinds = own_kinds.clone();
            own_kinds.extend(own.iter().map(|site| site.kind));
            let partners = sites.iter().filter(|site| own_kinds.contains(site.kind) && there.has(site.block));
            let (near_by, far): (Vec<&Site<'_>>, Vec<&Site<'_>>) = partners.partition(|site| near.has(site.block));
            for partner in near_by.iter().chain(&far) {
                partner_kinds.insert(partner.kind);
                found.converging.insert(partner.block);
            }
            for own in own.iter().filter(|site| partner_kinds.contains(site.kind)) {
                found.converging.insert(own.block);
                found.blocks.extend([self.branch, own.block]);
            }
            // They may reach the operation in another iteration of an enclosing loop.
            for (partners, within) in [(near_by, &near), (far, on_the_way)] {
                let ways = graph.ways(partners.iter().map(|site| site.block), |block| within.has(block));
                found.blocks.extend(ways.iter());
            }
        };
        meet(&own, &before, &before);
        let past: Vec<&Site<'_>> = own.into_iter().filter(|site| known.past.has(site.block)).collect();
        if !past.is_empty() {
            let ends = |block| graph.faults.has(block);
            let apart = graph.reach(cfg, [self.other], |block| graph.aligned.has(block) || ends(block));
            meet(&past, &graph.past_barriers(cfg, self.other, ends), &apart);
        }
        found.update(cfg, graph, sites);
    }
}

/// The barrier that a block ends with, if its threads wait there.
fn barrier(cfg: &Cfg, block: BlockId) -> Option<&Barrier> {
    match &cfg.blocks.at(block)?.stop {
        Some(Stop::Barrier(barrier)) if !matches!(barrier.kind, Kind::Arrive) => Some(barrier),
        _ => None,
    }
}

/// An operation that waits for members.
struct Site<'c> {
    block: BlockId,
    mask: Value,
    /// The sources of its mask.
    sources: Vec<Source<'c>>,
    kind: usize,
}

impl<'c> Site<'c> {
    fn new(
        function: &Function,
        cfg: &'c Cfg,
        block: BlockId,
        definitions: &Definitions<'c>,
        kinds: &mut Vec<(WarpOp, Vec<Type>)>,
    ) -> Option<Self> {
        let (warp, members) = cfg.blocks.at(block)?.body.iter().find_map(site)?;
        let kind = kind(function, warp);
        let number = kinds.iter().position(|other| *other == kind).unwrap_or_else(|| {
            kinds.push(kind);
            kinds.len() - 1
        });
        Some(Self { block, mask: members, sources: definitions.sources(members), kind: number })
    }
}

struct BlockSet(FixedBitSet);

impl BlockSet {
    fn new(cfg: &Cfg, has: impl Fn(BlockId) -> bool) -> Self {
        Self(cfg.blocks.indices().filter(|block| has(*block)).map(BlockId::position).collect())
    }

    fn has(&self, block: BlockId) -> bool {
        self.0.contains(block.position())
    }

    fn add(&mut self, block: BlockId) {
        self.0.grow_and_insert(block.position());
    }

    fn iter(&self) -> impl Iterator<Item = BlockId> {
        self.0.ones().map(BlockId::new)
    }
}

/// The control-flow graph with dominators; the last node stands for the end.
struct Graph {
    dominators: DominatorTree,
    post_dominators: DominatorTree,
    before: IndexVec<BlockId, Vec<BlockId>>,
    /// The blocks where each thread reports a fault.
    faults: BlockSet,
    /// The blocks that end with a barrier at which their threads wait.
    barriers: BlockSet,
    /// The blocks whose barrier all threads of a warp execute together.
    aligned: BlockSet,
    /// The blocks past which no thread comes before all threads of the block have come to a barrier.
    meets: BlockSet,
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
        let dominators = DominatorTree::new(&graph, BlockId::ENTRY);
        graph.reverse();
        let post_dominators = DominatorTree::new(&graph, end);
        let faults = BlockSet::new(cfg, |block| cfg.faults(block));
        let barriers_where =
            |holds: fn(&Barrier) -> bool| BlockSet::new(cfg, |block| barrier(cfg, block).is_some_and(holds));
        let barriers = barriers_where(|_| true);
        let aligned = barriers_where(|barrier| barrier.aligned);
        // Where threads only wait, others may have arrived before.
        let meets =
            barriers_where(|barrier| barrier.aligned || barrier.count.is_none() && !matches!(barrier.kind, Kind::Wait));
        Self { dominators, post_dominators, before, faults, barriers, aligned, meets, end }
    }

    /// The block where all paths from a block join (its immediate postdominator), or the end.
    fn join(&self, block: BlockId) -> BlockId {
        self.post_dominators.above(block).unwrap_or(self.end)
    }

    /// The blocks on paths from some blocks, up to those where `stops` holds, which are not on the paths.
    fn reach(&self, cfg: &Cfg, from: impl IntoIterator<Item = BlockId>, stops: impl Fn(BlockId) -> bool) -> BlockSet {
        let mut reached = self.no_blocks();
        let mut todo: Vec<BlockId> = from.into_iter().collect();
        while let Some(block) = todo.pop() {
            if !reached.has(block) && !stops(block) {
                reached.add(block);
                todo.extend(cfg.blocks.at(block).into_iter().flat_map(|block| block.end.successors()));
            }
        }
        reached
    }

    /// The blocks on paths from a block that pass a barrier, but no aligned one, up to those where `stops` holds.
    fn past_barriers(&self, cfg: &Cfg, from: BlockId, stops: impl Fn(BlockId) -> bool) -> BlockSet {
        let stops = |block| self.aligned.has(block) || stops(block);
        let before = self.reach(cfg, [from], stops);
        let barriers = before.iter().filter(|block| self.barriers.has(*block));
        self.reach(cfg, barriers.flat_map(|barrier| cfg.successors(barrier)), stops)
    }

    /// The blocks on paths to blocks, all of which but the last satisfy a condition.
    fn ways(&self, to: impl IntoIterator<Item = BlockId>, within: impl Fn(BlockId) -> bool) -> BlockSet {
        let mut found = self.no_blocks();
        let mut todo: Vec<BlockId> = to.into_iter().collect();
        while let Some(block) = todo.pop() {
            if !found.has(block) {
                found.add(block);
                let before = self.before.at(block).into_iter().flatten();
                todo.extend(before.copied().filter(|before| within(*before)));
            }
        }
        found
    }

    fn no_blocks(&self) -> BlockSet {
        BlockSet(FixedBitSet::with_capacity(self.before.len()))
    }

    /// A region that has all these blocks, and few others.
    fn around(&self, cfg: &Cfg, blocks: FxHashSet<BlockId>) -> Option<ConvergenceRegion> {
        let blocks: Vec<BlockId> = blocks.into_iter().filter(|block| self.dominators.has(*block)).collect();
        let mut entry = self.dominators.common_of(blocks.iter().copied())?;
        // The exit postdominates all blocks, and also the entry, from which a path may bypass them.
        let later = |exit, block| self.post_dominators.common(exit, self.join(block)).unwrap_or(self.end);
        let joins = blocks.iter().map(|block| self.join(*block));
        let mut exit = self.post_dominators.common_of(joins).unwrap_or(self.end);
        // This ends: each round has an earlier entry, closer to the root of its tree, or a later exit, closer to that of the other tree. With
        // the end as the exit, all blocks that the entry dominates are inside.
        loop {
            exit = later(exit, entry);
            let inside = self.reach(cfg, [entry], |block| block == exit);
            let leads_in = |block: &BlockId| !inside.has(*block) && self.dominators.has(*block);
            let mut predecessors = inside
                .iter()
                .filter(|block| *block != entry)
                .flat_map(|block| self.before.at(block).into_iter().flatten());
            let missing = blocks.iter().find(|block| !inside.has(**block));
            let Some(outside) = missing.or_else(|| predecessors.find(|block| leads_in(block))).copied() else {
                let inside = cfg.blocks.indices().map(|block| inside.has(block)).collect();
                let exit = (exit != self.end).then_some(exit);
                return Some(ConvergenceRegion { inside, entry, exit });
            };
            let before = (entry, exit);
            entry = self.dominators.common(entry, outside)?;
            exit = later(exit, outside);
            if (entry, exit) == before {
                // In a loop, the exit lies between the entry and that block.
                exit = self.join(exit);
            }
        }
    }
}

/// A tree of dominators: each block lies below the one that dominates it immediately.
struct DominatorTree {
    above: IndexVec<BlockId, Option<BlockId>>,
    /// The numbers of each block and of those below it in preorder; `None` for blocks that are not reached from the root.
    below: IndexVec<BlockId, Option<Range<usize>>>,
}

impl DominatorTree {
    fn new(graph: &DiGraph<(), ()>, root: BlockId) -> Self {
        let dominators = simple_fast(graph, node(root));
        let above =
            |number| dominators.immediate_dominator(node(BlockId::new(number))).map(|node| BlockId::new(node.index()));
        let above: IndexVec<BlockId, Option<BlockId>> = (0..graph.node_count()).map(above).collect::<Vec<_>>().into();
        let mut children: IndexVec<BlockId, Vec<BlockId>> = IndexVec::filled(Vec::new(), above.len());
        for (block, above) in above.enumerated() {
            if let Some(children) = above.and_then(|above| children.at_mut(above)) {
                children.push(block);
            }
        }
        let mut below: IndexVec<BlockId, Option<Range<usize>>> = IndexVec::filled(None, above.len());
        let (mut count, mut path) = (0, vec![(root, true)]);
        while let Some((block, enters)) = path.pop() {
            let Some(below) = below.at_mut(block) else { continue };
            if enters {
                *below = Some(count..count);
                count += 1;
                path.push((block, false));
                path.extend(children.at(block).into_iter().flatten().map(|child| (*child, true)));
            } else if let Some(below) = below {
                below.end = count;
            }
        }
        Self { above, below }
    }

    fn has(&self, block: BlockId) -> bool {
        matches!(self.below.at(block), Some(Some(_)))
    }

    fn below(&self, block: BlockId) -> Option<&Range<usize>> {
        self.below.at(block)?.as_ref()
    }

    /// The block that dominates a block immediately.
    fn above(&self, block: BlockId) -> Option<BlockId> {
        self.above.at(block).copied().flatten()
    }

    /// The nearest common dominator of two blocks. Takes as many steps as it lies above the first.
    fn common(&self, a: BlockId, b: BlockId) -> Option<BlockId> {
        if a == b {
            return Some(a);
        }
        let (number, mut common) = (self.below(b)?.start, a);
        while !self.below(common)?.contains(&number) {
            common = self.above(common)?;
        }
        Some(common)
    }

    /// The nearest common dominator of all these blocks: that of the first and last in preorder.
    fn common_of(&self, blocks: impl Iterator<Item = BlockId> + Clone) -> Option<BlockId> {
        let number = |block: &BlockId| self.below(*block).map(|below| below.start);
        self.common(blocks.clone().min_by_key(number)?, blocks.max_by_key(number)?)
    }
}

fn node(block: BlockId) -> NodeIndex {
    NodeIndex::new(block.position())
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::SplitMix64;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    use super::*;
    use crate::ir::{Block, Value};

    const BLOCKS: u32 = 9;

    fn random_graph(random: &mut impl FnMut(u32) -> u32) -> Cfg {
        let end = |last: bool, random: &mut dyn FnMut(u32) -> u32| match random(8) {
            _ if last => End::Exit,
            0 => End::Exit,
            1..3 => End::Goto(BlockId(random(BLOCKS - 1) + 1)),
            _ => End::Branch {
                condition: Value(0),
                then: BlockId(random(BLOCKS - 1) + 1),
                otherwise: BlockId(random(BLOCKS - 1) + 1),
            },
        };
        let mut blocks = IndexVec::new();
        for number in 0..BLOCKS {
            blocks.push(BasicBlock { body: Block::new(), stop: None, end: end(number + 1 == BLOCKS, random) });
        }
        Cfg { blocks }
    }

    #[test]
    fn regions_have_one_entry_and_one_exit() {
        let mut random = SplitMix64::seed_from_u64(1);
        let mut number = |below: u32| (random.next_u64() % u64::from(below)) as u32;
        let mut small = 0;
        for _ in 0..20_000 {
            let cfg = random_graph(&mut number);
            let graph = Graph::new(&cfg);
            let blocks = [BlockId(number(BLOCKS)), BlockId(number(BLOCKS))];
            let blocks: FxHashSet<BlockId> = blocks.into_iter().filter(|block| graph.dominators.has(*block)).collect();
            let Some(region) = graph.around(&cfg, blocks.clone()) else {
                assert!(blocks.is_empty(), "{blocks:?} of {cfg:?}");
                continue;
            };
            assert!(blocks.iter().all(|block| region.has(*block)), "{blocks:?} of {cfg:?}");
            let mut size = 0;
            for block in cfg.blocks.indices().filter(|block| graph.dominators.has(*block)) {
                let mut successors = cfg.successors(block);
                let is_right = if region.has(block) {
                    size += 1;
                    let ends = cfg.blocks[block].end == End::Exit && region.exit.is_some();
                    !ends && successors.all(|next| region.has(next) || Some(next) == region.exit)
                } else {
                    successors.all(|next| !region.has(next) || next == region.entry)
                };
                assert!(is_right, "{block:?} with {blocks:?} of {cfg:?}");
            }
            small += u32::from((1..BLOCKS / 2).contains(&size));
        }
        assert!(small > 1000, "{small}");
    }
}
