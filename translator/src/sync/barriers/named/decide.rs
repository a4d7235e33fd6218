//! Decisions that one thread of the workgroup takes between two barriers: which named barriers are complete, and
//! whether the loop goes on.

use super::super::operations::{self, WORD, store};
use super::layout::{END, GLOBAL, GO_ON, PAUSED, REDUCES, SHARED, STUCK, SUSPENDED, WARPS, WORKED, block, field, head};
use super::{NamedBarriers, Polling};
use crate::cfg::Barrier;
use crate::ir::{Binary, Builder, Compare, Type, Value, Var};
use ptx2spv_interface::workspace;

/// The additional patience with a block whose threads poll shared memory, before the block is suspended. Such a thread
/// may do work in its loop.
const MORE_PATIENCE: u32 = 64;

impl NamedBarriers {
    /// Decides which barriers are complete, and whether there is another iteration.
    pub(super) fn decide(&self, b: &Builder<'_>) {
        let zero = b.i32(0);
        let ready = self.head(b, head::READY);
        let is_ready = b.load_one(WORD, ready);
        store(b, ready, zero);
        let tally = Tally::new(b);
        let (all_gone, someone) = (b.var(Type::I32), b.var(Type::I32));
        b.set(all_gone, zero);
        b.set(someone, is_ready);
        repeat(b, self.layout.blocks, |b, rank| {
            let gone = b.load_one(WORD, self.block(b, rank, block::GONE));
            b.set(all_gone, b.add(b.get(all_gone), gone));
            b.set(tally.complete, zero);
            repeat(b, self.layout.barriers, |b, id| {
                let record = self.barrier(b, rank, id);
                let seen = self.layout.counted.then_some(rank);
                self.settle(b, record, id, seen, gone, &tally);
            });
            tally.publish(b, self.block(b, rank, block::COMPLETE), someone);
        });
        let gone = b.get(all_gone);
        if self.layout.cluster {
            b.set(tally.complete, zero);
            let (record, id) = (self.cluster_barrier(b), b.i32(Barrier::CLUSTER));
            self.settle(b, record, id, None, gone, &tally);
            tally.publish(b, self.head(b, head::COMPLETE), someone);
        }

        let ended = b.compare(Compare::Equal, gone, Self::everyone(b, self.layout.blocks));
        let nobody = b.is_zero(b.get(someone));
        let rounds = self.suspending.and_then(|suspending| suspending.rounds);
        let notes = (self.polling.is_some() || rounds.is_some()).then(|| {
            let word = self.head(b, head::NOTES);
            let notes = b.load_one(WORD, word);
            store(b, word, zero);
            notes
        });
        let polled = self.polling.as_ref().zip(notes).map(|(polling, notes)| self.poll(b, polling, notes, nobody));
        let unclear = b.get(tally.unclear);
        let stuck = b.or(nobody, unclear);
        let [go_on, end, stop] = [GO_ON, END, STUCK].map(|verdict| b.i32(verdict));
        let verdict = b.select(stuck, stop, go_on);
        let verdict = match polled {
            Some((polls, polled)) => b.select(b.and(polls, b.not(unclear)), polled, verdict),
            None => verdict,
        };
        let verdict = match notes.filter(|_| rounds.is_some()) {
            Some(notes) => {
                let paused = b.is_nonzero(b.and_const(notes, PAUSED.into()));
                let goes_on = b.compare_const(Compare::Equal, verdict, GO_ON.into());
                b.select(b.and(paused, goes_on), b.i32(SUSPENDED), verdict)
            }
            None => verdict,
        };
        // Arrivals that no thread waits for may be left.
        let verdict = b.select(ended, end, verdict);
        store(b, self.head(b, head::VERDICT), verdict);
    }

    /// Whether threads that can go on can only poll, and the verdict in that case. Threads that poll shared memory wait
    /// for threads of their own block, so they alone don't suspend the block; nor do they keep it from being suspended
    /// where another thread polls global memory.
    fn poll(&self, b: &Builder<'_>, polling: &Polling, notes: Value, nobody: Value) -> (Value, Value) {
        let zero = b.i32(0);
        let [global, shared] = [GLOBAL, SHARED].map(|bit| b.is_nonzero(b.and_const(notes, bit.into())));
        let only = b.and(global, nobody);
        let idle = b.select(only, b.add_const(b.get(polling.idle), 1), zero);
        b.set(polling.idle, idle);
        let worked = b.is_nonzero(b.and_const(notes, WORKED.into()));
        let active = b.or(b.get(polling.active), b.or(b.not(nobody), worked));
        b.set(polling.active, active);
        let more = b.select(shared, b.i32(MORE_PATIENCE), zero);
        let patience = operations::head(b, polling.workspace, workspace::PATIENCE);
        let impatient = b.compare(Compare::LessEqualUnsigned, b.add(patience, more), idle);
        let suspends = b.and(only, impatient);
        let [go_on, suspended] = [GO_ON, SUSPENDED].map(|verdict| b.i32(verdict));
        let polls = b.and(b.or(global, shared), nobody);
        (polls, b.select(suspends, suspended, go_on))
    }

