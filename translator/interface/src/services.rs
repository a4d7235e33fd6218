//! Memory that kernels share beside their variables: for reports, counters, printed output, allocations and launches.

use serde::{Deserialize, Serialize};

use crate::{heap, launches, output};

/// A record in the variables' allocation where kernels report faults, for the host to look at when they have finished:
/// [`Status::WORDS`] words of 32 bits. The first report stays until the host clears them all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// Offset in the variables' allocation in bytes, a multiple of 4.
    pub offset: u64,
}

impl Status {
    /// Nothing went wrong: the content of the first word where it holds no [`ptx2spv_target::Fault::code`]. The initial
    /// value.
    pub const FINE: u32 = 0;
    /// Words of the record.
    pub const WORDS: u32 = 16;
    /// Size of the record in bytes.
    pub const SIZE: u64 = 4 * Self::WORDS as u64;
    /// The word with the kernel's [`Entry::number`](crate::Entry::number).
    pub const KERNEL: u32 = 1;
    /// The word with the place's index into [`Entry::reports`](crate::Entry::reports).
    pub const PLACE: u32 = 2;
    /// The first word of the fault's details ([`ptx2spv_target::Fault::Assertion`]).
    pub const DETAILS: u32 = 3;
}

/// A place in the variables' allocation where kernels count how often warps have executed `pmevent`, for each event:
/// [`Counters::COUNT`] words of 64 bits, which begin as zeros. They grow until the host clears them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Offset in the variables' allocation in bytes, a multiple of 8.
    pub offset: u64,
}

impl Counters {
    /// The number of events. CUDA keeps those from 8 on for itself.
    pub const COUNT: u32 = 16;
    /// Size of the counters in bytes.
    pub const SIZE: u64 = 8 * Self::COUNT as u64;
}

/// A part of the variables' allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryRegion {
    /// Offset in the variables' allocation in bytes, a multiple of 16.
    pub offset: u64,
    /// Size in bytes, a multiple of 16.
    pub size: u64,
}

ptx2spv_target::options! {
    /// Sizes of the device memory for kernels' printed output, allocations and launches.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    ServiceSizes {
        /// Bytes of the heap that `malloc` takes from: rounded up to a power of two, [`heap::BYTES`] to [`heap::MAX_BYTES`].
        heap: u64 = heap::BYTES,
        /// Bytes of the region that `printf` writes to: rounded up to a multiple of 16, 1 KiB to [`output::MAX_BYTES`].
        output: u64 = output::BYTES,
        /// The most launches that the kernel of one grid can ask for: 1 to [`launches::MAX_CAPACITY`].
        launches: u32 = launches::CAPACITY,
    }
}

impl ServiceSizes {
    /// The sizes that there can be, for those asked for.
    #[must_use]
    pub fn rounded(self) -> Self {
        let output = self.output.clamp(1 << 10, output::MAX_BYTES).next_multiple_of(16);
        let launches = self.launches.clamp(1, launches::MAX_CAPACITY);
        Self { heap: heap::rounded(self.heap), output, launches }
    }
}
