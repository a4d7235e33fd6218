//! Moves fused multiply-adds to where their results are needed.
//!
//! A dot product goes, with the values computed from it, to the last possible place: right before the first statement that
//! needs the result, or into an arm of a condition if only that arm needs it. A loop that ends where the result isn't needed
//! is such a condition: the result goes past the `Break`. Before that, what no path needs is taken out, so that it can't
//! hold back what it was computed from.

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

use super::code::{Branch, Instruction};
use super::dependents::{Dependents, Item};
use super::needs::Needs;
use crate::index::Index;
use crate::ir::{Block, Function, Op, Stmt, for_each_operand};
use crate::opt::remove_dead;

/// The most times that the pass goes through a function.
const MOST_ROUNDS: usize = 3;

/// Moves fused multiply-adds; see the module.
pub fn sink_fused(function: &mut Function) {
    // What was taken out of a nested list still held back what it was computed from.
    for _ in 0..MOST_ROUNDS {
        let dependents = Dependents::new(function);
        if dependents.is_empty() {
            return;
        }
        let before = function.body.clone();
        sink(function, dependents);
        if function.body == before {
            return;
        }
    }
}

fn sink(function: &mut Function, dependents: Dependents) {
    let Needs { starts, needed, code } = Needs::new(function, &dependents);
    let branches = code.instructions.into_iter().map(Instruction::into_branch).collect();
    let pass =
        Sink { exited: function.exited.and_then(|var| dependents.var(var)), dependents, starts, needed, branches };
    pass.list(&mut function.body, 0, 0);
    remove_dead(function);
}

struct Sink {
    dependents: Dependents,
    starts: Vec<Option<FixedBitSet>>,
    needed: FixedBitSet,
    /// The conditions and loops, by their places.
    branches: Vec<Option<Branch>>,
    /// A variable that other threads read.
    exited: Option<Item>,
}

/// The first use of an item in a list of statements.
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

/// The first uses in the visited statements of a list, from its end. A variable's is the first statement that reads or
/// assigns it, or leaves for where it is needed.
type Uses = FxHashMap<Item, FirstUse>;

impl Sink {
    /// Moves what stands in a list; its first statements were moved here, and the others stood at places of the code from `place` on.
    fn list(&self, block: &mut Block, moved_here: usize, mut place: usize) {
        let stmts = std::mem::take(block);
        let length = stmts.len();
        let end = length - usize::from(matches!(stmts.last(), Some(Stmt::Break | Stmt::Return(_))));
        let mut places = vec![None; moved_here];
        // The number of branches before each statement.
        let mut before = vec![0; moved_here + 1];
        for position in moved_here..length {
            let branch = self.branches[place].as_ref();
            before.push(before[position] + usize::from(branch.is_some()));
            places.push(Some(place));
            place = branch.map_or(place + 1, |branch| branch.end);
        }
        let branch_at = |position: usize| places[position].and_then(|place: usize| self.branches[place].as_ref());
        let mut uses = Uses::default();
        // Statements to insert before others and into arms, last first.
        let mut moved: FxHashMap<usize, Vec<Stmt>> = FxHashMap::default();
        let mut arms: FxHashMap<(usize, bool), Vec<Stmt>> = FxHashMap::default();
        let mut stays: Vec<(usize, Stmt)> = Vec::with_capacity(length);
        for (position, mut stmt) in stmts.into_iter().enumerate().rev() {
            if places[position].is_some_and(|place| !self.needed.contains(place)) {
                match &mut stmt {
                    // Operations that make no use of the value may still name it.
                    Stmt::Let(value, op) if self.dependents.value(*value).is_some() => *op = Op::Const(0),
                    Stmt::Set(var, _) if self.dependents.var(*var).is_some() => continue,
                    _ => {}
                }
            }
            let to = self.last_place(&stmt, &uses, end).filter(|to| {
                let between = before[to.position()] - before[position];
                between > 0 || matches!(to, FirstUse::Arm(..))
            });
            self.record(&mut uses, &stmt, to.unwrap_or(FirstUse::At(position)), branch_at(position));
            match to {
                None => stays.push((position, stmt)),
                Some(FirstUse::At(to)) => moved.entry(to).or_default().push(stmt),
                Some(FirstUse::Arm(to, arm)) => arms.entry((to, arm)).or_default().push(stmt),
            }
        }
        let mut take = |position| moved.remove(&position).into_iter().flat_map(|stmts| stmts.into_iter().rev());
        for (position, mut stmt) in stays.into_iter().rev() {
            block.extend(take(position));
            match (&mut stmt, branch_at(position)) {
                (Stmt::If { then, otherwise, .. }, Some(branch)) => {
                    for ((list, arm), place) in [(then, true), (otherwise, false)].into_iter().zip(branch.arms) {
                        let front = arms.remove(&(position, arm)).unwrap_or_default();
                        let moved_here = front.len();
                        list.splice(..0, front.into_iter().rev());
                        self.list(list, moved_here, place);
                    }
                }
                (Stmt::Loop(body), Some(branch)) => self.list(body, 0, branch.arms[0]),
                _ => {}
            }
            block.push(stmt);
        }
        block.extend(take(length));
    }

    /// The last possible place of a statement that may be moved.
    fn last_place(&self, stmt: &Stmt, uses: &Uses, end: usize) -> Option<FirstUse> {
        let movable = |value| self.dependents.value(value).filter(|item| self.dependents.is_movable(*item));
        match stmt {
            Stmt::Let(_, Op::Const(_)) => None,
            Stmt::Let(value, _) => uses.get(&movable(*value)?).copied(),
            Stmt::Set(var, value) => {
                movable(*value)?;
                let var = self.dependents.var(*var).filter(|var| self.exited != Some(*var))?;
                Some(uses.get(&var).copied().unwrap_or(FirstUse::At(end)))
            }
            _ => None,
        }
    }

    /// Adds what a statement uses, including nested statements, if it goes to this place.
    fn record(&self, uses: &mut Uses, stmt: &Stmt, at: FirstUse, branch: Option<&Branch>) {
        let add = |uses: &mut Uses, item, at: FirstUse| {
            uses.entry(item).and_modify(|before| *before = before.before_both(at)).or_insert(at);
        };
        for_each_operand(stmt, |value| self.dependents.value(value).into_iter().for_each(|item| add(uses, item, at)));
        if let Stmt::Let(_, Op::Get(var)) | Stmt::Set(var, _) = stmt {
            uses.extend(self.dependents.var(*var).map(|item| (item, at)));
        }
        let Some(branch) = branch else { return };
        let needs = |place: usize, item: usize| self.starts[place].as_ref().is_some_and(|start| start.contains(item));
        let leaves = branch.breaks.iter().filter_map(|place| self.starts[*place].as_ref());
        let touched = leaves.chain(&branch.touched).fold(FixedBitSet::new(), |all, set| &all | set);
        for item in touched.ones() {
            let is_var = self.dependents.op(Item::new(item)).is_none();
            // If only one arm needs a variable, the other one overwrites it, or leaves for where it isn't needed.
            let arms = match stmt {
                Stmt::If { .. } if is_var => branch.arms.map(|place| needs(place, item)),
                Stmt::If { .. } => [0, 1].map(|arm| branch.touched[arm].contains(item)),
                _ => [true; 2],
            };
            let at = match arms {
                [true, false] => FirstUse::Arm(at.position(), true),
                [false, true] => FirstUse::Arm(at.position(), false),
                _ => at,
            };
            if is_var { _ = uses.insert(Item::new(item), at) } else { add(uses, Item::new(item), at) }
        }
    }
}
