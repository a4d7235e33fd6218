//! Gives a kernel's [stops](Stop) a form that Vulkan has: barriers of the whole block, in uniform control flow.
//!
//! A CUDA barrier waits for a number of threads, or for all that have not exited, at whichever barrier instruction each of them arrives. A
//! Vulkan barrier must be executed by all invocations of the workgroup, in uniform control flow. There are three ways to get there, and the
//! first that applies is taken:
//!
//! * `in_place`: the divergence analysis shows that all threads reach every barrier together. Barriers stay where they are.
//! * `state_machine`: all barriers wait for the whole block, or all for the whole cluster. They become one barrier, in a loop of the whole
//!   workgroup.
//! * `state_machine` with `named`: the same loop, with a record of the arrivals at each barrier.
//!
//! A workgroup that is a cluster of several blocks is treated as one. With the first two ways, a block's barrier makes the cluster's
//! other blocks wait too, which is harmless there. With `named`, each block has records of its own.
//!
//! In a cooperative launch, `suspension` lets a block whose threads all wait for other blocks end the dispatch there, and go on in
//! the next one. It does the same where threads have no rounds of long loops left ([`super::pause_in_loops`]).
//!
//! Loops in which threads wait for each other ([`super::yield_in_loops`]) need one of the latter two, since there all
//! threads of the block run on in each iteration. Vulkan promises no progress otherwise, and some devices run a
//! subgroup until it ends or reaches a barrier.

mod in_place;
mod named;
pub(super) mod operations;
mod rounds_left;
mod state_machine;
pub(super) mod suspension;
pub(super) mod triple_buffer;

use rustc_hash::FxHashMap;

use crate::cfg::{Barrier, BlockId, Cfg, Kind, Red, Reduction, Stop, dependence};
use crate::ir::{Builder, Builtin, Function, Stmt, Type, Value};
use operations::WARP;
pub(super) use operations::constant;
pub use rounds_left::RoundsLeft;
use state_machine::Wait;
pub use state_machine::{new_entry, push, set};
pub use suspension::SavedLayout;
use suspension::{Numbers, Suspending};

/// The most threads of a block.
const MAX_BLOCK: u32 = 1024;

/// The result of [`resolve_barriers`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resolved {
    /// The number of the block's threads, rounded up to whole warps, must be a multiple of this number, for which its
    /// barriers wait.
    pub threads: Option<u32>,
    /// Whether the kernel is a loop around unconditional barriers.
    pub merged: bool,
    /// The stops of such a kernel: the block that ends with each, and the one where threads then go on.
    pub stops: FxHashMap<BlockId, BlockId>,
    /// If its blocks can end a dispatch and go on in the next: the layout of their saved state.
    pub saved: Option<SavedLayout>,
}

