//! Collective statements, which threads execute together: warp operations, barriers, and the control flow around them.

use crate::ir::{Class, Stmt, has_collective};

/// Whether all threads of a subgroup must execute a statement together. The statement stands in a list that they
/// execute together: a break in such a list leaves a loop that is collective too.
pub(super) fn is_collective(stmt: &Stmt) -> bool {
    match stmt.class() {
        Class::Collective(_) | Class::Break => true,
        Class::Branch(lists) => lists.into_iter().flatten().any(is_collective),
        Class::Loop(body) => has_collective(body),
        Class::Private | Class::Access(..) | Class::Signal | Class::Return => false,
    }
}

/// Whether a statement may leave the loop that it stands in.
pub(super) fn may_break(stmt: &Stmt) -> bool {
    match stmt.class() {
        Class::Break => true,
        Class::Branch(lists) => lists.into_iter().flatten().any(may_break),
        Class::Private | Class::Access(..) | Class::Signal | Class::Collective(_) | Class::Loop(_) | Class::Return => {
            false
        }
    }
}
