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

use std::borrow::Cow;
use std::num::NonZeroU32;

use fixedbitset::FixedBitSet;
use rustc_hash::{FxHashMap, FxHashSet};

use super::graph::{BasicBlock, BlockId, Cfg, End};
use super::joins::Joins;
use super::loops::marked;
use super::stop::{Barrier, Kind, Stop};
use crate::index::{Index, IndexVec, number};
use crate::ir::{
    Block, Function, MemoryOrder, Op, Shuffle, Space, Stmt, Value, Var, VarSet, Varies, Warp, WarpOp, for_each_result,
};

/// For each block, whether threads of a CTA or cluster may execute it without the others.
pub fn divergent_blocks(function: &Function, cfg: &Cfg) -> Vec<bool> {
    let inside = vec![true; cfg.blocks.len()];
    let all = Part::all(function, cfg, &inside);
    let mut analysis = Analysis::new(function, cfg, &all, Sources::Threads);
    analysis.run(cfg, &Joins::new(cfg), inside.clone());
    analysis.blocks
}

/// Values, blocks and variables of a loop that depend on other threads' doings in the meantime.
pub struct OnOthers {
    values: FixedBitSet,
    blocks: Vec<bool>,
    controlled: VarSet,
}

impl OnOthers {
    pub fn decides(&self, value: Value) -> bool {
        depends(&self.values, value)
    }

    /// Whether other threads decide if a thread that stays in the loop executes a block in each turn.
    pub fn executes(&self, block: BlockId) -> bool {
        self.blocks.get(block.position()).copied().unwrap_or(true)
    }

    /// Whether other threads decide if a variable is assigned something.
    pub fn is_controlled(&self, var: Var) -> bool {
        self.controlled.contains(var)
    }
}

/// Finds the values, blocks and variables of a loop that depend on other threads' doings in the meantime. `learns`
/// tells which loads and atomics depend on other threads; `sources` marks at least the blocks that have some of these,
/// or operations of warps; the joins are those of the whole graph.
pub fn on_others(
    function: &Function,
    cfg: &Cfg,
    joins: &Joins,
    part: &Part<'_>,
    sources: &[bool],
    learns: &dyn Fn(&Stmt) -> bool,
) -> OnOthers {
    let mut analysis = Analysis::new(function, cfg, part, Sources::Others(learns));
    // A block that has no sources, nothing that depends at its start, and does not depend itself, changes nothing.
    let is_source = |block: &BlockId| sources.get(block.position()) == Some(&true);
    let pending: Vec<BlockId> = part.blocks().filter(is_source).collect();
    analysis.run(cfg, joins, marked(cfg, &pending));
    OnOthers { values: analysis.values, blocks: analysis.blocks, controlled: analysis.controlled }
}

/// For each block, whether threads of a warp may diverge at its branch. `alike` tells which values are known to be the same in all
/// of them.
pub fn divergent_branches(function: &Function, cfg: &Cfg, alike: &dyn Fn(Value) -> bool) -> Vec<bool> {
    let inside = vec![true; cfg.blocks.len()];
    let all = Part::all(function, cfg, &inside);
    let mut analysis = Analysis::new(function, cfg, &all, Sources::Lanes(alike));
    analysis.run(cfg, &Joins::new(cfg), inside.clone());
    let parts = |block: &BasicBlock| match block.end {
        End::Branch { condition, .. } => analysis.value(condition),
        End::Exit | End::Goto(_) => false,
    };
    cfg.blocks.iter().map(parts).collect()
}

