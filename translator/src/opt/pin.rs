//! Keeps fused multiply-adds in their places where a compiler could still move them.
//!
//! `sink_fused` moves a dot product to where its result is needed, as far as the statements tell. A driver's compiler can
//! move it further: out of a loop after which it is needed, or into the arm of a condition if it knows that the other one is
//! never taken. There the result passes through a shuffle from the invocation's own lane: operations of a subgroup aren't
//! moved into conditions.
//!
//! Memory accesses, conditions and operations of a subgroup need what they use, and what that was computed from. The
//! place of a dot product is final if all paths from there need its result. It is, too, if all paths through one arm of a
//! condition do, and some through the other arm.

use rustc_hash::{FxHashMap, FxHashSet};

use super::operands::{for_each_operand, map_op_operands, map_operands};
use crate::index::IndexVec;
use crate::ir::{Block, Builtin, Function, Op, Stmt, SubgroupOp, Type, Unary, Value, VarSet, for_each_read};

/// Has every dot product pass through a shuffle that some path doesn't need.
pub fn pin_fused(function: &mut Function) {
    let tracked = Tracked::new(function);
    if tracked.definitions.is_empty() {
        return;
    }
    let none = VarSet::new(function.vars.len());
    let mut pass = Needed { tracked, none, unneeded: FxHashSet::default(), rounds: Vec::new(), visited: 0 };
    pass.solve(&function.body);
    if !pass.unneeded.is_empty() {
        let mut body = std::mem::take(&mut function.body);
        pin(function, &mut body, &pass.unneeded, &mut FxHashMap::default());
        function.body = body;
    }
}

/// The values and variables that may depend on a dot product.
struct Tracked {
    values: IndexVec<Value, bool>,
    vars: VarSet,
    /// The operations of the values.
    definitions: FxHashMap<Value, Op>,
}

impl Tracked {
    fn new(function: &Function) -> Self {
        let mut tracked = Self {
            values: IndexVec::filled(false, function.values.len()),
            vars: VarSet::new(function.vars.len()),
            definitions: FxHashMap::default(),
        };
        // A variable that one round of a loop assigns may be read by the next one.
        loop {
            let before = tracked.vars.clone();
            tracked.list(&function.body);
            if tracked.vars == before {
                return tracked;
            }
        }
    }

    fn list(&mut self, body: &[Stmt]) {
        for stmt in body {
            match stmt {
                Stmt::Let(value, op) => {
                    let mut depends = match op {
                        Op::DotFma(..) => true,
                        Op::Get(var) => self.vars.contains(*var),
                        _ => false,
                    };
                    map_op_operands(*op, |operand| {
                        depends |= self.values[operand];
                        operand
                    });
                    self.values[*value] = depends;
                    if depends {
                        self.definitions.insert(*value, *op);
                    }
                }
                Stmt::Set(var, value) if self.values[*value] => self.vars.insert(*var),
                _ => stmt.lists().for_each(|list| self.list(list)),
            }
        }
    }

    /// The values from which both of these are computed, one of them maybe.
    fn common_sources(&self, a: Value, b: Value) -> FxHashSet<Value> {
        let mut sources = self.sources(a);
        let others = self.sources(b);
        sources.retain(|value| others.contains(value));
        sources
    }

    /// A value, and those that are tracked from which it is computed.
    fn sources(&self, value: Value) -> FxHashSet<Value> {
        let mut sources = FxHashSet::default();
        let mut open = vec![value];
        while let Some(value) = open.pop() {
            if self.values[value] && sources.insert(value) {
                let definition = self.definitions.get(&value);
                definition.into_iter().for_each(|op| {
                    _ = map_op_operands(*op, |operand| {
                        open.push(operand);
                        operand
                    })
                });
            }
        }
        sources
    }
}

/// Some of what is tracked.
#[derive(Clone, Debug, PartialEq)]
struct Set {
    vars: VarSet,
    values: FxHashSet<Value>,
}

