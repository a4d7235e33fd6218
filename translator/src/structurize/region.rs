//! Turns each region of a graph into an acyclic graph of items in topological order. [`super::flow`] makes lists of the
//! tree of them.
//!
//! Items of a region are numbered by position in it; block and region numbers index the arrays of [`Forest`].

use std::{cmp::Reverse, collections::BinaryHeap};

use super::flow::{self, Item, Kind, Target};
use super::graph::{Graph, Terminator};
use super::loops::{Destination, Forest, TOP};

/// All regions, laid out.
pub(super) struct Layouts {
    /// The items of each region of [`Forest::regions`]. The first is the [`Kind::Head`] and dominates all others.
    pub regions: Vec<Vec<Item>>,
    /// The item of each block in its innermost region.
    pub block_items: Vec<usize>,
    /// The item of each loop in its parent.
    pub loop_items: Vec<usize>,
}

impl Layouts {
    /// The target of the edge from a region's head to one of its entries.
    pub fn entry(&self, forest: &Forest, region: usize, to: u32) -> Target {
        match forest.place(region, to) {
            Destination::Again => Target::Item(self.block_items[to as usize]),
            _ => self.target(forest, region, to),
        }
    }

    /// The target in a region of an edge from inside the region to `to`.
    pub fn target(&self, forest: &Forest, region: usize, to: u32) -> Target {
        match forest.place(region, to) {
            Destination::Block(block) => Target::Item(self.block_items[block as usize]),
            Destination::Loop(inner) => Target::Item(self.loop_items[inner]),
            Destination::Again => Target::End,
            Destination::Outside => Target::Break,
        }
    }
}

/// Lays out all regions of a graph.
pub(super) fn lay_out(graph: &Graph, forest: &Forest) -> Layouts {
    let mut layouts = Layouts {
        regions: Vec::with_capacity(forest.regions.len()),
        block_items: vec![0; graph.blocks.len()],
        loop_items: vec![0; forest.regions.len()],
    };
    let exits = exits(graph, forest);
    let mut waiting = vec![0; graph.blocks.len() + forest.regions.len()];
    for region in 0..forest.regions.len() {
        let order = order(graph, forest, region, &exits, &mut waiting);
        for (item, kind) in order.iter().enumerate() {
            match *kind {
                Kind::Head => {}
                Kind::Block(block) => layouts.block_items[block as usize] = item,
                Kind::Loop(inner) => layouts.loop_items[inner] = item,
            }
        }
        let item = |&kind: &Kind| {
            let targets = outgoing(graph, forest, region, kind, &exits).map(|to| match kind {
                Kind::Head => layouts.entry(forest, region, to),
                _ => layouts.target(forest, region, to),
            });
            let mut targets: Vec<_> = targets.collect();
            match kind {
                Kind::Block(block) if graph.blocks[block as usize] == Terminator::Exit => targets.push(Target::End),
                Kind::Block(_) => {}
                Kind::Head | Kind::Loop(_) => {
                    targets.sort_unstable();
                    targets.dedup();
                }
            }
            Item::new(kind, targets)
        };
        let mut items: Vec<_> = order.iter().map(item).collect();
        flow::arrange(&mut items);
        layouts.regions.push(items);
    }
    layouts
}

/// For each loop the blocks outside to which its edges lead, ascending.
fn exits(graph: &Graph, forest: &Forest) -> Vec<Vec<u32>> {
    let mut exits = vec![Vec::new(); forest.regions.len()];
    for region in &forest.regions {
        for &block in &region.blocks {
            for to in graph.blocks[block as usize].successors() {
                // Blocks of regions are reached.
                let mut left = forest.region_of[block as usize].unwrap_or(TOP);
                while left != TOP && matches!(forest.place(left, to), Destination::Outside) {
                    exits[left].push(to);
                    left = forest.regions[left].parent;
                }
            }
        }
    }
    for blocks in &mut exits {
        blocks.sort_unstable();
        blocks.dedup();
    }
    exits
}

/// The blocks to which control may go on from an item of a region.
fn outgoing<'a>(
    graph: &'a Graph,
    forest: &'a Forest,
    region: usize,
    kind: Kind,
    exits: &'a [Vec<u32>],
) -> impl Iterator<Item = u32> + 'a {
    let (terminator, others): (_, &[u32]) = match kind {
        Kind::Head => (None, &forest.regions[region].entries),
        Kind::Block(block) => (Some(graph.blocks[block as usize]), &[]),
        Kind::Loop(inner) => (None, &exits[inner]),
    };
    terminator.into_iter().flat_map(Terminator::successors).chain(others.iter().copied())
}

/// The items of a region in topological order. Among those that could come next it takes the lowest block number, as compilers
/// write code in a sensible order, but the entries of the region before all others, so that one run holds them.
///
/// `waiting` has an element for each block and then for each region, and holds zero for those in this region.
fn order(graph: &Graph, forest: &Forest, region: usize, exits: &[Vec<u32>], waiting: &mut [u32]) -> Vec<Kind> {
    let here = &forest.regions[region];
    let slot = |kind| match kind {
        Kind::Head => None,
        Kind::Block(block) => Some(block as usize),
        Kind::Loop(inner) => Some(graph.blocks.len() + inner),
    };
    let next = |kind| {
        outgoing(graph, forest, region, kind, exits).filter_map(move |to| match forest.place(region, to) {
            Destination::Block(block) => Some(Kind::Block(block)),
            Destination::Loop(inner) => Some(Kind::Loop(inner)),
            // The head's own edges lead to the entries, which for all others mean starting over.
            Destination::Again if kind == Kind::Head => Some(Kind::Block(to)),
            Destination::Again | Destination::Outside => None,
        })
    };
    let blocks = here.blocks.iter().map(|&block| Kind::Block(block));
    let loops = here.loops.iter().map(|&inner| Kind::Loop(inner));
    for kind in [Kind::Head].into_iter().chain(blocks).chain(loops) {
        for slot in next(kind).filter_map(slot) {
            waiting[slot] += 1;
        }
    }
    let rank = |kind| match kind {
        Kind::Head => (false, 0),
        Kind::Block(block) => (here.entries.binary_search(&block).is_err(), block),
        Kind::Loop(inner) => (true, forest.regions[inner].entries[0]),
    };
    let mut order = Vec::with_capacity(here.blocks.len() + here.loops.len() + 1);
    let mut ready = BinaryHeap::from([Reverse((rank(Kind::Head), Kind::Head))]);
    while let Some(Reverse((_, kind))) = ready.pop() {
        order.push(kind);
        for kind in next(kind) {
            let Some(slot) = slot(kind) else { continue };
            waiting[slot] -= 1;
            if waiting[slot] == 0 {
                ready.push(Reverse((rank(kind), kind)));
            }
        }
    }
    order
}
