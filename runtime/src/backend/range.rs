//! Ranges and rows of device memory, and its size.

use crate::error::Error;

/// A range of device memory.
///
/// ```
/// use ptx2spv_runtime::{Config, Device, MemoryRange};
///
/// let device = Device::reference(Config::default());
/// let buffer = device.alloc(256)?;
/// let found = device.memory().find(buffer.address() + 100);
/// assert_eq!(found, Some(MemoryRange { address: buffer.address(), size: 256 }));
/// # Ok::<(), ptx2spv_runtime::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryRange {
    /// Device address of the first byte.
    pub address: u64,
    /// Number of bytes.
    pub size: u64,
}

impl MemoryRange {
    /// Fails unless another range, which begins in this one, ends in it too.
    pub(crate) fn check(self, part: Self) -> Result<(), Error> {
        let (offset, len, size) = (part.address - self.address, part.size, self.size);
        if len > size.saturating_sub(offset) { Err(Error::OutOfRange { offset, len, size }) } else { Ok(()) }
    }
}

/// The memory size of a device.
///
/// ```
/// use ptx2spv_runtime::{Config, Device};
///
/// let info = Device::reference(Config::default()).memory().info();
/// assert!(info.free <= info.total);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryInfo {
    /// Free bytes as reported by the driver, or else the bytes that this program has not allocated.
    pub free: u64,
    /// Total bytes.
    pub total: u64,
}

/// Rows of device memory, `pitch` bytes apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rows {
    pub first: MemoryRange,
    pub count: u64,
    pub pitch: u64,
}

impl Rows {
    /// A single row.
    pub fn one(first: MemoryRange) -> Self {
        Self { first, count: 1, pitch: first.size }
    }

    /// The bytes from the first to the last one.
    pub fn span(self) -> MemoryRange {
        let size = self.count.saturating_sub(1) * self.pitch + self.first.size;
        MemoryRange { size, ..self.first }
    }

    /// The ranges of all rows.
    pub fn ranges(self) -> impl Iterator<Item = MemoryRange> {
        let Self { first: MemoryRange { address, size }, count, pitch } = self;
        (0..count).map(move |row| MemoryRange { address: address + row * pitch, size })
    }
}
