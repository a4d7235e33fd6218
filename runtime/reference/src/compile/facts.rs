//! What compilation records about functions, pointers and variables.

use super::emit::Label;
use super::layout::MatrixLayout;
use super::value::Cells;
use crate::code::Slot;

/// What callers need to know of a function.
#[derive(Clone, Debug)]
pub(super) struct Callee {
    /// Where it begins.
    pub(super) label: Label,
    /// The registers of its parameters, one parameter after another.
    pub(super) parameters: Cells,
    /// The registers that its result is left in.
    pub(super) result: Cells,
    /// Whether it waits for other invocations anywhere, also in functions that it calls.
    pub(super) waits: bool,
}

/// Facts about a pointer besides its address.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PointerFacts {
    /// The descriptor that it points into.
    pub(super) binding: Option<u32>,
    pub(super) coherent: bool,
    pub(super) volatile: bool,
    /// Whether the module promises not to write there.
    pub(super) read_only: bool,
    /// How matrices lie there, or the columns of one.
    pub(super) matrix: Option<MatrixLayout>,
}

/// Work before the entry point begins.
#[derive(Clone, Copy, Debug)]
pub(super) enum Deferred {
    /// The registers of an `OpUndef` outside of functions are filled.
    Undefined { word: u32, ty: u32, first: Slot },
    /// The address of a descriptor is fetched.
    Address { word: u32, binding: u32, d: Slot },
    /// A `Private` variable gets its initial value.
    Initial { word: u32, pointer: Slot, ty: u32, value: u32 },
}

/// Workgroup memory so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shared {
    /// Whether there are variables without an explicit layout.
    pub(super) plain: bool,
    /// Blocks with an explicit layout, and whether all of them are `Aliased`.
    pub(super) blocks: u32,
    pub(super) all_aliased: bool,
    /// Variables with a null initialiser, and all.
    pub(super) zeroed: u32,
    pub(super) count: u32,
}
