//! Values of ids.

use std::rc::Rc;

use crate::code::{Builtin, Slot};

/// The registers of a value, one for each scalar in it.
pub(super) type Cells = Rc<[Slot]>;

/// The value of an id.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// Registers.
    Cells(Cells),
    /// A zero value of a type.
    Null(u32),
    /// A pointer to a built-in input or to a component of it.
    Input(Builtin, Component),
}

/// The components of a built-in input that a pointer refers to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Component {
    /// All components of the type.
    All,
    /// A single component.
    One(u8),
}
