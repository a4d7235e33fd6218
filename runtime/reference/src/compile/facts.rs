//! Records about functions, pointers and variables.

use super::emit::Label;
use super::value::Cells;
use crate::code::Slot;

/// The information about a function that its callers need.
#[derive(Clone, Debug)]
pub(super) struct Callee {
    /// The function's first instruction.
    pub(super) label: Label,
    /// The registers of all parameters, in order.
    pub(super) parameters: Cells,
    /// The registers of the result.
    pub(super) result: Cells,
    /// Whether the function, or one that it calls, waits for other invocations.
    pub(super) waits: bool,
}

/// Facts about a pointer other than its address.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PointerFacts {
    pub(super) coherent: bool,
    pub(super) volatile: bool,
    /// Whether the module promises not to write through it.
    pub(super) read_only: bool,
}

/// The initial value of a `Private` variable, which is stored before the entry point begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Initial {
    pub(super) word: u32,
    pub(super) pointer: Slot,
    pub(super) ty: u32,
    pub(super) value: u32,
}

/// Workgroup memory allocated so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shared {
    /// Whether there are variables without an explicit layout.
    pub(super) plain: bool,
    /// Blocks with an explicit layout, and whether all of them are `Aliased`.
    pub(super) blocks: u32,
    pub(super) all_aliased: bool,
    /// The number of variables with a null initializer, and of all variables.
    pub(super) zeroed: u32,
    pub(super) count: u32,
}