#[derive(Clone, Copy)]
enum Sources<'s> {
    /// Values that differ between the threads of a CTA.
    Threads,
    /// Values that differ between the threads of a warp, except those for which this function holds.
    Lanes(&'s dyn Fn(Value) -> bool),
    /// Doings of other threads: results of the loads and atomics for which this function holds.
    Others(&'s dyn Fn(&Stmt) -> bool),
}

/// The control that a statement stands under.
#[derive(Clone, Copy)]
struct Control {
    /// Whether the control that executes the statement depends on a source.
    depends: bool,
    /// Whether the statement may be passed over.
    nested: bool,
}

struct Analysis<'s> {
    sources: Sources<'s>,
    part: &'s Part<'s>,
    /// Whether threads of several blocks run together.
    blocks_differ: bool,
    values: FixedBitSet,
    /// The variables that depend where the analysis is, by their places.
    vars: VarSet,
    /// The dependent variables at the start of blocks, among those that carry something there.
    entries: FxHashMap<BlockId, VarSet>,
    blocks: Vec<bool>,
    /// The variables that are assigned something where that depends.
    controlled: VarSet,
}

impl<'s> Analysis<'s> {
    fn new(function: &Function, cfg: &Cfg, part: &'s Part<'s>, sources: Sources<'s>) -> Self {
        Self {
            sources,
            part,
            blocks_differ: function.cluster.is_some(),
            values: FixedBitSet::with_capacity(function.values.len()),
            vars: VarSet::new(part.places.count),
            entries: FxHashMap::default(),
            blocks: vec![false; cfg.blocks.len()],
            controlled: VarSet::new(function.vars.len()),
        }
    }

    /// Looks at the pending blocks, and at those that change by that, until nothing changes. A block has no other
    /// inputs than the variables at its start, and whether its execution depends. This ends: dependent values,
    /// variables and blocks stay dependent, and a block is looked at again only where something more depends.
    fn run(&mut self, cfg: &Cfg, joins: &Joins, mut pending: Vec<bool>) {
        let part = self.part;
        // Branches with the same join share what lies before it.
        let mut spread: FxHashMap<Option<BlockId>, FxHashSet<BlockId>> = FxHashMap::default();
        let of_loop = matches!(self.sources, Sources::Others(_));
        // A branch out of a loop decides whether the loop goes on, but not what threads do that stay.
        let leaves = |block: &BasicBlock| of_loop && block.end.successors().any(|next| !part.has(next));
        let mut changes = true;
        while changes {
            changes = false;
            for number in part.order.iter().copied() {
                let Some(pending_here) = pending.get_mut(number.position()).filter(|pending| **pending) else {
                    continue;
                };
                *pending_here = false;
                changes = true;
                let block = &cfg.blocks[number]; // it is of the part
                let depends = self.blocks.get(number.position()) == Some(&true);
                self.enter(number);
                self.block(&block.body, Control { depends, nested: false });
                self.stop(block.stop.as_ref(), depends);
                for next in block.end.successors() {
                    if part.has(next)
                        && self.join(next)
                        && let Some(pending) = pending.get_mut(next.position())
                    {
                        *pending = true;
                    }
                }
                let End::Branch { condition, .. } = block.end else { continue };
                if self.value(condition) && !leaves(block) {
                    let join = joins.of(number);
                    self.spread(cfg, block, join, spread.entry(join).or_default(), &mut pending);
                }
            }
        }
    }

    /// Marks all blocks between a branch and its join, but for those that are marked `before` for that join.
    fn spread(
        &mut self,
        cfg: &Cfg,
        branch: &BasicBlock,
        join: Option<BlockId>,
        before: &mut FxHashSet<BlockId>,
        pending: &mut [bool],
    ) {
        let mut todo: Vec<BlockId> = branch.end.successors().collect();
        while let Some(block) = todo.pop() {
            if Some(block) == join || !self.part.has(block) || !before.insert(block) {
                continue;
            }
            if let (Some(flag), Some(pending)) =
                (self.blocks.get_mut(block.position()), pending.get_mut(block.position()))
            {
                *pending |= !*flag;
                *flag = true;
            }
            todo.extend(cfg.successors(block));
        }
    }

    /// Goes to the start of a block.
    fn enter(&mut self, block: BlockId) {
        self.vars.start_with(self.entries.get(&block).unwrap_or(&self.part.places.none));
    }

    fn value(&self, value: Value) -> bool {
        depends(&self.values, value)
    }

