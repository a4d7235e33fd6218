//! What a kernel and its loops compute, and what a loop's statements learn from other threads.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::cfg::{Cfg, End};
use crate::ir::{
    Access, Atomic, AtomicOp, Block, Function, MemoryOrder, Op, Space, Stmt, Value, Var, VarSet, Warp, WarpOp,
    for_each_stmt,
};
use crate::opt::for_each_operand;

/// What a kernel computes.
pub(super) struct Kernel<'c> {
    pub(super) function: &'c Function,
    pub(super) values: FxHashMap<Value, &'c Op>,
    /// What variables are assigned.
    pub(super) assigned: FxHashMap<Var, Vec<Value>>,
    /// The results of atomics that nothing reads.
    pub(super) unread: FxHashSet<Value>,
}

/// Whether statements read memory that other threads may write at the same time.
pub(super) fn reads_others(block: &Block, unread: &FxHashSet<Value>) -> bool {
    block.iter().any(|stmt| match (stmt, stmt.access()) {
        (Stmt::Store { .. }, _) => false,
        (Stmt::Atomic(atomic), _) => is_read(atomic, unread),
        (_, Some((access, _))) => access.order != MemoryOrder::Weak && access.space != Space::Local,
        (_, None) => stmt.lists().any(|list| reads_others(list, unread)),
    })
}

fn is_read(atomic: &Atomic, unread: &FxHashSet<Value>) -> bool {
    atomic.result.is_some_and(|result| !unread.contains(&result))
}

/// What a loop computes.
pub(super) struct Loop<'c> {
    pub(super) kernel: &'c Kernel<'c>,
    /// What variables are assigned.
    pub(super) assigned: FxHashMap<Var, Vec<Value>>,
    /// How and from where the loop loads.
    pub(super) loaded: FxHashMap<Value, (Access, Value)>,
    pub(super) atomics: FxHashMap<Value, &'c Atomic>,
    /// What shuffles give, and what lanes offer to them.
    pub(super) shuffled: FxHashMap<Value, Value>,
    /// What the loop changes in memory, where other threads may look.
    pub(super) changes: Vec<Change>,
}

impl<'c> Loop<'c> {
    /// The facts about a loop of the blocks inside.
    pub(super) fn new(kernel: &'c Kernel<'c>, cfg: &'c Cfg, inside: &[bool]) -> Self {
        let mut this = Self {
            kernel,
            assigned: assignments(cfg, inside),
            loaded: FxHashMap::default(),
            atomics: FxHashMap::default(),
            shuffled: FxHashMap::default(),
            changes: Vec::new(),
        };
        for (block, _) in cfg.blocks.iter().zip(inside).filter(|(_, inside)| **inside) {
            for_each_stmt(&block.body, |stmt| this.collect(stmt));
        }
        this
    }

    fn collect(&mut self, stmt: &'c Stmt) {
        match stmt {
            Stmt::Load { results, access, address } => {
                self.loaded.extend(results.iter().map(|result| (*result, (*access, *address))));
            }
            Stmt::Atomic(atomic) => {
                self.atomics.extend(atomic.result.map(|result| (result, atomic)));
                self.changes.push(Change::by(atomic));
            }
            Stmt::Store { access, address, .. } => {
                let change = (access.order != MemoryOrder::Weak).then(|| Change::stored(access.space, *address));
                self.changes.extend(change);
            }
            Stmt::Warp(Warp { results, op: WarpOp::Shuffle { value, .. }, .. }) => {
                self.shuffled.extend(results.first().map(|result| (*result, *value)));
            }
            Stmt::At(_)
            | Stmt::Let(..)
            | Stmt::Set(..)
            | Stmt::Warp(_)
            | Stmt::Subgroup(..)
            | Stmt::Barrier(_)
            | Stmt::Report(..)
            | Stmt::Arrive(_)
            | Stmt::Fence(_)
            | Stmt::If { .. }
            | Stmt::Loop(_)
            | Stmt::Break
            | Stmt::Return(_) => {}
        }
    }

    /// Whether a statement learns what other threads have done.
    pub(super) fn learns(&self, stmt: &Stmt) -> bool {
        let Some((access, _)) = stmt.access() else { return false };
        match stmt {
            Stmt::Store { .. } => false,
            Stmt::Atomic(atomic) => is_read(atomic, &self.kernel.unread) && !self.retries(atomic),
            // Whatever else accesses memory reads it.
            _ => access.order != MemoryOrder::Weak && access.space != Space::Local,
        }
    }

