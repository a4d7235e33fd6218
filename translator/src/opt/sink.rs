//! Moves fused multiply-adds to where their results are needed.
//!
//! Some drivers fuse dot products ([`Facts::dot_f32_fused`](crate::target::Facts::dot_f32_fused)): they split each into
//! a product and a sum, and fuse these if both end up in one basic block. If only later blocks need the result,
//! NVIDIA's driver moves the sum there and may leave the product behind. So this pass moves both, with the values
//! computed from them, to the last possible place: right before the first statement that needs the result, or into an
//! arm of a condition if only that arm needs it. The driver can't move the sum any further.

use rustc_hash::{FxHashMap, FxHashSet};

use super::operands::{map_op_operands, map_operands};
use crate::index::IndexVec;
use crate::ir::{Block, Function, Op, Stmt, Value, Var, for_each_assigned, for_each_read};

/// Moves fused multiply-adds; see the module.
pub fn sink_fused(function: &mut Function) {
    let mut pass = Sink { fused: IndexVec::filled(false, function.values.len()), exited: function.exited };
    if pass.mark(&function.body) {
        pass.list(&mut function.body);
    }
}

struct Sink {
    /// For each value, whether it is a fused multiply-add or computed from one.
    fused: IndexVec<Value, bool>,
    /// A variable that other threads read.
    exited: Option<Var>,
}

/// The first use of a value in a list of statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FirstUse {
    /// At a statement, by its position.
    At(usize),
    /// In one arm of a condition only: the first one if true, else the other one.
    Arm(usize, bool),
}

impl FirstUse {
    fn position(self) -> usize {
        match self {
            Self::At(position) | Self::Arm(position, _) => position,
        }
    }

    /// The last place before both.
    fn before_both(self, other: Self) -> Self {
        if self == other { self } else { Self::At(self.position().min(other.position())) }
    }
}

/// The uses in the visited statements of a list.
#[derive(Default)]
struct Needs {
    values: FxHashMap<Value, FirstUse>,
    /// The first read or assignment of each variable.
    vars: FxHashMap<Var, usize>,
    /// The first statement that may leave the list.
    leaves: Option<usize>,
    /// Variables that an arm of a condition assigns before any read.
    overwritten: FxHashSet<(Var, usize, bool)>,
}

impl Needs {
    fn value(&mut self, value: Value, place: FirstUse) {
        self.values.entry(value).and_modify(|before| *before = before.before_both(place)).or_insert(place);
    }

    /// Adds the uses of a statement, including nested statements.
    fn statement(&mut self, stmt: &mut Stmt, place: FirstUse) {
        map_operands(stmt, |value| {
            self.value(value, place);
            value
        });
        match stmt {
            Stmt::Let(_, Op::Get(var)) | Stmt::Set(var, _) => {
                self.vars.insert(*var, place.position());
            }
            Stmt::If { then, otherwise, .. } => {
                for (list, arm) in [(then, true), (otherwise, false)] {
                    list.iter_mut().for_each(|stmt| self.nested(stmt, FirstUse::Arm(place.position(), arm)));
                    let overwritten = overwritten(list).into_iter().map(|var| (var, place.position(), arm));
                    self.overwritten.extend(overwritten);
                }
            }
            Stmt::Loop(body) => body.iter_mut().for_each(|stmt| self.nested(stmt, place)),
            Stmt::Break | Stmt::Return(_) => self.leaves = Some(place.position()),
            _ => {}
        }
    }

    fn nested(&mut self, stmt: &mut Stmt, place: FirstUse) {
        match stmt {
            Stmt::If { condition, then, otherwise } => {
                self.value(*condition, place);
                then.iter_mut().chain(otherwise).for_each(|stmt| self.nested(stmt, place));
            }
            _ => self.statement(stmt, place),
        }
    }
}

/// The variables that a list assigns before any read, on every path.
fn overwritten(list: &[Stmt]) -> FxHashSet<Var> {
    let mut touched = FxHashSet::default();
    let mut overwritten = FxHashSet::default();
    for stmt in list {
        if let Stmt::Set(var, _) = stmt
            && touched.insert(*var)
        {
            overwritten.insert(*var);
        }
        let stmt = std::slice::from_ref(stmt);
        for_each_read(stmt, &mut |var| _ = touched.insert(var));
        for_each_assigned(stmt, &mut |var| _ = touched.insert(var));
    }
    overwritten
}

