//! Facts about a kernel's and a loop's computations, and about the statements by which a loop learns from other
//! threads.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::cfg::dependence::{self, Part};
use crate::cfg::{BasicBlock, BlockId, Cfg, End, Joins};
use crate::index::IndexVec;
use crate::ir::{
    Access, Atomic, AtomicOp, Block, Function, MemoryOrder, Op, Space, Stmt, Value, Var, VarSet, Warp, WarpOp,
    for_each_operand, for_each_stmt, has_warp,
};

/// The definitions, assignments and accesses of a kernel, with their blocks.
pub(super) struct Kernel<'c> {
    pub(super) function: &'c Function,
    pub(super) cfg: &'c Cfg,
    pub(super) joins: Joins,
    /// The places of all blocks in [`Cfg::reverse_postorder`].
    order: IndexVec<BlockId, u32>,
    pub(super) values: FxHashMap<Value, &'c Op>,
    /// The values that variables are assigned, in the order of the blocks.
    pub(super) assigned: FxHashMap<Var, Vec<(BlockId, Value)>>,
    /// The accesses and addresses by which values are loaded.
    loaded: FxHashMap<Value, (BlockId, Access, Value)>,
    atomics: FxHashMap<Value, (BlockId, &'c Atomic)>,
    /// The results of shuffles, with the values that lanes offer to them.
    shuffled: FxHashMap<Value, (BlockId, Value)>,
    /// The changes of memory where other threads may look.
    changes: Vec<(BlockId, Change)>,
    /// The results of atomics that nothing reads.
    unread: FxHashSet<Value>,
    /// The blocks where something may come from other threads.
    pub(super) sources: Vec<bool>,
}

impl<'c> Kernel<'c> {
    /// The facts about a kernel.
    pub(super) fn new(function: &'c Function, cfg: &'c Cfg, unread: FxHashSet<Value>) -> Self {
        let is_source = |block: &BasicBlock| reads_others(&block.body, &unread) || has_warp(&block.body);
        let mut this = Self {
            function,
            cfg,
            joins: Joins::new(cfg),
            order: dependence::places_in_order(cfg),
            values: FxHashMap::default(),
            assigned: FxHashMap::default(),
            loaded: FxHashMap::default(),
            atomics: FxHashMap::default(),
            shuffled: FxHashMap::default(),
            changes: Vec::new(),
            sources: cfg.blocks.iter().map(is_source).collect(),
            unread,
        };
        for (number, block) in cfg.blocks.enumerated() {
            for_each_stmt(&block.body, |stmt| this.collect(number, stmt));
        }
        this
    }

    fn collect(&mut self, block: BlockId, stmt: &'c Stmt) {
        match stmt {
            Stmt::Let(value, op) => _ = self.values.insert(*value, op),
            Stmt::Set(var, value) => self.assigned.entry(*var).or_default().push((block, *value)),
            Stmt::Load { results, access, address } => {
                self.loaded.extend(results.iter().map(|result| (*result, (block, *access, *address))));
            }
            Stmt::Atomic(atomic) => {
                self.atomics.extend(atomic.result.map(|result| (result, (block, atomic))));
                self.changes.push((block, Change::by(atomic)));
            }
            Stmt::Store { access, address, .. } => {
                let change = (access.order != MemoryOrder::Weak).then(|| Change::stored(access.space, *address));
                self.changes.extend(change.map(|change| (block, change)));
            }
            Stmt::Warp(Warp { results, op: WarpOp::Shuffle { value, .. }, .. }) => {
                self.shuffled.extend(results.first().map(|result| (*result, (block, *value))));
            }
            _ => {}
        }
    }
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

/// The definitions, assignments and accesses of a loop.
pub(super) struct Loop<'c> {
    pub(super) kernel: &'c Kernel<'c>,
    pub(super) part: Part<'c>,
}

impl<'c> Loop<'c> {
    /// The facts about a loop of these blocks, which are those marked as inside.
    pub(super) fn new(kernel: &'c Kernel<'c>, blocks: &[BlockId], inside: &'c [bool]) -> Self {
        Self { kernel, part: Part::new(kernel.function, kernel.cfg, &kernel.order, blocks, inside) }
    }

