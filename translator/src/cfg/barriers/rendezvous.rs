//! The meeting of kernels with named barriers: keeps an account of the barriers in shared memory.
//!
//! In a turn, threads write down at which barriers they arrive, and that they leave the kernel. Then all meet, one thread
//! decides which barriers are complete and clears their accounts, and all meet again. Those that wait at a complete
//! barrier go on.
//!
//! Hardware counts by warps: all threads of a warp arrive before it counts, and then it counts in full, whatever the
//! number of its threads is. So each thread that arrives counts as one, and those of the warps seen at the barrier that
//! have left, or never were, are added. A barrier that names no number of threads waits for those of all warps.
//!
//! If nobody can go on, the kernel ends with a report. It does so too where more threads arrive at a barrier than it
//! waits for, and not several times as many: which of them it waits for depends on their speed.

use super::{Barrier, Kind, Red, Stop, WARP, WORD, add, block_threads, constant, store};
use crate::cfg::Cfg;
use crate::interface::Fault;
use crate::ir::{Atomic, AtomicOp, Binary, Builder, Builtin, Compare, Function, OwnShared, Stmt, Type, Value, Var};

/// Barriers that a block has: those with numbers, and the cluster's.
const BARRIERS: u32 = 17;
/// Warps that a block may have.
const WARPS: u32 = 32;

/// Words of the account as a whole.
mod head {
    /// Threads that have left, and those that lack to whole warps.
    pub const GONE: u32 = 0;
    /// Not zero if a thread can go on without a barrier.
    pub const READY: u32 = 1;
    /// One bit for each barrier that is complete.
    pub const COMPLETE: u32 = 2;
    /// Whether there is another turn: [`super::GO_ON`] and so on.
    pub const VERDICT: u32 = 3;
    /// How many they are.
    pub const WORDS: u32 = 4;
}

/// Words of a barrier's account.
mod field {
    /// Arrivals.
    pub const ARRIVED: u32 = 0;
    /// How many it waits for, in threads of whole warps; zero while nobody has arrived.
    pub const EXPECTED: u32 = 1;
    /// One bit for each warp that has arrived with at least one thread.
    pub const SEEN: u32 = 2;
    /// The sum of the votes of a reduction.
    pub const VOTES: u32 = 3;
    /// That sum when the barrier was complete, until it is so again.
    pub const RESULT: u32 = 4;
    /// How many they are.
    pub const WORDS: u32 = 5;
}

/// In [`field::EXPECTED`]: the barrier is used for a reduction.
const REDUCES: u32 = 1 << 31;

/// There is another turn.
const GO_ON: u32 = 0;
/// All have left.
const END: u32 = 1;
/// Nobody can go on, or nobody can say who.
const STUCK: u32 = 2;

/// The account.
pub struct Account {
    /// The head, behind it the barriers, then one word for each warp: its threads that have left.
    memory: OwnShared,
    /// Words in all.
    words: u32,
    /// Number of the barriers: the highest that is used, plus one.
    barriers: u32,
    /// Whether one of the barriers waits for a number of threads.
    counted: bool,
    /// Whether one of the barriers reduces.
    reduces: bool,
    /// Whether threads wait for others of their warp.
    awaits: bool,
    /// One bit for each incomplete barrier at which the thread has arrived without waiting, if threads do so.
    owed: Option<Var>,
    /// The barrier at which the thread waits.
    at: Var,
    /// Whether it does.
    waits: Var,
    /// The last verdict.
    verdict: Var,
}

impl Account {
    /// Takes its place in shared memory.
    pub fn new(function: &mut Function, cfg: &Cfg) -> Self {
        let (mut barriers, mut counted, mut reduces, mut arrives) = (0, false, false, false);
        let awaits = cfg.blocks.iter().any(|block| matches!(block.stop, Some(Stop::Await)));
        for block in &cfg.blocks {
            let Some(Stop::Barrier(barrier)) = &block.stop else { continue };
            let id = constant(&block.body, barrier.id).and_then(|id| u32::try_from(id).ok());
            barriers = barriers.max(id.map_or(BARRIERS, |id| id.saturating_add(1)).min(BARRIERS));
            counted |= barrier.count.is_some();
            reduces |= matches!(barrier.kind, Kind::Red(_));
            arrives |= matches!(barrier.kind, Kind::Arrive);
        }
        let words = head::WORDS + barriers * field::WORDS + if counted { WARPS } else { 0 };
        Self {
            memory: function.take_shared(words),
            words,
            barriers,
            counted,
            reduces,
            awaits,
            owed: arrives.then(|| function.var(Type::I32)),
            at: function.var(Type::I32),
            waits: function.var(Type::Bool),
            verdict: function.var(Type::I32),
        }
    }

    fn head(&self, b: &mut Builder<'_>, word: u32) -> Value {
        b.own_shared(self.memory, 4 * word)
    }

