//! Memory pools, which keep freed memory for later allocations.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, Weak};

use crate::backend::Backend;
use crate::backend::order::{Position, StreamKey};
use crate::backend::range::MemoryRange;
use crate::error::Result;
use crate::sync::lock;

/// A pool that streams allocate memory from. Clones share the pool. Freed memory is kept for the next allocation of the
/// same size, as long as the pool has less than its release threshold; otherwise it is returned to the device.
///
/// ```
/// use ptx2spv_runtime::{Config, Device};
///
/// let device = Device::reference(Config::default());
/// let (pool, stream) = (device.default_pool(), device.stream());
/// pool.set_release_threshold(1 << 20);
/// let address = stream.allocate(4096)?;
/// stream.set(address, 1_u8, 4096)?;
/// // SAFETY: no later command uses the memory.
/// unsafe { stream.free(address) }?;
/// assert_eq!(stream.allocate(4096)?, address);
/// assert_eq!((pool.usage().used, pool.usage().reserved), (4096, 4096));
/// # Ok::<(), ptx2spv_runtime::Error>(())
/// ```
#[derive(Clone)]
pub struct MemoryPool {
    shared: Arc<Shared>,
}

struct Shared {
    /// Weak, since pools don't keep the device open.
    backend: Weak<dyn Backend>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    release_threshold: u64,
    usage: PoolUsage,
    kept: Vec<Kept>,
}

/// Freed memory that the pool keeps.
struct Kept {
    range: MemoryRange,
    /// The stream in which it was freed, and the position there.
    stream: StreamKey,
    position: Position,
}

/// The memory of a pool, in bytes.
///
/// ```
/// use ptx2spv_runtime::{Config, Device};
///
/// let device = Device::reference(Config::default());
/// let stream = device.stream();
/// stream.allocate(4096)?;
/// assert_eq!(device.default_pool().usage().used, 4096);
/// # Ok::<(), ptx2spv_runtime::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolUsage {
    /// Bytes that streams have allocated and not freed.
    pub used: u64,
    /// The maximum of `used` so far.
    pub used_high: u64,
    /// Bytes in use and bytes kept.
    pub reserved: u64,
    /// The maximum of `reserved` so far.
    pub reserved_high: u64,
}

/// Allocations from pools by address, each with its pool and size.
#[derive(Default)]
pub(crate) struct Pooled(Mutex<HashMap<u64, (MemoryPool, u64)>>);

impl fmt::Debug for MemoryPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MemoryPool({:?})", self.usage())
    }
}

impl PoolUsage {
    fn add(&mut self, used: u64, reserved: u64) {
        self.used += used;
        self.reserved += reserved;
        self.used_high = self.used_high.max(self.used);
        self.reserved_high = self.reserved_high.max(self.reserved);
    }
}

impl Pooled {
    pub fn insert(&self, address: u64, pool: MemoryPool, size: u64) {
        lock(&self.0).insert(address, (pool, size));
    }

    /// Removes an allocation, and returns its pool and size.
    pub fn remove(&self, address: u64) -> Option<(MemoryPool, u64)> {
        lock(&self.0).remove(&address)
    }

    /// Removes an allocation whose memory returns to the device anyway.
    pub fn forget(&self, address: u64) {
        if let Some((pool, size)) = self.remove(address) {
            let usage = &mut lock(&pool.shared.state).usage;
            usage.used -= size;
            usage.reserved -= size;
        }
    }
}

impl MemoryPool {
    pub(crate) fn new(backend: &Arc<dyn Backend>) -> Self {
        Self { shared: Arc::new(Shared { backend: Arc::downgrade(backend), state: Mutex::default() }) }
    }

    /// Whether the pool belongs to a back end.
    pub(crate) fn is_on(&self, backend: &Arc<dyn Backend>) -> bool {
        self.shared.backend.upgrade().is_some_and(|own| Arc::ptr_eq(&own, backend))
    }

    /// The number of bytes that the pool may hold before freed memory is returned to the device.
    pub fn release_threshold(&self) -> u64 {
        lock(&self.shared.state).release_threshold
    }

    /// Sets the number of bytes that the pool may hold before freed memory is returned to the device.
    pub fn set_release_threshold(&self, bytes: u64) {
        lock(&self.shared.state).release_threshold = bytes;
    }

    /// The pool's memory.
    pub fn usage(&self) -> PoolUsage {
        lock(&self.shared.state).usage
    }

    /// Resets the maximum of the bytes in use to the current value.
    pub fn reset_used_high(&self) {
        let usage = &mut lock(&self.shared.state).usage;
        usage.used_high = usage.used;
    }

    /// Resets the maximum of the bytes in use and kept to the current value.
    pub fn reset_reserved_high(&self) {
        let usage = &mut lock(&self.shared.state).usage;
        usage.reserved_high = usage.reserved;
    }

    /// Returns kept memory, the oldest first, until the pool has at most `bytes` bytes or keeps nothing.
    pub fn trim_to(&self, bytes: u64) {
        self.shared.trim_to(bytes);
    }

    /// Takes kept memory of a size, which was freed in the same stream or at a point that the device has passed.
    pub(crate) fn take_kept(
        &self,
        stream: StreamKey,
        bytes: u64,
        has_passed: impl Fn(Position) -> Result<bool>,
    ) -> Result<Option<u64>> {
        let mut state = lock(&self.shared.state);
        for index in 0..state.kept.len() {
            let Kept { range, stream: freed_in, position } = state.kept[index];
            if range.size == bytes && (freed_in == stream || has_passed(position)?) {
                state.kept.remove(index);
                state.usage.add(bytes, 0);
                return Ok(Some(range.address));
            }
        }
        Ok(None)
    }

    /// Counts memory that was allocated for the pool.
    pub(crate) fn add(&self, bytes: u64) {
        lock(&self.shared.state).usage.add(bytes, bytes);
    }

    /// Keeps memory that was freed in a stream, as far as the release threshold allows.
    pub(crate) fn keep(&self, range: MemoryRange, stream: StreamKey, position: Position) {
        let threshold = {
            let mut state = lock(&self.shared.state);
            state.usage.used -= range.size;
            state.kept.push(Kept { range, stream, position });
            state.release_threshold
        };
        self.trim_to(threshold);
    }
}

impl Shared {
    fn trim_to(&self, bytes: u64) {
        let Some(backend) = self.backend.upgrade() else { return };
        let mut state = lock(&self.state);
        while state.usage.reserved > bytes && !state.kept.is_empty() {
            let MemoryRange { address, size } = state.kept.remove(0).range;
            state.usage.reserved -= size;
            backend.free(address);
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.trim_to(0);
    }
}
