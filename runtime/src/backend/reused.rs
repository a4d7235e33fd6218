//! Short-lived byte buffers whose memory each thread keeps for the next one.

use std::cell::RefCell;
use std::ops::{Deref, DerefMut};

/// How many buffers a thread keeps.
const KEPT: usize = 4;

thread_local! {
    static SPARE: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// A byte buffer. It needs no allocation if the thread had one of this size before.
pub(crate) struct ReusedBytes(Vec<u8>);

impl ReusedBytes {
    /// A buffer of `count` zeroes.
    pub fn zeroes(count: usize) -> Self {
        let spare = SPARE.try_with(|spare| spare.borrow_mut().pop()).ok().flatten();
        let mut bytes = spare.unwrap_or_default();
        bytes.clear();
        bytes.resize(count, 0);
        Self(bytes)
    }
}

impl Deref for ReusedBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl DerefMut for ReusedBytes {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

impl Drop for ReusedBytes {
    fn drop(&mut self) {
        let bytes = std::mem::take(&mut self.0);
        // At the end of the thread the list may already be gone.
        let _ = SPARE.try_with(|spare| {
            let mut spare = spare.borrow_mut();
            if spare.len() < KEPT {
                spare.push(bytes);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_used_again_and_zero() {
        let mut first = ReusedBytes::zeroes(100);
        first.fill(7);
        let place = first.as_ptr();
        drop(first);
        let (second, third) = (ReusedBytes::zeroes(90), ReusedBytes::zeroes(90));
        assert_eq!((second.as_ptr(), &*second, &*third), (place, &[0; 90][..], &[0; 90][..]));
    }
}
