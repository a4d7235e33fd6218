//! The rounds of loops in which a variable goes from one constant to another, such as the number of the call to return to where calls share a
//! function. Each constant is a state; where no state can come again, there are at most as many rounds as states.

use std::collections::hash_map::Entry;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ir::{Block, Constants, Function, Op, Stmt, Value, Var, for_each_stmt, semantics};

/// Most statements that are looked at for one loop.
const MOST_STEPS: u32 = 1 << 16;

/// The variables of a loop that may be such: it compares them, and sets them to constants alone, in no loop inside.
pub fn state_variables(body: &Block, constants: &Constants) -> FxHashSet<Var> {
    let mut found = FxHashSet::default();
    let mut others = FxHashSet::default();
    let mut compared: FxHashSet<Var> = FxHashSet::default();
    let mut read: FxHashMap<Value, Var> = FxHashMap::default();
    for_each_stmt(body, |stmt| match stmt {
        Stmt::Let(value, Op::Get(var)) => {
            read.insert(*value, *var);
        }
        Stmt::Let(_, Op::Compare(_, a, b)) => {
            compared.extend([a, b].into_iter().filter_map(|value| read.get(value).copied()))
        }
        Stmt::Set(var, value) => {
            let is_constant = constants.of(*value).is_some();
            (if is_constant { &mut found } else { &mut others }).insert(*var);
        }
        Stmt::Loop(inside) => for_each_stmt(inside, |stmt| {
            if let Stmt::Set(var, _) = stmt {
                others.insert(*var);
            }
        }),
        _ => {}
    });
    found.retain(|var| compared.contains(var) && !others.contains(var));
    found
}

/// The most rounds of a loop before which one of its [`state_variables`] has the value `first`, if a state never comes again.
pub fn rounds_of_states(
    function: &Function,
    constants: &Constants,
    body: &Block,
    (var, first): (Var, u64),
) -> Option<u64> {
    let mut round = Round { function, constants, var, steps: MOST_STEPS };
    let mut next: FxHashMap<u64, FxHashSet<u64>> = FxHashMap::default();
    let mut states = FxHashSet::from_iter([first]);
    let mut rounds = 0_u64;
    while !states.is_empty() {
        let mut after = FxHashSet::default();
        for state in states {
            after.extend(match next.entry(state) {
                Entry::Occupied(known) => known.get().clone(),
                Entry::Vacant(place) => place.insert(round.list(body, state, &FxHashMap::default())?).clone(),
            });
        }
        states = after;
        rounds += 1;
        // A path through more states than there are has one twice.
        if rounds > next.len() as u64 {
            return None;
        }
    }
    Some(rounds)
}

struct Round<'f> {
    function: &'f Function,
    constants: &'f Constants,
    var: Var,
    /// Statements that may still be looked at.
    steps: u32,
}

impl Round<'_> {
    /// The states in which control may reach the end of a list that it begins in `state`. `known` has values that depend on the state.
    fn list(&mut self, list: &[Stmt], state: u64, known: &FxHashMap<Value, u64>) -> Option<FxHashSet<u64>> {
        let mut ends = FxHashSet::default();
        let mut todo = vec![(0, state, known.clone())];
        'paths: while let Some((start, mut state, mut known)) = todo.pop() {
            for (index, stmt) in list.iter().enumerate().skip(start) {
                self.steps = self.steps.checked_sub(1)?;
                match stmt {
                    Stmt::Let(value, Op::Get(var)) if *var == self.var => {
                        known.insert(*value, state);
                    }
                    Stmt::Let(value, Op::Compare(compare, a, b)) => {
                        let operands = self.value(&known, *a).zip(self.value(&known, *b));
                        let ty = self.function.type_of(*a);
                        if let Some(holds) = operands.and_then(|(a, b)| semantics::compare(*compare, ty, a, b)) {
                            known.insert(*value, holds.into());
                        }
                    }
                    Stmt::Set(var, value) if *var == self.var => state = self.value(&known, *value)?,
                    Stmt::Break | Stmt::Return(_) => continue 'paths,
                    Stmt::If { condition, then, otherwise } => {
                        // Each path has a copy of what is known.
                        self.steps = self.steps.checked_sub(u32::try_from(known.len()).ok()? / 8)?;
                        let mut after = FxHashSet::default();
                        let holds = self.value(&known, *condition).map(|holds| holds != 0);
                        for (arm, taken) in [(then, true), (otherwise, false)] {
                            if holds.is_none_or(|holds| holds == taken) {
                                after.extend(self.list(arm, state, &known)?);
                            }
                        }
                        let mut after = after.into_iter();
                        let Some(first) = after.next() else { continue 'paths };
                        todo.extend(after.map(|other| (index + 1, other, known.clone())));
                        state = first;
                    }
                    _ => {}
                }
            }
            ends.insert(state);
        }
        Some(ends)
    }

    fn value(&self, known: &FxHashMap<Value, u64>, value: Value) -> Option<u64> {
        known.get(&value).copied().or_else(|| self.constants.of(value))
    }
}
