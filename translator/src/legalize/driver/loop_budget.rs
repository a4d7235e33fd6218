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
//!
//! Some drivers nest what follows an exit of a loop, and ignore conditions that are nested too deep ([`Quirks::nesting`](ptx2spv_target::Quirks)).
//! There the kernel is cut into parts with few probes, each in a loop of one iteration. A flag says after it whether a probe has left it,
//! and values that later parts use go through variables.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ir::{
    Access, Block, Builder, Compare, Constants, Function, MemoryOrder, Op, Space, Stmt, Type, Value, Var,
    for_each_result, is_lane_loop,
};
use crate::legalize::carry::{Carrier, outer_values, rename};
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
/// reach. Nests at most half of `nesting` probes in each other. Returns whether it may.
pub fn report_cut_loops(function: &mut Function, status: Status, budget: u32, nesting: Option<u32>) -> bool {
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
    let constants = function.constants();
    let body = std::mem::take(&mut function.body);
    let most = nesting.map_or(usize::MAX, |nesting| (nesting as usize / 2).max(2));
    let is_parted = rounds.loops_in(&body) > most;
    let b = Builder::new(function);
    let word = reports::word(&b, status, 0);
    // Codes are below 2^31, so this is zero.
    let zero = b.shr(b.load_one(reports::CODE, word), 31);
    let index = b.shl(zero, 2);
    let mark = b.add_const(index, offset.into());
    let cut = is_parted.then(|| {
        let (cut, no) = (b.var(Type::Bool), b.bool(false));
        b.set(cut, no);
        cut
    });
    let probe = Probe { zero, mark, rounds: &rounds, constants: &constants, most, cut };
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

/// The parts of a kernel that use loop iterations.
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

    /// The number of statements of a list, and of conditions in it, that get probes.
    fn loops_in(&self, block: &[Stmt]) -> usize {
        block.iter().map(|stmt| self.loops_of(stmt)).sum()
    }

    fn loops_of(&self, stmt: &Stmt) -> usize {
        match stmt {
            Stmt::If { then, otherwise, .. } => self.loops_in(then) + self.loops_in(otherwise),
            stmt => usize::from(self.loops(stmt)),
        }
    }

    /// Whether a statement other than an `If` uses loop iterations. Loops over lanes become calls, and use only the
    /// iterations of loops inside.
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
    /// The address of the mark in local memory, also unknown to any compiler.
    mark: Value,
    /// The function's constants.
    constants: &'r Constants,
    /// The most probes that follow each other in a loop.
    most: usize,
    /// A variable that tells whether a probe has failed, where there are several.
    cut: Option<Var>,
}

impl Probe<'_> {
    /// Appends statements that are in no loop but those around the kernel and its parts, with probes after their loops.
    fn watch(self, b: &Builder<'_>, stmts: Block) {
        self.watch_parts(b, stmts, &FxHashSet::default(), &mut FxHashMap::default());
    }

    /// The same with facts about values that parts use from earlier parts: those that the statements define for others,
    /// and the variables that carry values.
    fn watch_parts(
        self,
        b: &Builder<'_>,
        stmts: Block,
        wanted: &FxHashSet<Value>,
        carriers: &mut FxHashMap<Value, Carrier>,
    ) {
        let mut parts = self.parts(stmts);
        let last = parts.pop().unwrap_or_default();
        let uses: Vec<Vec<Value>> = parts.iter().chain([&last]).map(outer_values).collect();
        let wanted: FxHashSet<Value> = wanted.iter().chain(uses.iter().flatten()).copied().collect();
        let mut uses = uses.into_iter();
        for part in parts {
            b.loop_(|b| {
                let mut results = Vec::new();
                part.iter().for_each(|stmt| for_each_result(stmt, |value| results.push(value)));
                let part = renamed(b, part, uses.next().unwrap_or_default(), carriers);
                self.watch_parts(b, part, &wanted, carriers);
                for value in results.into_iter().filter(|value| wanted.contains(value)) {
                    carriers.entry(value).or_insert_with(|| Carrier::take(b, value, self.constants));
                }
                b.break_();
            });
            if let Some(cut) = self.cut {
                let cut = b.get(cut);
                b.if_(cut, Builder::break_);
            }
        }
        for stmt in renamed(b, last, uses.next().unwrap_or_default(), carriers) {
            match stmt {
                Stmt::If { condition, then, otherwise } => {
                    b.if_else(condition, |b| self.watch(b, then), |b| self.watch(b, otherwise));
                }
                stmt if self.rounds.loops(&stmt) => {
                    b.push(stmt);
                    b.if_(self.used_up(b), |b| {
                        if let Some(cut) = self.cut {
                            let yes = b.bool(true);
                            b.set(cut, yes);
                        }
                        b.break_();
                    });
                }
                stmt => b.push(stmt),
            }
        }
    }

    /// The parts of a list with at most as many probes as may follow each other, or as many parts as may; all in one if there is nothing to split.
    fn parts(&self, stmts: Block) -> Vec<Block> {
        let all = self.rounds.loops_in(&stmts);
        let most = self.most.max(all.div_ceil(self.most));
        if all <= self.most {
            return vec![stmts];
        }
        let (mut parts, mut part, mut count) = (Vec::new(), Block::new(), 0);
        for stmt in stmts {
            let more = self.rounds.loops_of(&stmt);
            if count > 0 && count + more > most {
                parts.push(std::mem::take(&mut part));
                count = 0;
            }
            count += more;
            part.push(stmt);
        }
        parts.push(part);
        parts
    }

    /// Whether the budget is used up, so that a loop doesn't get a second iteration.
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

/// A part that takes values of earlier parts from where these are carried.
fn renamed(b: &Builder<'_>, mut part: Block, uses: Vec<Value>, carriers: &FxHashMap<Value, Carrier>) -> Block {
    let given = uses.into_iter().filter_map(|value| Some((value, carriers.get(&value)?.give(b, value))));
    let names: FxHashMap<Value, Value> = given.collect();
    if !names.is_empty() {
        rename(&mut part, &|value| names.get(&value).copied().unwrap_or(value));
    }
    part
}
