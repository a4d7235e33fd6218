//! Divergence analysis and its relatives: which values, variables and blocks depend on given sources, through data or control.
//!
//! A forward data-flow analysis, which errs only towards "depends". A value depends if an operand does, or a variable that it reads.
//! A variable depends from an assignment on if the value does, or the assignment's block, and no longer after one of which
//! neither does; where paths join, if it does on one of them. Compilers reuse registers: a loop's counter often starts as a copy of
//! the zero that sums start with too. The blocks after a branch on a dependent condition are dependent, up to the branch's
//! post-dominator.
//!
//! It answers three questions:
//!
//! * Which blocks do all threads of the CTA, or of all CTAs of its cluster, execute together? Sources are the thread's position, results
//!   of atomics, and local, generic or volatile memory. Ordinary loads from global or shared memory at a uniform address count as uniform:
//!   a value that differed between threads would come from a data race, which PTX leaves undefined for ordinary accesses.
//! * Which branches of a loop depend on what other threads do meanwhile? Sources are its atomics and its volatile, relaxed and
//!   acquiring loads, as far as the caller names them.
//! * On which branches may threads of a warp diverge? Sources are those of the first question, except results of warp operations
//!   that are the same in all threads of the warp.

use super::graph::{BasicBlock, BlockId, Cfg, End};
use super::joins::Joins;
use super::stop::{Barrier, Kind, Stop};
use crate::index::{Index, IndexVec};
use crate::ir::{Block, Function, MemoryOrder, Op, Shuffle, Space, Stmt, Value, Var, VarSet, Varies, Warp, WarpOp};

/// For each block, whether threads of a CTA or cluster may execute it without the others.
pub fn divergent_blocks(function: &Function, cfg: &Cfg) -> Vec<bool> {
    let all = vec![true; cfg.blocks.len()];
    let mut analysis = Analysis::new(function, cfg, Sources::Threads);
    analysis.run(cfg, &all);
    analysis.blocks
}

/// What in a loop depends on what other threads do meanwhile.
pub struct OnOthers {
    values: IndexVec<Value, bool>,
    blocks: Vec<bool>,
    controlled: VarSet,
}

impl OnOthers {
    /// Whether a value does.
    pub fn decides(&self, value: Value) -> bool {
        self.values.at(value).copied().unwrap_or(true)
    }

    /// Whether it does, if a thread that stays in the loop executes a block in each turn.
    pub fn executes(&self, block: BlockId) -> bool {
        self.blocks.get(block.position()).copied().unwrap_or(true)
    }

    /// Whether it does, if a variable is assigned something.
    pub fn is_controlled(&self, var: Var) -> bool {
        self.controlled.contains(var)
    }
}

/// What in a loop depends on what other threads do meanwhile. `learns` tells which loads and atomics depend on other threads.
pub fn on_others(function: &Function, cfg: &Cfg, inside: &[bool], learns: &dyn Fn(&Stmt) -> bool) -> OnOthers {
    let mut analysis = Analysis::new(function, cfg, Sources::Others(learns));
    analysis.run(cfg, inside);
    OnOthers { values: analysis.values, blocks: analysis.blocks, controlled: analysis.controlled }
}

/// For each block, whether threads of a warp may diverge at its branch. `alike` tells which values are known to be the same in all
/// of them.
pub fn divergent_branches(function: &Function, cfg: &Cfg, alike: &dyn Fn(Value) -> bool) -> Vec<bool> {
    let all = vec![true; cfg.blocks.len()];
    let mut analysis = Analysis::new(function, cfg, Sources::Lanes(alike));
    analysis.run(cfg, &all);
    let parts = |block: &BasicBlock| match block.end {
        End::Branch { condition, .. } => analysis.value(condition),
        End::Exit | End::Goto(_) => false,
    };
    cfg.blocks.iter().map(parts).collect()
}

/// The sources of dependence.
#[derive(Clone, Copy)]
enum Sources<'s> {
    /// What differs between the threads of a CTA.
    Threads,
    /// What differs between the threads of a warp, except values for which this function holds.
    Lanes(&'s dyn Fn(Value) -> bool),
    /// What other threads do: results of the loads and atomics for which this function holds.
    Others(&'s dyn Fn(&Stmt) -> bool),
}

/// Where a statement stands.
#[derive(Clone, Copy)]
struct Control {
    /// Whether what executes the statement depends.
    depends: bool,
    /// Whether the statement may be passed over.
    nested: bool,
}

struct Analysis<'s> {
    sources: Sources<'s>,
    /// Whether the threads that run together are those of several blocks.
    blocks_differ: bool,
    values: IndexVec<Value, bool>,
    /// The variables that depend where the analysis is.
    vars: VarSet,
    /// Those at the start of each block.
    entries: IndexVec<BlockId, VarSet>,
    blocks: Vec<bool>,
    /// The variables that are assigned something where that depends.
    controlled: VarSet,
    changed: bool,
}

