//! Allocating and freeing memory in stream order.

use crate::backend::range::MemoryRange;
use crate::device::pool::MemoryPool;
use crate::error::Error;
use crate::stream::Stream;

impl Stream {
    /// Allocates memory with undefined contents from the device's default pool, for later commands of this stream, and
    /// of other streams that wait for this one.
    ///
    /// # Errors
    /// [`Error::TooFar`], [`Error::BufferTooLarge`], [`Error::OutOfMemory`], [`Error::DeviceLost`].
    pub fn allocate(&self, bytes: u64) -> Result<u64, Error> {
        self.allocate_from(&self.device().default_pool(), bytes)
    }

    /// Like [`Stream::allocate`], from a given pool.
    ///
    /// # Errors
    /// [`Error::ForeignBuffer`] if the pool belongs to another device, [`Error::TooFar`], and those of [`Stream::allocate`].
    pub fn allocate_from(&self, pool: &MemoryPool, bytes: u64) -> Result<u64, Error> {
        let device = self.device();
        if !device.has_pool(pool) {
            return Err(Error::ForeignBuffer(device.info().name.clone()));
        }
        device.check_far("memory from a pool")?;
        let has_passed = |position| device.has_passed(position);
        let address = match pool.take_kept(self.state().key(), bytes, has_passed)? {
            Some(address) => address,
            None => {
                let address = device.backend().allocate(bytes)?;
                pool.add(bytes);
                address
            }
        };
        device.pooled().insert(address, pool.clone(), bytes);
        Ok(address)
    }

    /// Frees memory, given the address of its first byte, after all earlier work of the stream. Memory that is not from
    /// a pool is freed once the device has finished everything launched before.
    ///
    /// # Safety
    /// The memory was allocated through this type or [`DeviceMemory`](crate::DeviceMemory). No later command of the
    /// stream uses it, and no unfinished command of another stream does.
    ///
    /// # Errors
    /// [`Error::NotAllocated`] if no allocation begins at the address.
    pub unsafe fn free(&self, address: u64) -> Result<(), Error> {
        let device = self.device();
        device.backend().check_process()?;
        let Some((pool, size)) = device.pooled().remove(address) else {
            // SAFETY: by the contract.
            return unsafe { device.memory().free(address) };
        };
        pool.keep(MemoryRange { address, size }, self.state().key(), device.position(self.state()));
        Ok(())
    }
}
