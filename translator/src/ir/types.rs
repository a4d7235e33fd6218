//! Values and variables, and their types.

use crate::index::indices;

/// Type of a [`Value`] or [`Var`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// A truth value; PTX's `.pred`.
    Bool,
    /// 32 bits (or 8 or 16 zero-extended).
    I32,
    /// 64 bits.
    I64,
    /// Single precision; only for values, never for variables.
    F32,
    /// Double precision; only for values, never for variables.
    F64,
    /// Two words, the lower first, in place of an `I64` on a device without 64-bit integers: an address in global
    /// memory, or the value of the clock. Only for values, never for variables.
    Pair,
}

/// Result of an operation, by number into [`Function::values`](super::Function::values).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value(pub u32);

/// Mutable variable, by number into [`Function::vars`](super::Function::vars).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Var(pub u32);

indices!(Value, Var);