/// Replaces every stop of a kernel. `required` is the number of threads in a block, if known. `checks` asks for marks of which threads
/// arrive where ([`Stmt::Arrive`]). `workspace` is the offset, in the push constants, of the address of a cooperative launch's workspace;
/// it is given if blocks that wait for other blocks are to be suspended. `paused` has that offset for threads that pause in long loops, with
/// their rounds.
pub fn resolve_barriers(
    function: &mut Function,
    cfg: &mut Cfg,
    required: Option<u64>,
    checks: bool,
    workspace: Option<u32>,
    paused: Option<(u32, RoundsLeft)>,
) -> Resolved {
    let padded = required.map(|required| required.next_multiple_of(WARP.into()));
    for block in &mut cfg.blocks {
        if let Some(Stop::Barrier(barrier)) = &mut block.stop
            && let Some(count) = barrier.count
            && padded.is_some_and(|padded| constant(&block.body, count) == Some(padded))
        {
            barrier.count = None;
        }
    }
    let yields = cfg.blocks.iter().any(|block| matches!(block.stop, Some(Stop::Yield { .. })));
    let polls = cfg.blocks.iter().any(|block| matches!(block.stop, Some(Stop::Yield { global: true })));
    let suspending = |address, polls| Suspending {
        workspace: address,
        numbers: if workspace.is_some() { Numbers::Grid } else { Numbers::Dispatch },
        polls,
        rounds: paused.map(|(_, rounds)| rounds),
    };
    let suspending = match (workspace.filter(|_| polls), paused) {
        (Some(address), _) | (None, Some((address, _))) => Some(suspending(address, polls)),
        (None, None) => None,
    };
    let barriers = || cfg.blocks.iter().filter_map(|block| block.barrier().map(|barrier| (block, barrier)));
    let any = barriers().next().is_some();
    let awaits = cfg.blocks.iter().any(|block| matches!(block.stop, Some(Stop::Await)));
    if !any && !yields && !awaits && suspending.is_none() {
        return Resolved::default();
    }
    if !yields && !awaits && suspending.is_none() {
        let divergent = dependence::divergent_blocks(function, cfg);
        // Early arrivals need no record here: the wait that follows is a barrier of all threads.
        let together = cfg
            .blocks
            .iter()
            .zip(&divergent)
            .all(|(block, divergent)| !divergent || block.barrier().is_none_or(Barrier::is_early));
        if together && let Some(multiple) = barriers().try_fold(1, in_place::multiple) {
            in_place::replace(function, cfg);
            return Resolved { threads: (multiple > 1).then_some(multiple), ..Resolved::default() };
        }
    }
    // Barriers of a block and barriers of the cluster don't complete together.
    let of_cluster = barriers().any(|(_, barrier)| barrier.cluster);
    let one_warpgroup = padded.is_some_and(|padded| padded <= Barrier::WARPGROUP.into());
    let whole = |barrier: &Barrier| {
        let waits = match barrier.kind {
            Kind::Sync | Kind::Wait => barrier.count.is_none(),
            Kind::Warpgroup => one_warpgroup,
            Kind::Arrive | Kind::Red(_) => false,
        };
        barrier.cluster == of_cluster && (waits || barrier.is_early())
    };
    let wait = match (any, yields) {
        _ if awaits || suspending.is_some() => Wait::Named,
        (true, true) => Wait::Named,
        _ if barriers().all(|(_, barrier)| whole(barrier)) => Wait::Together,
        _ => Wait::Named,
    };
    if wait == Wait::Together {
        for block in cfg.blocks.iter_mut().filter(|block| block.barrier().is_some_and(Barrier::is_early)) {
            block.stop = None;
        }
    }
    if checks {
        mark_arrivals(function, cfg);
    }
    let (stops, saved) = state_machine::merge(function, cfg, wait, suspending);
    Resolved { threads: None, merged: true, stops, saved }
}

/// Marks the arrivals at barriers that all threads of a warp must execute together. Barriers that stay in place need no
/// mark.
fn mark_arrivals(function: &mut Function, cfg: &mut Cfg) {
    for block in &mut cfg.blocks {
        if !block.barrier().is_some_and(|barrier| barrier.aligned) {
            continue;
        }
        let b = Builder::new(function);
        let mut thread = b.builtin(Builtin::ThreadIndex);
        if b.function(|function| function.cluster).is_some() {
            thread = b.or(b.shl(b.cluster_rank(), MAX_BLOCK.ilog2()), thread);
        }
        b.push(Stmt::Arrive(thread));
        block.body.append(&mut b.take_block());
    }
}

impl Red {
    /// This thread's addition to the votes: 0 or 1.
    fn vote(self, b: &Builder<'_>) -> Value {
        let counted = if self.reduction == Reduction::All { b.not(self.predicate) } else { self.predicate };
        b.bool_to(Type::I32, counted)
    }

    /// Sets the result from the sum of all votes.
    fn finish(self, b: &Builder<'_>, votes: Value) {
        let Some(result) = self.result else { return };
        let value = match self.reduction {
            Reduction::Count => votes,
            Reduction::All => b.is_zero(votes),
            Reduction::Any => b.is_nonzero(votes),
        };
        b.set(result, value);
    }
}
