//! Properties that values have by the operations they come from.

use super::{Block, Function, Op, Stmt, Value, Var, for_each_result};
use crate::index::IndexVec;

/// The values and variables of a function that have some property.
pub struct Marks {
    values: IndexVec<Value, bool>,
    vars: IndexVec<Var, bool>,
}

impl Marks {
    /// Marks the results of the statements for which `has` holds, given the marks of their operands. A variable has the property if one
    /// of the values set to it has. Variables carry values around loops, so the walk is repeated until it finds no further variable.
    pub fn forward(function: &Function, has: impl Fn(&Marks, &Stmt) -> bool) -> Marks {
        let mut marks = Marks {
            values: IndexVec::filled(false, function.values.len()),
            vars: IndexVec::filled(false, function.vars.len()),
        };
        // This ends: marks are only added.
        loop {
            let before = marks.count();
            marks.block(&function.body, &has);
            if marks.count() == before {
                return marks;
            }
        }
    }

    fn count(&self) -> usize {
        self.vars.iter().filter(|marked| **marked).count()
    }

    /// Whether a value has the property. Values that were added since are taken to.
    pub fn value(&self, value: Value) -> bool {
        self.values.at(value).copied().unwrap_or(true)
    }

    fn block(&mut self, block: &Block, has: &impl Fn(&Marks, &Stmt) -> bool) {
        for stmt in block {
            match stmt {
                Stmt::Set(var, value) => {
                    if self.value(*value) {
                        self.vars.at_mut(*var).into_iter().for_each(|marked| *marked = true);
                    }
                }
                Stmt::If { then, otherwise, .. } => {
                    self.block(then, has);
                    self.block(otherwise, has);
                }
                Stmt::Loop(body) => self.block(body, has),
                _ => {
                    let is_marked = match stmt {
                        Stmt::Let(_, Op::Get(var)) => self.vars.at(*var).copied().unwrap_or(true),
                        _ => has(self, stmt),
                    };
                    for_each_result(stmt, |result| {
                        self.values.at_mut(result).into_iter().for_each(|marked| *marked = is_marked);
                    });
                }
            }
        }
    }
}
