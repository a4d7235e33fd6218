//! The words of shared memory in which threads count their arrivals at named barriers.

/// Warps that a block may have.
pub const WARPS: u32 = 32;

/// Words for the whole workgroup.
pub mod head {
    /// Not zero if a thread can go on without a barrier.
    pub const READY: u32 = 0;
    /// The bit of the cluster's barrier if that barrier is complete.
    pub const COMPLETE: u32 = 1;
    /// The verdict on another iteration: [`super::GO_ON`] and so on.
    pub const VERDICT: u32 = 2;
    /// Notes of threads on the memory that they poll, and on a thread without rounds left: bits of [`super::GLOBAL`],
    /// [`super::SHARED`] and [`super::PAUSED`].
    pub const NOTES: u32 = 3;
    /// Number of these words.
    pub const WORDS: u32 = 4;
}

/// Words of a block, before those of its barriers.
pub mod block {
    /// Threads that have left the kernel, and those missing from the last warp.
    pub const GONE: u32 = 0;
    /// One bit for each barrier that is complete.
    pub const COMPLETE: u32 = 1;
    /// Number of these words.
    pub const WORDS: u32 = 2;
}

/// Words of a barrier's record.
pub mod field {
    pub const ARRIVED: u32 = 0;
    /// The number of threads that the barrier waits for, rounded up to whole warps; zero while no thread has arrived.
    pub const EXPECTED: u32 = 1;
    /// One bit for each warp that has arrived with at least one thread.
    pub const SEEN: u32 = 2;
    /// The sum of the votes of a reduction.
    pub const VOTES: u32 = 3;
    /// The sum at the last completion of the barrier.
    pub const RESULT: u32 = 4;
    /// Number of these words.
    pub const WORDS: u32 = 5;
}

/// In [`field::EXPECTED`]: the barrier is used for a reduction.
pub const REDUCES: u32 = 1 << 31;

/// In [`head::NOTES`]: a thread polls global memory, which other blocks and the host change.
pub const GLOBAL: u32 = 1;

/// In [`head::NOTES`]: a thread polls memory that only its own block changes.
pub const SHARED: u32 = 2;

/// In [`head::NOTES`]: a thread has no rounds left in this dispatch.
pub const PAUSED: u32 = 4;

/// In [`head::NOTES`]: a thread that polls has stored something since it polled before.
pub const WORKED: u32 = 8;

/// There is another iteration.
pub const GO_ON: u32 = 0;
/// All threads have left.
pub const END: u32 = 1;
/// No thread can go on, or which thread can is undecidable.
pub const STUCK: u32 = 2;
/// The block is suspended.
pub const SUSPENDED: u32 = 3;

/// The barriers that have records.
#[derive(Clone, Copy)]
pub struct Layout {
    /// Blocks of the workgroup.
    pub blocks: u32,
    /// Number of a block's barriers: the highest that is used, plus one, and those of its warpgroups, which come last.
    pub barriers: u32,
    /// Whether the kernel uses the cluster's barrier.
    pub cluster: bool,
    /// Whether one of the barriers has a count of threads.
    pub counted: bool,
}

impl Layout {
    /// Words before those of the first block.
    pub fn head_words(self) -> u32 {
        head::WORDS + if self.cluster { field::WORDS } else { 0 }
    }

    pub fn block_words(self) -> u32 {
        block::WORDS + self.barriers * field::WORDS + if self.counted { WARPS } else { 0 }
    }

    pub fn words(self) -> u32 {
        self.head_words() + self.blocks * self.block_words()
    }
}
