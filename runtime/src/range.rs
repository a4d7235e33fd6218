//! Ranges of device memory.

/// A range of device memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MemoryRange {
    /// Device address of the first byte.
    pub address: u64,
    /// Number of bytes.
    pub size: u64,
}
