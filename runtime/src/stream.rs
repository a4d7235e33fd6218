//! Streams: commands in order with each other, beside those of other streams.

use std::fmt;
use std::sync::Arc;

use crate::device::{Device, StreamState};
use crate::error::Error;
use crate::order::StreamKey;
use crate::range::MemoryRange;

/// A stream of launches, copies and sets, which take effect in the order of the calls. Commands of different streams may run side
/// by side, unless events order them. Clones share the stream; dropping the last one leaves what was asked for to be done.
///
/// The device's own methods, and those of its buffers and kernels, are in CUDA's legacy default stream: what they do comes after
/// everything before in streams made by [`Device::stream`], and what comes later in these comes after that. Streams made by
/// [`Device::non_blocking_stream`] have no part in this.
///
/// ```
/// use ptx2spv_runtime::{Config, Device};
///
/// let device = Device::reference(Config::default());
/// let (numbers, copies) = (device.alloc(64)?, device.alloc(64)?);
/// let (writing, copying) = (device.stream(), device.stream());
/// writing.write(numbers.address(), &[7; 64])?;
/// let written = device.event();
/// written.record(&writing)?;
/// copying.wait_event(&written)?;
/// copying.copy(numbers.address(), copies.address(), 64)?;
/// let mut bytes = [0; 64];
/// copying.read(copies.address(), &mut bytes)?;
/// assert_eq!(bytes, [7; 64]);
/// # Ok::<(), ptx2spv_runtime::Error>(())
/// ```
#[derive(Clone)]
pub struct Stream {
    device: Device,
    state: Arc<StreamState>,
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stream({:?})", self.state.key())
    }
}

impl Device {
    /// Makes a stream that is in order with the default stream, as `cuStreamCreate` does with `CU_STREAM_DEFAULT`.
    pub fn stream(&self) -> Stream {
        self.made_stream(true)
    }

    /// Makes a stream that is not in order with the default stream, as `cuStreamCreate` does with `CU_STREAM_NON_BLOCKING`.
    pub fn non_blocking_stream(&self) -> Stream {
        self.made_stream(false)
    }

    /// The legacy default stream, in which everything is that names no other.
    pub fn default_stream(&self) -> Stream {
        Stream { device: self.clone(), state: self.default_state().clone() }
    }

    fn made_stream(&self, blocking: bool) -> Stream {
        let key = StreamKey::Made { number: self.next_stream(), blocking };
        Stream { device: self.clone(), state: Arc::new(StreamState::new(key)) }
    }
}

impl Stream {
    /// The device that the stream belongs to.
    pub fn device(&self) -> &Device {
        &self.device
    }

    pub(crate) fn state(&self) -> &StreamState {
        &self.state
    }

    /// Writes bytes at an address. They are taken at the call, which doesn't wait for the device.
    ///
    /// # Errors
    /// Those of [`DeviceMemory::write`](crate::DeviceMemory::write).
    pub fn write(&self, address: u64, bytes: &[u8]) -> Result<(), Error> {
        if !self.device.check_range(address, bytes.len() as u64)? {
            return Ok(());
        }
        self.device.submit(&self.state, |backend, stream| backend.upload(stream, address, bytes))
    }

    /// Reads bytes from an address as everything before in the stream leaves them, and waits for that.
    ///
    /// # Errors
    /// Those of [`DeviceMemory::read`](crate::DeviceMemory::read).
    pub fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Error> {
        if self.device.check_range(address, bytes.len() as u64)? {
            self.device.wait_for_functions(&self.state)?;
            let after = self.device.reached(&self.state);
            self.device.backend().download(self.state.key(), after, address, bytes)?;
        }
        self.device.backend().check_stopped()
    }

    /// Copies `bytes` bytes between ranges that don't overlap.
    ///
    /// # Errors
    /// Those of [`DeviceMemory::copy`](crate::DeviceMemory::copy).
    pub fn copy(&self, from: u64, to: u64, bytes: u64) -> Result<(), Error> {
        if !self.device.check_range(from, bytes)? || !self.device.check_range(to, bytes)? {
            return Ok(());
        }
        if from.abs_diff(to) < bytes {
            return Err(Error::Overlap);
        }
        self.device.submit(&self.state, |backend, stream| backend.copy(stream, from, to, bytes))
    }

    /// Sets `count` bytes.
    ///
    /// # Errors
    /// Those of [`DeviceMemory::set_8`](crate::DeviceMemory::set_8).
    pub fn set_8(&self, address: u64, value: u8, count: u64) -> Result<(), Error> {
        self.set(address, u32::from_ne_bytes([value; 4]), 1, count)
    }

    /// Sets `count` numbers of 16 bits.
    ///
    /// # Errors
    /// Those of [`DeviceMemory::set_16`](crate::DeviceMemory::set_16).
    pub fn set_16(&self, address: u64, value: u16, count: u64) -> Result<(), Error> {
        self.set(address, u32::from(value) << 16 | u32::from(value), 2, count)
    }

    /// Sets `count` numbers of 32 bits.
    ///
    /// # Errors
    /// Those of [`DeviceMemory::set_32`](crate::DeviceMemory::set_32).
    pub fn set_32(&self, address: u64, value: u32, count: u64) -> Result<(), Error> {
        self.set(address, value, 4, count)
    }

    /// Sets `count` numbers of `width` bytes; `word` is what two or four of them give.
    fn set(&self, address: u64, word: u32, width: u64, count: u64) -> Result<(), Error> {
        if !address.is_multiple_of(width) {
            return Err(Error::Misaligned { address, alignment: width });
        }
        let size = count.saturating_mul(width);
        if !self.device.check_range(address, size)? {
            return Ok(());
        }
        self.device.submit(&self.state, |backend, stream| backend.fill(stream, MemoryRange { address, size }, word))
    }

    /// Has a function run on a thread of the device's when everything before in the stream has finished. What comes later in
    /// the stream begins when the function has returned; the call that asks for it waits for that. If the device is lost, the
    /// function is dropped.
    ///
    /// Functions of all streams run one after another. They may free what they own, but must not launch, copy or wait.
    ///
    /// # Errors
    /// [`Error::HostThread`] if there can be no thread, [`Error::DeviceLost`].
    pub fn call(&self, function: impl FnOnce() + Send + 'static) -> Result<(), Error> {
        self.device.add_function(&self.state, Box::new(function))
    }

    /// Whether everything in the stream has finished.
    ///
    /// # Errors
    /// [`Error::DeviceLost`].
    pub fn is_idle(&self) -> Result<bool, Error> {
        self.device.has_passed(self.device.position(&self.state))
    }

    /// Waits until everything in the stream has finished.
    ///
    /// # Errors
    /// Those of [`Device::synchronize`].
    pub fn synchronize(&self) -> Result<(), Error> {
        self.device.wait_until(self.device.position(&self.state))?;
        self.device.backend().check_stopped()
    }
}
