//! Named barriers: shared memory has a record of the arrivals at each.
//!
//! In an iteration, threads write down at which barriers they arrive, or that they leave the kernel. After a barrier of the
//! workgroup, one thread decides which named barriers are complete and clears their records. After a second one, the threads that
//! wait at a complete barrier go on.
//!
//! Hardware counts by warps: a warp counts when all its threads have arrived, and then it counts as 32, however many threads it has. So
//! each thread that arrives counts as one. For each warp seen at the barrier, the threads that have left, or that the block never had, are
//! added. A barrier without a count waits for the threads of all warps.
//!
//! In a workgroup that is a cluster of several blocks, each block has records of its own. The cluster's barrier has one record for all
//! blocks. A thread arrives there first and waits later, if the barrier isn't complete by then.
//!
//! If no thread can go on, the kernel ends with a report. The kernel also ends with a report where more threads arrive
//! at a barrier than the barrier waits for, unless their number is a multiple: which threads complete the barrier would
//! depend on their speed.

mod decide;
mod layout;

use super::operations::{WARP, WORD, add, block_threads, constant, store};
use super::suspension::{self, Block as Suspended, Suspending};
use crate::cfg::{Barrier, Cfg, Kind, Red, Stop};
use crate::ir::{
    Atomic, AtomicOp, Binary, Builder, Builtin, Compare, Function, OwnShared, Space, Stmt, Type, Value, Var, any_stmt,
};
use layout::{GLOBAL, GO_ON, Layout, PAUSED, REDUCES, SHARED, STUCK, SUSPENDED, WORKED, block, field, head};
use ptx2spv_target::{Cluster, Fault};

/// The records of a workgroup's barriers.
pub struct NamedBarriers {
    /// The head; the cluster's barrier, if used; then for each block its head, its barriers, and one word for each warp: how many of the
    /// warp's threads have left.
    memory: OwnShared,
    layout: Layout,
    /// The number of the first warpgroup's barrier.
    first_of_warpgroups: u32,
    reduces: bool,
    /// Whether threads wait for other threads of their warp.
    awaits: bool,
    /// One bit for each incomplete barrier at which the thread has arrived without waiting, if the kernel has such
    /// arrivals.
    owed: Option<Var>,
    /// The barrier at which the thread waits.
    at: Var,
    waits: Var,
    /// The last verdict.
    verdict: Var,
    /// The way to suspend the block, if it can be suspended.
    suspending: Option<Suspending>,
    /// The state for a cooperative launch.
    polling: Option<Polling>,
}

/// State for waiting on other blocks; the variables are those of the workgroup's first thread.
struct Polling {
    /// Offset in the push constants of the address of the launch's workspace.
    workspace: u32,
    /// The number of times in succession that threads could do nothing but look again at the doings of other blocks.
    idle: Var,
    /// Whether threads could do anything else in this dispatch.
    active: Var,
    /// Of each thread: whether it has stored something since it polled last.
    worked: Var,
}

impl NamedBarriers {
    /// Allocates the records in shared memory.
    pub fn new(function: &mut Function, cfg: &Cfg, suspending: Option<Suspending>) -> Self {
        let (mut barriers, mut cluster, mut counted, mut reduces, mut arrives) = (0, false, false, false, false);
        let mut warpgroups = false;
        let awaits = cfg.blocks.iter().any(|block| matches!(block.stop, Some(Stop::Await)));
        for block in &cfg.blocks {
            let Some(Stop::Barrier(barrier)) = &block.stop else { continue };
            arrives |= matches!(barrier.kind, Kind::Arrive);
            if barrier.cluster {
                cluster = true;
                continue;
            }
            if matches!(barrier.kind, Kind::Warpgroup) {
                (warpgroups, counted) = (true, true);
                continue;
            }
            let most = Barrier::NUMBERED;
            let id = constant(&block.body, barrier.id).and_then(|id| u32::try_from(id).ok());
            barriers = barriers.max(id.map_or(most, |id| id.saturating_add(1)).min(most));
            counted |= barrier.count.is_some();
            reduces |= matches!(barrier.kind, Kind::Red(_));
        }
        let blocks = function.cluster.map_or(1, Cluster::blocks);
        let first_of_warpgroups = barriers;
        if warpgroups {
            barriers += Barrier::WARPGROUPS;
        }
        let layout = Layout { blocks, barriers, cluster, counted };
        Self {
            memory: function.take_shared(layout.words()),
            layout,
            first_of_warpgroups,
            reduces,
            awaits,
            owed: arrives.then(|| function.var(Type::I32)),
            at: function.var(Type::I32),
            waits: function.var(Type::Bool),
            verdict: function.var(Type::I32),
            suspending,
            polling: suspending.filter(|suspending| suspending.polls).map(|suspending| Polling {
                workspace: suspending.workspace,
                idle: function.var(Type::I32),
                active: function.var(Type::Bool),
                worked: function.var(Type::Bool),
            }),
        }
    }

