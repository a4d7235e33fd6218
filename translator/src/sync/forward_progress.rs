//! Finds loops in which a thread waits for another, and puts a stop into each of their iterations.
//!
//! PTX guarantees forward progress for every thread, so such a loop ends. A device that runs threads in lockstep, or one subgroup until it
//! ends, guarantees none: the thread that holds a lock may wait for those that spin on it. So each iteration of the loop gets a stop, where
//! other threads run on.
//!
//! A loop waits if its exit depends on a value that it reads by atomics or by volatile, relaxed or acquire loads. Loops around a
//! compare-and-swap with a value that the loop has read do not wait: the compare-and-swap fails only if another thread has made progress.
//! Nor do loops with atomics that are left by a counter.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::cfg::loops::{components, marked, ways_back};
use crate::cfg::{BasicBlock, BlockId, Cfg, End, Stop, dependence};
use crate::index::Index;
use crate::ir::{Atomic, AtomicOp, Block, Function, MemoryOrder, Op, Space, Stmt, Value, Var};

/// Puts a stop on the back edge of each loop that waits for other threads. Returns whether a loop may wait for threads of other blocks,
/// that is, for what it reads in global memory. Waiting for a lock doesn't count, since the lock's holder will run on.
pub fn yield_in_loops(function: &Function, cfg: &mut Cfg) -> bool {
    if !cfg.blocks.iter().any(|block| reads_others(&block.body)) {
        return false;
    }
    let mut among_blocks = false;
    let mut found: FxHashMap<(BlockId, BlockId), bool> = FxHashMap::default();
    // Parts of the graph: their blocks, and the ignored edges, which are back edges of enclosing loops.
    let mut todo = vec![(cfg.blocks.indices().collect::<Vec<_>>(), FxHashSet::default())];
    while let Some((part, cut)) = todo.pop() {
        for component in components(cfg, &part, &cut) {
            let inside = marked(cfg, &component);
            if !component.iter().any(|block| cfg.blocks.at(*block).is_some_and(|block| reads_others(&block.body))) {
                continue;
            }
            let back = ways_back(cfg, &component, &inside);
            let loops = Loop::new(cfg, &inside);
            if loops.is_left_by(function, cfg, &inside, &|stmt| loops.learns(stmt)) {
                let global = loops.is_left_by(function, cfg, &inside, &|stmt| loops.learns_of_global(stmt));
                for edge in &back {
                    *found.entry(*edge).or_default() |= global;
                }
                among_blocks |= loops.is_left_by(function, cfg, &inside, &|stmt| loops.learns_of_blocks(stmt));
            }
            let cut = cut.iter().copied().chain(back).collect();
            todo.push((component, cut));
        }
    }
    let mut found: Vec<((BlockId, BlockId), bool)> = found.into_iter().collect();
    found.sort_unstable();
    for ((from, to), global) in found {
        stop_between(cfg, from, to, global);
    }
    among_blocks
}

/// What a loop computes.
struct Loop<'c> {
    values: FxHashMap<Value, &'c Op>,
    given: FxHashSet<Value>,
    vars: FxHashSet<Var>,
}

impl<'c> Loop<'c> {
    fn new(cfg: &'c Cfg, inside: &[bool]) -> Self {
        let mut this = Self { values: FxHashMap::default(), given: FxHashSet::default(), vars: FxHashSet::default() };
        for (block, _) in cfg.blocks.iter().zip(inside).filter(|(_, inside)| **inside) {
            this.collect(&block.body);
        }
        this
    }

    fn collect(&mut self, block: &'c Block) {
        for stmt in block {
            match stmt {
                Stmt::Let(value, op) => {
                    self.values.insert(*value, op);
                }
                Stmt::Set(var, _) => {
                    self.vars.insert(*var);
                }
                Stmt::Load { results, .. } => self.given.extend(results),
                Stmt::Atomic(atomic) => self.given.extend(atomic.result),
                Stmt::If { then, otherwise, .. } => {
                    self.collect(then);
                    self.collect(otherwise);
                }
                Stmt::Loop(body) => self.collect(body),
                _ => {}
            }
        }
    }

