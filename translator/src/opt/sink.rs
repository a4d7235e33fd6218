//! Moves fused multiply-adds to where their results are needed.
//!
//! Some drivers fuse dot products ([`Facts::dot_f32_fused`](crate::target::Facts::dot_f32_fused)): they split each into
//! a product and a sum, and fuse these if both end up in one basic block. If only later blocks need the result,
//! NVIDIA's driver moves the sum there and may leave the product behind. So this pass moves both, with the values
//! computed from them, to the last possible place: right before the first statement that needs the result, or into an
//! arm of a condition if only that arm needs it. The driver can't move the sum any further.
//!
//! A loop that ends where the result isn't needed is such a condition: the result goes past the `Break`.

use rustc_hash::FxHashMap;

use super::liveness::{Branch, Branches, liveness};
use super::operands::{map_op_operands, map_operands};
use crate::index::IndexVec;
use crate::ir::{Block, Function, Op, Stmt, Value, Var, for_each_assigned, for_each_read};

/// Moves fused multiply-adds; see the module.
pub fn sink_fused(function: &mut Function) {
    let mut pass = Sink { fused: IndexVec::filled(false, function.values.len()), exited: function.exited };
    if pass.mark(&function.body) {
        let branches = liveness(function);
        pass.list(&mut function.body, &branches);
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

/// The uses in the visited statements of a list, from its end.
struct Needs {
    values: FxHashMap<Value, FirstUse>,
    /// The first statement that reads or assigns each variable, or leaves for where it is live.
    vars: FxHashMap<Var, FirstUse>,
    /// Where statements go that nothing in the list needs.
    end: usize,
}

impl Needs {
    fn value(&mut self, value: Value, place: FirstUse) {
        self.values.entry(value).and_modify(|before| *before = before.before_both(place)).or_insert(place);
    }

    /// Adds the uses of a statement, including nested statements.
    fn statement(&mut self, stmt: &mut Stmt, place: FirstUse, branch: Option<&Branch>) {
        map_operands(stmt, |value| {
            self.value(value, place);
            value
        });
        match stmt {
            Stmt::Let(_, Op::Get(var)) | Stmt::Set(var, _) => _ = self.vars.insert(*var, place),
            Stmt::If { then, otherwise, .. } => {
                let position = place.position();
                for (list, arm) in [(&mut *then, true), (&mut *otherwise, false)] {
                    list.iter_mut().for_each(|stmt| self.nested(stmt, FirstUse::Arm(position, arm)));
                }
                let Some(Branch { starts: [first, second], leaves, .. }) = branch else { return };
                // If only one arm needs a variable, the other one overwrites it, or leaves for where it isn't live.
                let mut touched = |var| {
                    let place = match (first.contains(var), second.contains(var)) {
                        (true, false) => FirstUse::Arm(position, true),
                        (false, true) => FirstUse::Arm(position, false),
                        _ => place,
                    };
                    self.vars.insert(var, place);
                };
                for list in [then, otherwise] {
                    for_each_read(list, &mut touched);
                    for_each_assigned(list, &mut touched);
                }
                leaves.iter().for_each(touched);
            }
            Stmt::Loop(body) => {
                body.iter_mut().for_each(|stmt| self.nested(stmt, place));
                for_each_read(body, &mut |var| _ = self.vars.insert(var, place));
                for_each_assigned(body, &mut |var| _ = self.vars.insert(var, place));
            }
            _ => {}
        }
    }

    /// Adds the values that a nested statement uses.
    fn nested(&mut self, stmt: &mut Stmt, place: FirstUse) {
        map_operands(stmt, |value| {
            self.value(value, place);
            value
        });
        match stmt {
            Stmt::If { then, otherwise, .. } => {
                then.iter_mut().chain(otherwise).for_each(|stmt| self.nested(stmt, place))
            }
            Stmt::Loop(body) => body.iter_mut().for_each(|stmt| self.nested(stmt, place)),
            _ => {}
        }
    }
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

    fn list(&self, block: &mut Block, branches: &Branches) {
        let stmts = std::mem::take(block);
        let mut branch_of = branches.iter().rev();
        // The number of branches before each statement.
        let mut before = vec![0];
        before.extend(stmts.iter().scan(0, |count, stmt| {
            *count += usize::from(is_branch(stmt));
            Some(*count)
        }));
        let length = stmts.len();
        let end = length - usize::from(matches!(stmts.last(), Some(Stmt::Break | Stmt::Return(_))));
        let mut needs = Needs { values: FxHashMap::default(), vars: FxHashMap::default(), end };
        // Statements to insert before others and into arms, last first.
        let mut moved: FxHashMap<usize, Vec<Stmt>> = FxHashMap::default();
        let mut arms: FxHashMap<(usize, bool), Vec<Stmt>> = FxHashMap::default();
        let mut stays: Vec<(usize, Stmt)> = Vec::with_capacity(length);
        for (position, mut stmt) in stmts.into_iter().enumerate().rev() {
            let place = self.place(&stmt, &needs).filter(|place| {
                let between = before[place.position()] - before[position];
                between > 0 || matches!(place, FirstUse::Arm(..))
            });
            let branch = if is_branch(&stmt) { branch_of.next() } else { None };
            needs.statement(&mut stmt, place.unwrap_or(FirstUse::At(position)), branch);
            match place {
                None => stays.push((position, stmt)),
                Some(FirstUse::At(place)) => moved.entry(place).or_default().push(stmt),
                Some(FirstUse::Arm(place, arm)) => arms.entry((place, arm)).or_default().push(stmt),
            }
        }
        let mut take = |position| moved.remove(&position).into_iter().flat_map(|stmts| stmts.into_iter().rev());
        let mut branches = branches.iter();
        for (position, mut stmt) in stays.into_iter().rev() {
            block.extend(take(position));
            let nested = if is_branch(&stmt) { branches.next().map(|branch| &branch.nested) } else { None };
            match (&mut stmt, nested) {
                (Stmt::If { then, otherwise, .. }, Some([first, second])) => {
                    for (arm, list, nested) in [(true, then, first), (false, otherwise, second)] {
                        let front = arms.remove(&(position, arm)).into_iter().flatten().rev();
                        list.splice(..0, front);
                        self.list(list, nested);
                    }
                }
                (Stmt::Loop(body), Some([nested, _])) => self.list(body, nested),
                _ => {}
            }
            block.push(stmt);
        }
        block.extend(take(length));
    }

    /// The last possible place of a statement that may be moved.
    fn place(&self, stmt: &Stmt, needs: &Needs) -> Option<FirstUse> {
        match stmt {
            Stmt::Let(value, _) if self.fused[*value] => needs.values.get(value).copied(),
            Stmt::Set(var, value) if self.fused[*value] && self.exited != Some(*var) => {
                Some(needs.vars.get(var).copied().unwrap_or(FirstUse::At(needs.end)))
            }
            _ => None,
        }
    }
}

fn is_branch(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::If { .. } | Stmt::Loop(_))
}
