//! Suspension of threads at the ends of rounds of long loops: with others, or by themselves.

use rustc_hash::FxHashSet;

use super::loops::Loop;
use crate::cfg::loops::Edge;
use crate::cfg::{BlockId, Cfg, End, Joins, dependence};
use crate::index::Index;
use crate::ir::{Builder, Function};

/// A way back to the start of a long loop.
#[derive(Clone, Copy, Debug)]
pub struct Round {
    /// The loop's position in the list.
    pub position: usize,
    pub edge: Edge,
    pub pause: Pause,
}

/// The way in which a thread is suspended at the end of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pause {
    /// With all other threads of its block, which do the same rounds.
    Together,
    /// By itself: it won't meet other threads again.
    Alone,
    /// With all that meet it at this block: it goes there first.
    At(BlockId),
}

/// The blocks from which one of these can be reached.
pub fn reaching(cfg: &Cfg, blocks: impl IntoIterator<Item = BlockId>) -> Vec<bool> {
    let predecessors = cfg.predecessors();
    let mut reaches = vec![false; cfg.blocks.len()];
    let mut todo: Vec<BlockId> = blocks.into_iter().collect();
    while let Some(block) = todo.pop() {
        if let Some(reaches) = reaches.get_mut(block.position()).filter(|reaches| !**reaches) {
            *reaches = true;
            todo.extend(predecessors.at(block).into_iter().flatten());
        }
    }
    reaches
}

/// The blocks that threads may execute without the others, of the threads that stay where one of these blocks can be
/// reached: whether a thread leaves does not concern those that stay.
fn divergent_among_staying(function: &Function, cfg: &Cfg, reaches: &[bool]) -> Vec<bool> {
    let stays = |block: BlockId| reaches.get(block.position()) == Some(&true);
    let (mut function, mut cfg) = (function.clone(), cfg.clone());
    for block in &mut cfg.blocks {
        if let End::Branch { condition, then, otherwise } = &mut block.end
            && stays(*then) != stays(*otherwise)
        {
            let b = Builder::new(&mut function);
            *condition = b.bool(true);
            block.body.append(&mut b.take_block());
        }
    }
    dependence::divergent_blocks(&function, &cfg)
}

/// The blocks on the ways from a block to another.
fn between(cfg: &Cfg, from: BlockId, to: BlockId) -> impl Iterator<Item = BlockId> {
    let mut found = FxHashSet::default();
    let mut todo: Vec<BlockId> = cfg.successors(from).collect();
    while let Some(block) = todo.pop() {
        if block != to && found.insert(block) {
            todo.extend(cfg.successors(block));
        }
    }
    found.into_iter()
}

/// The ways back in the long loops, and how threads are suspended there. `collective` says in which blocks threads do something together.
/// `None` if threads that do rounds by themselves meet nowhere before they do something together.
pub fn pauses(
    function: &Function,
    cfg: &Cfg,
    loops: &[Loop],
    long: &[usize],
    collective: &[bool],
) -> Option<Vec<Round>> {
    let edges: Vec<(usize, Edge)> = long
        .iter()
        .flat_map(|position| loops.get(*position).into_iter().flat_map(|one| &one.back).map(|edge| (*position, *edge)))
        .collect();
    let together: Vec<BlockId> =
        cfg.blocks.indices().filter(|block| collective.get(block.position()) == Some(&true)).collect();
    let of_edges = edges.iter().map(|(_, (from, _))| *from);
    let going_on = reaching(cfg, together.iter().copied().chain(of_edges));
    let apart = divergent_among_staying(function, cfg, &going_on);
    let is = |list: &[bool], block: BlockId| list.get(block.position()) == Some(&true);
    if together.is_empty() {
        let apart = edges.iter().any(|(_, (from, _))| is(&apart, *from));
        let pause = if apart { Pause::Alone } else { Pause::Together };
        return Some(edges.into_iter().map(|(position, edge)| Round { position, edge, pause }).collect());
    }
    let reaches = reaching(cfg, together);
    let divergent = divergent_among_staying(function, cfg, &reaches);
    let joins = Joins::new(cfg);
    let pause = |(position, edge): (usize, Edge)| {
        let from = edge.0;
        let pause = match (is(&reaches, from), is(&divergent, from)) {
            (true, true) => {
                let mut joins = std::iter::successors(joins.of(from), |join| joins.of(*join));
                let join = joins.find(|join| !is(&divergent, *join))?;
                // It must not pass over what some of them do together.
                let passes = between(cfg, from, join).any(|block| is(collective, block));
                (!passes).then_some(Pause::At(join))?
            }
            (false, _) if is(&apart, from) => Pause::Alone,
            _ => Pause::Together,
        };
        Some(Round { position, edge, pause })
    };
    edges.into_iter().map(pause).collect()
}
