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
use crate::ir::{Access, Block, Builder, Compare, Function, MemoryOrder, Op, Space, Stmt, Type, Value};
use crate::target::Fault;

/// The probe's mark in local memory.
const MARK: Access = Access { space: Space::Local, bytes: 4, order: MemoryOrder::Weak, read_only: false };
/// Local memory that the mark may lie in.
pub(super) const MARK_BYTES: u32 = 8;

/// Makes a function with loops report [`Fault::LoopCutShort`] if the driver may have ended one of them early. Needs a
/// function without generic accesses, because it adds local memory that they would have to consider.
pub fn report_cut_loops(function: &mut Function, status: Status) {
    let helpers: Vec<bool> = function.helpers.iter().map(|helper| has_loop(&helper.function.body, &[])).collect();
    if !has_loop(&function.body, &helpers) {
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
    let probe = Probe { zero, mark: b.add_const(index, offset.into()), helpers: &helpers };
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

/// Whether a list, or one of the helpers that have loops, makes rounds.
fn has_loop(block: &Block, helpers: &[bool]) -> bool {
    block.iter().any(|stmt| match stmt {
        Stmt::If { then, otherwise, .. } => has_loop(then, helpers) || has_loop(otherwise, helpers),
        stmt => is_loop(stmt, helpers),
    })
}

fn is_loop(stmt: &Stmt, helpers: &[bool]) -> bool {
    match stmt {
        Stmt::Loop(_) => true,
        Stmt::Let(_, Op::Call(helper, _)) => helpers.get(*helper as usize).copied().unwrap_or(false),
        _ => false,
    }
}

#[derive(Clone, Copy)]
struct Probe<'h> {
    /// Which helpers have loops.
    helpers: &'h [bool],
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
                stmt if is_loop(&stmt, self.helpers) => {
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
