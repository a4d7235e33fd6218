//! Functions that emission takes.

use std::ops::Deref;

use super::{Function, Stage, verify_at};

/// A function that keeps the rules of [`Stage::Legal`].
#[derive(Clone, Debug)]
pub struct Legal(Function);

impl Legal {
    /// Checks a function.
    ///
    /// # Errors
    /// The first broken rule in words.
    pub fn new(function: Function) -> Result<Self, String> {
        verify_at(&function, Stage::Legal)?;
        Ok(Self(function))
    }
}

impl Deref for Legal {
    type Target = Function;

    fn deref(&self) -> &Function {
        &self.0
    }
}