impl Sink {
    /// Marks the values that are a fused multiply-add or computed from one. Returns whether there are any.
    fn mark(&mut self, block: &[Stmt]) -> bool {
        let mut any = false;
        for stmt in block {
            match stmt {
                Stmt::Let(value, op) => {
                    let fused = matches!(op, Op::DotFma(..)) || self.reads_fused(*op);
                    self.fused[*value] = fused;
                    any |= fused;
                }
                Stmt::If { then, otherwise, .. } => any |= self.mark(then) | self.mark(otherwise),
                Stmt::Loop(body) => any |= self.mark(body),
                _ => {}
            }
        }
        any
    }

    fn reads_fused(&self, op: Op) -> bool {
        let mut fused = false;
        map_op_operands(op, |value| {
            fused |= self.fused[value];
            value
        });
        fused
    }

    fn list(&self, block: &mut Block) {
        let stmts = std::mem::take(block);
        let is_branch = |stmt: &Stmt| matches!(stmt, Stmt::If { .. } | Stmt::Loop(_));
        let mut branches = vec![0];
        branches.extend(stmts.iter().scan(0, |count, stmt| {
            *count += usize::from(is_branch(stmt));
            Some(*count)
        }));
        let length = stmts.len();
        let mut needs = Needs::default();
        // Statements to insert before others and into arms, last first.
        let mut moved: FxHashMap<usize, Vec<Stmt>> = FxHashMap::default();
        let mut arms: FxHashMap<(usize, bool), Vec<Stmt>> = FxHashMap::default();
        let mut stays: Vec<(usize, Stmt)> = Vec::with_capacity(length);
        for (position, mut stmt) in stmts.into_iter().enumerate().rev() {
            let place = self.place(&stmt, &needs, length).filter(|place| {
                let between = branches[place.position()] - branches[position];
                between > 0 || matches!(place, FirstUse::Arm(..))
            });
            needs.statement(&mut stmt, place.unwrap_or(FirstUse::At(position)));
            match place {
                None => stays.push((position, stmt)),
                Some(FirstUse::At(place)) => moved.entry(place).or_default().push(stmt),
                Some(FirstUse::Arm(place, arm)) => arms.entry((place, arm)).or_default().push(stmt),
            }
        }
        let mut take = |position| moved.remove(&position).into_iter().flat_map(|stmts| stmts.into_iter().rev());
        for (position, mut stmt) in stays.into_iter().rev() {
            block.extend(take(position));
            match &mut stmt {
                Stmt::If { then, otherwise, .. } => {
                    for (arm, list) in [(true, then), (false, otherwise)] {
                        let first = arms.remove(&(position, arm)).into_iter().flatten().rev();
                        list.splice(..0, first);
                        self.list(list);
                    }
                }
                Stmt::Loop(body) => self.list(body),
                _ => {}
            }
            block.push(stmt);
        }
        block.extend(take(length));
    }

    /// The last possible place of a statement that may be moved.
    fn place(&self, stmt: &Stmt, needs: &Needs, length: usize) -> Option<FirstUse> {
        match stmt {
            Stmt::Let(value, _) if self.fused[*value] => needs.values.get(value).copied(),
            Stmt::Set(var, value) if self.fused[*value] && self.exited != Some(*var) => {
                let leaves = needs.leaves.unwrap_or(length);
                let touched = needs.vars.get(var).copied().unwrap_or(length).min(leaves);
                let overwritten = |arm| touched != leaves && needs.overwritten.contains(&(*var, touched, arm));
                // If one arm overwrites the variable, only the other arm needs the value.
                Some(match (overwritten(true), overwritten(false)) {
                    (true, false) => FirstUse::Arm(touched, false),
                    (false, true) => FirstUse::Arm(touched, true),
                    _ => FirstUse::At(touched),
                })
            }
            _ => None,
        }
    }
}
