//! Runs of loads: those that stand next to each other and are performed together, so that one condition answers for all of them.
//!
//! A kernel that reads two matrices has one branch for each element without runs, and none of its loads begins before the branch of the
//! one before has been decided. So the loads of a list are brought to the first one whose addresses are known there, as far as nothing
//! between them may write memory or order accesses.

use rustc_hash::{FxHashMap, FxHashSet};

use super::groups::is_weak;
use crate::diagnostic::Span;
use crate::ir::{Block, Op, Stmt, Value, Var, for_each_operand, for_each_result};

/// The most loads of a run, all of which have a register when it ends.
const MOST_LOADS: usize = 16;
/// The most statements between the first load of a run and the place of the last.
const REACH: usize = 1 << 9;

#[derive(Clone, Debug)]
pub(crate) struct Load {
    pub stmt: Stmt,
    /// The PTX instruction.
    pub at: Option<Span>,
    pub group: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The load is performed in its own place.
    Alone,
    /// The run of this number is performed in its place.
    First(usize),
    /// An earlier load of its run stands for it.
    Later,
}

/// The runs of a function's accesses.
#[derive(Default)]
pub(crate) struct Runs {
    /// For each access in the order of the program.
    pub of: Vec<Place>,
    /// At least two loads each.
    pub list: Vec<Vec<Load>>,
}

impl Runs {
    /// The loads that stand next to each other, given the group of each access.
    pub fn of(body: &Block, groups: &[Option<usize>]) -> Self {
        let mut runs = Self::default();
        runs.add(body, None, &mut groups.iter().copied());
        runs
    }

    fn add(&mut self, list: &Block, mut at: Option<Span>, groups: &mut impl Iterator<Item = Option<usize>>) {
        let mut run: Vec<Load> = Vec::new();
        let mut results: FxHashSet<Value> = FxHashSet::default();
        for stmt in list {
            if let Stmt::At(span) = stmt {
                at = *span;
                continue;
            }
            let access = stmt.access();
            let group = access.and_then(|_| groups.next().flatten()).filter(|_| is_plain(stmt));
            let needs_result = access.is_some_and(|(_, address)| results.contains(&address));
            if group.is_none() || needs_result || run.len() == MOST_LOADS {
                self.close(&mut run);
                results.clear();
            }
            if let Some(group) = group {
                self.of.push(Place::Later);
                for_each_result(stmt, |result| _ = results.insert(result));
                run.push(Load { stmt: stmt.clone(), at, group });
            } else if access.is_some() {
                self.of.push(Place::Alone);
            }
            stmt.lists().for_each(|list| self.add(list, at, groups));
        }
        self.close(&mut run);
    }

    /// Ends a run, whose loads are the last accesses.
    fn close(&mut self, run: &mut Vec<Load>) {
        let loads = std::mem::take(run);
        let first = self.of.len() - loads.len();
        let Some(place) = self.of.get_mut(first) else { return };
        if loads.len() == 1 {
            *place = Place::Alone;
        } else {
            *place = Place::First(self.list.len());
            self.list.push(loads);
        }
    }
}

/// Brings the loads of each list next to each other that may be performed together. `is_checked` says which need a check.
pub(crate) fn gather_loads(body: &mut Block, is_checked: impl Fn(&Stmt) -> bool) {
    gather_in(body, None, &|stmt: &Stmt| is_plain(stmt) && is_checked(stmt));
}

fn gather_in(list: &mut Block, mut at: Option<Span>, is_moved: &impl Fn(&Stmt) -> bool) {
    let before = at;
    for stmt in list.iter_mut() {
        match stmt {
            Stmt::At(span) => at = *span,
            Stmt::If { .. } | Stmt::Loop(_) => stmt.lists_mut().for_each(|list| gather_in(list, at, is_moved)),
            _ => {}
        }
    }
    gather(list, before, is_moved);
}

/// Gathers the loads of one list, without those nested there.
#[inline(never)]
fn gather(list: &mut Block, mut at: Option<Span>, is_moved: &impl Fn(&Stmt) -> bool) {
    let mut done = Vec::with_capacity(list.len());
    let mut rest = std::mem::take(list);
    while let Some(first) = rest.iter().position(is_moved) {
        let moved = moved_to(&rest[first..], is_moved);
        let mut after = rest.split_off(first);
        for stmt in &rest {
            at = if let Stmt::At(span) = stmt { *span } else { at };
        }
        done.append(&mut rest);
        // The load that the others come to.
        let mut number = 0;
        let (mut values, mut loads, mut mark) = (Vec::new(), Vec::new(), at);
        after.retain(|stmt| {
            mark = if let Stmt::At(span) = stmt { *span } else { mark };
            let goes = moved.contains(&number);
            if goes && matches!(stmt, Stmt::Load { .. }) {
                loads.extend((mark != at).then_some(Stmt::At(mark)));
                loads.push(stmt.clone());
                loads.extend((mark != at).then_some(Stmt::At(at)));
            } else if goes {
                values.push(stmt.clone());
            }
            number += 1;
            !goes
        });
        done.append(&mut values);
        done.append(&mut loads);
        rest = after;
    }
    done.append(&mut rest);
    *list = done;
}

/// The numbers of the statements in a list that begins with a load which are performed there: that load, others, and
/// the values that these need.
fn moved_to(list: &[Stmt], is_moved: &impl Fn(&Stmt) -> bool) -> FxHashSet<usize> {
    // Where values are defined that may be computed at the first load, and variables that have changed since.
    let mut early: FxHashMap<Value, usize> = FxHashMap::default();
    let mut late: FxHashSet<Value> = FxHashSet::default();
    let mut changed: FxHashSet<Var> = FxHashSet::default();
    let mut moved: FxHashSet<usize> = FxHashSet::default();
    let mut loads = 0;
    for (number, stmt) in list.iter().enumerate().take(REACH) {
        match stmt {
            Stmt::At(_) => {}
            Stmt::Set(var, _) => drop(changed.insert(*var)),
            Stmt::Let(value, op) => {
                let mut is_late = !op.is_speculatable() || matches!(op, Op::Get(var) if changed.contains(var));
                for_each_operand(stmt, |operand| is_late |= late.contains(&operand));
                if is_late {
                    late.insert(*value);
                } else {
                    early.insert(*value, number);
                }
            }
            Stmt::Load { address, .. } if is_plain(stmt) => {
                for_each_result(stmt, |result| _ = late.insert(result));
                if !late.contains(address) && loads < MOST_LOADS && is_moved(stmt) {
                    loads += 1;
                    moved.insert(number);
                    let mut needed = vec![*address];
                    while let Some(value) = needed.pop() {
                        if let Some(&number) = early.get(&value)
                            && moved.insert(number)
                            && let Some(stmt) = list.get(number)
                        {
                            for_each_operand(stmt, |operand| needed.push(operand));
                        }
                    }
                }
            }
            _ => break,
        }
    }
    moved
}

/// Whether a statement is a load that may change places with other such loads.
fn is_plain(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Load { .. }) && is_weak(stmt)
}
