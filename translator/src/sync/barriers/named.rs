//! Named barriers: shared memory has an account of the arrivals at each.
//!
//! In an iteration, threads write down at which barriers they arrive, or that they leave the kernel. After a barrier of the
//! workgroup, one thread decides which named barriers are complete and clears their accounts. After a second one, the threads that
//! wait at a complete barrier go on.
//!
//! Hardware counts by warps: a warp counts when all its threads have arrived, and then it counts as 32, however many threads it has. So
//! each thread that arrives counts as one. For each warp seen at the barrier, the threads that have left, or that the block never had, are
//! added. A barrier without a count waits for the threads of all warps.
//!
//! In a workgroup that is a cluster of several blocks, each block has accounts of its own. The cluster's barrier has one account for all
//! blocks. A thread arrives there first and waits later, if the barrier isn't complete by then.
//!
//! If no thread can go on, the kernel ends with a report. The kernel also ends with a report where more threads arrive
//! at a barrier than the barrier waits for, unless their number is a multiple: which threads complete the barrier would
//! depend on their speed.

use super::suspension::{self, Block as Suspended};
use super::{WARP, WORD, add, block_threads, constant, store};
use crate::cfg::{Barrier, Cfg, Kind, Red, Stop};
use crate::ir::{Atomic, AtomicOp, Binary, Builder, Builtin, Compare, Function, OwnShared, Stmt, Type, Value, Var};
use crate::target::{Cluster, Fault};

/// Barriers that a block has.
const BARRIERS: u32 = Barrier::CLUSTER;
/// Warps that a block may have.
const WARPS: u32 = 32;

/// Words for the whole workgroup.
mod head {
    /// Not zero if a thread can go on without a barrier.
    pub const READY: u32 = 0;
    /// The bit of the cluster's barrier if that barrier is complete.
    pub const COMPLETE: u32 = 1;
    /// Whether there is another iteration: [`super::GO_ON`] and so on.
    pub const VERDICT: u32 = 2;
    /// What threads poll: bits of [`super::GLOBAL`] and [`super::SHARED`].
    pub const POLLS: u32 = 3;
    /// How many they are.
    pub const WORDS: u32 = 4;
}

/// Words of a block, before those of its barriers.
mod block {
    /// Threads that have left the kernel, and those missing from the last warp.
    pub const GONE: u32 = 0;
    /// One bit for each barrier that is complete.
    pub const COMPLETE: u32 = 1;
    /// How many they are.
    pub const WORDS: u32 = 2;
}

/// Words of a barrier's account.
mod field {
    /// Arrivals.
    pub const ARRIVED: u32 = 0;
    /// How many threads it waits for, rounded up to whole warps; zero while no thread has arrived.
    pub const EXPECTED: u32 = 1;
    /// One bit for each warp that has arrived with at least one thread.
    pub const SEEN: u32 = 2;
    /// The sum of the votes of a reduction.
    pub const VOTES: u32 = 3;
    /// The sum at the last completion of the barrier.
    pub const RESULT: u32 = 4;
    /// How many they are.
    pub const WORDS: u32 = 5;
}

/// In [`field::EXPECTED`]: the barrier is used for a reduction.
const REDUCES: u32 = 1 << 31;

/// In [`head::POLLS`]: a thread polls global memory, which other blocks and the host change.
const GLOBAL: u32 = 1;
/// In [`head::POLLS`]: a thread polls what only its own block changes.
const SHARED: u32 = 2;

/// How much longer a block with threads that poll shared memory runs before it is suspended. Such a thread may do work in its loop.
const MORE_PATIENCE: u32 = 64;

/// There is another iteration.
const GO_ON: u32 = 0;
/// All threads have left.
const END: u32 = 1;
/// No thread can go on, or which thread can is undecidable.
const STUCK: u32 = 2;
/// All remaining threads wait for other blocks.
const SUSPENDED: u32 = 3;

/// The barriers that have accounts.
#[derive(Clone, Copy)]
struct Shape {
    /// Blocks of the workgroup.
    blocks: u32,
    /// Number of a block's barriers: the highest that is used, plus one.
    barriers: u32,
    /// Whether the cluster's barrier is used.
    cluster: bool,
    /// Whether one of the barriers has a count of threads.
    counted: bool,
}

