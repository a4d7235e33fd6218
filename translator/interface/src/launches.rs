//! Launches from kernels (CUDA's dynamic parallelism): requests of kernels to the host, for the time when their grid
//! has ended.
//!
//! The region begins with [`HEADER`] bytes, of which the words below are in use, zeros at first. Behind it lies a table that
//! kernels read, which is part of the variables' initial bytes, and after that the records. When a grid of a kernel with
//! [`Entry::launches`](crate::Entry::launches) has ended, the host reads as many records as [`USED`] says, but not more than there is room for, clears
//! the words, and does what the records with an order number above [`COMPLETED`] ask for, by rising numbers: first those for other streams than
//! [`TAIL_STREAM`], then those for it. A grid is complete, and the next one may begin, when all that its kernel has asked for is
//! complete, including their own launches. If blocks of the grid are suspended because they wait for their launches, the host does
//! what the records ask for but for tail launches, clears [`USED`] only, sets [`COMPLETED`] to what [`ORDER`] says, and dispatches the grid again;
//! what is launched in between begins with zeros in all three words, which get their values back then. Doing one after the other obeys all rules of streams and events.

use serde::{Deserialize, Serialize};

/// Shared memory of a block unless the host has raised the limit.
pub const SHARED_LIMIT: u32 = 48 << 10;

/// The region where kernels ask for launches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launches {
    /// Offset of the region in the variables' allocation in bytes, a multiple of 64.
    pub offset: u64,
    /// Size of the region in bytes.
    pub size: u64,
    /// Offset of the first record in the region, a multiple of 64.
    pub records: u64,
    /// Number of records: the launches that a grid can request.
    pub capacity: u32,
    /// Bytes of a record, a multiple of 64.
    pub record_bytes: u32,
    /// Offset in the region of [`ATTRIBUTES`] pairs of words that the host fills, if kernels ask: for each attribute of CUDA's
    /// devices, by its number, 1 if the device has it, and its value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attributes: Option<u64>,
    /// The module's kernels: a record has the number of one.
    pub kernels: Vec<Launched>,
}

/// A kernel that may be launched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launched {
    /// Its name.
    pub name: String,
    /// Its number among the functions of the table.
    pub function: u32,
}

impl Launches {
    /// Offset in the variables' allocation of a word of the table.
    pub fn word(&self, kernel: &Launched, word: Function) -> u64 {
        self.offset + HEADER + FUNCTION_BYTES * u64::from(kernel.function) + word.offset()
    }
}

/// The most launches that a grid can ask for, unless another number is chosen: as many as in CUDA.
pub const CAPACITY: u32 = 2048;
/// The most that can be chosen.
pub const MAX_CAPACITY: u32 = 1 << 20;

/// The number of attributes in the table.
pub const ATTRIBUTES: u32 = 160;
/// Bytes of the table of attributes.
pub const ATTRIBUTES_BYTES: u64 = 8 * ATTRIBUTES as u64;

/// Bytes before the table.
pub const HEADER: u64 = 64;
/// Offset of the word that counts the records asked for, which may be more than there are.
pub const USED: u64 = 0;
/// Offset of the word that counts the requests in records: the last order number.
pub const ORDER: u64 = 4;
/// Offset of the word that says up to which order number all is done. Only [`Entry::waits_for_launches`](crate::Entry::waits_for_launches) needs it.
pub const COMPLETED: u64 = 8;
/// Offset of the word that counts streams and events made so far; the host need not clear it.
pub const HANDLES: u64 = 12;

/// Bytes of the table for each function of the module, by rising numbers: see [`Function`].
pub const FUNCTION_BYTES: u64 = 4 * FUNCTION_WORDS as u64;
/// Words of the table for each function.
pub const FUNCTION_WORDS: u32 = 8;

/// Words of a function in the table. All are zero for functions that are not kernels, or whose address is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// The kernel's number in [`Launches::kernels`] plus one.
    Number,
    /// Most threads of a block.
    MaxThreads,
    /// Static shared memory in bytes, without the translator's own.
    SharedBytes,
    /// Local memory of a thread in bytes.
    LocalBytes,
    /// The block size that the kernel demands: x.
    RequiredX,
    /// y
    RequiredY,
    /// z
    RequiredZ,
    /// Most bytes of shared memory for a block, static and dynamic; the host may raise them.
    SharedLimit,
}

impl Function {
    /// The word's offset.
    pub fn offset(self) -> u64 {
        4 * self as u64
    }
}

/// Offsets in a record.
pub mod record {
    /// u32: its order number from 1; 0 if nothing is asked for.
    pub const ORDER: u64 = 0;
    /// u32: the kind of the request.
    pub const KIND: u64 = 4;
    /// u32: number of the kernel in [`super::Launches::kernels`].
    pub const KERNEL: u64 = 8;
    /// 3 × u32: blocks of the grid in x, y and z.
    pub const GRID: u64 = 12;
    /// 3 × u32: threads of a block in x, y and z.
    pub const BLOCK: u64 = 24;
    /// u32: bytes of dynamic shared memory.
    pub const DYNAMIC_SHARED: u64 = 36;
    /// u64: the stream.
    pub const STREAM: u64 = 40;
    /// The kernel's parameter block; or 9 × u64 for copies and fills: destination, its row pitch and slice pitch, source (or the byte),
    /// its row pitch and slice pitch, width, height, depth.
    pub const PARAMS: u64 = 64;
    /// Least bytes of a record.
    pub const LEAST: u64 = 192;
}

/// The kinds of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Kind {
    /// The launch of a kernel.
    Kernel = 0,
    /// A copy of bytes in rows of slices.
    Copy = 1,
    /// Setting such bytes.
    Fill = 2,
}

/// The stream whose launches come after all others, `cudaStreamTailLaunch`.
pub const TAIL_STREAM: u64 = 3;
/// The first number of streams and events that kernels make.
pub const FIRST_HANDLE: u64 = 256;
