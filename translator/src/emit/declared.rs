//! Declarations that all entries of a module share, by their ids.

use rspirv::spirv::{BuiltIn, Word};
use rustc_hash::FxHashMap;

/// Declarations that all entries of a module share.
#[derive(Default)]
pub(super) struct Launch {
    /// Specialization constants of the workgroup's size.
    pub(super) block_size: [Word; 3],
    /// Specialization constants of the block's size, for entries whose threads aren't invocations of their own.
    pub(super) ntid: [Word; 3],
    /// Specialization constant of the shared memory's size in bytes.
    pub(super) shared_bytes: Word,
    /// Specialization constant of the size of its dynamic part, once something reads the size.
    pub(super) dynamic_shared_bytes: Option<Word>,
    pub(super) texture_bits: Option<Word>,
    /// The condition for memory barriers, once a statement orders memory.
    pub(super) memory_barriers: Option<Word>,
    /// Input variables by their built-ins.
    pub(super) inputs: FxHashMap<BuiltIn, Word>,
}

/// Variables of shared memory, common to all entries: its size is a specialization constant.
#[derive(Default)]
pub(super) struct SharedMemory {
    /// Arrays and blocks by element type and whether they are blocks.
    pub(super) variables: FxHashMap<(Word, bool), Word>,
    /// Size in bytes, at least one granule.
    pub(super) bytes: Word,
    /// Lengths in elements by the element's size in bytes.
    pub(super) lengths: FxHashMap<u32, Word>,
    /// A word beside them, once there is one.
    pub(super) fence: Word,
}

#[derive(Clone, Copy)]
pub(super) struct ImageTable {
    pub(super) variable: Word,
    /// The type of an image with its sampler, and that of pointers to one.
    pub(super) element: Word,
    pub(super) pointer: Word,
}