impl Shape {
    /// Words before those of the first block.
    fn head_words(self) -> u32 {
        head::WORDS + if self.cluster { field::WORDS } else { 0 }
    }

    /// Words of each block.
    fn block_words(self) -> u32 {
        block::WORDS + self.barriers * field::WORDS + if self.counted { WARPS } else { 0 }
    }

    /// Words in all.
    fn words(self) -> u32 {
        self.head_words() + self.blocks * self.block_words()
    }
}

/// The accounts of a workgroup's barriers.
pub struct Account {
    /// The head; the cluster's barrier, if used; then for each block its head, its barriers, and one word for each warp: how many of the
    /// warp's threads have left.
    memory: OwnShared,
    shape: Shape,
    /// Whether one of the barriers reduces.
    reduces: bool,
    /// Whether threads wait for other threads of their warp.
    awaits: bool,
    /// One bit for each incomplete barrier at which the thread has arrived without waiting, if the kernel has such
    /// arrivals.
    owed: Option<Var>,
    /// The barrier at which the thread waits.
    at: Var,
    /// Whether it does.
    waits: Var,
    /// The last verdict.
    verdict: Var,
    /// What a cooperative launch needs.
    polling: Option<Polling>,
}

/// State for waiting on other blocks; the variables are those of the workgroup's first thread.
struct Polling {
    /// Where the push constants have the address of the launch's workspace.
    workspace: u32,
    /// How often in succession threads could do nothing but look again at what other blocks have done.
    idle: Var,
    /// Whether they could do anything else in this dispatch.
    active: Var,
}

impl Account {
    /// Allocates the accounts in shared memory.
    pub fn new(function: &mut Function, cfg: &Cfg, workspace: Option<u32>) -> Self {
        let (mut barriers, mut cluster, mut counted, mut reduces, mut arrives) = (0, false, false, false, false);
        let awaits = cfg.blocks.iter().any(|block| matches!(block.stop, Some(Stop::Await)));
        for block in &cfg.blocks {
            let Some(Stop::Barrier(barrier)) = &block.stop else { continue };
            arrives |= matches!(barrier.kind, Kind::Arrive);
            if barrier.cluster {
                cluster = true;
                continue;
            }
            let id = constant(&block.body, barrier.id).and_then(|id| u32::try_from(id).ok());
            barriers = barriers.max(id.map_or(BARRIERS, |id| id.saturating_add(1)).min(BARRIERS));
            counted |= barrier.count.is_some();
            reduces |= matches!(barrier.kind, Kind::Red(_));
        }
        let blocks = function.cluster.map_or(1, Cluster::blocks);
        let shape = Shape { blocks, barriers, cluster, counted };
        Self {
            memory: function.take_shared(shape.words()),
            shape,
            reduces,
            awaits,
            owed: arrives.then(|| function.var(Type::I32)),
            at: function.var(Type::I32),
            waits: function.var(Type::Bool),
            verdict: function.var(Type::I32),
            polling: workspace.map(|workspace| Polling {
                workspace,
                idle: function.var(Type::I32),
                active: function.var(Type::Bool),
            }),
        }
    }

    /// Offset of the workspace's address in the push constants, if blocks are to be suspended.
    pub fn workspace(&self) -> Option<u32> {
        self.polling.as_ref().map(|polling| polling.workspace)
    }

    fn head(&self, b: &mut Builder<'_>, word: u32) -> Value {
        b.own_shared(self.memory, 4 * word)
    }

    /// Address of a word of the block with number `rank` in the cluster.
    fn block(&self, b: &mut Builder<'_>, rank: Value, word: u32) -> Value {
        let first = self.head(b, self.shape.head_words() + word);
        let offset = b.mul_const(rank, u64::from(4 * self.shape.block_words()));
        b.add(first, offset)
    }

    /// Address of a word of the thread's own block.
    fn own_block(&self, b: &mut Builder<'_>, word: u32) -> Value {
        let rank = b.cluster_rank();
        self.block(b, rank, word)
    }