    /// Whether a statement learns from threads that may belong to other blocks, and takes no lock.
    pub(super) fn learns_of_blocks(&self, stmt: &Stmt) -> bool {
        let takes = matches!(stmt, Stmt::Atomic(atomic) if self.takes(atomic));
        !takes && self.learns_of_global(stmt)
    }

    /// Whether a statement learns of other threads through global memory.
    pub(super) fn learns_of_global(&self, stmt: &Stmt) -> bool {
        let in_global = |(access, _): (&Access, Value)| matches!(access.space, Space::Global | Space::Generic);
        self.learns(stmt) && stmt.access().is_some_and(in_global)
    }

    /// Whether an atomic may take a lock: it replaces the value that it finds by another.
    fn takes(&self, atomic: &Atomic) -> bool {
        match (atomic.op, atomic.compare) {
            (AtomicOp::Exchange, _) => true,
            (AtomicOp::CompareExchange, Some(compare)) => {
                let constant = |value| match self.kernel.values.get(&value) {
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
            if self.loaded.contains_key(&value) || self.atomics.contains_key(&value) {
                return true;
            }
            let Some(op) = self.kernel.values.get(&value).filter(|_| seen.insert(value)) else { continue };
            match **op {
                Op::Get(var) if self.assigned.contains_key(&var) => return true,
                Op::Unary(_, a) => todo.push(a),
                Op::Binary(_, a, b) | Op::Compare(_, a, b) => todo.extend([a, b]),
                Op::Select(a, b, c) | Op::Fma(a, b, c) | Op::DotFma(a, b, c) => todo.extend([a, b, c]),
                // What is compared and swapped isn't made by these.
                Op::Rounded(..) | Op::Flushed(..) | Op::Half(..) | Op::Pair(..) | Op::Call(..) => {}
                Op::Const(_) | Op::Get(_) | Op::Builtin(_) | Op::Sample(_) => {}
            }
        }
        false
    }
}

/// What each variable is assigned in some blocks.
pub(super) fn assignments(cfg: &Cfg, inside: &[bool]) -> FxHashMap<Var, Vec<Value>> {
    let mut assigned: FxHashMap<Var, Vec<Value>> = FxHashMap::default();
    for (block, _) in cfg.blocks.iter().zip(inside).filter(|(_, inside)| **inside) {
        for_each_stmt(&block.body, |stmt| {
            if let Stmt::Set(var, value) = stmt {
                assigned.entry(*var).or_default().push(*value);
            }
        });
    }
    assigned
}

/// The results of atomics that nothing reads, or that are at most assigned to variables that nothing reads: compilers write `atom` where
/// `red` would do.
pub(super) fn unread_results(function: &Function, cfg: &Cfg) -> FxHashSet<Value> {
    let mut results = FxHashSet::default();
    let mut read = VarSet::new(function.vars.len());
    for block in &cfg.blocks {
        for_each_stmt(&block.body, |stmt| match stmt {
            Stmt::Let(_, Op::Get(var)) => read.insert(*var),
            Stmt::Atomic(atomic) => results.extend(atomic.result),
            _ => {}
        });
    }
    if results.is_empty() {
        return results;
    }
    for block in &cfg.blocks {
        for_each_stmt(&block.body, |stmt| match stmt {
            Stmt::Set(var, _) if !read.contains(*var) => {}
            _ => for_each_operand(stmt, |value| _ = results.remove(&value)),
        });
        if let Some(stop) = &block.stop {
            stop.clone().map(|value| {
                results.remove(&value);
                value
            });
        }
        if let End::Branch { condition, .. } = block.end {
            results.remove(&condition);
        }
    }
    results
}

/// The operations that give values.
pub(super) fn operations(cfg: &Cfg) -> FxHashMap<Value, &Op> {
    let mut operations = FxHashMap::default();
    for block in &cfg.blocks {
        for_each_stmt(&block.body, |stmt| {
            if let Stmt::Let(value, op) = stmt {
                operations.insert(*value, op);
            }
        });
    }
    operations
}

/// Something in a loop that may change a counter.
pub(super) struct Change {
    pub(super) space: Space,
    pub(super) address: Value,
    /// The addition that it is, if it is one.
    pub(super) adds: Option<Value>,
    pub(super) op: Option<AtomicOp>,
}

impl Change {
    /// The change that an atomic makes.
    fn by(atomic: &Atomic) -> Self {
        let adds = (atomic.op == AtomicOp::Add).then_some(atomic.operand);
        Self { space: atomic.access.space, address: atomic.address, adds, op: Some(atomic.op) }
    }

    /// The change that a store makes.
    fn stored(space: Space, address: Value) -> Self {
        Self { space, address, adds: None, op: None }
    }
}