impl<'s> Analysis<'s> {
    fn new(function: &Function, cfg: &Cfg, sources: Sources<'s>) -> Self {
        Self {
            sources,
            blocks_differ: function.cluster.is_some(),
            values: IndexVec::filled(false, function.values.len()),
            vars: VarSet::new(function.vars.len()),
            entries: vec![VarSet::new(function.vars.len()); cfg.blocks.len()].into(),
            blocks: vec![false; cfg.blocks.len()],
            controlled: VarSet::new(function.vars.len()),
            changed: true,
        }
    }

    /// Looks at the blocks inside until nothing changes.
    fn run(&mut self, cfg: &Cfg, inside: &[bool]) {
        let joins = Joins::new(cfg);
        let mut spread = vec![false; cfg.blocks.len()];
        let blocks = || cfg.blocks.iter().zip(inside).enumerate().filter(|(_, (_, inside))| **inside);
        let of_loop = matches!(self.sources, Sources::Others(_));
        // A branch out of a loop decides whether the loop goes on, but not what threads do that stay.
        let leaves = |block: &BasicBlock| {
            of_loop && block.end.successors().any(|next| inside.get(next.position()) != Some(&true))
        };
        while self.changed {
            self.changed = false;
            for (number, (block, _)) in blocks() {
                let depends = self.blocks.get(number) == Some(&true);
                let Some(entry) = self.entries.get(number) else { continue };
                self.vars.clone_from(entry);
                self.block(&block.body, Control { depends, nested: false });
                self.stop(block.stop.as_ref(), depends);
                for next in block.end.successors() {
                    self.join(next);
                }
            }
            for (number, (block, _)) in blocks() {
                let End::Branch { condition, .. } = block.end else { continue };
                if self.value(condition) && !leaves(block) && spread.get(number) == Some(&false) {
                    spread[number] = true; // `get` has shown that it exists
                    let inside = |block: BlockId| inside.get(block.position()) == Some(&true);
                    self.spread(&joins.between(cfg, BlockId::new(number), inside));
                }
            }
        }
    }

    /// Marks everything between a branch and its join.
    fn spread(&mut self, between: &[bool]) {
        for (flag, _) in self.blocks.iter_mut().zip(between).filter(|(_, between)| **between) {
            self.changed |= !*flag;
            *flag = true;
        }
    }

    fn value(&self, value: Value) -> bool {
        self.values.at(value).copied().unwrap_or(true)
    }

    /// Lets the variables that depend here do so at the start of a block.
    fn join(&mut self, block: BlockId) {
        if let Some(entry) = self.entries.at_mut(block) {
            self.changed |= entry.extend(&self.vars);
        }
    }

    /// Assigns to a variable something that depends or not.
    fn assign(&mut self, var: Var, depends: bool, control: Control) {
        if control.depends {
            self.controlled.insert(var);
        }
        if depends || control.depends {
            self.vars.insert(var);
        } else if !control.nested {
            self.vars.remove(var);
        }
    }

    fn mark(&mut self, value: Value) {
        if let Some(flag) = self.values.at_mut(value) {
            self.changed |= !*flag;
            *flag = true;
        }
    }

