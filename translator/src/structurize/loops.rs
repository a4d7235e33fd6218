//! Finds the loops of a graph and how they nest. Does not order anything, and does not look at blocks of a region
//! outside of its loops.
//!
//! Block numbers index the arrays here, which have one element for each block: the caller has checked them.

use super::graph::{Error, Graph};
use super::tree::MAX_DEPTH;

/// The region outside of all loops.
pub(super) const TOP: usize = 0;

/// The regions of a graph: [`TOP`] and one for each loop, parents before children.
pub(super) struct Forest {
    pub regions: Vec<LoopRegion>,
    /// The innermost region of each block that can be reached.
    pub region_of: Vec<Option<usize>>,
    /// Whether a block is an entry of its innermost region, and the region is a loop.
    is_entry: Vec<bool>,
}

/// A loop, or the region outside of all loops.
pub(super) struct LoopRegion {
    /// The region around it; [`TOP`] for itself.
    pub parent: usize,
    /// The number of loops around, itself included.
    pub depth: usize,
    /// Blocks at which control comes in, ascending, never none; several in an irreducible loop. They belong to no inner loop.
    ///
    /// Of [`TOP`] it is block 0, which may well be in a loop.
    pub entries: Vec<u32>,
    /// The blocks that are in no inner loop, ascending.
    pub blocks: Vec<u32>,
    /// The loops directly inside.
    pub loops: Vec<usize>,
}

/// The place of an edge's target, seen from a region.
pub(super) enum Destination {
    /// A block of the region itself that is not reached by starting the loop over.
    Block(u32),
    /// An entry of this loop directly inside the region.
    Loop(usize),
    /// An entry of the region itself: the loop starts over.
    Again,
    Outside,
}

impl Forest {
    /// Fails if loops nest too deeply.
    pub fn new(graph: &Graph) -> Result<Self, Error> {
        let len = graph.blocks.len();
        let reachable = reachable(graph);
        let predecessors = Predecessors::new(graph, &reachable);
        let mut forest = Self {
            regions: vec![LoopRegion { parent: TOP, depth: 0, entries: vec![0], blocks: reachable, loops: Vec::new() }],
            region_of: vec![None; len],
            is_entry: vec![false; len],
        };
        for &block in &forest.regions[TOP].blocks {
            forest.region_of[block as usize] = Some(TOP);
        }
        let mut components = Components::new(len);
        let mut region = TOP;
        while region < forest.regions.len() {
            if forest.regions[region].depth > MAX_DEPTH {
                return Err(Error::TooDeep);
            }
            forest.split(graph, region, &predecessors, &mut components);
            region += 1;
        }
        Ok(forest)
    }

    /// Moves the loops among the blocks of a region to regions of their own.
    fn split(&mut self, graph: &Graph, region: usize, predecessors: &Predecessors, components: &mut Components) {
        let blocks = std::mem::take(&mut self.regions[region].blocks);
        let depth = self.regions[region].depth + 1;
        let first = self.regions.len();
        for members in components.find(&blocks, |block| self.successors_within(graph, block)) {
            let alone = members.len() == 1;
            if alone && !members.iter().any(|&block| self.successors_within(graph, block).any(|next| next == block)) {
                continue;
            }
            let index = self.regions.len();
            self.regions[region].loops.push(index);
            self.regions.push(LoopRegion {
                parent: region,
                depth,
                entries: Vec::new(),
                blocks: members,
                loops: Vec::new(),
            });
        }
        for (index, inner) in self.regions.iter().enumerate().skip(first) {
            for &block in &inner.blocks {
                self.region_of[block as usize] = Some(index);
            }
        }
        for (index, inner) in self.regions.iter_mut().enumerate().skip(first) {
            let from_outside =
                |block: u32| predecessors.of(block).iter().any(|&p| self.region_of[p as usize] != Some(index));
            inner.entries = inner.blocks.iter().copied().filter(|&block| block == 0 || from_outside(block)).collect();
            for &entry in &inner.entries {
                self.is_entry[entry as usize] = true;
            }
        }
        self.regions[region].blocks =
            blocks.into_iter().filter(|&b| self.region_of[b as usize] == Some(region)).collect();
    }

    /// The successors of a block inside its innermost region, without those that start it over.
    fn successors_within(&self, graph: &Graph, block: u32) -> impl Iterator<Item = u32> {
        let region = self.region_of[block as usize];
        let inside = move |&next: &u32| self.region_of[next as usize] == region && !self.is_entry[next as usize];
        graph.blocks[block as usize].successors().filter(inside)
    }

