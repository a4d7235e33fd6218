//! Memory in stream order: allocated and freed between a stream's commands.

use crate::error::Error;
use crate::pool::MemoryPool;
use crate::range::MemoryRange;
use crate::stream::Stream;

impl Stream {
    /// Allocates memory with undefined contents from the device's default pool, for what comes later in the stream, and for
    /// others that wait for this.
    ///
    /// # Errors
    /// [`Error::TooFar`], [`Error::BufferTooLarge`], [`Error::OutOfMemory`], [`Error::DeviceLost`].
    pub fn allocate(&self, bytes: u64) -> Result<u64, Error> {
        self.allocate_from(&self.device().default_pool(), bytes)
    }

    /// As [`Stream::allocate`], from a pool.
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
        let Some((pool, size)) = device.pooled().remove(address) else {
            // SAFETY: by the contract.
            return unsafe { device.memory().free(address) };
        };
        pool.keep(MemoryRange { address, size }, self.state().key(), device.position(self.state()));
        Ok(())
    }
}
