//! Values of constant expressions.

use super::error;
use crate::ast::{Constant, Ident};
use crate::diagnostic::Diagnostic;

/// The value of an expression.
#[derive(Clone, Copy)]
pub(super) enum Value<'s> {
    Number(Constant<'s>),
    Symbol(Symbol<'s>),
}

/// The address of a variable, or the value of a register; which of them it is, is not known here.
#[derive(Clone, Copy)]
pub(super) struct Symbol<'s> {
    pub(super) name: Ident<'s>,
    pub(super) suffix: Option<Ident<'s>>,
    pub(super) offset: i64,
    pub(super) generic: bool,
    pub(super) mask: Option<u64>,
}

impl<'s> Value<'s> {
    pub(super) fn constant(self) -> Result<Constant<'s>, Diagnostic> {
        match self {
            Value::Number(number) => Ok(number),
            Value::Symbol(Symbol { suffix: Some(suffix), .. }) => Err(error::expected("a constant", suffix.span)),
            Value::Symbol(Symbol { name, offset, generic, mask, .. }) => {
                Ok(Constant::Address { symbol: name, offset, generic, mask })
            }
        }
    }
}
