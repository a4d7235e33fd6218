//! An allocator that counts, for programs that test the allocations of launches.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, which counts the allocations of each thread.
struct Counting;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    COUNT.set(COUNT.get() + 1);
}

// SAFETY: all is left to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: by the contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: by the contract.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: by the contract.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: by the contract.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Most rounds: a command buffer is made when more are in use than ever before, which happens at most 64 times.
const MOST: u32 = 100;

/// Repeats a round of launches until the thread allocates nothing in one, and returns the number of rounds. Panics if that
/// doesn't happen.
pub fn until_none<E>(what: &str, mut round: impl FnMut() -> Result<(), E>) -> Result<u32, E> {
    let mut counts = Vec::new();
    for rounds in 1..=MOST {
        let before = COUNT.get();
        round()?;
        match COUNT.get() - before {
            0 => return Ok(rounds),
            count => counts.push(count),
        }
    }
    panic!("{what}: {counts:?}")
}