    /// Address of the account of a block's barrier.
    fn barrier(&self, b: &mut Builder<'_>, rank: Value, id: Value) -> Value {
        let offset = b.mul_const(id, u64::from(4 * field::WORDS));
        let first = self.block(b, rank, block::WORDS);
        b.add(first, offset)
    }

    /// Address of the account of the cluster's barrier.
    fn cluster_barrier(&self, b: &mut Builder<'_>) -> Value {
        self.head(b, head::WORDS)
    }

    /// Address of the word of a block's warp.
    fn warp(&self, b: &mut Builder<'_>, rank: Value, warp: Value) -> Value {
        let offset = b.shl(warp, 2);
        let first = self.block(b, rank, block::WORDS + self.shape.barriers * field::WORDS);
        b.add(first, offset)
    }

    /// Prepares the first iteration.
    pub fn open(&self, b: &mut Builder<'_>) {
        let threads = block_threads(b);
        let zero = b.i32(0);
        let word = b.var(Type::I32);
        let index = b.builtin(Builtin::ThreadIndex);
        let rank = b.cluster_rank();
        let before = b.mul(rank, threads);
        let first = b.add(before, index);
        b.set(word, first);
        let all = b.mul_const(threads, self.shape.blocks.into());
        b.loop_(|b| {
            let number = b.get(word);
            let inside = b.compare_const(Compare::LessUnsigned, number, self.shape.words().into());
            b.if_else(inside, |_| {}, Builder::break_);
            let address = b.shl(number, 2);
            let first = self.head(b, 0);
            let address = b.add(first, address);
            store(b, address, zero);
            let next = b.add(number, all);
            b.set(word, next);
        });
        b.barrier();
        let leads = b.is_zero(index);
        b.if_(leads, |b| {
            let whole = whole_warps(b, threads);
            let lacking = b.sub(whole, threads);
            let gone = self.own_block(b, block::GONE);
            store(b, gone, lacking);
            if self.shape.counted {
                let last = b.sub_const(threads, 1);
                let last = b.shr(last, WARP.ilog2());
                let word = self.warp(b, rank, last);
                store(b, word, lacking);
            }
        });
        b.barrier();
        let no = b.bool(false);
        b.set(self.waits, no);
        if let Some(owed) = self.owed {
            b.set(owed, zero);
        }
    }

