//! Loops of a graph, and the blocks through which the ways to their starts go.

use rustc_hash::FxHashSet;

use super::super::barriers::push;
use crate::cfg::loops::{Edge, components, marked, ways_back};
use crate::cfg::{BlockId, Cfg, End};
use crate::ir::{Builder, Function, Stmt};

#[derive(Clone, Debug)]
pub struct Loop {
    pub blocks: Vec<BlockId>,
    /// The edges back to its start.
    pub back: Vec<Edge>,
    /// The position of the loop around it in the list of all loops.
    around: Option<usize>,
}

impl Loop {
    /// Whether threads enter the loop at several blocks.
    pub fn has_several_starts(&self) -> bool {
        self.back.first().is_some_and(|(_, start)| self.back.iter().any(|(_, other)| other != start))
    }
}

/// The loops of a graph, each after the one around it.
pub fn loops(cfg: &Cfg) -> Vec<Loop> {
    let mut found: Vec<Loop> = Vec::new();
    let predecessors = cfg.predecessors();
    let mut todo = vec![(cfg.blocks.indices().collect::<Vec<_>>(), FxHashSet::default(), None)];
    while let Some((part, cut, around)) = todo.pop() {
        for component in components(cfg, &part, &cut) {
            let back = ways_back(cfg, &predecessors, &component, &marked(cfg, &component));
            // Nothing leads to a loop in unreachable code.
            if !back.is_empty() {
                let cut = cut.iter().copied().chain(back.iter().copied()).collect();
                todo.push((component.clone(), cut, Some(found.len())));
                found.push(Loop { blocks: component, back, around });
            }
        }
    }
    found
}

/// Marks where loops start by their positions in the list, for an analysis of the tree that the graph becomes.
pub fn mark_loops(function: &mut Function, cfg: &mut Cfg, loops: &[Loop]) {
    for (position, one) in (0..).zip(loops) {
        for (_, start) in &one.back {
            let b = Builder::new(function);
            b.push(Stmt::Arrive(b.i32(position)));
            let mark = b.into_block();
            if let Some(block) = cfg.blocks.at_mut(*start) {
                block.body.splice(0..0, mark);
            }
        }
    }
}

/// The starts of the loops around a loop, from the outermost in. Empty if one of them, or the loop itself, has several, so that a thread
/// can't go on through them.
pub fn ways_in(loops: &[Loop], position: usize) -> Vec<BlockId> {
    let mut starts = starts(loops, Some(position));
    starts.pop();
    starts
}

/// The starts of a loop and of those around it, from the outermost in. Empty if one of them has several.
pub fn starts(loops: &[Loop], position: Option<usize>) -> Vec<BlockId> {
    let mut starts = Vec::new();
    let mut next = position.and_then(|position| loops.get(position));
    while let Some(one) = next {
        if one.has_several_starts() {
            return Vec::new();
        }
        starts.extend(one.back.first().map(|(_, start)| *start));
        next = one.around.and_then(|around| loops.get(around));
    }
    starts.reverse();
    starts
}

/// Lets the ways back to each start of a loop meet before it, so that threads that take different ones do the same rounds.
pub fn join_rounds(cfg: &mut Cfg, loops: &mut [Loop], position: usize) {
    let mut starts: Vec<BlockId> =
        loops.get(position).into_iter().flat_map(|one| &one.back).map(|edge| edge.1).collect();
    starts.sort_unstable();
    starts.dedup();
    for start in starts {
        let ways = |one: &Loop| one.back.iter().filter(|(_, to)| *to == start).count();
        if loops.get(position).is_some_and(|one| ways(one) > 1) {
            gather_inside(cfg, loops, position, start);
        }
    }
}

/// Adds a block through which a loop's ways back to a start go.
pub fn gather_inside(cfg: &mut Cfg, loops: &mut [Loop], position: usize, start: BlockId) -> BlockId {
    let block = push(cfg, Vec::new(), End::Goto(start));
    let Some(one) = loops.get_mut(position) else { return block };
    for (from, _) in one.back.iter().filter(|(_, to)| *to == start) {
        redirect(cfg, *from, start, block);
    }
    one.back.retain(|(_, to)| *to != start);
    one.back.push((block, start));
    add_block(loops, Some(position), block);
    block
}

/// Adds a block through which the ways to another go that don't come from loops which start there.
pub fn gather_outside(cfg: &mut Cfg, loops: &mut [Loop], join: BlockId) -> BlockId {
    let block = push(cfg, Vec::new(), End::Goto(join));
    let starting = loops.iter().position(|one| one.back.iter().any(|(_, start)| *start == join));
    let back: Vec<BlockId> = starting
        .and_then(|position| loops.get(position))
        .into_iter()
        .flat_map(|one| &one.back)
        .map(|edge| edge.0)
        .collect();
    for from in cfg.blocks.indices().filter(|from| *from != block && !back.contains(from)).collect::<Vec<_>>() {
        redirect(cfg, from, join, block);
    }
    let around = match starting {
        Some(position) => loops.get(position).and_then(|one| one.around),
        None => innermost(loops, join),
    };
    add_block(loops, around, block);
    block
}

fn redirect(cfg: &mut Cfg, from: BlockId, to: BlockId, through: BlockId) {
    if let Some(block) = cfg.blocks.at_mut(from) {
        block.end = block.end.redirected(|next| if next == to { through } else { next });
    }
}

/// Notes that a block lies in a loop and those around it.
fn add_block(loops: &mut [Loop], mut position: Option<usize>, block: BlockId) {
    while let Some(one) = position.and_then(|position| loops.get_mut(position)) {
        one.blocks.push(block);
        position = one.around;
    }
}

/// The position of the innermost loop that has a block.
pub fn innermost(loops: &[Loop], block: BlockId) -> Option<usize> {
    // Each comes after the one around it.
    loops.iter().rposition(|one| one.blocks.contains(&block))
}
