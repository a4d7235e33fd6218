//! The blocks that go round by each back edge of a loop, for many edges in one search.

use std::collections::BinaryHeap;

use crate::cfg::BlockId;
use crate::cfg::loops::Edge;
use crate::index::{Index, IndexVec};

/// The most rounds that are shown for a loop.
const MOST: usize = 100;

/// The most blocks of all these rounds together: a round by way of most of a large kernel is not left by others alone.
const MOST_BLOCKS: usize = 20_000;

/// The edges of a search: the bits of a word.
const AT_ONCE: usize = u64::BITS as usize;

/// A loop.
pub(super) struct Rounds<'c> {
    pub(super) predecessors: &'c IndexVec<BlockId, Vec<BlockId>>,
    pub(super) component: &'c [BlockId],
    /// The same, as a mark for each block of the graph.
    pub(super) inside: &'c [bool],
}

impl Rounds<'_> {
    /// The rounds of a loop with several back edges, by each of them without the others: a loop that waits may begin
    /// where the loop around it does. Only rounds are shown that read what others write, the smallest first, and of
    /// very many the smallest.
    pub(super) fn that_read(&self, back: &[Edge], reads: impl Fn(BlockId) -> bool) -> Vec<(Edge, Vec<bool>)> {
        if back.len() < 2 {
            return Vec::new();
        }
        let mut all: Vec<(usize, Edge)> = back.chunks(AT_ONCE).flat_map(|edges| self.sizes(edges, &reads)).collect();
        all.sort_unstable();
        all.truncate(MOST);
        let mut blocks = 0;
        let few = |(size, _): &(usize, Edge)| {
            blocks += size;
            blocks <= MOST_BLOCKS
        };
        let smallest: Vec<Edge> = all.into_iter().take_while(few).map(|(_, edge)| edge).collect();
        let rounds = |edges: &[Edge]| {
            let marks = self.marks(edges);
            let inside = |bit: usize| marks.iter().map(|marks| marks >> bit & 1 == 1).collect();
            edges.iter().enumerate().map(|(bit, edge)| (*edge, inside(bit))).collect::<Vec<_>>()
        };
        smallest.chunks(AT_ONCE).flat_map(rounds).collect()
    }

    /// The numbers of blocks that go round, of those edges where they are not all blocks of the loop and one of them reads.
    fn sizes(&self, edges: &[Edge], reads: impl Fn(BlockId) -> bool) -> Vec<(usize, Edge)> {
        let marks = self.marks(edges);
        let (mut sizes, mut reading) = ([0_usize; AT_ONCE], 0);
        for block in self.component {
            let mut rest = marks.at(*block).copied().unwrap_or(0);
            if reads(*block) {
                reading |= rest;
            }
            while let Some(size) = sizes.get_mut(rest.trailing_zeros() as usize) {
                *size += 1;
                rest &= rest - 1;
            }
        }
        let shown = |bit: usize, size| reading >> bit & 1 == 1 && size < self.component.len();
        let sized = edges.iter().zip(sizes).enumerate().filter(|(bit, (_, size))| shown(*bit, *size));
        sized.map(|(_, (edge, size))| (size, *edge)).collect()
    }

    /// For each block of the graph a bit for each edge: whether a path leads from the block to the edge without passing where the edge leads.
    fn marks(&self, edges: &[Edge]) -> IndexVec<BlockId, u64> {
        let mut marks = IndexVec::filled(0_u64, self.inside.len());
        let mut ends = IndexVec::filled(0_u64, self.inside.len());
        // From the last block to the first: few blocks are looked at again.
        let mut todo = BinaryHeap::new();
        for (bit, (last, first)) in edges.iter().enumerate() {
            let mark = |all: &mut IndexVec<BlockId, u64>, block: BlockId| {
                all.at_mut(block).into_iter().for_each(|marks| *marks |= 1 << bit);
            };
            mark(&mut marks, *first);
            mark(&mut marks, *last);
            mark(&mut ends, *first);
            todo.push(*last);
        }
        while let Some(block) = todo.pop() {
            let (Some(here), Some(ends)) = (marks.at(block), ends.at(block)) else { continue };
            let onwards = here & !ends;
            for from in self.predecessors.at(block).into_iter().flatten() {
                if self.inside.get(from.position()) == Some(&true)
                    && let Some(marks) = marks.at_mut(*from).filter(|marks| onwards & !**marks != 0)
                {
                    *marks |= onwards;
                    todo.push(*from);
                }
            }
        }
        marks
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rand_xoshiro::SplitMix64;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    use super::*;

    /// The blocks that go round by an edge, by a search for this edge alone.
    fn round(edges: &[Edge], (last, first): Edge) -> BTreeSet<BlockId> {
        let mut round = BTreeSet::from([first, last]);
        let mut todo = vec![last];
        while let Some(block) = todo.pop().filter(|block| *block != first) {
            todo.extend(edges.iter().filter(|edge| edge.1 == block && round.insert(edge.0)).map(|edge| edge.0));
        }
        round
    }

    #[test]
    fn many_edges_go_round_as_each_does() {
        const BLOCKS: u32 = 150;
        let mut random = SplitMix64::seed_from_u64(1);
        let mut number = |below: u32| BlockId((random.next_u64() % u64::from(below)) as u32);
        // All blocks in a row, with short edges to and fro; the two first blocks are the entries.
        let mut edges: Vec<Edge> = (1..BLOCKS).map(|block| (BlockId(block - 1), BlockId(block))).collect();
        edges.extend((0..70).map(|_| (number(BLOCKS - 20).0, number(20).0)).map(|(a, b)| (BlockId(a), BlockId(a + b))));
        edges.extend((0..20).map(|_| (number(BLOCKS - 5).0, number(5).0)).map(|(a, b)| (BlockId(a + b), BlockId(a))));
        let back: Vec<Edge> = (0..90).map(|_| (number(BLOCKS), number(2))).collect();
        edges.extend(&back);
        let mut predecessors = IndexVec::filled(Vec::new(), BLOCKS as usize);
        for (from, to) in &edges {
            predecessors[*to].push(*from);
        }
        let component: Vec<BlockId> = (0..BLOCKS).map(BlockId).collect();
        let inside = vec![true; component.len()];
        let reads = |block: BlockId| block.0 % 16 == 7;

        let mut expected: Vec<_> = back.iter().map(|edge| (*edge, round(&edges, *edge))).collect();
        expected.retain(|(_, round)| round.len() < component.len() && round.iter().any(|block| reads(*block)));
        expected.sort_by_key(|(edge, round)| (round.len(), *edge));
        assert!((10..MOST).contains(&expected.len()), "{}", expected.len());
        let rounds = Rounds { predecessors: &predecessors, component: &component, inside: &inside };
        let found = rounds.that_read(&back, reads).into_iter().map(|(edge, inside)| {
            (edge, component.iter().copied().filter(|block| inside[block.position()]).collect::<BTreeSet<_>>())
        });
        assert_eq!(found.collect::<Vec<_>>(), expected);
    }
}
