//! A long array that only uses memory for the parts in use.

const PAGE: usize = 1024;

/// An array without end. Elements have the initial value until they are set.
#[derive(Debug)]
pub(super) struct Pages<T> {
    initial: T,
    pages: Vec<Option<Box<[T]>>>,
}

impl<T: Copy> Pages<T> {
    pub(super) fn new(initial: T) -> Self {
        Self { initial, pages: Vec::new() }
    }

    pub(super) fn get(&self, index: u64) -> T {
        let (page, within) = place(index);
        self.pages.get(page).and_then(Option::as_ref).map_or(self.initial, |page| page[within])
    }

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

    /// Whether the page of an element is unused.
    pub(super) fn is_untouched(&self, index: u64) -> bool {
        self.pages.get(place(index).0).is_none_or(Option::is_none)
    }

    /// The elements from an index on, up to `count` or the end of the page, if the page is in use.
    pub(super) fn slice(&self, index: u64, count: u64) -> Option<&[T]> {
        let (page, within) = place(index);
        let page = self.pages.get(page)?.as_ref()?;
        Some(&page[within..PAGE.min(within.saturating_add(count as usize))])
    }

    /// Like [`Pages::slice`], but creates a missing page.
    pub(super) fn slice_mut(&mut self, index: u64, count: u64) -> &mut [T] {
        let (page, within) = place(index);
        &mut self.page_mut(page)[within..PAGE.min(within.saturating_add(count as usize))]
    }

    /// The number of elements, up to `count`, from an index to the end of its page.
    pub(super) fn run(index: u64, count: u64) -> u64 {
        count.min(PAGE as u64 - index % PAGE as u64)
    }
}

/// The page of an element and the index in it.
fn place(index: u64) -> (usize, usize) {
    ((index / PAGE as u64) as usize, (index % PAGE as u64) as usize)
}