    /// Lets the variables that depend here do so at the start of a block. Returns whether one of them did not.
    fn join(&mut self, block: BlockId) -> bool {
        // Most often nothing depends.
        if !self.vars.has_among_first(&self.part.places.none) {
            return false;
        }
        let mut is_new = false;
        let entry = self.entries.entry(block).or_insert_with(|| {
            is_new = true;
            self.part.places.none.clone()
        });
        entry.extend(&self.vars) || is_new
    }

    /// Assigns to a variable something that depends or not.
    fn assign(&mut self, var: Var, depends: bool, control: Control) {
        if control.depends {
            self.controlled.insert(var);
        }
        let Some(place) = self.part.places.of(var) else { return };
        if depends || control.depends {
            self.vars.insert(place);
        } else if !control.nested {
            self.vars.remove(place);
        }
    }

    fn mark(&mut self, value: Value) {
        if !self.value(value) {
            self.values.insert(value.position());
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
                        results.iter().for_each(|result| self.mark(*result));
                    }
                }
                Stmt::Atomic(atomic) => {
                    let known = matches!(self.sources, Sources::Others(learns) if !learns(stmt));
                    atomic.result.filter(|_| !known).into_iter().for_each(|result| self.mark(result));
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
                        results.iter().for_each(|result| self.mark(*result));
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
                    // This ends: nested statements only add variables.
                    loop {
                        let before = self.vars.clone();
                        self.block(body, Control { depends, nested: true });
                        if self.vars == before {
                            break;
                        }
                    }
                }
                // Warps differ from each other.
                _ => for_each_result(stmt, |result| self.mark(result)),
            }
        }
    }

    /// For each result of an operation, whether it differs between the threads that execute the operation.
    fn differs(&self, warp: &Warp) -> [bool; 4] {
        match warp.op {
            _ if warp.members.is_some_and(|members| self.value(members)) => [true; 4],
            WarpOp::Vote(..) | WarpOp::Ballot(_) | WarpOp::ActiveMask | WarpOp::Reduce(..) | WarpOp::MatchAll(_) => {
                [false; 4]
            }
            WarpOp::Elect => [false, true, false, false],
            // Segments of the warp would each get a value of their own. That is ignored: code whose operations wait for all
            // lanes does not branch on such a value.
            WarpOp::Shuffle { mode: Shuffle::Index, lane, .. } => [self.value(lane); 4],
            WarpOp::Shuffle { .. }
            | WarpOp::MatchAny(_)
            | WarpOp::Gathered
            | WarpOp::MatrixProduct(..)
            | WarpOp::Sync => [true; 4],
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
            Op::Get(var) => self.part.places.of(var).is_none_or(|place| self.vars.contains(place)),
            Op::Builtin(builtin) => !matches!(self.sources, Sources::Others(_)) && builtin.varies() != Varies::Nowhere,
            op => op.any_operand(|operand| self.value(operand)),
        }
    }
}

/// Whether a set of a function's values has a value, or the value is unknown there.
fn depends(values: &FixedBitSet, value: Value) -> bool {
    value.position() >= values.len() || values.contains(value.position())
}

/// A part of a graph that an analysis looks at, such as a loop.
pub struct Part<'p> {
    inside: &'p [bool],
    /// The blocks inside, in order.
    blocks: Vec<BlockId>,
    /// The same in the order of [`Cfg::reverse_postorder`], in which few of them are looked at again.
    order: Vec<BlockId>,
    places: Cow<'p, Places>,
}

impl<'p> Part<'p> {
    /// The part with these blocks, which are marked as inside. `places` are those of [`places_in_order`].
    pub fn new(
        function: &Function,
        cfg: &Cfg,
        places: &IndexVec<BlockId, u32>,
        blocks: &[BlockId],
        inside: &'p [bool],
    ) -> Self {
        let mut order = blocks.to_vec();
        order.sort_unstable_by_key(|block| places.at(*block));
        Self::of(function, cfg, order, inside)
    }

    /// The whole graph.
    fn all(function: &Function, cfg: &Cfg, inside: &'p [bool]) -> Self {
        Self::of(function, cfg, cfg.reverse_postorder(), inside)
    }

