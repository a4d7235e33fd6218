//! The frame of passes that replace single statements by sequences of others.

use super::operands::map_operands;
use crate::ir::{Block, Builder, Function, Stmt, Value};

/// What becomes of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rewritten {
    /// It stays as it is.
    Kept,
    /// Statements that do its work were appended.
    Replaced,
    /// It defined a value, which from here on is this one.
    By(Value),
}

/// Rebuilds a function, giving every statement but `If` and `Loop` to `replace` together with a builder that appends
/// where the statement stood. Operands are those of the rebuilt function. Results that `replace` appends must be
/// those of the statement, or be announced by [`Rewritten::By`].
pub fn rewrite(function: &mut Function, mut replace: impl FnMut(&mut Builder<'_>, &Stmt) -> Rewritten) {
    let body = std::mem::take(&mut function.body);
    let mut replacement = vec![None; function.values.len()];
    let mut builder = Builder::new(function);
    list(&mut builder, body, &mut replacement, &mut replace);
    builder.finish();
}

/// Rewrites a list and those nested there. The recursion must fit a small stack, so it does nothing else.
fn list(
    builder: &mut Builder<'_>,
    stmts: Block,
    replacement: &mut [Option<Value>],
    replace: &mut impl FnMut(&mut Builder<'_>, &Stmt) -> Rewritten,
) {
    for mut stmt in stmts {
        // Values that `replace` made are above the table and are never replaced.
        map_operands(&mut stmt, |value| replacement.get(value.0 as usize).copied().flatten().unwrap_or(value));
        let lists = match &mut stmt {
            Stmt::If { then, otherwise, .. } => [Some(then), Some(otherwise)],
            Stmt::Loop(body) => [Some(body), None],
            _ => {
                statement(builder, stmt, replacement, replace);
                continue;
            }
        };
        for block in lists.into_iter().flatten() {
            let stmts = std::mem::take(block);
            *block = builder.nested(|b| list(b, stmts, replacement, replace));
        }
        builder.push(stmt);
    }
}

/// Rewrites a statement without lists.
#[inline(never)]
fn statement(
    builder: &mut Builder<'_>,
    stmt: Stmt,
    replacement: &mut [Option<Value>],
    replace: &mut impl FnMut(&mut Builder<'_>, &Stmt) -> Rewritten,
) {
    match (replace(builder, &stmt), &stmt) {
        (Rewritten::By(value), Stmt::Let(result, _)) => {
            if let Some(entry) = replacement.get_mut(result.0 as usize) {
                *entry = Some(value);
            }
        }
        (Rewritten::Kept, _) => {
            if let Stmt::Let(value, op) = stmt {
                builder.note(value, op);
            }
            builder.push(stmt);
        }
        _ => {}
    }
}
