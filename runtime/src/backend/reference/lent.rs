//! Host memory that the interpreter uses as device memory.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;
use std::slice;
use std::sync::atomic::AtomicU32;

/// The size of a page on most hosts.
const ALIGNMENT: usize = 4096;

/// Memory of whole words. It is freed when dropped, unless it belongs to the program.
pub(super) struct Lent {
    first: NonNull<AtomicU32>,
    words: usize,
    owner: Owner,
}

enum Owner {
    Heap(Layout),
    #[cfg(unix)]
    Mapping,
    Program,
}

// SAFETY: this code accesses the memory by atomic words only; the program is responsible for its own accesses.
unsafe impl Send for Lent {}
// SAFETY: as above.
unsafe impl Sync for Lent {}

/// The number of words for some bytes, if the host stores words in the device's byte order.
fn words_of(bytes: u64) -> Option<usize> {
    usize::try_from(bytes.div_ceil(4).max(1)).ok().filter(|_| cfg!(target_endian = "little"))
}

impl Lent {
    /// Zeroed memory on the heap; `None` if there is not enough.
    pub fn allocate(bytes: u64) -> Option<Self> {
        let words = words_of(bytes)?;
        let layout = Layout::array::<u32>(words).ok()?.align_to(ALIGNMENT).ok()?;
        // SAFETY: there is at least one word.
        let first = NonNull::new(unsafe { alloc_zeroed(layout) })?.cast();
        Some(Self { first, words, owner: Owner::Heap(layout) })
    }

    /// Zeroed memory at an address, unless that is already in use on the host.
    #[cfg(all(unix, target_pointer_width = "64"))]
    pub fn map_at(address: u64, bytes: u64) -> Option<Self> {
        use libc::{MAP_ANONYMOUS, MAP_NORESERVE, MAP_PRIVATE, PROT_READ, PROT_WRITE};
        let words = words_of(bytes)?;
        let (wanted, protection) = (std::ptr::with_exposed_provenance_mut(address as usize), PROT_READ | PROT_WRITE);
        let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
        // SAFETY: without MAP_FIXED the address is a hint, and existing mappings are not replaced.
        let found = unsafe { libc::mmap(wanted, 4 * words, protection, flags, -1, 0) };
        if found == libc::MAP_FAILED {
            return None;
        }
        // Dropped below if the mapping is at another address.
        let mapping = Self { first: NonNull::new(found)?.cast(), words, owner: Owner::Mapping };
        (mapping.address() == address).then_some(mapping)
    }

    /// Not supported on this host.
    #[cfg(not(all(unix, target_pointer_width = "64")))]
    pub fn map_at(_address: u64, _bytes: u64) -> Option<Self> {
        None
    }

    /// The program's own memory, if it is aligned to words.
    ///
    /// # Safety
    /// The memory, including the rest of its last word, exists and is readable and writable as long as this value.
    pub unsafe fn foreign(first: NonNull<u8>, bytes: u64) -> Option<Self> {
        let first = first.cast::<AtomicU32>();
        first.is_aligned().then_some(Self { first, words: words_of(bytes)?, owner: Owner::Program })
    }

    /// The host address of the first byte.
    pub fn address(&self) -> u64 {
        self.first.as_ptr().expose_provenance() as u64
    }

    /// The words.
    ///
    /// # Safety
    /// The words are not used after this value is dropped.
    pub unsafe fn words(&self) -> &'static [AtomicU32] {
        // SAFETY: `words` words exist, by the contract of the constructors and of this method.
        unsafe { slice::from_raw_parts(self.first.as_ptr(), self.words) }
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        match self.owner {
            // SAFETY: the memory was allocated with this layout, and is no longer used.
            Owner::Heap(layout) => unsafe { dealloc(self.first.as_ptr().cast(), layout) },
            #[cfg(unix)]
            Owner::Mapping => {
                // SAFETY: the mapping was made above, and is no longer used. Unmapping an existing mapping doesn't
                // fail.
                unsafe { libc::munmap(self.first.as_ptr().cast(), 4 * self.words) };
            }
            Owner::Program => {}
        }
    }
}
