//! Rewrites a function into what its target can do exactly: see [`legalise`] for the passes and their order.

mod generic;

use crate::ir::Function;
use crate::target::Target;

/// Legalises a function for a target.
pub fn legalise(function: &mut Function, _target: &Target) {
    generic::expand_generic(function);
}
