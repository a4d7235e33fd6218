//! Layout of the region that kernels print to, all in 32-bit words. It begins as zeros, and the reader clears the words
//! that it has read.

/// Size of the region in bytes, unless more is asked for: as much as CUDA has.
pub const BYTES: u64 = 1 << 20;
/// The most that it can have.
pub const MAX_BYTES: u64 = 1 << 30;
/// Offset of the word that counts the bytes asked for: the end of the records, if that is inside of the region.
pub const USED: u64 = 0;
/// Offset of the word that counts the records left out because the region was full.
pub const DROPPED: u64 = 4;
/// Offset of the first record. Each is its size in bytes (a multiple of 8), a zero, the address of the format
/// (64 bits), and the arguments as C lays them out in a struct. A size of 0 ends them.
pub const RECORDS: u64 = 16;
/// Bytes of a record before its arguments.
pub const HEADER: u64 = 16;
