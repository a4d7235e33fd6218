//! A function's additions to a table of its module.

use crate::index::{Index, IndexVec};

/// A table of the module, which functions that are decoded side by side share, with the additions of one of them after
/// the end.
pub(super) struct Extension<'m, I, T> {
    module: &'m IndexVec<I, T>,
    own: Vec<T>,
}

impl<'m, I: Index, T> Extension<'m, I, T> {
    pub(super) fn new(module: &'m IndexVec<I, T>) -> Self {
        Self { module, own: Vec::new() }
    }

    /// Adds an element, and returns its index, which counts from the start of the module's table.
    pub(super) fn push(&mut self, item: T) -> I {
        self.own.push(item);
        I::new(self.module.len() + self.own.len() - 1)
    }

    /// The element of an index.
    pub(super) fn at(&self, index: I) -> Option<&T> {
        match index.position().checked_sub(self.module.len()) {
            Some(own) => self.own.get(own),
            None => self.module.at(index),
        }
    }

    /// The element of an index, if it is the function's.
    pub(super) fn own_mut(&mut self, index: I) -> Option<&mut T> {
        self.own.get_mut(index.position().checked_sub(self.module.len())?)
    }

    /// The function's additions.
    pub(super) fn into_own(self) -> Vec<T> {
        self.own
    }
}