    /// Runs something in the workgroup's first thread.
    fn by_one(&self, b: &mut Builder<'_>, what: impl FnOnce(&mut Builder<'_>)) {
        let index = b.builtin(Builtin::ThreadIndex);
        let rank = b.cluster_rank();
        let place = b.or(index, rank);
        let first = b.is_zero(place);
        b.if_(first, what);
    }

    /// The number of threads that a barrier without a count waits for: those of all `blocks`, in whole warps.
    fn everyone(b: &mut Builder<'_>, blocks: u32) -> Value {
        let threads = block_threads(b);
        let whole = whole_warps(b, threads);
        b.mul_const(whole, blocks.into())
    }

    /// Makes the thread wait for the cluster's barrier, unless the barrier has completed since the thread arrived.
    fn wait(&self, b: &mut Builder<'_>, owed: Var) {
        let owed = b.get(owed);
        let waits = b.and_const(owed, 1 << Barrier::CLUSTER);
        let waits = b.is_nonzero(waits);
        b.set(self.waits, waits);
        let id = b.i32(Barrier::CLUSTER);
        b.set(self.at, id);
        let goes_on = b.not(waits);
        b.if_(goes_on, |b| self.stay_ready(b));
    }

    /// Arrives at a barrier and notes that the thread waits there, unless it only arrives.
    pub fn arrive(&self, b: &mut Builder<'_>, barrier: &Barrier) {
        if let (Kind::Wait, Some(owed)) = (&barrier.kind, self.owed) {
            return self.wait(b, owed);
        }
        let (id, rank) = (barrier.id, b.cluster_rank());
        let account = if barrier.cluster { self.cluster_barrier(b) } else { self.barrier(b, rank, id) };
        let (expected, warps) = match barrier.count {
            None => {
                let blocks = if barrier.cluster { self.shape.blocks } else { 1 };
                (Self::everyone(b, blocks), b.i32(u32::MAX))
            }
            Some(count) => {
                // A register that holds zero counts as no count.
                let none = b.is_zero(count);
                let given = whole_warps(b, count);
                let all = Self::everyone(b, 1);
                let index = b.builtin(Builtin::ThreadIndex);
                let warp = b.shr(index, WARP.ilog2());
                let one = b.i32(1);
                let own = b.binary(Binary::Shl, one, warp);
                let every = b.i32(u32::MAX);
                (b.select(none, all, given), b.select(none, every, own))
            }
        };
        let flag = if matches!(barrier.kind, Kind::Red(_)) { REDUCES } else { 0 };
        let expected = b.or_const(expected, flag.into());
        let word = b.add_const(account, (4 * field::EXPECTED).into());
        store(b, word, expected);
        if self.shape.counted {
            let word = b.add_const(account, (4 * field::SEEN).into());
            b.atomic(Atomic {
                result: None,
                op: AtomicOp::Or,
                access: WORD,
                address: word,
                operand: warps,
                compare: None,
            });
        }
        let one = b.i32(1);
        let word = b.add_const(account, (4 * field::ARRIVED).into());
        add(b, word, one);
        if let Kind::Red(red) = barrier.kind {
            let vote = red.vote(b);
            let word = b.add_const(account, (4 * field::VOTES).into());
            add(b, word, vote);
        }
        match (&barrier.kind, self.owed) {
            (Kind::Arrive, Some(owed)) => {
                let bit = b.binary(Binary::Shl, one, id);
                let before = b.get(owed);
                let now = b.or(before, bit);
                b.set(owed, now);
            }
            _ => {
                b.set(self.at, id);
                let yes = b.bool(true);
                b.set(self.waits, yes);
            }
        }
    }

    /// Notes that the thread can go on in any case.
    pub fn stay_ready(&self, b: &mut Builder<'_>) {
        let word = self.head(b, head::READY);
        let one = b.i32(1);
        store(b, word, one);
    }

    /// Notes that the thread can go on, if only to read once more what other threads have written.
    pub fn look_again(&self, b: &mut Builder<'_>, global: bool) {
        if self.polling.is_none() {
            return self.stay_ready(b);
        }
        let address = self.head(b, head::POLLS);
        let operand = b.i32(if global { GLOBAL } else { SHARED });
        b.atomic(Atomic { result: None, op: AtomicOp::Or, access: WORD, address, operand, compare: None });
    }

    /// Begins a dispatch: restores what the previous dispatch saved. Gives whether the block had already ended.
    pub fn begin_dispatch(&self, b: &mut Builder<'_>, suspended: &Suspended) -> Value {
        let status = suspended.restore(b);
        b.barrier();
        let is_new = b.is_zero(status);
        if let Some(polling) = &self.polling {
            let zero = b.i32(0);
            b.set(polling.idle, zero);
            b.set(polling.active, is_new);
        }
        b.compare_const(Compare::Equal, status, suspension::ENDED.into())
    }

    /// Ends a dispatch: saves what the block needs to go on, if it hasn't ended.
    pub fn end_dispatch(&self, b: &mut Builder<'_>, suspended: &Suspended) {
        let Some(polling) = &self.polling else { return };
        let verdict = b.get(self.verdict);
        let goes_on = b.compare_const(Compare::Equal, verdict, SUSPENDED.into());
        b.if_(goes_on, |b| suspended.save(b));
        self.by_one(b, |b| {
            let active = b.get(polling.active);
            suspended.note(b, goes_on, active);
        });
    }

    /// Notes that the thread has left. At barriers where the thread has arrived, it counts from now on as one that has
    /// left.
    pub fn leave(&self, b: &mut Builder<'_>) {
        let (one, rank) = (b.i32(1), b.cluster_rank());
        if let Some(owed) = self.owed {
            let owed = b.get(owed);
            let minus_one = b.i32(u32::MAX);
            let cluster = self.shape.cluster.then_some(Barrier::CLUSTER);
            for id in (0..self.shape.barriers).chain(cluster) {
                let bit = b.and_const(owed, 1 << id);
                let arrived = b.is_nonzero(bit);
                b.if_(arrived, |b| {
                    let account = if id == Barrier::CLUSTER {
                        self.cluster_barrier(b)
                    } else {
                        let id = b.i32(id);
                        self.barrier(b, rank, id)
                    };
                    let word = b.add_const(account, (4 * field::ARRIVED).into());
                    add(b, word, minus_one);
                });
            }
        }
        let gone = self.own_block(b, block::GONE);
        add(b, gone, one);
        if self.awaits {
            // No thread waits for it any more.
            self.stay_ready(b);
        }
        if self.shape.counted {
            let index = b.builtin(Builtin::ThreadIndex);
            let warp = b.shr(index, WARP.ilog2());
            let word = self.warp(b, rank, warp);
            add(b, word, one);
        }
    }

    /// Whether the thread has to wait on.
    pub fn is_waiting(&self, b: &mut Builder<'_>) -> Value {
        b.get(self.waits)
    }

    /// Sets the result of a reduction whose barrier is complete.
    pub fn result(&self, b: &mut Builder<'_>, red: Red) {
        let (at, rank) = (b.get(self.at), b.cluster_rank());
        let account = self.barrier(b, rank, at);
        let word = b.add_const(account, (4 * field::RESULT).into());
        let votes = b.load_one(WORD, word);
        red.finish(b, votes);
    }

    /// Synchronizes the workgroup and decides which barriers are complete; gives whether there is another iteration.
    pub fn meet(&self, b: &mut Builder<'_>) -> Value {
        b.barrier();
        self.by_one(b, |b| self.decide(b));
        b.barrier();
        let word = self.own_block(b, block::COMPLETE);
        let mut complete = b.load_one(WORD, word);
        if self.shape.cluster {
            let word = self.head(b, head::COMPLETE);
            let of_cluster = b.load_one(WORD, word);
            complete = b.or(complete, of_cluster);
        }
        let at = b.get(self.at);
        let bit = b.binary(Binary::Shr, complete, at);
        let bit = b.and_const(bit, 1);
        let open = b.is_zero(bit);
        let waits = b.get(self.waits);
        let waits = b.and(waits, open);
        b.set(self.waits, waits);
        if let Some(owed) = self.owed {
            let before = b.get(owed);
            let incomplete = b.not(complete);
            let now = b.and(before, incomplete);
            b.set(owed, now);
        }
        let word = self.head(b, head::VERDICT);
        let verdict = b.load_one(WORD, word);
        b.set(self.verdict, verdict);
        b.compare_const(Compare::Equal, verdict, GO_ON.into())
    }

    /// Decides which barriers are complete, and whether there is another iteration.
    fn decide(&self, b: &mut Builder<'_>) {
        let zero = b.i32(0);
        let ready = self.head(b, head::READY);
        let is_ready = b.load_one(WORD, ready);
        store(b, ready, zero);
        let tally = Tally::new(b);
        let (all_gone, someone) = (b.var(Type::I32), b.var(Type::I32));
        b.set(all_gone, zero);
        b.set(someone, is_ready);
        repeat(b, self.shape.blocks, |b, rank| {
            let word = self.block(b, rank, block::GONE);
            let gone = b.load_one(WORD, word);
            let before = b.get(all_gone);
            let now = b.add(before, gone);
            b.set(all_gone, now);
            b.set(tally.complete, zero);
            repeat(b, self.shape.barriers, |b, id| {
                let account = self.barrier(b, rank, id);
                let seen = self.shape.counted.then_some(rank);
                self.settle(b, account, id, seen, gone, &tally);
            });
            let word = self.block(b, rank, block::COMPLETE);
            tally.publish(b, word, someone);
        });
        let gone = b.get(all_gone);
        if self.shape.cluster {
            b.set(tally.complete, zero);
            let (account, id) = (self.cluster_barrier(b), b.i32(Barrier::CLUSTER));
            self.settle(b, account, id, None, gone, &tally);
            let word = self.head(b, head::COMPLETE);
            tally.publish(b, word, someone);
        }

        let whole = Self::everyone(b, self.shape.blocks);
        let ended = b.compare(Compare::Equal, gone, whole);
        let able = b.get(someone);
        let nobody = b.is_zero(able);
        let polled = self.polling.as_ref().map(|polling| self.poll(b, polling, nobody));
        let unclear = b.get(tally.unclear);
        let stuck = b.or(nobody, unclear);
        let [go_on, end, stop] = [GO_ON, END, STUCK].map(|verdict| b.i32(verdict));
        let verdict = b.select(stuck, stop, go_on);
        let verdict = match polled {
            Some((polls, polled)) => {
                let clear = b.not(unclear);
                let polls = b.and(polls, clear);
                b.select(polls, polled, verdict)
            }
            None => verdict,
        };
        // Arrivals that no thread waits for may be left.
        let verdict = b.select(ended, end, verdict);
        let word = self.head(b, head::VERDICT);
        store(b, word, verdict);
    }

    /// Whether threads that can go on can only poll, and the verdict in that case. Those that poll shared memory wait for threads of their
    /// own block, so they alone don't suspend it; nor do they keep it from being suspended where another thread polls global memory.
    fn poll(&self, b: &mut Builder<'_>, polling: &Polling, nobody: Value) -> (Value, Value) {
        let word = self.head(b, head::POLLS);
        let polls = b.load_one(WORD, word);
        let zero = b.i32(0);
        store(b, word, zero);
        let [global, shared] = [GLOBAL, SHARED].map(|bit| {
            let bit = b.and_const(polls, bit.into());
            b.is_nonzero(bit)
        });
        let only = b.and(global, nobody);
        let before = b.get(polling.idle);
        let more = b.add_const(before, 1);
        let idle = b.select(only, more, zero);
        b.set(polling.idle, idle);
        let active = b.get(polling.active);
        let others = b.not(nobody);
        let active = b.or(active, others);
        b.set(polling.active, active);
        let more = b.i32(MORE_PATIENCE);
        let more = b.select(shared, more, zero);
        let patience = suspension::patience(b, polling.workspace);
        let patience = b.add(patience, more);
        let impatient = b.compare(Compare::LessEqualUnsigned, patience, idle);
        let suspends = b.and(only, impatient);
        let [go_on, suspended] = [GO_ON, SUSPENDED].map(|verdict| b.i32(verdict));
        let polls = b.is_nonzero(polls);
        let polls = b.and(polls, nobody);
        (polls, b.select(suspends, suspended, go_on))
    }

    /// Tallies the barrier number `id` and clears its account if it is complete. `gone` threads have left in all. Where some barriers wait
    /// for a count of threads, `counted` says in which block's warps to look for them.
    fn settle(
        &self,
        b: &mut Builder<'_>,
        account: Value,
        id: Value,
        counted: Option<Value>,
        gone: Value,
        tally: &Tally,
    ) {
        let [arrived, expected, seen, votes, result] =
            [field::ARRIVED, field::EXPECTED, field::SEEN, field::VOTES, field::RESULT]
                .map(|field| b.add_const(account, (4 * field).into()));
        let stated = b.load_one(WORD, expected);
        let number = b.and_const(stated, u64::from(!REDUCES));
        let used = b.is_nonzero(number);
        b.if_(used, |b| {
            let count = b.load_one(WORD, arrived);
            let absent = counted.map_or(gone, |rank| self.absent(b, rank, seen, gone));
            let total = b.add(count, absent);
            let enough = b.compare(Compare::LessEqualUnsigned, number, total);
            b.if_(enough, |b| {
                let rest = b.binary(Binary::RemUnsigned, total, number);
                let rest = if self.reduces {
                    // The votes of several completions can't be told apart.
                    let reduces = b.and_const(stated, REDUCES.into());
                    let reduces = b.is_nonzero(reduces);
                    let surplus = b.sub(total, number);
                    b.select(reduces, surplus, rest)
                } else {
                    rest
                };
                let some = b.is_nonzero(rest);
                tally.add(b, id, some);
                let zero = b.i32(0);
                if self.reduces {
                    let sum = b.load_one(WORD, votes);
                    store(b, result, sum);
                    store(b, votes, zero);
                }
                for word in [arrived, expected, seen] {
                    store(b, word, zero);
                }
            });
        });
    }

    /// How many threads have left, of those warps of a block that were seen at a barrier.
    fn absent(&self, b: &mut Builder<'_>, rank: Value, seen: Value, gone: Value) -> Value {
        let seen = b.load_one(WORD, seen);
        let all = b.compare_const(Compare::Equal, seen, u32::MAX.into());
        let none = b.is_zero(gone);
        let simple = b.or(all, none);
        b.choose(
            simple,
            |_| gone,
            |b| {
                let sum = b.var(Type::I32);
                let zero = b.i32(0);
                b.set(sum, zero);
                repeat(b, WARPS, |b, number| {
                    let bit = b.binary(Binary::Shr, seen, number);
                    let bit = b.and_const(bit, 1);
                    let word = self.warp(b, rank, number);
                    let left = b.load_one(WORD, word);
                    let left = b.mul(left, bit);
                    let before = b.get(sum);
                    let now = b.add(before, left);
                    b.set(sum, now);
                });
                b.get(sum)
            },
        )
    }

    /// After the loop: reports that threads were stuck, which can't happen where all wait at one barrier for the whole block.
    pub fn report(&self, b: &mut Builder<'_>) {
        let numbered = self.shape.barriers + u32::from(self.shape.cluster);
        if numbered <= 1 && !self.shape.counted && !self.reduces && !self.awaits && self.owed.is_none() {
            return;
        }
        let verdict = b.get(self.verdict);
        let stuck = b.compare_const(Compare::Equal, verdict, STUCK.into());
        b.if_(stuck, |b| b.push(Stmt::Report(Fault::Deadlock, Vec::new())));
    }
}

