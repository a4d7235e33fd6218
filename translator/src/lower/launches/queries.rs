//! Memory of the heap, and what the thread's last error was.

use super::{ERROR, Site, clear_error, error, store_long};
use crate::interface::MemoryRegion;
use crate::ir::{Builder, Value};
use crate::lower::heap;

/// `cudaMalloc`
pub fn allocate(b: &mut Builder<'_>, region: MemoryRegion, place: Value, size: Value) -> Value {
    let found = heap::allocate(b, region, size);
    store_long(b, place, found);
    let there = b.is_nonzero(found);
    let [none, wrong] = [error::NONE, error::OUT_OF_MEMORY].map(|code| b.i32(code));
    b.select(there, none, wrong)
}

/// `cudaFree`
pub fn free(b: &mut Builder<'_>, region: MemoryRegion, pointer: Value) -> Value {
    heap::free(b, region, pointer);
    b.i32(error::NONE)
}

/// `cudaGetLastError`, which forgets it, and `cudaPeekAtLastError`.
pub fn last_error(b: &mut Builder<'_>, site: &Site, forgets: bool) -> Value {
    let place = b.i32(site.last_error);
    let error = b.load_one(ERROR, place);
    if forgets {
        clear_error(b, site.last_error);
    }
    error
}
