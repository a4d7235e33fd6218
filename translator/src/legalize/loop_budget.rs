//! Makes a kernel report that its driver ended loops early: see [`Quirks::loop_budget`](crate::target::Quirks).
//!
//! The driver counts the rounds of all loops of an invocation together, and once they are used up it lets every loop
//! do one round only. So a loop at the end of the kernel that needs two rounds tells whether they were: if it doesn't
//! get its second round, some loop before it may have ended early. That finds every case, loops that emission adds
//! included, at the price of a few rounds: a kernel that needs the very last ones is reported although it was right.
//!
//! The same probe after each outermost loop skips the rest of the kernel, which may compute addresses from values that
//! the loop left unfinished.
//!
//! A compiler would say that a loop which ends has met its condition. Hence the probe tests memory at an index, and counts
//! to a number, that both depend on the status word, about which no compiler can know anything.

use super::reports;
use crate::interface::Status;
use crate::ir::{
    Access, Block, Builder, Compare, Function, MemoryOrder, Op, Space, Stmt, Type, Value, Var, is_lane_loop,
};
use crate::target::Fault;

/// The probe's mark in local memory.
const MARK: Access = Access { space: Space::Local, bytes: 4, order: MemoryOrder::Weak, read_only: false };
/// Local memory that the mark may lie in.
pub(super) const MARK_BYTES: u32 = 8;

/// Makes a function with loops report [`Fault::LoopCutShort`] if the driver may have ended one of them early. Needs a
/// function without generic accesses, because it adds local memory that they would have to consider.
pub fn report_cut_loops(function: &mut Function, status: Status) {
    let helpers = vec![false; function.helpers.len()];
    let mut rounds = Rounds { helpers, lane_numbers: function.lane_numbers.clone() };
    // Helpers call only those after them.
    for (number, helper) in function.helpers.iter().enumerate().rev() {
        rounds.helpers[number] = rounds.list(&helper.function.body);
    }
    if !rounds.list(&function.body) {
        return;
    }
    let offset = function.local_bytes.next_multiple_of(4);
    function.local_bytes = offset.saturating_add(MARK_BYTES);
    let body = std::mem::take(&mut function.body);
    let mut b = Builder::new(function);
    let word = reports::word(&mut b, status, 0);
    // Codes are below 2^31, so this is zero.
    let status = b.load_one(reports::CODE, word);
    let zero = b.shr(status, 31);
    let index = b.shl(zero, 2);
    let probe = Probe { zero, mark: b.add_const(index, offset.into()), rounds: &rounds };
    // A loop of one round, for the code inside to leave.
    b.loop_(|b| {
        probe.watch(b, body);
        b.break_();
    });
    let used_up = probe.used_up(&mut b);
    b.if_(used_up, |b| {
        b.at(None);
        b.report(Fault::LoopCutShort);
    });
    b.finish();
}

/// What makes rounds.
struct Rounds {
    /// Which helpers do.
    helpers: Vec<bool>,
    /// The kernel's [`Function::lane_numbers`].
    lane_numbers: Vec<Var>,
}

impl Rounds {
    fn list(&self, block: &Block) -> bool {
        block.iter().any(|stmt| match stmt {
            Stmt::If { then, otherwise, .. } => self.list(then) || self.list(otherwise),
            stmt => self.loops(stmt),
        })
    }

    /// Whether a statement that isn't an `If` does. Loops over lanes become calls, and make those that are inside.
    fn loops(&self, stmt: &Stmt) -> bool {
        match stmt {
            Stmt::Loop(body) => !is_lane_loop(body, &self.lane_numbers) || self.list(body),
            Stmt::Let(_, Op::Call(helper, _)) => self.helpers.get(*helper as usize).copied().unwrap_or(false),
            _ => false,
        }
    }
}

#[derive(Clone, Copy)]
struct Probe<'r> {
    rounds: &'r Rounds,
    /// Zero, which no compiler can know.
    zero: Value,
    /// Where the mark lies in local memory, which no compiler can know either.
    mark: Value,
}

impl Probe<'_> {
    /// Appends statements that are in no loop but the one around the kernel, with probes after their loops.
    fn watch(self, b: &mut Builder<'_>, stmts: Block) {
        for stmt in stmts {
            match stmt {
                Stmt::If { condition, then, otherwise } => {
                    b.if_else(condition, |b| self.watch(b, then), |b| self.watch(b, otherwise));
                }
                stmt if self.rounds.loops(&stmt) => {
                    b.push(stmt);
                    let used_up = self.used_up(b);
                    b.if_(used_up, Builder::break_);
                }
                stmt => b.push(stmt),
            }
        }
    }

    /// Whether a loop doesn't get a second round.
    fn used_up(self, b: &mut Builder<'_>) -> Value {
        let unmarked = b.i32(0);
        let marked = b.i32(1);
        b.store(MARK, self.mark, vec![unmarked]);
        let rounds = b.var(Type::I32);
        b.set(rounds, self.zero);
        b.loop_(|b| {
            let done = b.get(rounds);
            let last = b.add_const(self.zero, 1);
            let is_last = b.compare(Compare::Equal, done, last);
            b.if_(is_last, |b| {
                b.store(MARK, self.mark, vec![marked]);
                b.break_();
            });
            let next = b.add_const(done, 1);
            b.set(rounds, next);
        });
        let found = b.load_one(MARK, self.mark);
        b.is_zero(found)
    }
}
