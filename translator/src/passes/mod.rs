//! Passes over the intermediate representation that hold on every device. Each is a free function in a file of its own
//! that takes a function which passes [`verify`](crate::ir::verify) and leaves one that does; that check is why they
//! index their tables by value and variable without asking.
//!
//! What depends on the device is in [`legalise`](crate::legalise).

mod dead;
mod flatten;
mod forward;
mod merge;
mod narrow;
mod operands;
mod pointers;
mod powers;
mod rewrite;
mod spaces;

pub use dead::remove_dead;
pub use flatten::flatten_ifs;
pub use forward::forward;
pub use merge::merge_ifs;
pub use narrow::narrow_truncated;
pub use operands::{for_each_result, map_op_operands, map_operands};
pub use pointers::pointer_constants;
pub use powers::divide_by_powers;
pub use rewrite::{Rewritten, rewrite};
pub use spaces::resolve_spaces;

use crate::ir::Function;
use crate::target::Target;

/// Makes a freshly lowered function small: variables forwarded, neighbouring conditions joined, address spaces resolved,
/// addresses narrowed, divisions by powers of two replaced, dead code removed.
pub fn optimise(function: &mut Function) {
    forward(function);
    remove_dead(function);
    merge_ifs(function);
    resolve_spaces(function);
    narrow_truncated(function);
    divide_by_powers(function);
    // Resolved addresses are new operations, equal ones among them, and leave their 64-bit forms unused.
    forward(function);
    remove_dead(function);
}

/// Turns small conditions of a function that is otherwise ready for emission into selects. Of those that the driver takes
/// long for, larger ones too.
pub fn straighten(function: &mut Function, target: &Target) {
    let most = if target.quirks.conditions_slow { 64 } else { 8 };
    flatten_ifs(function, most);
    forward(function);
    remove_dead(function);
}