    /// The place of an edge's target, seen from a region that the edge starts in.
    ///
    /// An edge into a loop ends at an entry of the loop, and no entry of a loop is inside an inner one, so there are no
    /// other cases.
    pub fn place(&self, region: usize, target: u32) -> Destination {
        match self.region_of[target as usize] {
            Some(home) if home == region && self.is_entry[target as usize] => Destination::Again,
            Some(home) if home == region => Destination::Block(target),
            Some(home) if home != TOP && self.regions[home].parent == region => Destination::Loop(home),
            _ => Destination::Outside,
        }
    }
}

/// The blocks that can be reached from block 0, ascending.
fn reachable(graph: &Graph) -> Vec<u32> {
    let mut seen = vec![false; graph.blocks.len()];
    let mut found = vec![0];
    let mut stack = vec![0];
    seen[0] = true;
    while let Some(block) = stack.pop() {
        for next in graph.blocks[block as usize].successors() {
            if !std::mem::replace(&mut seen[next as usize], true) {
                found.push(next);
                stack.push(next);
            }
        }
    }
    found.sort_unstable();
    found
}

/// The predecessors of all blocks, one after the other.
struct Predecessors {
    /// The start of each block's predecessors in `blocks`, and the end of the last.
    starts: Vec<usize>,
    blocks: Vec<u32>,
}

impl Predecessors {
    fn new(graph: &Graph, reachable: &[u32]) -> Self {
        let edges = || reachable.iter().flat_map(|&b| graph.blocks[b as usize].successors().map(move |next| (b, next)));
        let mut starts = vec![0; graph.blocks.len() + 1];
        for (_, next) in edges() {
            starts[next as usize + 1] += 1;
        }
        for index in 1..starts.len() {
            starts[index] += starts[index - 1];
        }
        let mut fill = starts.clone();
        let mut blocks = vec![0; edges().count()];
        for (block, next) in edges() {
            let slot = &mut fill[next as usize];
            blocks[*slot] = block;
            *slot += 1;
        }
        Self { starts, blocks }
    }

    fn of(&self, block: u32) -> &[u32] {
        &self.blocks[self.starts[block as usize]..self.starts[block as usize + 1]]
    }
}

/// Tarjan's strongly connected components, with a stack of its own. Kept between uses for its arrays.
struct Components {
    states: Vec<State>,
    /// The earliest block still open that can be reached from here.
    low: Vec<u32>,
}

/// The state of a block in the search for components.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// The block has not been met.
    New,
    /// The block was met as the block of this number, and its component is not known yet.
    Open(u32),
    /// Its component is known.
    Done,
}

impl Components {
    fn new(len: usize) -> Self {
        Self { states: vec![State::New; len], low: vec![0; len] }
    }

    /// The components of the blocks given, each ascending. `successors` must stay among those blocks.
    fn find<I: Iterator<Item = u32>>(&mut self, blocks: &[u32], successors: impl Fn(u32) -> I) -> Vec<Vec<u32>> {
        for &block in blocks {
            self.states[block as usize] = State::New;
        }
        let mut found = Vec::new();
        let mut met = 0;
        let mut open = Vec::new();
        let mut path: Vec<(u32, I)> = Vec::new();
        for &root in blocks {
            let mut enter = (self.states[root as usize] == State::New).then_some(root);
            loop {
                if let Some(block) = enter.take() {
                    met += 1;
                    self.states[block as usize] = State::Open(met);
                    self.low[block as usize] = met;
                    open.push(block);
                    path.push((block, successors(block)));
                }
                let Some((block, rest)) = path.last_mut() else { break };
                let block = *block as usize;
                if let Some(next) = rest.next() {
                    match self.states[next as usize] {
                        State::New => enter = Some(next),
                        State::Open(number) => self.low[block] = self.low[block].min(number),
                        State::Done => {}
                    }
                    continue;
                }
                path.pop();
                if let Some((parent, _)) = path.last() {
                    let parent = *parent as usize;
                    self.low[parent] = self.low[parent].min(self.low[block]);
                }
                if self.states[block] == State::Open(self.low[block]) {
                    // Blocks are met in the order in which they were opened, so the component is the end of `open`.
                    let start = open.iter().rposition(|&member| member as usize == block).unwrap_or(0);
                    let mut members = open.split_off(start);
                    for &member in &members {
                        self.states[member as usize] = State::Done;
                    }
                    members.sort_unstable();
                    found.push(members);
                }
            }
        }
        found
    }
}
