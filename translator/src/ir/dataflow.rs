//! Facts about values, found from the operations that define them.

use super::{Block, Function, Op, Stmt, Value, Var, for_each_result};
use crate::index::IndexVec;

/// A fact about a value. Facts only rise, by joins.
pub trait Fact: Copy + PartialEq {
    /// The fact of variables and values before anything is known of them.
    const LEAST: Self;

    /// Walks over a function until variables that may still rise get this fact.
    const MOST_WALKS: Option<(usize, Self)> = None;

    /// The fact of a value that may be either of two.
    fn join(self, other: Self) -> Self;

    /// The fact of a value read from a variable that was set to values of this one.
    fn read(self) -> Self {
        self
    }
}

/// A property that a value may have.
impl Fact for bool {
    const LEAST: Self = false;

    fn join(self, other: Self) -> Self {
        self | other
    }
}

/// The facts of a function's values and variables.
pub struct Flow<F> {
    values: IndexVec<Value, F>,
    vars: IndexVec<Var, F>,
}

/// The values and variables of a function that have some property.
pub type Marks = Flow<bool>;

impl<F: Fact> Flow<F> {
    /// Finds the facts by `gives`, which gives the fact of a statement's result from the facts of its operands. A
    /// variable's fact is that of all values set to it. Variables carry values around loops, so the walk is repeated
    /// until no variable's fact rises.
    pub fn forward(function: &Function, gives: impl Fn(&Self, Value, &Stmt) -> F) -> Self {
        let mut flow = Self {
            values: IndexVec::filled(F::LEAST, function.values.len()),
            vars: IndexVec::filled(F::LEAST, function.vars.len()),
        };
        // This ends: facts only rise.
        for walk in 0.. {
            if let Some((_, fact)) = F::MOST_WALKS.filter(|(most, _)| walk == *most) {
                flow.vars.fill(fact);
            }
            if !flow.block(&function.body, &gives) {
                break;
            }
        }
        flow
    }

    /// The fact of a value; `None` if it was added since.
    pub fn at(&self, value: Value) -> Option<F> {
        self.values.at(value).copied()
    }

    /// The fact of all that a variable is set to.
    pub fn var(&self, var: Var) -> F {
        self.vars[var]
    }

    /// Walks over a list, and tells whether a variable's fact rose. The recursion must fit a small stack, so this does nothing else.
    fn block(&mut self, block: &Block, gives: &impl Fn(&Self, Value, &Stmt) -> F) -> bool {
        let mut rose = false;
        for stmt in block {
            match stmt {
                Stmt::If { .. } | Stmt::Loop(_) => stmt.lists().for_each(|list| rose |= self.block(list, gives)),
                _ => rose |= self.statement(stmt, gives),
            }
        }
        rose
    }

    #[inline(never)]
    fn statement(&mut self, stmt: &Stmt, gives: &impl Fn(&Self, Value, &Stmt) -> F) -> bool {
        if let Stmt::Set(var, value) = stmt {
            return raise(&mut self.vars[*var], self.values[*value]);
        }
        for_each_result(stmt, |result| {
            let fact = match stmt {
                Stmt::Let(_, Op::Get(var)) => self.vars[*var].read(),
                _ => gives(self, result, stmt),
            };
            raise(&mut self.values[result], fact);
        });
        false
    }
}

fn raise<F: Fact>(entry: &mut F, fact: F) -> bool {
    let joined = entry.join(fact);
    let rose = joined != *entry;
    *entry = joined;
    rose
}

impl Marks {
    /// Whether a value has the property. Values added since the analysis are assumed to have it.
    pub fn value(&self, value: Value) -> bool {
        self.at(value).unwrap_or(true)
    }
}
