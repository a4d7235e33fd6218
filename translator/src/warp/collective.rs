//! Which statements threads execute together: operations of a warp, barriers, and the control flow around them.

use crate::ir::{Block, Stmt};

/// Whether a statement must be executed by all threads of a subgroup together, in a list that is. A break there leaves a
/// loop that they execute together.
pub(super) fn is_collective(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Warp(_) | Stmt::Barrier(_) | Stmt::Break => true,
        Stmt::If { then, otherwise, .. } => then.iter().chain(otherwise).any(is_collective),
        Stmt::Loop(body) => has_meeting(body),
        _ => false,
    }
}

/// Whether an operation of a warp or a barrier stands in a list, however deep.
pub(super) fn has_meeting(block: &Block) -> bool {
    block.iter().any(|stmt| match stmt {
        Stmt::Warp(_) | Stmt::Barrier(_) => true,
        Stmt::If { then, otherwise, .. } => has_meeting(then) || has_meeting(otherwise),
        Stmt::Loop(body) => has_meeting(body),
        _ => false,
    })
}

/// Whether an operation of a warp stands in a list, however deep.
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