    /// The way to suspend the block, if it can be suspended.
    pub fn suspending(&self) -> Option<Suspending> {
        self.suspending
    }

    fn head(&self, b: &Builder<'_>, word: u32) -> Value {
        b.own_shared(self.memory, 4 * word)
    }

    /// Address of a word of the block with number `rank` in the cluster.
    fn block(&self, b: &Builder<'_>, rank: Value, word: u32) -> Value {
        let first = self.head(b, self.layout.head_words() + word);
        b.add(first, b.mul_const(rank, u64::from(4 * self.layout.block_words())))
    }

    /// Address of a word of the thread's own block.
    fn own_block(&self, b: &Builder<'_>, word: u32) -> Value {
        let rank = b.cluster_rank();
        self.block(b, rank, word)
    }

    /// Address of the record of a block's barrier.
    fn barrier(&self, b: &Builder<'_>, rank: Value, id: Value) -> Value {
        let offset = b.mul_const(id, u64::from(4 * field::WORDS));
        let first = self.block(b, rank, block::WORDS);
        b.add(first, offset)
    }

    /// Address of the record of the cluster's barrier.
    fn cluster_barrier(&self, b: &Builder<'_>) -> Value {
        self.head(b, head::WORDS)
    }

    /// Address of the word of a block's warp.
    fn warp(&self, b: &Builder<'_>, rank: Value, warp: Value) -> Value {
        let offset = b.shl(warp, 2);
        let first = self.block(b, rank, block::WORDS + self.layout.barriers * field::WORDS);
        b.add(first, offset)
    }

    /// Prepares the first iteration.
    pub fn open(&self, b: &Builder<'_>) {
        let threads = block_threads(b);
        let zero = b.i32(0);
        let word = b.var(Type::I32);
        let index = b.builtin(Builtin::ThreadIndex);
        let rank = b.cluster_rank();
        let before = b.mul(rank, threads);
        let first = b.add(before, index);
        b.set(word, first);
        let all = b.mul_const(threads, self.layout.blocks.into());
        b.loop_(|b| {
            let number = b.get(word);
            let inside = b.compare_const(Compare::LessUnsigned, number, self.layout.words().into());
            b.if_else(inside, |_| {}, Builder::break_);
            let address = b.shl(number, 2);
            let first = self.head(b, 0);
            store(b, b.add(first, address), zero);
            b.set(word, b.add(number, all));
        });
        b.barrier();
        b.if_(b.is_zero(index), |b| {
            let lacking = b.sub(whole_warps(b, threads), threads);
            let gone = self.own_block(b, block::GONE);
            store(b, gone, lacking);
            if self.layout.counted {
                let last = b.shr(b.sub_const(threads, 1), WARP.ilog2());
                store(b, self.warp(b, rank, last), lacking);
            }
        });
        b.barrier();
        b.set(self.waits, b.bool(false));
        if let Some(owed) = self.owed {
            b.set(owed, zero);
        }
    }

