//! The table of live allocations, for kernels that check their accesses: at [`STEP`] a u32, and from [`ENTRIES`] on an entry for each,
//! sorted by address. The first entry is empty and at address 0. The number of entries is a power of two: others, empty and at the
//! last address, follow those of allocations.

/// Offset of the step that a search by halving begins with: bytes of half of the entries, or 0 if there is only one.
pub const STEP: u64 = 0;
/// Offset of the first entry.
pub const ENTRIES: u64 = 16;
/// Bytes of an entry: the address and the size, of 64 bits each.
pub const ENTRY: u64 = 16;
