//! Memory of the host's that the interpreter uses as memory of the device's.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;
use std::slice;
use std::sync::atomic::AtomicU32;

/// As much as a page has on most hosts.
const ALIGNMENT: usize = 4096;

/// Memory of whole words, freed when dropped unless it is the program's.
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

// SAFETY: all access to the memory is by atomic words here; elsewhere the program vouches for its own.
unsafe impl Send for Lent {}
// SAFETY: as above.
unsafe impl Sync for Lent {}

/// The words of so many bytes, if the host's words have the bytes in the device's order.
fn words_of(bytes: u64) -> Option<usize> {
    usize::try_from(bytes.div_ceil(4).max(1)).ok().filter(|_| cfg!(target_endian = "little"))
}

impl Lent {
    /// Zeroes on the heap; `None` if there is no room.
    pub fn allocate(bytes: u64) -> Option<Self> {
        let words = words_of(bytes)?;
        let layout = Layout::array::<u32>(words).ok()?.align_to(ALIGNMENT).ok()?;
        // SAFETY: there is at least one word.
        let first = NonNull::new(unsafe { alloc_zeroed(layout) })?.cast();
        Some(Self { first, words, owner: Owner::Heap(layout) })
    }

    /// Zeroes at an address, unless the host has something else there.
    #[cfg(all(unix, target_pointer_width = "64"))]
    pub fn map_at(address: u64, bytes: u64) -> Option<Self> {
        use libc::{MAP_ANONYMOUS, MAP_NORESERVE, MAP_PRIVATE, PROT_READ, PROT_WRITE};
        let words = words_of(bytes)?;
        let (wanted, protection) = (std::ptr::with_exposed_provenance_mut(address as usize), PROT_READ | PROT_WRITE);
        let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
        // SAFETY: without MAP_FIXED the address is a wish, and nothing that is there is replaced.
        let found = unsafe { libc::mmap(wanted, 4 * words, protection, flags, -1, 0) };
        if found == libc::MAP_FAILED {
            return None;
        }
        // Freed below if it is somewhere else.
        let mapping = Self { first: NonNull::new(found)?.cast(), words, owner: Owner::Mapping };
        (mapping.address() == address).then_some(mapping)
    }

    /// No host of this kind maps memory at an address.
    #[cfg(not(all(unix, target_pointer_width = "64")))]
    pub fn map_at(_address: u64, _bytes: u64) -> Option<Self> {
        None
    }

    /// The program's own memory, if it begins with a word.
    ///
    /// # Safety
    /// The memory is there, readable and writable, as long as this is used; so is the rest of its last word.
    pub unsafe fn foreign(first: NonNull<u8>, bytes: u64) -> Option<Self> {
        let first = first.cast::<AtomicU32>();
        first.is_aligned().then_some(Self { first, words: words_of(bytes)?, owner: Owner::Program })
    }

    /// The host's address of the first byte.
    pub fn address(&self) -> u64 {
        self.first.as_ptr().expose_provenance() as u64
    }

    /// The words.
    ///
    /// # Safety
    /// They are not used any more when this is dropped.
    pub unsafe fn words(&self) -> &'static [AtomicU32] {
        // SAFETY: so many words are there, by the contracts of whoever made this and of the caller.
        unsafe { slice::from_raw_parts(self.first.as_ptr(), self.words) }
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        match self.owner {
            // SAFETY: the memory was allocated with this layout, and nobody uses it any more.
            Owner::Heap(layout) => unsafe { dealloc(self.first.as_ptr().cast(), layout) },
            #[cfg(unix)]
            Owner::Mapping => {
                // SAFETY: the mapping is ours, and nobody uses it any more. Unmapping what is mapped doesn't fail.
                unsafe { libc::munmap(self.first.as_ptr().cast(), 4 * self.words) };
            }
            Owner::Program => {}
        }
    }
}
