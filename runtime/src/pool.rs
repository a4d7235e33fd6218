//! Memory in stream order: allocated and freed between a stream's commands, from pools that keep what was freed for the next.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use crate::device::{Device, Position, WeakDevice};
use crate::error::Error;
use crate::order::StreamKey;
use crate::range::MemoryRange;
use crate::stream::Stream;
use crate::sync::lock;

/// Where streams allocate memory from. Clones share the pool. Memory that is freed goes back to the device, unless the pool has
/// less than its release threshold: then it is kept for the next allocation of that size.
///
/// ```
/// use ptx2spv_runtime::{Config, Device};
///
/// let device = Device::reference(Config::default());
/// let (pool, stream) = (device.default_pool(), device.stream());
/// pool.set_release_threshold(1 << 20);
/// let address = stream.allocate(4096)?;
/// stream.set_8(address, 1, 4096)?;
/// // SAFETY: nothing comes later that uses the memory.
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
    device: WeakDevice,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    release_threshold: u64,
    usage: PoolUsage,
    kept: Vec<Kept>,
}

/// Memory that was freed, and that the pool has kept.
struct Kept {
    range: MemoryRange,
    /// Where it was freed.
    stream: StreamKey,
    position: Position,
}

/// How much memory a pool has, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolUsage {
    /// What streams have allocated and not freed.
    pub used: u64,
    /// The most there was of that.
    pub used_high: u64,
    /// What streams have allocated, and what the pool has kept.
    pub reserved: u64,
    /// The most there was of that.
    pub reserved_high: u64,
}

/// What was allocated from pools, by address: from which, and how much.
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
    /// Forgets an allocation that goes back to the device by itself.
    pub fn forget(&self, address: u64) {
        let removed = lock(&self.0).remove(&address);
        if let Some((pool, size)) = removed {
            let usage = &mut lock(&pool.shared.state).usage;
            usage.used -= size;
            usage.reserved -= size;
        }
    }
}

impl Device {
    /// The pool that streams allocate from if no other is named.
    pub fn default_pool(&self) -> MemoryPool {
        self.first_pool(|| self.pool())
    }

    /// Makes a pool with a release threshold of zero.
    pub fn pool(&self) -> MemoryPool {
        MemoryPool { shared: Arc::new(Shared { device: self.downgrade(), state: Mutex::default() }) }
    }
}

impl MemoryPool {
    /// How many bytes the pool may have without giving back what is freed.
    pub fn release_threshold(&self) -> u64 {
        lock(&self.shared.state).release_threshold
    }

    /// Sets how many bytes the pool may have without giving back what is freed.
    pub fn set_release_threshold(&self, bytes: u64) {
        lock(&self.shared.state).release_threshold = bytes;
    }

    /// How much memory the pool has.
    pub fn usage(&self) -> PoolUsage {
        lock(&self.shared.state).usage
    }

    /// Has the high marks of the usage begin again at what there is now.
    pub fn reset_highs(&self) {
        let usage = &mut lock(&self.shared.state).usage;
        (usage.used_high, usage.reserved_high) = (usage.used, usage.reserved);
    }

    /// Gives back what is kept, the oldest first, until the pool has no more than so many bytes, or keeps nothing.
    pub fn trim_to(&self, bytes: u64) {
        self.shared.trim_to(bytes);
    }

    /// Takes memory of a size that was freed earlier in the stream, or that the device has finished with.
    fn take_kept(&self, stream: &Stream, bytes: u64) -> Result<Option<u64>, Error> {
        let mut state = lock(&self.shared.state);
        for index in 0..state.kept.len() {
            let Kept { range, stream: freed_in, position } = state.kept[index];
            let fits = range.size == bytes;
            if fits && (freed_in == stream.state().key() || stream.device().has_passed(position)?) {
                state.kept.remove(index);
                state.usage.add(bytes, 0);
                return Ok(Some(range.address));
            }
        }
        Ok(None)
    }
}

impl Shared {
    fn trim_to(&self, bytes: u64) {
        let Some(device) = self.device.upgrade() else { return };
        let mut state = lock(&self.state);
        while state.usage.reserved > bytes && !state.kept.is_empty() {
            let MemoryRange { address, size } = state.kept.remove(0).range;
            state.usage.reserved -= size;
            device.backend().free(address);
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.trim_to(0);
    }
}

impl Stream {
    /// Allocates memory with undefined contents from the device's default pool, for what comes later in the stream, and for
    /// others that wait for this.
    ///
    /// # Errors
    /// [`Error::BufferTooLarge`], [`Error::OutOfMemory`], [`Error::DeviceLost`].
    pub fn allocate(&self, bytes: u64) -> Result<u64, Error> {
        self.allocate_from(&self.device().default_pool(), bytes)
    }

    /// As [`Stream::allocate`], from a pool.
    ///
    /// # Errors
    /// [`Error::ForeignBuffer`] if the pool belongs to another device, and those of [`Stream::allocate`].
    pub fn allocate_from(&self, pool: &MemoryPool, bytes: u64) -> Result<u64, Error> {
        let device = self.device();
        device.check_same(&pool.shared.device.upgrade().ok_or(Error::DeviceLost)?)?;
        let address = match pool.take_kept(self, bytes)? {
            Some(address) => address,
            None => {
                let address = device.backend().allocate(bytes)?;
                lock(&pool.shared.state).usage.add(bytes, bytes);
                address
            }
        };
        lock(&device.pooled().0).insert(address, (pool.clone(), bytes));
        Ok(address)
    }

    /// Frees memory by the address of its first byte when everything before in the stream has finished. Memory that came from no
    /// pool is freed once the device has finished everything launched before.
    ///
    /// # Safety
    /// It was allocated through this type or [`DeviceMemory`](crate::DeviceMemory), and nothing that uses it comes later in the
    /// stream, or is still to finish in others.
    ///
    /// # Errors
    /// [`Error::NotAllocated`] if no allocation begins at the address.
    pub unsafe fn free(&self, address: u64) -> Result<(), Error> {
        let device = self.device();
        device.backend().check_process()?;
        let Some((pool, size)) = lock(&device.pooled().0).remove(&address) else {
            // SAFETY: by the contract.
            return unsafe { device.memory().free(address) };
        };
        let range = MemoryRange { address, size };
        let threshold = {
            let mut state = lock(&pool.shared.state);
            state.usage.used -= size;
            state.kept.push(Kept { range, stream: self.state().key(), position: device.position(self.state()) });
            state.release_threshold
        };
        pool.trim_to(threshold);
        Ok(())
    }
}
