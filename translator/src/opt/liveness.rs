//! Liveness: the variables whose content a statement list may still read.
//!
//! A loop with several exits assigns a constant to a variable before each `Break`, and conditions after the loop compare
//! that variable. So what is live at a `Break` depends on the constant: the analysis follows the constants of variables
//! that are assigned nothing else, and takes only the arm of a condition that they decide.

use std::cell::RefCell;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ir::{Folded, Function, Op, Stmt, Value, Var, VarSet, fold, for_each_assigned};

/// What is live in the conditions and loops of a list, in the order of the list.
pub type Branches = Vec<Branch>;

/// What is live in a condition or a loop.
pub struct Branch {
    /// At the start of each arm, or of a loop's body in the first.
    pub starts: [VarSet; 2],
    /// At the ends to which a `Break` in a condition leads.
    pub leaves: VarSet,
    /// In the branches nested in each arm, or in a loop's body in the first.
    pub nested: [Branches; 2],
}

/// The branches of a function's body.
pub fn liveness(function: &Function) -> Branches {
    let mut constants = FxHashMap::default();
    let mut varying = FxHashSet::default();
    find_constants(&function.body, &mut constants, &mut varying);
    let analysis = Liveness { function, constants, varying, none: VarSet::new(function.vars.len()) };
    let mut branches = Branches::new();
    analysis.list(&function.body, &analysis.none, None, &Known::default(), Some(&mut branches));
    branches
}

/// Finds the values that are constants, and the variables that are assigned anything else.
fn find_constants(block: &[Stmt], constants: &mut FxHashMap<Value, u64>, varying: &mut FxHashSet<Var>) {
    for stmt in block {
        match stmt {
            Stmt::Let(value, Op::Const(bits)) => _ = constants.insert(*value, *bits),
            Stmt::Set(var, value) if !constants.contains_key(value) => _ = varying.insert(*var),
            _ => stmt.lists().for_each(|list| find_constants(list, constants, varying)),
        }
    }
}

struct Liveness<'f> {
    function: &'f Function,
    /// The values that are constants.
    constants: FxHashMap<Value, u64>,
    /// The variables that are assigned what is no constant.
    varying: FxHashSet<Var>,
    none: VarSet,
}

/// What is known on the way to a statement.
#[derive(Clone, Debug, Default, PartialEq)]
struct Known {
    vars: FxHashMap<Var, u64>,
    values: FxHashMap<Value, u64>,
}

impl Known {
    fn forget_assigned(&mut self, block: &[Stmt]) {
        for_each_assigned(block, &mut |var| _ = self.vars.remove(&var));
    }
}

/// What follows a `Break`.
struct Exit<'a> {
    /// The statements after the loop.
    rest: &'a [Stmt],
    /// Live after these.
    after: &'a VarSet,
    /// What follows a `Break` among these.
    exit: Option<&'a Exit<'a>>,
    /// Live right after the loop, for each set of constants that the loop ended with.
    found: RefCell<Vec<(FxHashMap<Var, u64>, VarSet)>>,
}

/// The result for a list.
struct Live {
    start: VarSet,
    leaves: VarSet,
}

