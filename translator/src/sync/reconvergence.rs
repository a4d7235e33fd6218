//! Loops in whose iterations the threads of a warp reconverge.
//!
//! Threads that diverge at a branch reconverge at its join, the block where all paths from the branch join. A tree of loops
//! promises that only if no path to the join starts a new iteration of a loop around the join, since threads would come there in different
//! iterations. In [`crate::structurize`] an iteration starts at the entries of a loop. So an inner loop that shares its header with the
//! outer one keeps the threads apart, and so does a loop with several entries:
//!
//! ```text
//! header: branch c, header, last      threads with c run on, and come to `last` when others have left it
//! last:   vote ...
//!         branch d, header, exit
//! ```
//!
//! Such a loop gets a new entry, to which only those edges lead that no thread takes on its way to a join in the loop. The
//! others are then the back edges of a loop inside. Such edges always exist: those out of blocks whose join lies outside of the loop.
//!
//! Where [`super::resolve_barriers`] has made a kernel a loop around its stops, joins are those of the paths before: threads that don't stop
//! on their way meet there, and others come later. The blocks where these go on may be new entries of the loops inside.
//!
//! Loops without warp operations, and those in which threads reconverge anyway, stay as they are.

use rustc_hash::{FxHashMap, FxHashSet};

use super::barriers::new_entry;
use crate::cfg::loops::{Edge, components, marked, ways_back};
use crate::cfg::switch::switch_among;
use crate::cfg::{BasicBlock, BlockId, Cfg, End, Joins, dependence};
use crate::index::{Index, IndexVec, number};
use crate::ir::{Block, Builder, Function, Stmt, Type, has_warp, last_mark};

/// Gives new entries to the loops in which threads of a warp would not reconverge for a warp operation. The graph has no stops any more:
/// `stops` has the blocks that ended with one, each with the block where threads go on.
pub fn reconverge_in_loops(function: &mut Function, cfg: &mut Cfg, stops: &FxHashMap<BlockId, BlockId>) {
    if !cfg.blocks.iter().any(|block| has_warp(&block.body)) {
        return;
    }
    cfg.clear_unreachable();
    if cfg.blocks.iter().any(|block| block.end.successors().any(|next| next == BlockId::ENTRY)) {
        // No edge enters a loop that the kernel starts in, so there is none that could lead to a new entry.
        let start = new_entry(cfg);
        if let Some(entry) = cfg.blocks.at_mut(BlockId::ENTRY) {
            entry.end = End::Goto(start);
        }
    }
    let paths = Paths::new(function, cfg, stops);
    let mut predecessors = cfg.predecessors();
    let mut todo = vec![(cfg.blocks.indices().collect::<Vec<_>>(), FxHashSet::default())];
    while let Some((part, cut)) = todo.pop() {
        for component in components(cfg, &part, &cut) {
            if !component.iter().any(|block| cfg.blocks.at(*block).is_some_and(|block| has_warp(&block.body))) {
                continue;
            }
            let mut here = Loop::new(cfg, &predecessors, component);
            if paths.may_diverge(&here) {
                let divergences = paths.divergences(cfg, &here);
                if divergences.iter().any(|divergence| divergence.separates(&here)) {
                    let blocks = enter_elsewhere(function, cfg, here, &paths, &divergences);
                    predecessors = cfg.predecessors();
                    here = Loop::new(cfg, &predecessors, blocks);
                }
            }
            let cut = cut.iter().copied().chain(here.back).collect();
            todo.push((here.blocks, cut));
        }
    }
}

struct Loop {
    blocks: Vec<BlockId>,
    inside: Vec<bool>,
    back: Vec<Edge>,
}

impl Loop {
    fn new(cfg: &Cfg, predecessors: &IndexVec<BlockId, Vec<BlockId>>, blocks: Vec<BlockId>) -> Self {
        let inside = marked(cfg, &blocks);
        let back = ways_back(cfg, predecessors, &blocks, &inside);
        Self { blocks, inside, back }
    }

    fn has(&self, block: BlockId) -> bool {
        self.inside.get(block.position()) == Some(&true)
    }

    /// Whether the loop has a single entry.
    fn is_natural(&self) -> bool {
        self.back.windows(2).all(|pair| matches!(pair, [a, b] if a.1 == b.1))
    }
}

/// The paths of a graph, before blocks were added.
struct Paths<'s> {
    joins: Joins,
    /// The blocks that ended with a stop, each with the block where threads go on.
    stops: &'s FxHashMap<BlockId, BlockId>,
    /// The branches where threads of a warp may diverge.
    branches: Vec<BlockId>,
}

impl<'s> Paths<'s> {
    fn new(function: &Function, cfg: &Cfg, stops: &'s FxHashMap<BlockId, BlockId>) -> Self {
        let divergent = dependence::divergent_branches(function, cfg, &|_| false);
        let branches = cfg.blocks.indices().zip(divergent).filter(|(_, divergent)| *divergent);
        let branches = branches.map(|(branch, _)| branch).collect();
        Self { joins: Joins::past_stops(cfg, stops), stops, branches }
    }

