//! The frame of passes that replace single statements by sequences of others.

use super::operands::map_operands;
use crate::index::IndexVec;
use crate::ir::{Block, Builder, Function, Op, Stmt, Value};

/// The result of rewriting a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rewritten {
    /// The statement stays as it is.
    Kept,
    /// Statements that do its work were appended.
    Replaced,
    /// The statement defined a value, which this value replaces from here on.
    By(Value),
}

/// Gives every statement of a function but `If` and `Loop` to `replace`, together with a builder that appends where the statement
/// stood. Operands are those of the rewritten function. Results that `replace` appends must be those of the statement, or be announced by
/// [`Rewritten::By`].
pub fn rewrite(function: &mut Function, replace: impl FnMut(&Builder<'_>, &Stmt) -> Rewritten) {
    let mut body = std::mem::take(&mut function.body);
    let mut rewriting = Rewriting { replacement: IndexVec::new(), values: function.values.len(), replace };
    let builder = Builder::new(function);
    rewriting.list(&builder, &mut body);
    function.body = body;
}

/// [`rewrite`] for operations: `replace` gets each with its result, and gives the value that takes the result's place, if one does.
pub fn rewrite_ops(function: &mut Function, mut replace: impl FnMut(&Builder<'_>, Value, Op) -> Option<Value>) {
    rewrite(function, |b, stmt| match *stmt {
        Stmt::Let(result, op) => replace(b, result, op).map_or(Rewritten::Kept, Rewritten::By),
        _ => Rewritten::Kept,
    });
}

struct Rewriting<R> {
    /// The value that each value was replaced by, if it was; empty before the first.
    replacement: IndexVec<Value, Option<Value>>,
    /// The number of values that the function had.
    values: usize,
    replace: R,
}

impl<R: FnMut(&Builder<'_>, &Stmt) -> Rewritten> Rewriting<R> {
    /// Rewrites a list and those nested there. Statements before the first change stay where they are. The recursion must fit a
    /// small stack, so this does nothing else.
    fn list(&mut self, builder: &Builder<'_>, stmts: &mut Block) {
        let outer = builder.take_block();
        let changed = stmts.iter_mut().enumerate().find_map(|(position, stmt)| {
            let stays = self.visit(builder, stmt);
            (!stays || builder.has_statements()).then_some((position, stays))
        });
        if let Some((position, stays)) = changed {
            let rest = stmts.split_off(position);
            stmts.append(&mut builder.take_block());
            builder.replace_block(std::mem::take(stmts));
            let mut visited = Some(stays);
            for mut stmt in rest {
                if visited.take().unwrap_or_else(|| self.visit(builder, &mut stmt)) {
                    builder.push(stmt);
                }
            }
            *stmts = builder.take_block();
        }
        builder.replace_block(outer);
    }

    /// Rewrites a statement, and returns whether it stays.
    fn visit(&mut self, builder: &Builder<'_>, stmt: &mut Stmt) -> bool {
        if !self.replacement.is_empty() {
            // Values that `replace` made are above the table and are never replaced.
            let replacement = &self.replacement;
            map_operands(stmt, |value| replacement.of(value).unwrap_or(value));
        }
        match stmt {
            Stmt::If { then, otherwise, .. } => {
                self.list(builder, then);
                self.list(builder, otherwise);
                true
            }
            Stmt::Loop(body) => {
                self.list(builder, body);
                true
            }
            _ => self.statement(builder, stmt),
        }
    }

    /// Rewrites a statement without lists, and returns whether it stays.
    #[inline(never)]
    fn statement(&mut self, builder: &Builder<'_>, stmt: &Stmt) -> bool {
        match ((self.replace)(builder, stmt), stmt) {
            (Rewritten::By(value), Stmt::Let(result, _)) => {
                if self.replacement.is_empty() {
                    self.replacement.resize(self.values, None);
                }
                if let Some(entry) = self.replacement.at_mut(*result) {
                    *entry = Some(value);
                }
            }
            (Rewritten::Kept, Stmt::Let(value, op)) => {
                builder.note(*value, *op);
                return true;
            }
            (Rewritten::Kept, _) => return true,
            _ => {}
        }
        false
    }
}
