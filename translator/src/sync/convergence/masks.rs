//! Finds where the masks of warp operations come from, and which conditions are the same.
//!
//! The analysis follows registers to their reaching definitions, since PTX may use one register for many purposes.

use std::cell::RefCell;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::cfg::{BlockId, Cfg};
use crate::index::{Index, IndexVec};
use crate::ir::{Binary, Builtin, Compare, Function, Op, Stmt, Unary, Value, Var, Warp, WarpOp, for_each_assigned};

/// Threads of a warp.
const WARP: u64 = 32;

/// The definitions of values and variables.
pub struct Definitions<'c> {
    cfg: &'c Cfg,
    /// The predecessors of each block.
    before: &'c IndexVec<BlockId, Vec<BlockId>>,
    /// The operation that defines each value, if one does.
    values: Vec<Option<&'c Op>>,
    /// The place of each read of a variable, by its value: the block, and the number of statements before it.
    reads: FxHashMap<Value, (BlockId, usize)>,
    /// Results of warp operations, with their blocks.
    warps: FxHashMap<Value, (&'c Warp, BlockId)>,
    /// The variables that each block assigns.
    assigns: IndexVec<BlockId, FxHashSet<Var>>,
    /// The values that values are copies of, as far as they have been asked for.
    origins: RefCell<FxHashMap<Value, Value>>,
}

/// A warp operation from which a mask comes.
pub struct Source<'c> {
    /// The operation.
    pub warp: &'c Warp,
    pub block: BlockId,
    /// The condition that it votes on, if it is a vote.
    pub vote: Option<Decision>,
}

/// The values that a condition or its negation may come from.
pub type Decision = Vec<Value>;

/// A side of a branch where threads of a warp may diverge.
pub struct Side<'a> {
    pub branch: BlockId,
    /// The branch's condition.
    pub decided_by: &'a Decision,
    /// Whether a block lies on the side, before the sides join.
    pub has: &'a dyn Fn(BlockId) -> bool,
}

/// The place that a path followed backwards has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Reached {
    /// The blocks of a side.
    Side,
    /// The branch, or a block before it.
    Before,
}

/// The steps backwards from a block that a path has come to.
type Steps<'a> = dyn Fn(BlockId, Reached) -> Vec<(BlockId, Reached)> + 'a;

/// The most operations between a mask and the operations of a warp that it comes from. Masks that come from further
/// away are not followed.
const FAR: usize = 64;

impl<'c> Definitions<'c> {
    /// The definitions in a function's graph. `before` has the predecessors of each block.
    pub fn new(function: &Function, cfg: &'c Cfg, before: &'c IndexVec<BlockId, Vec<BlockId>>) -> Self {
        let (values, reads, warps) = (vec![None; function.values.len()], FxHashMap::default(), FxHashMap::default());
        let assigns = cfg.blocks.iter().map(|block| {
            let mut vars = FxHashSet::default();
            for_each_assigned(&block.body, &mut |var| {
                vars.insert(var);
            });
            vars
        });
        let origins = RefCell::default();
        let mut this = Self { cfg, before, values, reads, warps, assigns: assigns.collect(), origins };
        for (number, block) in cfg.blocks.enumerated() {
            for (position, stmt) in block.body.iter().enumerate() {
                // Inside a nested statement, its own assignments may have run before.
                let nested = matches!(stmt, Stmt::If { .. } | Stmt::Loop(_));
                this.collect(stmt, (number, position + usize::from(nested)));
            }
        }
        this
    }

    fn collect(&mut self, stmt: &'c Stmt, place: (BlockId, usize)) {
        match stmt {
            Stmt::Let(value, op) => {
                if let Some(entry) = self.values.get_mut(value.position()) {
                    *entry = Some(op);
                }
                if matches!(op, Op::Get(_)) {
                    self.reads.insert(*value, place);
                }
            }
            Stmt::Warp(warp) => {
                self.warps.extend(warp.results.iter().map(|result| (*result, (warp, place.0))));
            }
            Stmt::If { .. } | Stmt::Loop(_) => {
                stmt.lists().flatten().for_each(|stmt| self.collect(stmt, place));
            }
            // What memory holds may come from anywhere.
            _ => {}
        }
    }

    /// The values that a variable may hold where `value` is read from it. If there are more than `most`, some of them.
    fn assigned(&self, value: Value, var: Var, most: usize) -> Vec<Value> {
        let back = |block: BlockId, reached| {
            self.before.at(block).into_iter().flatten().map(|before| (*before, reached)).collect()
        };
        self.reaching(value, var, (Reached::Before, &back), most).into_iter().map(|(value, _)| value).collect()
    }