    /// Whether no path leads from a block of a loop to its join without leaving the loop.
    fn is_last(&self, here: &Loop, block: BlockId) -> bool {
        self.joins.of(block).is_none_or(|join| !here.has(join))
    }

    /// Whether a path from a branch to a join in a loop may start an iteration; a quick answer that errs on the side of
    /// yes.
    fn may_diverge(&self, here: &Loop) -> bool {
        let natural = here.is_natural();
        !here.back.iter().all(|(from, to)| self.is_last(here, *from) || natural && self.is_last(here, *to))
    }

    /// The branches with a join in a loop.
    fn divergences(&self, cfg: &Cfg, here: &Loop) -> Vec<Divergence> {
        let divergence = |branch: &BlockId| {
            let join = self.joins.of(*branch).filter(|join| here.has(*join))?;
            let goes_on = |block| !cfg.faults(block) && !self.stops.contains_key(&block);
            Some(Divergence { branch: *branch, join, between: self.joins.between(cfg, *branch, goes_on) })
        };
        self.branches.iter().filter_map(divergence).collect()
    }
}

/// A branch at which threads of a warp may diverge, and the join where they reconverge.
struct Divergence {
    branch: BlockId,
    join: BlockId,
    /// The blocks on paths from one to the other.
    between: Vec<bool>,
}

impl Divergence {
    /// Whether some threads may take an edge while others are elsewhere on their way to the join.
    fn crosses(&self, (from, _): Edge) -> bool {
        from == self.branch || self.between.get(from.position()) == Some(&true)
    }

    /// Whether the threads may come to the join in different iterations of a loop.
    fn separates(&self, here: &Loop) -> bool {
        // Those that come back to the join itself start an iteration there together, if no others come from outside.
        let together = here.is_natural() || here.has(self.branch);
        here.back.iter().any(|edge| self.crosses(*edge) && !(edge.1 == self.join && together))
    }
}

/// Gives a loop a new entry, to which its safe back edges lead. Returns its blocks.
fn enter_elsewhere(
    function: &mut Function,
    cfg: &mut Cfg,
    here: Loop,
    paths: &Paths<'_>,
    divergences: &[Divergence],
) -> Vec<BlockId> {
    let safe = |edge: &Edge| !divergences.iter().any(|divergence| divergence.crosses(*edge));
    let mut back: Vec<Edge> = here.back.iter().copied().filter(safe).collect();
    if back.is_empty() {
        let last = here.blocks.iter().filter(|block| paths.is_last(&here, **block));
        let edges = last.flat_map(|from| cfg.successors(*from).map(|to| (*from, to)));
        back = edges.filter(|(_, to)| here.has(*to)).collect();
    }
    let outside = cfg.blocks.indices().filter(|block| !here.has(*block));
    let outside = outside.flat_map(|from| cfg.successors(from).map(move |to| (from, to)));
    let inward: Vec<Edge> = outside.filter(|(_, to)| here.has(*to)).collect();

    let mut starts: Vec<BlockId> = back.iter().chain(&inward).map(|(_, to)| *to).collect();
    starts.sort_unstable();
    starts.dedup();
    let at = starts.first().and_then(|start| cfg.blocks.at(*start)).and_then(|block| last_mark(&block.body)).flatten();
    let first = cfg.blocks.len();
    let cases: Vec<(u64, BlockId)> = (0..).zip(starts.iter().copied()).collect();
    let var = (starts.len() > 1).then(|| function.var(Type::I32));
    let entry = match var {
        Some(var) => switch_among(function, &mut cfg.blocks, at, var, &cases),
        None => starts.first().map(|start| push(cfg, vec![Stmt::At(at)], *start)),
    };
    let entry = entry.unwrap_or(BlockId::ENTRY);
    let mut enter = |cfg: &mut Cfg, edges: &[Edge]| {
        for (index, start) in starts.iter().enumerate() {
            let from: Vec<BlockId> = edges.iter().filter(|(_, to)| to == start).map(|(from, _)| *from).collect();
            let way = match var {
                Some(var) if !from.is_empty() => {
                    let b = Builder::new(function);
                    b.at(at);
                    b.set(var, b.i32(number(index)));
                    let body = b.into_block();
                    push(cfg, body, entry)
                }
                _ => entry,
            };
            for from in from {
                if let Some(block) = cfg.blocks.at_mut(from) {
                    block.end = block.end.redirected(|next| if next == *start { way } else { next });
                }
            }
        }
    };
    enter(cfg, &back);
    let mut blocks = here.blocks;
    blocks.extend((first..cfg.blocks.len()).map(BlockId::new));
    enter(cfg, &inward);
    blocks
}

fn push(cfg: &mut Cfg, body: Block, next: BlockId) -> BlockId {
    cfg.blocks.push(BasicBlock { body, stop: None, end: End::Goto(next) })
}
