//! Barriers that all threads of a block reach together stay where they are. Reductions are sums of votes.

use super::operations::{WARP, add, constant};
use super::state_machine;
use super::triple_buffer::{Sharing, TripleBuffer};
use crate::cfg::{Barrier, BasicBlock, BlockId, Cfg, End, Kind, Red, Stop};
use crate::ir::{Builder, Function, last_mark};

/// The block's size must be a multiple of this number for this barrier and those before it to stay in place. `None` if a barrier of the
/// whole block can't replace this one.
///
/// All threads execute the barrier. If their number is a multiple of its count, it completes several times and no thread is left waiting. A
/// barrier of the whole block is one of the orders that CUDA allows. So is one for the barriers of all warpgroups, of which the last may lack warps.
pub fn multiple(before: u32, (block, barrier): (&BasicBlock, &Barrier)) -> Option<u32> {
    match (&barrier.kind, barrier.count) {
        (Kind::Sync | Kind::Red(_) | Kind::Wait, None) => Some(before),
        (Kind::Arrive, None) if barrier.cluster => Some(before),
        (Kind::Warpgroup, _) => Some(before),
        (Kind::Sync, Some(count)) => {
            let count = u32::try_from(constant(&block.body, count)?).ok().filter(|count| *count > 0)?;
            let count = count.checked_next_multiple_of(WARP)?;
            (before / greatest_divisor(before, count)).checked_mul(count)
        }
        // The count is known only at run time.
        (Kind::Red(_) | Kind::Wait, Some(_)) | (Kind::Arrive, _) => None,
    }
}

fn greatest_divisor(mut a: u32, mut b: u32) -> u32 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.max(1)
}

/// Replaces each stop of a kernel by a barrier in the same place.
pub fn replace(function: &mut Function, cfg: &mut Cfg) {
    let mut votes = None;
    for block in &mut cfg.blocks {
        let Some(Stop::Barrier(barrier)) = block.stop.take() else { continue };
        if barrier.is_early() {
            continue;
        }
        let mark = last_mark(&block.body);
        let votes = matches!(barrier.kind, Kind::Red(_))
            .then(|| {
                &*votes.get_or_insert_with(|| (TripleBuffer::new(function, Sharing::Block), mark.unwrap_or_default()))
            })
            .map(|(votes, _)| votes);
        let b = Builder::new(function);
        match (barrier.kind, votes) {
            (Kind::Red(red), Some(votes)) => reduce(&b, votes, red),
            _ => b.barrier(),
        }
        block.body.append(&mut b.take_block());
    }
    if let Some((votes, first)) = votes {
        let start = state_machine::new_entry(cfg);
        let b = Builder::new(function);
        b.at(first);
        votes.clear(&b);
        state_machine::set(cfg, BlockId::ENTRY, b.into_block(), End::Goto(start));
    }
}

fn reduce(b: &Builder<'_>, votes: &TripleBuffer, red: Red) {
    let vote = red.vote(b);
    let sum = votes.exchange(b, |b, word| {
        b.if_(b.is_nonzero(vote), |b| add(b, word, vote));
    });
    red.finish(b, sum);
}
