//! Makes a kernel report that its driver ended loops early: see [`Quirks::loop_budget`](ptx2spv_target::Quirks).
//!
//! The driver counts the iterations of all loops of an invocation together, and once the budget is used up it ends
//! every loop after one iteration. So a loop at the end of the kernel that needs two iterations is a probe: if it
//! doesn't get its second iteration, some loop before it may have ended early. The probe finds every case, loops that
//! emission adds included. The price is a few iterations of the budget: a kernel that needs exactly the last of them is
//! reported although its result was right.
//!
//! Kernels whose loops take few rounds whatever the launch is need no probes: see [`most_rounds`].
//!
//! The same probe after each outermost loop skips the rest of the kernel, which may compute addresses from values that
//! the loop left unfinished.
//!
//! A compiler may assume that a loop which ends has met its condition. Hence the probe tests memory at an index, and counts to a number,
//! that both depend on the status word, which no compiler can know.

use crate::ir::{
    Access, Block, Builder, Compare, Function, MemoryOrder, Op, Space, Stmt, Type, Value, Var, is_lane_loop,
};
use crate::legalize::driver::rounds::most_rounds;
use crate::legalize::reports;
use ptx2spv_interface::Status;
use ptx2spv_target::Fault;

/// The probe's mark in local memory.
const MARK: Access = Access { space: Space::Local, bytes: 4, order: MemoryOrder::Weak, read_only: false };
/// Local memory that the mark may lie in.
pub(crate) const MARK_BYTES: u32 = 8;

/// Makes a function with loops report [`Fault::LoopCutShort`] if the driver may have ended one of them early, which it does after
/// `budget` rounds. Needs a function without generic accesses, because the pass adds local memory, which generic accesses would have to
/// reach. Returns whether it may.
pub fn report_cut_loops(function: &mut Function, status: Status, budget: u32) -> bool {
    let helpers = vec![false; function.helpers.len()];
    let mut rounds = Rounds { helpers, lane_numbers: function.lane_numbers.clone() };
    // Helpers call only later helpers.
    for (number, helper) in function.helpers.iter().enumerate().rev() {
        rounds.helpers[number] = rounds.list(&helper.function.body);
    }
    // Later passes may add a round to each loop.
    if !rounds.list(&function.body) || most_rounds(function).is_some_and(|most| most < u64::from(budget / 2)) {
        return false;
    }
    let offset = function.local_bytes.next_multiple_of(4);
    function.local_bytes = offset.saturating_add(MARK_BYTES);
    let body = std::mem::take(&mut function.body);
    let b = Builder::new(function);
    let word = reports::word(&b, status, 0);
    // Codes are below 2^31, so this is zero.
    let zero = b.shr(b.load_one(reports::CODE, word), 31);
    let index = b.shl(zero, 2);
    let probe = Probe { zero, mark: b.add_const(index, offset.into()), rounds: &rounds };
    // A loop of one iteration, so that the code inside can break out.
    b.loop_(|b| {
        probe.watch(b, body);
        b.break_();
    });
    b.if_(probe.used_up(&b), |b| {
        b.at(None);
        b.report(Fault::LoopCutShort);
    });
    b.finish();
    true
}

/// What uses loop iterations.
struct Rounds {
    /// Whether each helper has loops.
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

    /// Whether a statement other than an `If` uses loop iterations. Loops over lanes become calls, and use only those
    /// of loops inside.
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
    /// Zero, but unknown to any compiler.
    zero: Value,
    /// Where the mark lies in local memory, also unknown to any compiler.
    mark: Value,
}

impl Probe<'_> {
    /// Appends statements that are in no loop but the one around the kernel, with probes after their loops.
    fn watch(self, b: &Builder<'_>, stmts: Block) {
        for stmt in stmts {
            match stmt {
                Stmt::If { condition, then, otherwise } => {
                    b.if_else(condition, |b| self.watch(b, then), |b| self.watch(b, otherwise));
                }
                stmt if self.rounds.loops(&stmt) => {
                    b.push(stmt);
                    b.if_(self.used_up(b), Builder::break_);
                }
                stmt => b.push(stmt),
            }
        }
    }

    /// Whether a loop doesn't get a second iteration.
    fn used_up(self, b: &Builder<'_>) -> Value {
        let unmarked = b.i32(0);
        let marked = b.i32(1);
        b.store(MARK, self.mark, vec![unmarked]);
        let rounds = b.var(Type::I32);
        b.set(rounds, self.zero);
        b.loop_(|b| {
            let done = b.get(rounds);
            let is_last = b.compare(Compare::Equal, done, b.add_const(self.zero, 1));
            b.if_(is_last, |b| {
                b.store(MARK, self.mark, vec![marked]);
                b.break_();
            });
            b.set(rounds, b.add_const(done, 1));
        });
        b.is_zero(b.load_one(MARK, self.mark))
    }
}
