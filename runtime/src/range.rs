//! Ranges of device memory, and how much of that there is.

/// A range of device memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryRange {
    /// Device address of the first byte.
    pub address: u64,
    /// Number of bytes.
    pub size: u64,
}

/// How much memory a device has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryInfo {
    /// Bytes that are free, as far as the driver tells; else those that this program has not allocated.
    pub free: u64,
    /// Bytes in all.
    pub total: u64,
}
