//! Typed indices, and tables that are indexed by them.

use std::marker::PhantomData;
use std::ops::{self, Deref, DerefMut};

/// The number of an element of a table.
pub trait Index: Copy {
    /// The index of a position in a table.
    fn new(position: usize) -> Self;

    fn position(self) -> usize;
}

/// The number of a position in a table. No program's tables have 2^32 elements: they would fill memory long before.
#[expect(clippy::expect_used, reason = "there is no such table")]
pub(crate) fn number(position: usize) -> u32 {
    u32::try_from(position).expect("tables have fewer than 2^32 elements")
}

/// Makes indices of types that consist of a `u32`.
macro_rules! indices {
    ($($index:ty),*) => {$(
        impl $crate::index::Index for $index {
            fn new(position: usize) -> Self {
                Self($crate::index::number(position))
            }

            fn position(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}
pub(crate) use indices;

/// A table whose elements have indices of type `I`. It is a `Vec`, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexVec<I, T> {
    items: Vec<T>,
    index: PhantomData<I>,
}

impl<I: Index, T> IndexVec<I, T> {
    /// An empty table.
    pub const fn new() -> Self {
        Self { items: Vec::new(), index: PhantomData }
    }

    /// A table of `len` equal elements.
    pub fn filled(item: T, len: usize) -> Self
    where
        T: Clone,
    {
        vec![item; len].into()
    }

    /// Adds an element, and returns its index.
    pub fn push(&mut self, item: T) -> I {
        self.items.push(item);
        I::new(self.items.len() - 1)
    }

    /// The element of an index.
    pub fn at(&self, index: I) -> Option<&T> {
        self.items.get(index.position())
    }

    /// The element of an index.
    pub fn at_mut(&mut self, index: I) -> Option<&mut T> {
        self.items.get_mut(index.position())
    }

    /// All indices, in order.
    pub fn indices(&self) -> impl DoubleEndedIterator<Item = I> + use<I, T> {
        (0..self.items.len()).map(I::new)
    }

    /// All elements with their indices, in order.
    pub fn enumerated(&self) -> impl DoubleEndedIterator<Item = (I, &T)> {
        self.items.iter().enumerate().map(|(position, item)| (I::new(position), item))
    }
}

impl<I: Index, T: Copy> IndexVec<I, Option<T>> {
    /// The element of an index, if there is one.
    pub fn of(&self, index: I) -> Option<T> {
        self.at(index).copied().flatten()
    }
}

impl<I: Index, T> ops::Index<I> for IndexVec<I, T> {
    type Output = T;

    fn index(&self, index: I) -> &T {
        &self.items[index.position()]
    }
}

impl<I: Index, T> ops::IndexMut<I> for IndexVec<I, T> {
    fn index_mut(&mut self, index: I) -> &mut T {
        &mut self.items[index.position()]
    }
}

impl<I, T> Default for IndexVec<I, T> {
    fn default() -> Self {
        Self { items: Vec::new(), index: PhantomData }
    }
}

impl<I, T> Deref for IndexVec<I, T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        &self.items
    }
}

impl<I, T> DerefMut for IndexVec<I, T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        &mut self.items
    }
}

impl<I, T> From<Vec<T>> for IndexVec<I, T> {
    fn from(items: Vec<T>) -> Self {
        Self { items, index: PhantomData }
    }
}

impl<I, T> FromIterator<T> for IndexVec<I, T> {
    fn from_iter<S: IntoIterator<Item = T>>(items: S) -> Self {
        Vec::from_iter(items).into()
    }
}

impl<I, T> Extend<T> for IndexVec<I, T> {
    fn extend<S: IntoIterator<Item = T>>(&mut self, items: S) {
        self.items.extend(items);
    }
}

impl<I, T> IntoIterator for IndexVec<I, T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}

impl<'t, I, T> IntoIterator for &'t IndexVec<I, T> {
    type Item = &'t T;
    type IntoIter = std::slice::Iter<'t, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.iter()
    }
}

impl<'t, I, T> IntoIterator for &'t mut IndexVec<I, T> {
    type Item = &'t mut T;
    type IntoIter = std::slice::IterMut<'t, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.iter_mut()
    }
}