    /// Address of a barrier's account.
    fn barrier(&self, b: &mut Builder<'_>, id: Value) -> Value {
        let offset = b.mul_const(id, u64::from(4 * field::WORDS));
        let first = self.head(b, head::WORDS);
        b.add(first, offset)
    }

    /// Address of a warp's word.
    fn warp(&self, b: &mut Builder<'_>, warp: Value) -> Value {
        let offset = b.shl(warp, 2);
        let first = self.head(b, head::WORDS + self.barriers * field::WORDS);
        b.add(first, offset)
    }

    /// Prepares the first turn.
    pub fn open(&self, b: &mut Builder<'_>) {
        let threads = block_threads(b);
        let zero = b.i32(0);
        let word = b.var(Type::I32);
        let index = b.builtin(Builtin::ThreadIndex);
        b.set(word, index);
        b.loop_(|b| {
            let number = b.get(word);
            let inside = b.compare_const(Compare::LessUnsigned, number, self.words.into());
            b.if_else(inside, |_| {}, Builder::break_);
            let address = b.shl(number, 2);
            let first = self.head(b, 0);
            let address = b.add(first, address);
            store(b, address, zero);
            let next = b.add(number, threads);
            b.set(word, next);
        });
        b.barrier();
        self.by_one(b, |b| {
            let whole = whole_warps(b, threads);
            let lacking = b.sub(whole, threads);
            let gone = self.head(b, head::GONE);
            store(b, gone, lacking);
            if self.counted {
                let last = b.sub_const(threads, 1);
                let last = b.shr(last, WARP.ilog2());
                let word = self.warp(b, last);
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

    /// Runs something in the block's first thread.
    fn by_one(&self, b: &mut Builder<'_>, what: impl FnOnce(&mut Builder<'_>)) {
        let index = b.builtin(Builtin::ThreadIndex);
        let first = b.is_zero(index);
        b.if_(first, what);
    }

    /// Arrives at a barrier, and unless that is all, notes that the thread waits there.
    pub fn arrive(&self, b: &mut Builder<'_>, barrier: &Barrier) {
        let id = barrier.id;
        let account = self.barrier(b, id);
        let everyone = |b: &mut Builder<'_>| {
            let threads = block_threads(b);
            whole_warps(b, threads)
        };
        let (expected, warps) = match barrier.count {
            None => (everyone(b), b.i32(u32::MAX)),
            Some(count) => {
                // A register that holds zero is taken for no count.
                let none = b.is_zero(count);
                let given = whole_warps(b, count);
                let all = everyone(b);
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
        if self.counted {
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

    /// Notes that the thread has left. Where it has arrived, it counts as one that has left from now on.
    pub fn leave(&self, b: &mut Builder<'_>) {
        let one = b.i32(1);
        if let Some(owed) = self.owed {
            let owed = b.get(owed);
            let minus_one = b.i32(u32::MAX);
            for id in 0..self.barriers {
                let bit = b.and_const(owed, 1 << id);
                let arrived = b.is_nonzero(bit);
                b.if_(arrived, |b| {
                    let id = b.i32(id);
                    let account = self.barrier(b, id);
                    let word = b.add_const(account, (4 * field::ARRIVED).into());
                    add(b, word, minus_one);
                });
            }
        }
        let gone = self.head(b, head::GONE);
        add(b, gone, one);
        if self.awaits {
            // Nobody waits for it any more.
            self.stay_ready(b);
        }
        if self.counted {
            let index = b.builtin(Builtin::ThreadIndex);
            let warp = b.shr(index, WARP.ilog2());
            let word = self.warp(b, warp);
            add(b, word, one);
        }
    }

    /// Whether the thread has to wait on.
    pub fn is_waiting(&self, b: &mut Builder<'_>) -> Value {
        b.get(self.waits)
    }

    /// Sets the result of a reduction whose barrier is complete.
    pub fn result(&self, b: &mut Builder<'_>, red: Red) {
        let at = b.get(self.at);
        let account = self.barrier(b, at);
        let word = b.add_const(account, (4 * field::RESULT).into());
        let votes = b.load_one(WORD, word);
        red.finish(b, votes);
    }

    /// The meeting; gives whether there is another turn.
    pub fn meet(&self, b: &mut Builder<'_>) -> Value {
        b.barrier();
        self.by_one(b, |b| self.decide(b));
        b.barrier();
        let word = self.head(b, head::COMPLETE);
        let complete = b.load_one(WORD, word);
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

    /// Which barriers are complete, and whether there is another turn.
    fn decide(&self, b: &mut Builder<'_>) {
        let zero = b.i32(0);
        let gone = self.head(b, head::GONE);
        let gone = b.load_one(WORD, gone);
        let ready = self.head(b, head::READY);
        let is_ready = b.load_one(WORD, ready);
        store(b, ready, zero);
        let complete = b.var(Type::I32);
        b.set(complete, zero);
        let unclear = b.var(Type::Bool);
        let no = b.bool(false);
        b.set(unclear, no);
        let next = b.var(Type::I32);
        b.set(next, zero);
        b.loop_(|b| {
            let id = b.get(next);
            let inside = b.compare_const(Compare::LessUnsigned, id, self.barriers.into());
            b.if_else(inside, |_| {}, Builder::break_);
            self.settle(b, id, gone, complete, unclear);
            let up = b.add_const(id, 1);
            b.set(next, up);
        });
        let complete = b.get(complete);
        let word = self.head(b, head::COMPLETE);
        store(b, word, complete);

        let threads = block_threads(b);
        let whole = whole_warps(b, threads);
        let ended = b.compare(Compare::Equal, gone, whole);
        let able = b.or(complete, is_ready);
        let nobody = b.is_zero(able);
        let unclear = b.get(unclear);
        let stuck = b.or(nobody, unclear);
        let [go_on, end, stop] = [GO_ON, END, STUCK].map(|verdict| b.i32(verdict));
        let verdict = b.select(stuck, stop, go_on);
        // Arrivals that nobody waits for may be left.
        let verdict = b.select(ended, end, verdict);
        let word = self.head(b, head::VERDICT);
        store(b, word, verdict);
    }

    /// Adds the barrier's bit to `complete` and clears its account if it is complete; sets `unclear` if threads arrived
    /// that it did not wait for.
    fn settle(&self, b: &mut Builder<'_>, id: Value, gone: Value, complete: Var, unclear: Var) {
        let account = self.barrier(b, id);
        let [arrived, expected, seen, votes, result] =
            [field::ARRIVED, field::EXPECTED, field::SEEN, field::VOTES, field::RESULT]
                .map(|field| b.add_const(account, (4 * field).into()));
        let stated = b.load_one(WORD, expected);
        let number = b.and_const(stated, u64::from(!REDUCES));
        let used = b.is_nonzero(number);
        b.if_(used, |b| {
            let count = b.load_one(WORD, arrived);
            let absent = if self.counted { self.absent(b, seen, gone) } else { gone };
            let total = b.add(count, absent);
            let enough = b.compare(Compare::LessEqualUnsigned, number, total);
            b.if_(enough, |b| {
                let rest = b.binary(Binary::RemUnsigned, total, number);
                let rest = if self.reduces {
                    // Votes of several rounds can't be told apart.
                    let reduces = b.and_const(stated, REDUCES.into());
                    let reduces = b.is_nonzero(reduces);
                    let surplus = b.sub(total, number);
                    b.select(reduces, surplus, rest)
                } else {
                    rest
                };
                let some = b.is_nonzero(rest);
                let before = b.get(unclear);
                let now = b.or(before, some);
                b.set(unclear, now);
                let before = b.get(complete);
                let one = b.i32(1);
                let bit = b.binary(Binary::Shl, one, id);
                let now = b.or(before, bit);
                b.set(complete, now);
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

    /// How many threads of the warps seen at a barrier have left.
    fn absent(&self, b: &mut Builder<'_>, seen: Value, gone: Value) -> Value {
        let seen = b.load_one(WORD, seen);
        let all = b.compare_const(Compare::Equal, seen, u32::MAX.into());
        let none = b.is_zero(gone);
        let simple = b.or(all, none);
        b.choose(
            simple,
            |_| gone,
            |b| {
                let (sum, warp) = (b.var(Type::I32), b.var(Type::I32));
                let zero = b.i32(0);
                b.set(sum, zero);
                b.set(warp, zero);
                b.loop_(|b| {
                    let number = b.get(warp);
                    let done = b.compare_const(Compare::Equal, number, WARPS.into());
                    b.if_(done, Builder::break_);
                    let bit = b.binary(Binary::Shr, seen, number);
                    let bit = b.and_const(bit, 1);
                    let word = self.warp(b, number);
                    let left = b.load_one(WORD, word);
                    let left = b.mul(left, bit);
                    let before = b.get(sum);
                    let now = b.add(before, left);
                    b.set(sum, now);
                    let next = b.add_const(number, 1);
                    b.set(warp, next);
                });
                b.get(sum)
            },
        )
    }

    /// Behind the loop: reports that threads were stuck. They can't be where all wait at one barrier for the whole block.
    pub fn report(&self, b: &mut Builder<'_>) {
        if self.barriers <= 1 && !self.counted && !self.reduces && !self.awaits && self.owed.is_none() {
            return;
        }
        let verdict = b.get(self.verdict);
        let stuck = b.compare_const(Compare::Equal, verdict, STUCK.into());
        b.if_(stuck, |b| b.push(Stmt::Report(Fault::Deadlock, Vec::new())));
    }
}

/// A number of threads, rounded up to whole warps.
fn whole_warps(b: &mut Builder<'_>, threads: Value) -> Value {
    let up = b.add_const(threads, u64::from(WARP - 1));
    b.and_const(up, u64::from(!(WARP - 1)))
}