impl Liveness<'_> {
    /// What is live at the start of a list, given what is live after its end. Adds its branches to `branches`.
    fn list(
        &self,
        list: &[Stmt],
        after: &VarSet,
        exit: Option<&Exit<'_>>,
        known: &Known,
        branches: Option<&mut Branches>,
    ) -> Live {
        let mut before_branches = self.before_branches(list, known.clone());
        let mut found = Branches::new();
        let wanted = branches.is_some();
        let mut live = after.clone();
        let mut leaves = self.none.clone();
        for (index, stmt) in list.iter().enumerate().rev() {
            match stmt {
                Stmt::Let(_, Op::Get(var)) => live.insert(*var),
                Stmt::Set(var, _) => _ = live.remove(*var),
                Stmt::If { condition, then, otherwise } => {
                    let known = before_branches.pop().unwrap_or_default();
                    let mut nested = [Branches::new(), Branches::new()];
                    let [first, second] = &mut nested;
                    let arm = |list, branches| self.list(list, &live, exit, &known, wanted.then_some(branches));
                    let arms = [arm(then, first), arm(otherwise, second)];
                    let taken = match self.value(*condition, &known) {
                        Some(0) => 1..2,
                        Some(_) => 0..1,
                        None => 0..2,
                    };
                    live = self.none.clone();
                    let mut left = self.none.clone();
                    for arm in &arms[taken] {
                        live.extend(&arm.start);
                        left.extend(&arm.leaves);
                    }
                    leaves.extend(&left);
                    if wanted {
                        found.push(Branch { starts: arms.map(|arm| arm.start), leaves: left, nested });
                    }
                }
                Stmt::Loop(body) => {
                    let known = before_branches.pop().unwrap_or_default();
                    let exit = Exit { rest: &list[index + 1..], after, exit, found: RefCell::default() };
                    // What the next round reads, this one reads or lets pass. So nothing needs to be live at the end.
                    let start = self.list(body, &self.none, Some(&exit), &known, None).start;
                    let mut nested = Branches::new();
                    if wanted {
                        self.list(body, &start, Some(&exit), &known, Some(&mut nested));
                        let starts = [start.clone(), self.none.clone()];
                        found.push(Branch { starts, leaves: self.none.clone(), nested: [nested, Branches::new()] });
                    }
                    live = start;
                }
                Stmt::Break => {
                    let known = before_branches.pop().unwrap_or_default();
                    live = exit.map_or_else(|| self.none.clone(), |exit| self.after_break(exit, known));
                    leaves.extend(&live);
                }
                Stmt::Return(_) => live = self.none.clone(),
                Stmt::At(_)
                | Stmt::Let(..)
                | Stmt::Load { .. }
                | Stmt::Store { .. }
                | Stmt::Atomic(_)
                | Stmt::Warp(_)
                | Stmt::Subgroup(..)
                | Stmt::Barrier(_)
                | Stmt::Report(..)
                | Stmt::Arrive(_)
                | Stmt::Fence(_) => {}
            }
        }
        if let Some(branches) = branches {
            found.reverse();
            *branches = found;
        }
        Live { start: live, leaves }
    }

    /// What is known before each condition, loop and `Break` of a list.
    fn before_branches(&self, list: &[Stmt], mut known: Known) -> Vec<Known> {
        let mut before = Vec::new();
        for stmt in list {
            match stmt {
                Stmt::Let(value, op) => {
                    if let Some(bits) = self.result(op, &known) {
                        known.values.insert(*value, bits);
                    }
                }
                Stmt::Set(var, value) if !self.varying.contains(var) => {
                    if let Some(bits) = self.value(*value, &known) {
                        known.vars.insert(*var, bits);
                    }
                }
                Stmt::If { then, otherwise, .. } => {
                    before.push(known.clone());
                    known.forget_assigned(then);
                    known.forget_assigned(otherwise);
                }
                Stmt::Loop(body) => {
                    known.forget_assigned(body);
                    before.push(known.clone());
                }
                Stmt::Break => before.push(known.clone()),
                _ => {}
            }
        }
        before
    }

    fn value(&self, value: Value, known: &Known) -> Option<u64> {
        self.constants.get(&value).or_else(|| known.values.get(&value)).copied()
    }

    /// The result of an operation whose operands are known, unless that is a constant of the function anyway.
    fn result(&self, op: &Op, known: &Known) -> Option<u64> {
        match op {
            Op::Get(var) => known.vars.get(var).copied(),
            _ if known.values.is_empty() => None,
            _ => match fold(self.function, op, |value| self.value(value, known).map(Op::Const))? {
                Folded::Const(bits) => Some(bits),
                Folded::Value(value) => self.value(value, known),
            },
        }
    }

    /// What is live after a loop that ends with this known.
    fn after_break(&self, exit: &Exit<'_>, known: Known) -> VarSet {
        // Values of the loop aren't visible after it.
        let vars = known.vars;
        if let Some((_, live)) = exit.found.borrow().iter().find(|(ended_with, _)| *ended_with == vars) {
            return live.clone();
        }
        let known = Known { vars: vars.clone(), values: FxHashMap::default() };
        let live = self.list(exit.rest, exit.after, exit.exit, &known, None).start;
        exit.found.borrow_mut().push((vars, live.clone()));
        live
    }
}