    /// Tallies the barrier number `id` and clears its record if it is complete. `gone` threads have left in all. Where some barriers wait
    /// for a count of threads, `counted` says in which block's warps to look for them.
    fn settle(&self, b: &Builder<'_>, record: Value, id: Value, counted: Option<Value>, gone: Value, tally: &Tally) {
        let [arrived, expected, seen, votes, result] =
            [field::ARRIVED, field::EXPECTED, field::SEEN, field::VOTES, field::RESULT]
                .map(|field| b.add_const(record, (4 * field).into()));
        let stated = b.load_one(WORD, expected);
        let number = b.and_const(stated, u64::from(!REDUCES));
        b.if_(b.is_nonzero(number), |b| {
            let count = b.load_one(WORD, arrived);
            let absent = counted.map_or(gone, |rank| self.absent(b, rank, seen, gone));
            let total = b.add(count, absent);
            let enough = b.compare(Compare::LessEqualUnsigned, number, total);
            b.if_(enough, |b| {
                let rest = b.binary(Binary::RemUnsigned, total, number);
                let rest = if self.reduces {
                    // The votes of several completions can't be told apart.
                    let reduces = b.is_nonzero(b.and_const(stated, REDUCES.into()));
                    let surplus = b.sub(total, number);
                    b.select(reduces, surplus, rest)
                } else {
                    rest
                };
                tally.add(b, id, b.is_nonzero(rest));
                let zero = b.i32(0);
                if self.reduces {
                    store(b, result, b.load_one(WORD, votes));
                    store(b, votes, zero);
                }
                for word in [arrived, expected, seen] {
                    store(b, word, zero);
                }
            });
        });
    }

    /// The number of threads that have left, of those warps of a block that were seen at a barrier.
    fn absent(&self, b: &Builder<'_>, rank: Value, seen: Value, gone: Value) -> Value {
        let seen = b.load_one(WORD, seen);
        let simple = b.or(b.compare_const(Compare::Equal, seen, u32::MAX.into()), b.is_zero(gone));
        b.choose(
            simple,
            |_| gone,
            |b| {
                let sum = b.var(Type::I32);
                b.set(sum, b.i32(0));
                repeat(b, WARPS, |b, number| {
                    let bit = b.and_const(b.binary(Binary::Shr, seen, number), 1);
                    let left = b.mul(b.load_one(WORD, self.warp(b, rank, number)), bit);
                    b.set(sum, b.add(b.get(sum), left));
                });
                b.get(sum)
            },
        )
    }
}

/// Facts about barriers that one thread finds out.
struct Tally {
    /// One bit for each complete barrier.
    complete: Var,
    /// Whether more threads arrived at a barrier than the barrier waited for.
    unclear: Var,
}

impl Tally {
    fn new(b: &Builder<'_>) -> Self {
        let (complete, unclear) = (b.var(Type::I32), b.var(Type::Bool));
        b.set(unclear, b.bool(false));
        Self { complete, unclear }
    }

    /// Records a complete barrier, and whether it had too many arrivals.
    fn add(&self, b: &Builder<'_>, id: Value, unclear: Value) {
        b.set(self.unclear, b.or(b.get(self.unclear), unclear));
        let before = b.get(self.complete);
        let bit = b.binary(Binary::Shl, b.i32(1), id);
        b.set(self.complete, b.or(before, bit));
    }

    /// Writes which barriers are complete to shared memory, and adds them to `someone`, which is not zero if a thread
    /// can go on.
    fn publish(&self, b: &Builder<'_>, word: Value, someone: Var) {
        let complete = b.get(self.complete);
        store(b, word, complete);
        b.set(someone, b.or(b.get(someone), complete));
    }
}

/// Runs something for each number below `count`.
fn repeat(b: &Builder<'_>, count: u32, what: impl FnOnce(&Builder<'_>, Value)) {
    if count == 1 {
        return what(b, b.i32(0));
    }
    let next = b.var(Type::I32);
    b.set(next, b.i32(0));
    b.loop_(|b| {
        let number = b.get(next);
        let inside = b.compare_const(Compare::LessUnsigned, number, count.into());
        b.if_else(inside, |_| {}, Builder::break_);
        what(b, number);
        b.set(next, b.add_const(number, 1));
    });
}
