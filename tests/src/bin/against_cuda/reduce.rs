//! Reduces a kernel whose results differ.

use super::straight::Straight;

/// Removes lines, first many at once, then one by one, as long as `differs` holds.
pub fn reduce(kernel: Straight, mut differs: impl FnMut(&Straight) -> bool) -> Straight {
    let mut kernel = kernel;
    let mut size = kernel.lines.len() / 2;
    while size > 0 {
        let mut start = 0;
        while start < kernel.lines.len() {
            let mut smaller = kernel.clone();
            smaller.lines.drain(start..kernel.lines.len().min(start + size));
            if differs(&smaller) {
                kernel = smaller;
            } else {
                start += size;
            }
        }
        size /= 2;
    }
    kernel
}
