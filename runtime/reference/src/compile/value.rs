//! What ids stand for.

use std::rc::Rc;

use crate::code::{Builtin, Slot};

/// The registers of a value, one for each scalar in it.
pub(super) type Cells = Rc<[Slot]>;

/// What an id stands for.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// Registers.
    Cells(Cells),
    /// All zeroes, of a type by id.
    Null(u32),
    /// A pointer to a built-in input or to a component of it.
    Input(Builtin, Component),
}

/// Which components of a built-in input a pointer means.
#[derive(Clone, Copy, Debug)]
pub(super) enum Component {
    /// As many as the type says.
    All,
    /// One.
    One(u8),
    /// The one of `count` that a register says.
    Dynamic { index: Slot, count: u8 },
}
