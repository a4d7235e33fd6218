//! Collective statements, which threads execute together: warp operations, barriers, and the control flow around them.

use crate::ir::{Block, Stmt};

/// Whether all threads of a subgroup must execute a statement together. Given for statements of a list that they execute together: a break
/// in such a list leaves a loop that is collective too.
pub(super) fn is_collective(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Warp(_) | Stmt::Barrier(_) | Stmt::Break => true,
        Stmt::If { then, otherwise, .. } => then.iter().chain(otherwise).any(is_collective),
        Stmt::Loop(body) => has_synchronization(body),
        _ => false,
    }
}

/// Whether a list contains a warp operation or a barrier at any depth.
pub(super) fn has_synchronization(block: &Block) -> bool {
    block.iter().any(|stmt| match stmt {
        Stmt::Warp(_) | Stmt::Barrier(_) => true,
        Stmt::If { then, otherwise, .. } => has_synchronization(then) || has_synchronization(otherwise),
        Stmt::Loop(body) => has_synchronization(body),
        _ => false,
    })
}

/// Whether a list contains a warp operation at any depth.
pub(crate) fn has_warp(block: &Block) -> bool {
    block.iter().any(|stmt| match stmt {
        Stmt::Warp(_) => true,
        Stmt::If { then, otherwise, .. } => has_warp(then) || has_warp(otherwise),
        Stmt::Loop(body) => has_warp(body),
        _ => false,
    })
}

/// Whether a statement may leave the loop that it stands in.
pub(super) fn may_break(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Break => true,
        Stmt::If { then, otherwise, .. } => then.iter().chain(otherwise).any(may_break),
        _ => false,
    }
}