    /// The facts about a loop of some of this loop's blocks.
    pub(super) fn within(&'c self, inside: &'c [bool]) -> Self {
        Self { kernel: self.kernel, part: self.part.within(inside) }
    }

    /// The values that the loop assigns to a variable.
    pub(super) fn assigned(&self, var: Var) -> impl Iterator<Item = Value> {
        let all = self.kernel.assigned.get(&var).map_or(&[][..], Vec::as_slice);
        let first = all.partition_point(|(block, _)| self.part.first() > Some(*block));
        let until_last = all.iter().skip(first).take_while(|(block, _)| self.part.last() >= Some(*block));
        until_last.filter(|(block, _)| self.part.has(*block)).map(|(_, value)| *value)
    }

    /// Whether the loop assigns something to a variable.
    pub(super) fn assigns(&self, var: Var) -> bool {
        self.assigned(var).next().is_some()
    }

    /// The access and the address by which the loop loads a value.
    pub(super) fn loaded(&self, value: Value) -> Option<(Access, Value)> {
        let (block, access, address) = *self.kernel.loaded.get(&value)?;
        self.part.has(block).then_some((access, address))
    }

    /// The atomic of the loop that gives a value.
    pub(super) fn atomic(&self, value: Value) -> Option<&'c Atomic> {
        let (block, atomic) = *self.kernel.atomics.get(&value)?;
        self.part.has(block).then_some(atomic)
    }

    /// The value that lanes offer to the shuffle of the loop which gives a value.
    pub(super) fn shuffled(&self, value: Value) -> Option<Value> {
        let (block, offered) = *self.kernel.shuffled.get(&value)?;
        self.part.has(block).then_some(offered)
    }

    /// The loop's changes of memory where other threads may look.
    pub(super) fn changes(&self) -> impl Iterator<Item = &Change> {
        self.kernel.changes.iter().filter(|(block, _)| self.part.has(*block)).map(|(_, change)| change)
    }

    /// Whether a statement learns from memory about other threads' doings.
    pub(super) fn learns(&self, stmt: &Stmt) -> bool {
        let Some((access, _)) = stmt.access() else { return false };
        match stmt {
            Stmt::Store { .. } => false,
            Stmt::Atomic(atomic) => is_read(atomic, &self.kernel.unread) && !self.retries(atomic),
            // Whatever else accesses memory reads it.
            _ => access.order != MemoryOrder::Weak && access.space != Space::Local,
        }
    }

    /// Whether all statements of the loop that learn from other threads are among these.
    pub(super) fn learns_only_by(&self, learns: &dyn Fn(&Stmt) -> bool) -> bool {
        let mut only = true;
        for block in self.part.blocks().filter_map(|block| self.kernel.cfg.blocks.at(block)) {
            for_each_stmt(&block.body, |stmt| only &= !self.learns(stmt) || learns(stmt));
        }
        only
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

    /// Whether an atomic may take a lock, since it replaces the value that it finds by another.
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
        atomic.op == AtomicOp::CompareExchange && atomic.compare.is_some_and(|compare| self.is_changed(compare))
    }

    fn is_changed(&self, value: Value) -> bool {
        let mut todo = vec![value];
        let mut seen = FxHashSet::default();
        while let Some(value) = todo.pop() {
            if self.loaded(value).is_some() || self.atomic(value).is_some() {
                return true;
            }
            let Some(op) = self.kernel.values.get(&value).filter(|_| seen.insert(value)) else { continue };
            match **op {
                Op::Get(var) if self.assigns(var) => return true,
                Op::Unary(_, a) => todo.push(a),
                Op::Binary(_, a, b) | Op::Compare(_, a, b) => todo.extend([a, b]),
                Op::Select(a, b, c) | Op::Fma(a, b, c) | Op::DotFma(a, b, c) => todo.extend([a, b, c]),
                // What is compared and swapped isn't made by these.
                Op::Rounded(..) | Op::Flushed(..) | Op::Half(..) | Op::Matrix(..) | Op::Pair(..) | Op::Call(..) => {}
                Op::Const(_) | Op::Get(_) | Op::Builtin(_) | Op::Sample(_) => {}
            }
        }
        false
    }
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