impl Set {
    fn extend(&mut self, other: &Set) {
        self.vars.extend(&other.vars);
        self.values.extend(&other.values);
    }

    fn intersect(&mut self, other: &Set) {
        self.vars.intersect(&other.vars);
        self.values.retain(|value| other.values.contains(value));
    }
}

/// What the paths from a place need.
#[derive(Clone, Debug, PartialEq)]
struct Needs {
    /// What a path needs.
    some: Set,
    /// What all paths need, or all through one arm of a condition and some through the other.
    all: Set,
}

impl Needs {
    /// Turns the needs of one arm of a condition into those of both.
    fn join(&mut self, other: &Needs) {
        self.all.intersect(&other.some);
        let mut others = other.all.clone();
        others.intersect(&self.some);
        self.all.extend(&others);
        self.some.extend(&other.some);
    }

    /// Removes a value, and tells whether some paths and whether all need it.
    fn remove_value(&mut self, value: Value) -> [bool; 2] {
        [&mut self.some, &mut self.all].map(|set| set.values.remove(&value))
    }

    /// Adds to the sets for which this is chosen.
    fn add(&mut self, chosen: [bool; 2], add: impl Fn(&mut Set)) {
        for (set, chosen) in [&mut self.some, &mut self.all].into_iter().zip(chosen) {
            if chosen {
                add(set);
            }
        }
    }
}

struct Needed {
    tracked: Tracked,
    none: VarSet,
    /// The dot products that some path doesn't need.
    unneeded: FxHashSet<Value>,
    /// The variables that the next round of each loop needs, as far as is known, in the order in which loops are visited.
    rounds: Vec<Round>,
    /// The number of loops visited so far.
    visited: usize,
}

/// What the next round of a loop needs.
#[derive(Clone, Debug, PartialEq)]
struct Round {
    some: VarSet,
    all: VarSet,
}

impl Needed {
    fn nothing(&self) -> Needs {
        let set = Set { vars: self.none.clone(), values: FxHashSet::default() };
        Needs { some: set.clone(), all: set }
    }

    /// What the paths from the start of a list need, given that from its end, and from where a `Break` in it leads.
    fn list(&mut self, list: &[Stmt], mut needs: Needs, after_loop: &Needs) -> Needs {
        for stmt in list.iter().rev() {
            match stmt {
                Stmt::Let(value, op) => {
                    let needed = needs.remove_value(*value);
                    if let Op::DotFma(..) = op {
                        if needed[1] {
                            self.unneeded.remove(value)
                        } else {
                            self.unneeded.insert(*value)
                        };
                    }
                    match op {
                        Op::Get(var) => needs.add(needed, |set| set.vars.insert(*var)),
                        // A compiler can make a condition of it, of which each arm needs one of the values.
                        Op::Select(condition, a, b) if a != b => {
                            self.value(*condition, needed, &mut needs);
                            [a, b].into_iter().for_each(|value| self.value(*value, [needed[0], false], &mut needs));
                            if needed[1] {
                                needs.all.values.extend(self.tracked.common_sources(*a, *b));
                            }
                        }
                        _ => self.operands(stmt, needed, &mut needs),
                    }
                }
                Stmt::Set(var, _) => {
                    let needed = [&mut needs.some, &mut needs.all].map(|set| set.vars.remove(*var));
                    self.operands(stmt, needed, &mut needs);
                }
                Stmt::If { then, otherwise, .. } => {
                    let other = self.list(otherwise, needs.clone(), after_loop);
                    needs = self.list(then, needs, after_loop);
                    needs.join(&other);
                    self.operands(stmt, [true; 2], &mut needs);
                }
                Stmt::Loop(body) => needs = self.round(body, &needs),
                Stmt::Break => needs = after_loop.clone(),
                Stmt::Return(_) => {
                    needs = self.nothing();
                    self.operands(stmt, [true; 2], &mut needs);
                }
                Stmt::Load { .. }
                | Stmt::Store { .. }
                | Stmt::Atomic(_)
                | Stmt::Warp(_)
                | Stmt::Subgroup(..)
                | Stmt::Barrier(_)
                | Stmt::Report(..)
                | Stmt::Arrive(_)
                | Stmt::Fence(_) => self.operands(stmt, [true; 2], &mut needs),
                Stmt::At(_) => {}
            }
        }
        needs
    }

