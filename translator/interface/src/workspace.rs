//! The layout of the workspace of a launch: a cooperative one, one whose kernel waits for its own launches, or one
//! whose threads are suspended in [long loops](crate::LoopSuspension). As long as any threads are suspended, the host
//! dispatches the grid again, which then goes on where it was.
//!
//! The workspace of a cooperative launch begins as zeros but for [`PATIENCE`]. In the workspaces of the others, only
//! the words below have to be set.

/// Offset of the word by which blocks wait for each other, after one that tells CUDA's libraries the size of both.
pub const BARRIER: u64 = 4;
/// Offset of the word that counts the workgroups suspended at the end of a dispatch, or the threads that are suspended in
/// long loops. The host clears it before each.
pub const SUSPENDED: u64 = 8;
/// Offset of the word that counts the workgroups that could do more in a dispatch than wait. The host may clear it.
pub const PROGRESS: u64 = 12;
/// Offset of the word that says how often waiting threads look again before their workgroup is suspended.
pub const PATIENCE: u64 = 16;
/// Offset of the word that says how many rounds of loops a thread may do in a dispatch: see [`crate::LoopSuspension`].
pub const ROUNDS: u64 = 20;
/// Offset of the word that counts the dispatches before this one, where threads are suspended in long loops.
pub const DISPATCH: u64 = 24;
/// Offset of the first workgroup's saved state, if workgroups can be suspended; the states of the others follow, x
/// fastest.
pub const BLOCKS: u64 = 64;
/// A workgroup's shared memory takes a multiple of this many bytes.
pub const ALIGN: u32 = 16;
/// Bytes of a workgroup before its shared memory, after which its threads' words follow.
pub const BLOCK_HEADER: u64 = 16;
