//! Passes over the intermediate representation that hold on every device. Each is a free function in a file of its own
//! that takes a function which passes [`verify`](crate::ir::verify) and leaves one that does; that check is why they
//! index their tables by value and variable without asking.
//!
//! Passes that depend on the device are in [`legalize`](crate::legalize).

mod alignment;
mod combine_loads;
mod copy_propagation;
mod dead;
mod generic;
mod if_conversion;
mod merge;
mod narrow;
mod pointers;
mod powers;
mod relax_barriers;
mod spaces;

pub use combine_loads::combine_loads;
pub use copy_propagation::propagate_copies;
pub use dead::remove_dead;
pub(crate) use generic::access_into;
pub use generic::expand_generic;
pub use if_conversion::convert_ifs;
pub use merge::merge_ifs;
pub use narrow::narrow_truncated;
pub use pointers::pointer_constants;
pub use powers::divide_by_powers;
pub use relax_barriers::relax_barriers;
pub use spaces::resolve_spaces;