    /// Visits the function until what the rounds of its loops need doesn't change any more.
    fn solve(&mut self, body: &[Stmt]) {
        // What some path needs is added until nothing is missing.
        self.visit_until_stable(body);
        // What one round computes for the next can't leave the loop: all paths need it until that is refuted.
        for round in &mut self.rounds {
            round.all = self.tracked.vars.clone();
        }
        self.visit_until_stable(body);
    }

    fn visit_until_stable(&mut self, body: &[Stmt]) {
        loop {
            let before = self.rounds.clone();
            self.visited = 0;
            let nothing = self.nothing();
            self.list(body, nothing.clone(), &nothing);
            if self.rounds == before {
                return;
            }
        }
    }

    /// What the paths from the start of a loop need.
    fn round(&mut self, body: &[Stmt], after: &Needs) -> Needs {
        let number = self.visited;
        self.visited += 1;
        let mut end = self.nothing();
        match self.rounds.get(number) {
            Some(Round { some, all }) => (end.some.vars, end.all.vars) = (some.clone(), all.clone()),
            None => self.rounds.push(Round { some: self.none.clone(), all: self.none.clone() }),
        }
        let mut start = self.list(body, end, after);
        self.rounds[number] = Round { some: start.some.vars.clone(), all: start.all.vars.clone() };
        // What only follows the loop could be computed after it.
        let mut used = Set { vars: self.none.clone(), values: FxHashSet::default() };
        for_each_read(body, &mut |var| used.vars.insert(var));
        values_used(body, &mut used.values);
        start.all.intersect(&used);
        start
    }

    fn operands(&self, stmt: &Stmt, needed: [bool; 2], needs: &mut Needs) {
        for_each_operand(stmt, |value| self.value(value, needed, needs));
    }

    fn value(&self, value: Value, needed: [bool; 2], needs: &mut Needs) {
        if self.tracked.values[value] {
            needs.add(needed, |set| _ = set.values.insert(value));
        }
    }
}

/// The values that a list uses, however deep the statement is nested.
fn values_used(list: &[Stmt], used: &mut FxHashSet<Value>) {
    for stmt in list {
        for_each_operand(stmt, |value| _ = used.insert(value));
        stmt.lists().for_each(|list| values_used(list, used));
    }
}

/// Has these values pass through a shuffle, and renames their uses.
fn pin(function: &mut Function, block: &mut Block, values: &FxHashSet<Value>, renamed: &mut FxHashMap<Value, Value>) {
    for mut stmt in std::mem::take(block) {
        map_operands(&mut stmt, |value| renamed.get(&value).copied().unwrap_or(value));
        match &mut stmt {
            Stmt::If { then, otherwise, .. } => {
                pin(function, then, values, renamed);
                pin(function, otherwise, values, renamed);
            }
            Stmt::Loop(body) => pin(function, body, values, renamed),
            _ => {}
        }
        let pinned = match stmt {
            Stmt::Let(value, _) if values.contains(&value) => Some(value),
            _ => None,
        };
        block.push(stmt);
        if let Some(value) = pinned {
            let lane = function.value(Type::I32);
            block.push(Stmt::Let(lane, Op::Builtin(Builtin::SubgroupLane)));
            let bits = function.value(Type::I32);
            block.push(Stmt::Let(bits, Op::Unary(Unary::Bitcast(Type::I32), value)));
            let same = function.value(Type::I32);
            block.push(Stmt::Subgroup(vec![same], SubgroupOp::Shuffle(bits, lane)));
            let result = function.value(Type::F32);
            block.push(Stmt::Let(result, Op::Unary(Unary::Bitcast(Type::F32), same)));
            renamed.insert(value, result);
        }
    }
}