    fn of(function: &Function, cfg: &Cfg, order: Vec<BlockId>, inside: &'p [bool]) -> Self {
        let mut blocks = order.clone();
        blocks.sort_unstable();
        let places = Cow::Owned(Places::new(function, cfg, &blocks));
        Self { inside, blocks, order, places }
    }

    /// A part of this part.
    pub fn within<'w>(&'w self, inside: &'w [bool]) -> Part<'w> {
        let (blocks, order) = (among(inside, &self.blocks), among(inside, &self.order));
        Part { inside, blocks, order, places: Cow::Borrowed(&self.places) }
    }

    /// Its blocks, in order.
    pub fn blocks(&self) -> impl Iterator<Item = BlockId> {
        self.blocks.iter().copied()
    }

    /// The first of them.
    pub fn first(&self) -> Option<BlockId> {
        self.blocks.first().copied()
    }

    /// The last of them.
    pub fn last(&self) -> Option<BlockId> {
        self.blocks.last().copied()
    }

    /// Whether a block belongs to the part.
    pub fn has(&self, block: BlockId) -> bool {
        self.inside.get(block.position()) == Some(&true)
    }
}

/// The place of each block in [`Cfg::reverse_postorder`].
pub fn places_in_order(cfg: &Cfg) -> IndexVec<BlockId, u32> {
    let mut places = IndexVec::filled(0, cfg.blocks.len());
    for (place, block) in (0..).zip(cfg.reverse_postorder()) {
        if let Some(entry) = places.at_mut(block) {
            *entry = place;
        }
    }
    places
}

/// The blocks of a list that are inside.
fn among(inside: &[bool], blocks: &[BlockId]) -> Vec<BlockId> {
    blocks.iter().copied().filter(|block| inside.get(block.position()) == Some(&true)).collect()
}

/// The places of variables in sets. Those that may carry something from block to block come first, so that the sets of blocks are small: most
/// variables of a large kernel are assigned in each block that reads them, before it does. Those that nothing reads have none.
#[derive(Clone)]
struct Places {
    /// From 1.
    places: IndexVec<Var, Option<NonZeroU32>>,
    /// The empty set of variables that carry something.
    none: VarSet,
    /// The number of places.
    count: usize,
}

impl Places {
    fn new(function: &Function, cfg: &Cfg, blocks: &[BlockId]) -> Self {
        let mut reads = Reads::default();
        for block in blocks.iter().filter_map(|block| cfg.blocks.at(*block)) {
            reads.assigned.clear();
            reads.look(&block.body, false);
        }
        let mut this = Self { places: IndexVec::filled(None, function.vars.len()), none: VarSet::new(0), count: 0 };
        reads.carried.into_iter().for_each(|var| this.add(var));
        this.none = VarSet::new(this.count);
        // The sets of blocks end with a whole word.
        this.count = this.count.next_multiple_of(VarSet::WORD);
        reads.others.into_iter().for_each(|var| this.add(var));
        this
    }

    /// Gives a variable the next place, if it has none.
    fn add(&mut self, var: Var) {
        if let Some(place @ None) = self.places.at_mut(var) {
            self.count += 1;
            *place = NonZeroU32::new(number(self.count));
        }
    }

    fn of(&self, var: Var) -> Option<Var> {
        let place = self.places.of(var)?;
        Some(Var(place.get() - 1))
    }
}

/// A search for variables that are read: whether that is where their block has not yet assigned them for certain.
#[derive(Default)]
struct Reads {
    assigned: FxHashSet<Var>,
    carried: Vec<Var>,
    others: Vec<Var>,
}

impl Reads {
    fn look(&mut self, block: &Block, nested: bool) {
        for stmt in block {
            match stmt {
                Stmt::Let(_, Op::Get(var)) if self.assigned.contains(var) => self.others.push(*var),
                Stmt::Let(_, Op::Get(var)) => self.carried.push(*var),
                Stmt::Set(var, _) if !nested => {
                    self.assigned.insert(*var);
                }
                _ => stmt.lists().for_each(|list| self.look(list, true)),
            }
        }
    }
}
