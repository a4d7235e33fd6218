//! What lies in the workspace of a cooperative launch, which begins as zeros but for [`PATIENCE`]. As long as blocks are
//! suspended, the host dispatches the grid again, which then goes on where it was.

/// Offset of the word by which blocks wait for each other, after one that tells CUDA's libraries the size of both.
pub const BARRIER: u64 = 4;
/// Offset of the word that counts the workgroups suspended at the end of a dispatch. The host clears it before each.
pub const SUSPENDED: u64 = 8;
/// Offset of the word that counts the workgroups that could do more in a dispatch than wait. The host may clear it.
pub const PROGRESS: u64 = 12;
/// Offset of the word that says how often waiting threads look again before their workgroup is suspended.
pub const PATIENCE: u64 = 16;
/// Offset of what the first workgroup saves, if workgroups can be suspended; those of the others follow, x fastest.
pub const BLOCKS: u64 = 64;
/// Bytes of a workgroup before its shared memory, after which its threads' words follow.
pub const BLOCK_HEADER: u64 = 16;