    /// Runs something in the workgroup's first thread.
    fn by_first_thread(&self, b: &Builder<'_>, what: impl FnOnce(&Builder<'_>)) {
        let place = b.or(b.builtin(Builtin::ThreadIndex), b.cluster_rank());
        b.if_(b.is_zero(place), what);
    }

    /// The number of threads that a barrier without a count waits for: those of all `blocks`, in whole warps.
    fn everyone(b: &Builder<'_>, blocks: u32) -> Value {
        b.mul_const(whole_warps(b, block_threads(b)), blocks.into())
    }

    /// Makes the thread wait for the cluster's barrier, unless the barrier has completed since the thread arrived.
    fn wait(&self, b: &Builder<'_>, owed: Var) {
        let waits = b.is_nonzero(b.and_const(b.get(owed), 1 << Barrier::CLUSTER));
        b.set(self.waits, waits);
        b.set(self.at, b.i32(Barrier::CLUSTER));
        b.if_(b.not(waits), |b| self.stay_ready(b));
    }

    /// Arrives at a barrier and notes that the thread waits there, unless it only arrives.
    pub fn arrive(&self, b: &Builder<'_>, barrier: &Barrier) {
        if let (Kind::Wait, Some(owed)) = (&barrier.kind, self.owed) {
            return self.wait(b, owed);
        }
        let (mut id, mut count, rank) = (barrier.id, barrier.count, b.cluster_rank());
        if matches!(barrier.kind, Kind::Warpgroup) {
            // The last one of a block may lack warps.
            let before = b.shl(id, Barrier::WARPGROUP.ilog2());
            let rest = b.sub(block_threads(b), before);
            let is_last = b.compare_const(Compare::LessUnsigned, rest, Barrier::WARPGROUP.into());
            count = Some(b.select(is_last, rest, b.i32(Barrier::WARPGROUP)));
            id = b.add_const(id, self.first_of_warpgroups.into());
        }
        let record = if barrier.cluster { self.cluster_barrier(b) } else { self.barrier(b, rank, id) };
        let (expected, warps) = match count {
            None => {
                let blocks = if barrier.cluster { self.layout.blocks } else { 1 };
                (Self::everyone(b, blocks), b.i32(u32::MAX))
            }
            Some(count) => {
                // A register that holds zero counts as no count.
                let none = b.is_zero(count);
                let given = whole_warps(b, count);
                let all = Self::everyone(b, 1);
                let warp = b.shr(b.builtin(Builtin::ThreadIndex), WARP.ilog2());
                let own = b.binary(Binary::Shl, b.i32(1), warp);
                let every = b.i32(u32::MAX);
                (b.select(none, all, given), b.select(none, every, own))
            }
        };
        let flag = if matches!(barrier.kind, Kind::Red(_)) { REDUCES } else { 0 };
        let expected = b.or_const(expected, flag.into());
        let word = b.add_const(record, (4 * field::EXPECTED).into());
        store(b, word, expected);
        if self.layout.counted {
            let word = b.add_const(record, (4 * field::SEEN).into());
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
        add(b, b.add_const(record, (4 * field::ARRIVED).into()), one);
        if let Kind::Red(red) = barrier.kind {
            let vote = red.vote(b);
            add(b, b.add_const(record, (4 * field::VOTES).into()), vote);
        }
        match (&barrier.kind, self.owed) {
            (Kind::Arrive, Some(owed)) => {
                let bit = b.binary(Binary::Shl, one, id);
                b.set(owed, b.or(b.get(owed), bit));
            }
            _ => {
                b.set(self.at, id);
                b.set(self.waits, b.bool(true));
            }
        }
    }

    /// Notes that the thread can go on in any case.
    pub fn stay_ready(&self, b: &Builder<'_>) {
        store(b, self.head(b, head::READY), b.i32(1));
    }

    /// Notes that the thread can go on, if only to read once more the words that other threads have written.
    pub fn look_again(&self, b: &Builder<'_>, global: bool) {
        let Some(polling) = &self.polling else { return self.stay_ready(b) };
        self.note(b, if global { GLOBAL } else { SHARED });
        b.if_(b.get(polling.worked), |b| {
            self.note(b, WORKED);
            b.set(polling.worked, b.bool(false));
        });
    }

    /// Has threads remember that they have stored something. Atomics don't count: they may do the polling.
    pub fn note_stores(&self, function: &mut Function, cfg: &mut Cfg) {
        let Some(polling) = &self.polling else { return };
        let is_store = |stmt: &Stmt| matches!(stmt, Stmt::Store { access, .. } if access.space != Space::Local);
        for block in &mut cfg.blocks {
            if any_stmt(&block.body, &is_store) {
                let b = Builder::new(function);
                b.set(polling.worked, b.bool(true));
                block.body.append(&mut b.take_block());
            }
        }
    }

    /// Adds a bit to the workgroup's notes.
    fn note(&self, b: &Builder<'_>, bit: u32) {
        let address = self.head(b, head::NOTES);
        let operand = b.i32(bit);
        b.atomic(Atomic { result: None, op: AtomicOp::Or, access: WORD, address, operand, compare: None });
    }

    /// Begins a dispatch: restores the state that the previous dispatch saved. Gives whether the block had already
    /// ended.
    pub fn begin_dispatch(&self, b: &Builder<'_>, suspended: &Suspended) -> Value {
        let status = suspended.restore(b);
        b.barrier();
        let is_new = b.is_zero(status);
        if let Some(polling) = &self.polling {
            b.set(polling.idle, b.i32(0));
            b.set(polling.active, is_new);
            b.set(polling.worked, b.bool(false));
        }
        if let Some(Suspending { workspace, rounds: Some(rounds), .. }) = self.suspending {
            rounds.renew(b, workspace);
        }
        b.compare_const(Compare::Equal, status, suspension::ENDED.into())
    }

    /// Ends a dispatch: saves the state that the block needs to go on, if it hasn't ended.
    pub fn end_dispatch(&self, b: &Builder<'_>, suspended: &Suspended) {
        let goes_on = b.compare_const(Compare::Equal, b.get(self.verdict), SUSPENDED.into());
        b.if_(goes_on, |b| suspended.save(b));
        self.by_first_thread(b, |b| {
            let active = match &self.polling {
                Some(polling) => b.get(polling.active),
                None => b.bool(true),
            };
            suspended.note(b, goes_on, active);
        });
    }

    /// Notes that the thread has left. At barriers where the thread has arrived, it counts from now on as one that has
    /// left.
    pub fn leave(&self, b: &Builder<'_>) {
        let (one, rank) = (b.i32(1), b.cluster_rank());
        if let Some(owed) = self.owed {
            let owed = b.get(owed);
            let minus_one = b.i32(u32::MAX);
            let cluster = self.layout.cluster.then_some(Barrier::CLUSTER);
            for id in (0..self.layout.barriers).chain(cluster) {
                b.if_(b.is_nonzero(b.and_const(owed, 1 << id)), |b| {
                    let record = if id == Barrier::CLUSTER {
                        self.cluster_barrier(b)
                    } else {
                        let id = b.i32(id);
                        self.barrier(b, rank, id)
                    };
                    add(b, b.add_const(record, (4 * field::ARRIVED).into()), minus_one);
                });
            }
        }
        let gone = self.own_block(b, block::GONE);
        add(b, gone, one);
        if self.awaits {
            // No thread waits for it any more.
            self.stay_ready(b);
        }
        if self.layout.counted {
            let warp = b.shr(b.builtin(Builtin::ThreadIndex), WARP.ilog2());
            add(b, self.warp(b, rank, warp), one);
        }
    }

    /// Whether the thread has to wait on.
    pub fn is_waiting(&self, b: &Builder<'_>) -> Value {
        b.get(self.waits)
    }

    /// Sets the result of a reduction whose barrier is complete.
    pub fn result(&self, b: &Builder<'_>, red: Red) {
        let (at, rank) = (b.get(self.at), b.cluster_rank());
        let record = self.barrier(b, rank, at);
        let votes = b.load_one(WORD, b.add_const(record, (4 * field::RESULT).into()));
        red.finish(b, votes);
    }

    /// Synchronizes the workgroup and decides which barriers are complete; gives whether there is another iteration.
    pub fn synchronize(&self, b: &Builder<'_>) -> Value {
        if let Some(rounds) = self.suspending.and_then(|suspending| suspending.rounds) {
            rounds.count_common(b);
            let paused = rounds.are_used_up(b);
            b.if_(paused, |b| self.note(b, PAUSED));
        }
        b.barrier();
        self.by_first_thread(b, |b| self.decide(b));
        b.barrier();
        let mut complete = b.load_one(WORD, self.own_block(b, block::COMPLETE));
        if self.layout.cluster {
            complete = b.or(complete, b.load_one(WORD, self.head(b, head::COMPLETE)));
        }
        let bit = b.and_const(b.binary(Binary::Shr, complete, b.get(self.at)), 1);
        let open = b.is_zero(bit);
        b.set(self.waits, b.and(b.get(self.waits), open));
        if let Some(owed) = self.owed {
            b.set(owed, b.and(b.get(owed), b.not(complete)));
        }
        let verdict = b.load_one(WORD, self.head(b, head::VERDICT));
        b.set(self.verdict, verdict);
        b.compare_const(Compare::Equal, verdict, GO_ON.into())
    }

    /// After the loop: reports that threads were stuck, which can't happen where all wait at one barrier for the whole block.
    pub fn report(&self, b: &Builder<'_>) {
        let numbered = self.layout.barriers + u32::from(self.layout.cluster);
        if numbered <= 1 && !self.layout.counted && !self.reduces && !self.awaits && self.owed.is_none() {
            return;
        }
        let stuck = b.compare_const(Compare::Equal, b.get(self.verdict), STUCK.into());
        b.if_(stuck, |b| b.push(Stmt::Report(Fault::Deadlock, Vec::new())));
    }
}

/// A number of threads, rounded up to whole warps.
fn whole_warps(b: &Builder<'_>, threads: Value) -> Value {
    b.and_const(b.add_const(threads, u64::from(WARP - 1)), u64::from(!(WARP - 1)))
}