    /// The values that a variable may hold where `value` is read from it on a side of a branch, and where they were assigned.
    fn assigned_on(&self, side: &Side<'_>, value: Value, var: Var, from: Reached) -> Vec<(Value, Reached)> {
        let back = |block: BlockId, reached| {
            let before = self.before.at(block).into_iter().flatten().copied();
            let step = |before| match reached {
                Reached::Side if before != side.branch => (side.has)(before).then_some((before, Reached::Side)),
                _ => Some((before, Reached::Before)),
            };
            before.filter_map(step).collect()
        };
        self.reaching(value, var, (from, &back), usize::MAX)
    }

    /// The assignments that reach a read, along the paths backwards that `back` gives step by step. If there are more than `most`, some of
    /// them.
    fn reaching(
        &self,
        value: Value,
        var: Var,
        (from, back): (Reached, &Steps<'_>),
        most: usize,
    ) -> Vec<(Value, Reached)> {
        let mut found = Vec::new();
        let Some((block, position)) = self.reads.get(&value) else { return found };
        let body = |block: BlockId| self.cfg.blocks.at(block).map_or(&[][..], |block| &block.body[..]);
        let mut seen = FxHashSet::default();
        let mut todo: Vec<(BlockId, Reached)> = Vec::new();
        let mut values = Vec::new();
        if !last_assigned(body(*block).get(..*position).unwrap_or_default(), var, &mut values) {
            todo.extend(back(*block, from));
        }
        found.extend(values.drain(..).map(|value| (value, from)));
        while let Some((block, reached)) = todo.pop() {
            let assigns = self.assigns.at(block).is_some_and(|vars| vars.contains(&var));
            if !seen.insert((block, reached)) {
                continue;
            }
            if !(assigns && last_assigned(body(block), var, &mut values)) {
                todo.extend(back(block, reached));
            }
            found.extend(values.drain(..).map(|value| (value, reached)));
            if found.len() > most {
                found.sort_unstable();
                found.dedup();
                if found.len() > most {
                    return found;
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The operation that defines a value, if one does.
    fn definition(&self, value: Value) -> Option<&'c Op> {
        self.values.get(value.position()).copied().flatten()
    }

    /// The value that `value` is a copy of, through variables with a single reaching definition.
    fn origin(&self, value: Value) -> Value {
        if !matches!(self.definition(value), Some(Op::Get(_))) {
            return value;
        }
        let known = self.origins.borrow().get(&value).copied();
        known.unwrap_or_else(|| {
            let origin = self.find_origin(value);
            self.origins.borrow_mut().insert(value, origin);
            origin
        })
    }

    fn find_origin(&self, mut value: Value) -> Value {
        let mut seen = FxHashSet::default();
        while let Some(Op::Get(var)) = self.definition(value) {
            // Registers may be assigned from each other in circles.
            let [only] = self.assigned(value, *var, 1)[..] else { break };
            if !seen.insert(value) {
                break;
            }
            value = only;
        }
        value
    }

    fn op(&self, value: Value) -> Option<Op> {
        self.definition(self.origin(value)).copied()
    }

    fn constant(&self, value: Value) -> Option<u64> {
        match self.op(value) {
            Some(Op::Const(bits)) => Some(bits),
            _ => None,
        }
    }

    /// Whether a value is computed from the number of the warp alone, or compares that number, in blocks whose rows are
    /// whole warps.
    pub fn tells_warps(&self, value: Value) -> bool {
        let thread = |value| matches!(self.op(value), Some(Op::Builtin(Builtin::ThreadId(0) | Builtin::ThreadIndex)));
        let multiple = |value, more: u64| {
            self.constant(value).is_some_and(|bits| bits.wrapping_add(more) & u64::from(u32::MAX) & (WARP - 1) == 0)
        };
        match self.definition(value) {
            Some(Op::Binary(Binary::Shr | Binary::Sar, a, b)) => {
                thread(*a) && self.constant(*b).is_some_and(|amount| amount >= u64::from(WARP.ilog2()))
            }
            Some(Op::Binary(Binary::DivUnsigned | Binary::And, a, b)) => thread(*a) && multiple(*b, 0),
            Some(Op::Compare(Compare::LessUnsigned | Compare::LessSigned, a, b)) => {
                thread(*a) && multiple(*b, 0) || thread(*b) && multiple(*a, 1)
            }
            Some(Op::Compare(Compare::LessEqualUnsigned | Compare::LessEqualSigned, a, b)) => {
                thread(*a) && multiple(*b, 1) || thread(*b) && multiple(*a, 0)
            }
            _ => false,
        }
    }

    /// The warp operations that a mask may come from.
    pub fn sources(&self, mask: Value) -> Vec<Source<'c>> {
        let mut sources = Vec::new();
        let mut seen = FxHashSet::default();
        let mut todo = vec![mask];
        while let Some(value) = todo.pop() {
            if !seen.insert(value) {
                continue;
            }
            sources.extend(self.source(value));
            match self.definition(value) {
                Some(Op::Get(var)) => todo.extend(self.assigned(value, *var, usize::MAX)),
                Some(Op::Unary(_, a)) => todo.push(*a),
                Some(Op::Binary(_, a, b)) => todo.extend([*a, *b]),
                Some(Op::Select(_, a, b)) => todo.extend([*a, *b]),
                // No masks are made by others.
                _ => {}
            }
        }
        sources
    }

    /// Whether a mask names only threads that are on a side of a branch, where an operation waits for them. On each path to the operation, the mask
    /// must come from a warp operation after the branch, or from a vote on the branch's condition. Operations in the blocks
    /// `elsewhere` tell nothing, since threads at different places execute them together.
    pub fn names_only_threads_on(&self, side: &Side<'_>, mask: Value, elsewhere: &FxHashSet<BlockId>) -> bool {
        self.tells(side, (mask, Reached::Side), elsewhere, &mut FxHashMap::default(), 0)
    }

    fn tells(
        &self,
        side: &Side<'_>,
        (value, reached): (Value, Reached),
        elsewhere: &FxHashSet<BlockId>,
        known: &mut FxHashMap<(Value, Reached), bool>,
        depth: usize,
    ) -> bool {
        if let Some(known) = known.get(&(value, reached)) {
            return *known;
        }
        if let Some(source) = self.source(value) {
            let after = reached == Reached::Side && (side.has)(source.block);
            let votes_on_branch = source.vote.as_ref() == Some(side.decided_by);
            let apart = source.warp.members.is_some() && elsewhere.contains(&source.block);
            return (after || votes_on_branch) && !apart;
        }
        if depth == FAR {
            return false;
        }
        // In a circle of copies, what comes into the circle counts.
        known.insert((value, reached), true);
        let mut operand = |value, reached| self.tells(side, (value, reached), elsewhere, known, depth + 1);
        let tells = match self.definition(value) {
            Some(Op::Get(var)) => {
                let assigned = self.assigned_on(side, value, *var, reached);
                !assigned.is_empty() && assigned.into_iter().all(|(value, reached)| operand(value, reached))
            }
            Some(Op::Unary(_, a)) => operand(*a, reached),
            Some(Op::Binary(_, a, b)) => operand(*a, reached) || operand(*b, reached),
            Some(Op::Select(_, a, b)) => operand(*a, reached) && operand(*b, reached),
            _ => false,
        };
        known.insert((value, reached), tells);
        tells
    }

    /// The warp operation that a mask is the result of, if it is one that tells which threads are where.
    fn source(&self, mask: Value) -> Option<Source<'c>> {
        let (warp, block) = self.warps.get(&mask)?;
        let vote = match warp.op {
            WarpOp::ActiveMask | WarpOp::MatchAny(_) | WarpOp::MatchAll(_) => None,
            WarpOp::Ballot(predicate) => Some(self.decided_by(predicate)),
            WarpOp::Vote(..)
            | WarpOp::Shuffle { .. }
            | WarpOp::Reduce(..)
            | WarpOp::Elect
            | WarpOp::Gathered
            | WarpOp::MatrixProduct(..)
            | WarpOp::Sync => return None,
        };
        Some(Source { warp, block: *block, vote })
    }

    /// The values that a truth value or its negation comes from.
    pub fn decided_by(&self, value: Value) -> Decision {
        let mut value = self.origin(value);
        while let Some(Op::Unary(Unary::Not, a)) = self.definition(value) {
            value = self.origin(*a);
        }
        match self.definition(value) {
            Some(Op::Get(var)) => self.assigned(value, *var, usize::MAX),
            _ => vec![value],
        }
    }
}

/// Adds the values of the last assignments to a variable in statements. Returns whether the variable is assigned in any
/// case.
fn last_assigned(stmts: &[Stmt], var: Var, found: &mut Vec<Value>) -> bool {
    stmts.iter().rev().any(|stmt| match stmt {
        Stmt::Set(to, value) => {
            let is_assigned = *to == var;
            found.extend(is_assigned.then_some(*value));
            is_assigned
        }
        Stmt::If { then, otherwise, .. } => {
            let then = last_assigned(then, var, found);
            last_assigned(otherwise, var, found) && then
        }
        Stmt::Loop(body) => {
            last_assigned(body, var, found);
            false
        }
        _ => false,
    })
}