    fn block(&mut self, block: &Block, control: Control) {
        for stmt in block {
            match stmt {
                Stmt::Let(value, op) => {
                    let depends = !self.value(*value) && self.op(op);
                    if depends && !matches!(self.sources, Sources::Lanes(alike) if alike(*value)) {
                        self.mark(*value);
                    }
                }
                Stmt::Set(var, value) => self.assign(*var, self.value(*value), control),
                Stmt::Load { results, access, address } => {
                    let strong = access.order != MemoryOrder::Weak;
                    let source = match self.sources {
                        Sources::Threads | Sources::Lanes(_) => {
                            strong || !matches!(access.space, Space::Global | Space::Shared)
                        }
                        Sources::Others(learns) => learns(stmt),
                    };
                    if source || self.value(*address) {
                        for result in results {
                            self.mark(*result);
                        }
                    }
                }
                Stmt::Atomic(atomic) => {
                    let known = matches!(self.sources, Sources::Others(learns) if !learns(stmt));
                    if let Some(result) = atomic.result
                        && !known
                    {
                        self.mark(result);
                    }
                }
                Stmt::Warp(warp) if matches!(self.sources, Sources::Lanes(_)) => {
                    let differs = self.differs(warp);
                    for (result, _) in warp.results.iter().zip(differs).filter(|(_, differs)| *differs) {
                        self.mark(*result);
                    }
                }
                // Named members come together in any case, and each of them computes its operands as this thread does.
                Stmt::Warp(Warp { results, op, members: Some(members) })
                    if matches!(self.sources, Sources::Others(_)) =>
                {
                    let operands = op.operands();
                    let depends = operands.is_empty() || operands.into_iter().any(|value| self.value(value));
                    if depends || control.depends || self.value(*members) {
                        for result in results {
                            self.mark(*result);
                        }
                    }
                }
                // Warps differ from each other.
                Stmt::Warp(Warp { results, .. }) | Stmt::Subgroup(results, _) => {
                    for result in results {
                        self.mark(*result);
                    }
                }
                // Nested lists come from guards and small loops of single instructions.
                Stmt::If { condition, then, otherwise } => {
                    let control = Control { depends: control.depends || self.value(*condition), nested: true };
                    self.block(then, control);
                    self.block(otherwise, control);
                }
                Stmt::Loop(body) => {
                    let depends = control.depends || !matches!(self.sources, Sources::Others(_));
                    loop {
                        let before = self.vars.clone();
                        self.block(body, Control { depends, nested: true });
                        if self.vars == before {
                            break;
                        }
                    }
                }
                Stmt::At(_)
                | Stmt::Store { .. }
                | Stmt::Barrier(_)
                | Stmt::Report(..)
                | Stmt::Arrive(_)
                | Stmt::Fence(_)
                | Stmt::Break
                | Stmt::Return(_) => {}
            }
        }
    }

    /// Which results of an operation differ between the threads that execute it.
    fn differs(&self, warp: &Warp) -> [bool; 2] {
        match warp.op {
            _ if warp.members.is_some_and(|members| self.value(members)) => [true, true],
            WarpOp::Vote(..) | WarpOp::Ballot(_) | WarpOp::ActiveMask | WarpOp::Reduce(..) | WarpOp::MatchAll(_) => {
                [false, false]
            }
            WarpOp::Elect => [false, true],
            // Segments of the warp would each get a value of their own. That is ignored: code whose operations wait for all
            // lanes does not branch on such a value.
            WarpOp::Shuffle { mode: Shuffle::Index, lane, .. } => [self.value(lane); 2],
            WarpOp::Shuffle { .. } | WarpOp::MatchAny(_) | WarpOp::Gathered | WarpOp::Sync => [true, true],
        }
    }

    /// All threads that wait at a barrier get the same result: those of a block, if it waits for them all.
    fn stop(&mut self, stop: Option<&Stop>, depends: bool) {
        if let Some(Stop::Barrier(Barrier { kind: Kind::Red(red), count, .. })) = stop
            && let Some(result) = red.result
        {
            let differs = (count.is_some() && !matches!(self.sources, Sources::Others(_)))
                || (self.blocks_differ && matches!(self.sources, Sources::Threads));
            self.assign(result, differs, Control { depends, nested: false });
        }
    }

    fn op(&self, op: &Op) -> bool {
        match *op {
            Op::Const(_) => false,
            Op::Get(var) => self.vars.contains(var),
            Op::Unary(_, a) => self.value(a),
            Op::Binary(_, a, b) | Op::Compare(_, a, b) | Op::Pair(a, b) => self.value(a) || self.value(b),
            Op::Select(a, b, c) | Op::Fma(a, b, c) | Op::DotFma(a, b, c) => {
                self.value(a) || self.value(b) || self.value(c)
            }
            Op::Rounded(_, arithmetic) | Op::Flushed(_, arithmetic) | Op::Half(_, arithmetic) => {
                arithmetic.any(|value| self.value(value))
            }
            Op::Call(_, operands) => operands.into_iter().flatten().any(|value| self.value(value)),
            Op::Sample(sample) => sample.operands().any(|value| self.value(value)),
            Op::Builtin(builtin) => !matches!(self.sources, Sources::Others(_)) && builtin.varies() != Varies::Nowhere,
        }
    }
}
