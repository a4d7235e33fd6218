//! Passes over the intermediate representation that hold on every device. Each is a free function in a file of its own
//! that takes a function which passes [`verify`](crate::ir::verify) and leaves one that does; that check is why they
//! index their tables by value and variable without asking.
//!
//! What depends on the device is in [`legalise`](crate::legalise).

mod dead;
mod forward;
mod operands;
mod rewrite;
mod spaces;

pub use dead::remove_dead;
pub use forward::forward;
pub use operands::{for_each_result, map_op_operands, map_operands};
pub use rewrite::{Rewritten, rewrite};
pub use spaces::resolve_spaces;

use crate::ir::Function;

/// Makes a freshly lowered function small: variables forwarded, address spaces resolved, dead code removed.
pub fn optimise(function: &mut Function) {
    forward(function);
    remove_dead(function);
    resolve_spaces(function);
    // Resolved addresses are new operations, equal ones among them, and leave their 64-bit forms unused.
    forward(function);
    remove_dead(function);
}