/// What one thread finds out about barriers.
struct Tally {
    /// One bit for each complete barrier.
    complete: Var,
    /// Whether more threads arrived at a barrier than the barrier waited for.
    unclear: Var,
}

impl Tally {
    fn new(b: &mut Builder<'_>) -> Self {
        let (complete, unclear) = (b.var(Type::I32), b.var(Type::Bool));
        let no = b.bool(false);
        b.set(unclear, no);
        Self { complete, unclear }
    }

    /// Records a complete barrier, and whether it had too many arrivals.
    fn add(&self, b: &mut Builder<'_>, id: Value, unclear: Value) {
        let before = b.get(self.unclear);
        let now = b.or(before, unclear);
        b.set(self.unclear, now);
        let before = b.get(self.complete);
        let one = b.i32(1);
        let bit = b.binary(Binary::Shl, one, id);
        let now = b.or(before, bit);
        b.set(self.complete, now);
    }

    /// Writes which barriers are complete to shared memory, and adds them to `someone`, which is not zero if a thread
    /// can go on.
    fn publish(&self, b: &mut Builder<'_>, word: Value, someone: Var) {
        let complete = b.get(self.complete);
        store(b, word, complete);
        let before = b.get(someone);
        let now = b.or(before, complete);
        b.set(someone, now);
    }
}

/// Runs something for each number below `count`.
fn repeat(b: &mut Builder<'_>, count: u32, what: impl FnOnce(&mut Builder<'_>, Value)) {
    if count == 1 {
        let only = b.i32(0);
        return what(b, only);
    }
    let next = b.var(Type::I32);
    let zero = b.i32(0);
    b.set(next, zero);
    b.loop_(|b| {
        let number = b.get(next);
        let inside = b.compare_const(Compare::LessUnsigned, number, count.into());
        b.if_else(inside, |_| {}, Builder::break_);
        what(b, number);
        let up = b.add_const(number, 1);
        b.set(next, up);
    });
}

/// A number of threads, rounded up to whole warps.
fn whole_warps(b: &mut Builder<'_>, threads: Value) -> Value {
    let up = b.add_const(threads, u64::from(WARP - 1));
    b.and_const(up, u64::from(!(WARP - 1)))
}
