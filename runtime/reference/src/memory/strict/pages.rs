//! A long array of which only the parts in use take memory.

const PAGE: usize = 1024;

/// An array without end. Elements are those it began with until they are set.
#[derive(Debug)]
pub(super) struct Pages<T> {
    initial: T,
    pages: Vec<Option<Box<[T]>>>,
}

impl<T: Copy> Pages<T> {
    /// All elements are `initial`.
    pub(super) fn new(initial: T) -> Self {
        Self { initial, pages: Vec::new() }
    }

    /// An element.
    pub(super) fn get(&self, index: u64) -> T {
        let (page, within) = place(index);
        self.pages.get(page).and_then(Option::as_ref).map_or(self.initial, |page| page[within])
    }

    /// An element to be changed.
    pub(super) fn get_mut(&mut self, index: u64) -> &mut T {
        let (page, within) = place(index);
        &mut self.page_mut(page)[within]
    }

    fn page_mut(&mut self, page: usize) -> &mut [T] {
        if self.pages.len() <= page {
            self.pages.resize_with(page + 1, || None);
        }
        self.pages[page].get_or_insert_with(|| vec![self.initial; PAGE].into())
    }

    /// Whether all elements of the page around one are as they began.
    pub(super) fn is_untouched(&self, index: u64) -> bool {
        self.pages.get(place(index).0).is_none_or(Option::is_none)
    }

    /// The elements from one on, up to `count` and the end of their page, if the page is in use.
    pub(super) fn slice(&self, index: u64, count: u64) -> Option<&[T]> {
        let (page, within) = place(index);
        let page = self.pages.get(page)?.as_ref()?;
        Some(&page[within..PAGE.min(within.saturating_add(count as usize))])
    }

    /// As before, but in any case.
    pub(super) fn slice_mut(&mut self, index: u64, count: u64) -> &mut [T] {
        let (page, within) = place(index);
        &mut self.page_mut(page)[within..PAGE.min(within.saturating_add(count as usize))]
    }

    /// Elements from an index on that lie in its page, of `count`.
    pub(super) fn run(index: u64, count: u64) -> u64 {
        count.min(PAGE as u64 - index % PAGE as u64)
    }
}

/// The page of an element and its place there.
fn place(index: u64) -> (usize, usize) {
    ((index / PAGE as u64) as usize, (index % PAGE as u64) as usize)
}
