//! Definitions of values, for users that ask about a few of many.

use super::{Op, Value};
use crate::index::Index;

/// The operations that define values. Its tables are as long as the highest value noted in each, so that no note is searched.
#[derive(Debug, Default)]
pub(super) struct Definitions {
    /// The number of the first value of `later`.
    first: usize,
    earlier: Vec<Option<Op>>,
    later: Vec<Option<Op>>,
}

impl Definitions {
    /// An empty table; most of its values will have numbers from this one on.
    pub(super) fn from(first: usize) -> Self {
        Self { first, ..Self::default() }
    }

    pub(super) fn note(&mut self, value: Value, op: Op) {
        let (table, position) = match value.position().checked_sub(self.first) {
            Some(position) => (&mut self.later, position),
            None => {
                self.earlier.reserve_exact(self.first - self.earlier.len());
                (&mut self.earlier, value.position())
            }
        };
        if table.len() <= position {
            table.resize(position + 1, None);
        }
        if let Some(entry) = table.get_mut(position) {
            *entry = Some(op);
        }
    }

    /// The operation that defines a value, if the operation was noted.
    pub(super) fn of(&self, value: Value) -> Option<Op> {
        let noted = match value.position().checked_sub(self.first) {
            Some(position) => self.later.get(position),
            None => self.earlier.get(value.position()),
        };
        noted.copied().flatten()
    }
}
