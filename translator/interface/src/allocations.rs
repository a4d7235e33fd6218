//! The table of live allocations, for kernels that check their accesses: their number in 64 bits, and from
//! [`ENTRIES`] on an entry for each, sorted by address. The first entry is empty and at address 0.

/// Offset of the first entry.
pub const ENTRIES: u64 = 16;
/// Bytes of an entry: the address and the size, of 64 bits each.
pub const ENTRY: u64 = 16;