    /// Whether an exit of the loop depends on what statements learn from other threads.
    fn is_left_by(&self, function: &Function, cfg: &Cfg, inside: &[bool], learns: &dyn Fn(&Stmt) -> bool) -> bool {
        let branches = dependence::branches_on_others(function, cfg, inside, learns);
        let leaves = |block: &BasicBlock| block.end.successors().any(|next| inside.get(next.position()) != Some(&true));
        cfg.blocks.iter().zip(branches).any(|(block, depends)| depends && leaves(block))
    }

    /// Whether a statement learns what other threads have done.
    fn learns(&self, stmt: &Stmt) -> bool {
        match stmt {
            Stmt::Load { access, .. } => access.order != MemoryOrder::Weak && access.space != Space::Local,
            Stmt::Atomic(atomic) => !self.retries(atomic),
            _ => false,
        }
    }

    /// Whether a statement learns from threads that may belong to other blocks, and takes no lock.
    fn learns_of_blocks(&self, stmt: &Stmt) -> bool {
        let space = match stmt {
            Stmt::Load { access, .. } => access.space,
            Stmt::Atomic(atomic) if !self.takes(atomic) => atomic.access.space,
            _ => return false,
        };
        self.learns(stmt) && matches!(space, Space::Global | Space::Generic)
    }

    /// Whether a statement learns of other threads through global memory.
    fn learns_of_global(&self, stmt: &Stmt) -> bool {
        let space = match stmt {
            Stmt::Load { access, .. } => access.space,
            Stmt::Atomic(atomic) => atomic.access.space,
            _ => return false,
        };
        self.learns(stmt) && matches!(space, Space::Global | Space::Generic)
    }

    /// Whether an atomic may take a lock: it replaces the value that it finds by another.
    fn takes(&self, atomic: &Atomic) -> bool {
        match (atomic.op, atomic.compare) {
            (AtomicOp::Exchange, _) => true,
            (AtomicOp::CompareExchange, Some(compare)) => {
                let constant = |value| match self.values.get(&value) {
                    Some(Op::Const(bits)) => Some(bits),
                    _ => None,
                };
                compare != atomic.operand && constant(compare).is_none_or(|bits| constant(atomic.operand) != Some(bits))
            }
            _ => false,
        }
    }

    /// Whether an atomic is a compare-and-swap with a value that changes in the loop.
    fn retries(&self, atomic: &Atomic) -> bool {
        atomic.op == AtomicOp::CompareExchange && atomic.compare.is_some_and(|compare| self.changes(compare))
    }

    fn changes(&self, value: Value) -> bool {
        let mut todo = vec![value];
        let mut seen = FxHashSet::default();
        while let Some(value) = todo.pop() {
            if self.given.contains(&value) {
                return true;
            }
            let Some(op) = self.values.get(&value).filter(|_| seen.insert(value)) else { continue };
            match **op {
                Op::Get(var) if self.vars.contains(&var) => return true,
                Op::Unary(_, a) => todo.push(a),
                Op::Binary(_, a, b) | Op::Compare(_, a, b) => todo.extend([a, b]),
                Op::Select(a, b, c) | Op::Fma(a, b, c) | Op::DotFma(a, b, c) => todo.extend([a, b, c]),
                _ => {}
            }
        }
        false
    }
}

/// Whether statements read memory that other threads may write at the same time.
fn reads_others(block: &Block) -> bool {
    block.iter().any(|stmt| match stmt {
        Stmt::Load { access, .. } => access.order != MemoryOrder::Weak && access.space != Space::Local,
        Stmt::Atomic(atomic) => atomic.result.is_some(),
        Stmt::If { then, otherwise, .. } => reads_others(then) || reads_others(otherwise),
        Stmt::Loop(body) => reads_others(body),
        _ => false,
    })
}

/// Puts a stop on an edge.
fn stop_between(cfg: &mut Cfg, from: BlockId, to: BlockId, global: bool) {
    let middle = BlockId::new(cfg.blocks.len());
    let Some(block) = cfg.blocks.at_mut(from) else { return };
    let turned = |next| if next == to { middle } else { next };
    block.end = block.end.redirected(turned);
    let mark = block.body.iter().rev().find(|stmt| matches!(stmt, Stmt::At(_))).cloned();
    cfg.blocks.push(BasicBlock {
        body: mark.into_iter().collect(),
        stop: Some(Stop::Yield { global }),
        end: End::Goto(to),
    });
}
