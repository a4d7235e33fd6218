//! Streams: commands in order within a stream, concurrent with those of other streams.

pub(crate) mod event;

use std::cell::RefCell;
use std::fmt;
use std::sync::{Arc, Weak};
use std::time::Duration;

use crate::backend::order::{StreamKey, StreamState};
use crate::backend::range::{MemoryRange, Rows};
use crate::backend::shape::{Extent, Pitches, Shape};
use crate::device::Device;
use crate::device::pool::MemoryPool;
use crate::error::{Error, Result};

/// A stream of launches, copies and fills, which take effect in the order of the calls. Commands of different streams
/// may run concurrently, unless events order them. Clones share the stream. After the last one is dropped, submitted
/// work still completes.
///
/// Methods of the device, its buffers and kernels use CUDA's legacy default stream. It is ordered with all streams made
/// by [`Device::stream`]: a command of the default stream waits for their earlier commands, and their later commands
/// wait for it. Streams made by [`Device::non_blocking_stream`] are independent of it. [`Device::thread_stream`] gives
/// each thread a default stream of its own.
///
/// Streams are spread over the device's queues, at most eight, so that a device with several queues runs their commands
/// concurrently.
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

ptx2spv_translator::target::options! {
    /// Options of a new stream.
    ///
    /// ```
    /// use ptx2spv_runtime::{Config, Device, StreamOptions};
    ///
    /// let device = Device::reference(Config::default());
    /// let stream = device.stream_with(StreamOptions::default().urgent(true));
    /// assert!(stream.is_idle()?);
    /// # Ok::<(), ptx2spv_runtime::Error>(())
    /// ```
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    StreamOptions {
        /// Whether the stream is independent of the default stream.
        non_blocking: bool = false,
        /// Whether the device should prefer the stream's commands: a hint, for devices with several queues.
        urgent: bool = false,
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stream({:?})", self.state.key())
    }
}

impl Device {
    /// Creates a stream that is ordered with the default stream, like `cuStreamCreate` with `CU_STREAM_DEFAULT`.
    pub fn stream(&self) -> Stream {
        self.stream_with(StreamOptions::default())
    }

    /// Creates a stream that is independent of the default stream, like `cuStreamCreate` with `CU_STREAM_NON_BLOCKING`.
    pub fn non_blocking_stream(&self) -> Stream {
        self.stream_with(StreamOptions::default().non_blocking(true))
    }

    /// Creates a stream with options, like `cuStreamCreateWithPriority`.
    pub fn stream_with(&self, options: StreamOptions) -> Stream {
        let StreamOptions { non_blocking, urgent } = options;
        let key = StreamKey::Made { number: self.next_stream(), blocking: !non_blocking, urgent };
        Stream { device: self.clone(), state: Arc::new(StreamState::new(key)) }
    }

    /// The legacy default stream, which calls without a stream use.
    pub fn default_stream(&self) -> Stream {
        Stream { device: self.clone(), state: self.default_state().clone() }
    }
}

thread_local! {
    /// The streams of this thread, with the default streams of their devices, which identify the devices.
    static OWN: RefCell<Vec<(Weak<StreamState>, Arc<StreamState>)>> = const { RefCell::new(Vec::new()) };
}

impl Device {
    /// The default stream of the calling thread, like CUDA's `CU_STREAM_PER_THREAD` and `--default-stream per-thread`.
    /// Every call of a thread returns the same stream, and each thread has its own. Streams of different threads are
    /// independent of each other, but each is ordered with the legacy default stream.
    ///
    /// ```
    /// use ptx2spv_runtime::{Config, Device};
    ///
    /// let device = Device::reference(Config::default());
    /// let numbers = device.alloc(64)?;
    /// device.thread_stream().set(numbers.address(), 7_u32, 16)?;
    /// // It is the same stream, so that this comes after.
    /// device.thread_stream().set(numbers.address(), 9_u32, 1)?;
    /// // The legacy default stream, in which this is, comes after both.
    /// assert_eq!(numbers.download::<u32>()?[..2], [9, 7]);
    /// # Ok::<(), ptx2spv_runtime::Error>(())
    /// ```
    pub fn thread_stream(&self) -> Stream {
        let device = Arc::downgrade(self.default_state());
        let find = |own: &RefCell<Vec<(Weak<StreamState>, Arc<StreamState>)>>| {
            let mut own = own.borrow_mut();
            own.retain(|(device, _)| device.strong_count() > 0);
            if let Some((_, state)) = own.iter().find(|(other, _)| other.ptr_eq(&device)) {
                return state.clone();
            }
            let state = self.stream().state;
            own.push((device.clone(), state.clone()));
            state
        };
        // Without thread-local variables, at the end of the thread, the default stream follows the thread's earlier work.
        let state = OWN.try_with(find).unwrap_or_else(|_| self.default_state().clone());
        Stream { device: self.clone(), state }
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

    /// Writes bytes at an address. They are read during the call, which doesn't wait for the device.
    ///
    /// # Errors
    /// The errors of [`DeviceMemory::write`](crate::DeviceMemory::write).
    pub fn write(&self, address: u64, bytes: &[u8]) -> Result {
        if !self.device.check_range(address, bytes.len() as u64)? {
            return Ok(());
        }
        let shape = Shape::linear(bytes.len() as u64);
        self.device.submit(&self.state, |backend, stream| backend.upload(stream, address, &shape, bytes))
    }

    /// Reads bytes from an address, after all earlier work of the stream, and waits for that.
    ///
    /// # Errors
    /// The errors of [`DeviceMemory::read`](crate::DeviceMemory::read).
    pub fn read(&self, address: u64, bytes: &mut [u8]) -> Result {
        if self.device.check_range(address, bytes.len() as u64)? {
            return self.download(address, &Shape::linear(bytes.len() as u64), bytes);
        }
        self.device.backend().check_stopped()
    }

    /// Copies `bytes` bytes between ranges that don't overlap. Either may be pinned memory.
    ///
    /// # Errors
    /// The errors of [`DeviceMemory::copy`](crate::DeviceMemory::copy).
    pub fn copy(&self, from: u64, to: u64, bytes: u64) -> Result {
        if !self.device.check_range(from, bytes)? || !self.device.check_range(to, bytes)? {
            return Ok(());
        }
        self.copy_shape(from, to, &Shape::linear(bytes))
    }

    /// Fills memory with `count` numbers.
    ///
    /// # Errors
    /// The errors of [`DeviceMemory::set`](crate::DeviceMemory::set).
    pub fn set(&self, address: u64, value: impl Into<SetValue>, count: u64) -> Result {
        self.set_rows(address, 0, value, count, 1)
    }

    /// Fills `height` rows of `width` numbers, `pitch` bytes apart.
    ///
    /// # Errors
    /// [`Error::Pitch`], also if the pitch is not a multiple of a number's size, and the errors of [`Stream::set`].
    pub fn set_rows(&self, address: u64, pitch: u64, value: impl Into<SetValue>, width: u64, height: u64) -> Result {
        let value = value.into();
        let Some(rows) = value.rows(&self.device, address, width, height, pitch)? else { return Ok(()) };
        self.device.submit(&self.state, |backend, stream| backend.fill(stream, rows, value.word()))
    }

    /// Runs a host function on a thread of the device after all earlier work of the stream. Later commands of the
    /// stream start when the function has returned; the calls that submit them wait for that. If the device is lost, or
    /// an earlier kernel of the stream was stopped, the function is dropped.
    ///
    /// Functions of all streams run one after another. They may free what they own, but must not launch, copy or wait.
    ///
    /// # Errors
    /// [`Error::HostThread`] if the thread can't be started, [`Error::DeviceLost`].
    pub fn call(&self, function: impl FnOnce() + Send + 'static) -> Result {
        self.call_always(move |ended_well| {
            if ended_well {
                function();
            }
        })
    }

    /// Like [`Stream::call`], but the function runs also after errors. Its argument says whether all earlier work of the
    /// stream has ended well.
    ///
    /// # Errors
    /// The errors of [`Stream::call`].
    pub fn call_always(&self, function: impl FnOnce(bool) + Send + 'static) -> Result {
        self.device.add_function(&self.state, Box::new(function))
    }

    /// Calls a function, and submits the launches, copies and sets that it makes in the stream together, which costs less
    /// than many submissions. If a call in the function waits, the commands that it waits for are submitted before.
    ///
    /// ```
    /// use ptx2spv_runtime::{Config, Device, Error};
    ///
    /// let device = Device::reference(Config::default());
    /// let (stream, buffer) = (device.stream(), device.alloc(64)?);
    /// stream.together(|| {
    ///     stream.set(buffer.address(), 1_u8, 64)?;
    ///     stream.copy(buffer.address(), buffer.address() + 32, 32)
    /// })?;
    /// assert_eq!(buffer.download::<u8>()?, [1; 64]);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of the function, and [`Error::Timeout`] if host functions of the stream take too long: the call waits for them.
    pub fn together<E: From<Error>>(&self, commands: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
        drop(self.device.wait_to_submit(&self.state)?);
        let _held = self.device.hold();
        commands()
    }

    /// Runs commands one after another. Neighbours that don't wait are submitted [`together`](Self::together).
    ///
    /// # Errors
    /// The errors of the commands, and of [`Stream::together`].
    pub fn in_parts<T, E: From<Error>>(
        &self,
        commands: &[T],
        waits: impl Fn(&T) -> bool,
        run: impl Fn(&T) -> Result<(), E>,
    ) -> Result<(), E> {
        for part in commands.chunk_by(|before, after| waits(before) == waits(after)) {
            let run = || part.iter().try_for_each(&run);
            if part.first().is_some_and(&waits) { run() } else { self.together(run) }?;
        }
        Ok(())
    }

    /// Whether everything in the stream has finished.
    ///
    /// # Errors
    /// [`Error::DeviceLost`].
    pub fn is_idle(&self) -> Result<bool> {
        self.device.has_passed(self.device.position(&self.state))
    }

    /// Waits until everything in the stream has finished.
    ///
    /// # Errors
    /// The errors of [`Device::synchronize`].
    pub fn synchronize(&self) -> Result {
        self.synchronize_for(Duration::MAX)
    }

    /// Like [`Stream::synchronize`], but waits for at most `limit`, and no longer than [`Device::set_wait_limit`] allows. After
    /// a timeout the work continues, and can be waited for again. Other streams can be used meanwhile.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use ptx2spv_runtime::{Config, Device, Error};
    ///
    /// let stream = Device::reference(Config::default()).stream();
    /// // A long task.
    /// stream.call(|| std::thread::sleep(Duration::from_millis(100)))?;
    /// assert!(matches!(stream.synchronize_for(Duration::from_millis(1)), Err(Error::Timeout)));
    /// stream.synchronize()?;
    /// # Ok::<(), ptx2spv_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Timeout`], and the errors of [`Stream::synchronize`].
    pub fn synchronize_for(&self, limit: Duration) -> Result {
        self.device.finish(self.device.position(&self.state), limit)
    }
}

/// A number that memory is filled with.
///
/// ```
/// use ptx2spv_runtime::SetValue;
///
/// assert_eq!(SetValue::from(7_u16), SetValue::Short(7));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetValue {
    /// 8 bits.
    Byte(u8),
    /// 16 bits.
    Short(u16),
    /// 32 bits.
    Word(u32),
}

impl From<u8> for SetValue {
    fn from(value: u8) -> Self {
        Self::Byte(value)
    }
}

impl From<u16> for SetValue {
    fn from(value: u16) -> Self {
        Self::Short(value)
    }
}

impl From<u32> for SetValue {
    fn from(value: u32) -> Self {
        Self::Word(value)
    }
}

impl SetValue {
    /// Bytes of the number.
    pub fn bytes(self) -> u64 {
        match self {
            Self::Byte(_) => 1,
            Self::Short(_) => 2,
            Self::Word(_) => 4,
        }
    }

    /// Four bytes of equal numbers.
    fn word(self) -> u32 {
        match self {
            Self::Byte(value) => u32::from_ne_bytes([value; 4]),
            Self::Short(value) => u32::from(value) << 16 | u32::from(value),
            Self::Word(value) => value,
        }
    }

    /// Checks rows of device memory to be set. `None` if there are none.
    pub(crate) fn rows(
        self,
        device: &Device,
        address: u64,
        width: u64,
        height: u64,
        pitch: u64,
    ) -> Result<Option<Rows>> {
        let alignment = self.bytes();
        if !address.is_multiple_of(alignment) {
            return Err(Error::Misaligned { address, alignment });
        }
        if height > 1 && !pitch.is_multiple_of(alignment) {
            return Err(Error::Pitch { pitch, least: alignment });
        }
        let pitches = Pitches { row: pitch, slice: 0 };
        let extent = Extent::rows(width.saturating_mul(alignment), height);
        let Some(shape) = Shape::new(extent, pitches, pitches)? else { return Ok(None) };
        device.check_range(address, shape.target_span())?;
        Ok(Some(shape.rows(address)))
    }
}

// Allocating and freeing memory in stream order.

impl Stream {
    /// Allocates memory with undefined contents from the device's default pool, for later commands of this stream, and
    /// of other streams that wait for this one.
    ///
    /// # Errors
    /// [`Error::TooFar`], [`Error::BufferTooLarge`], [`Error::OutOfMemory`], [`Error::DeviceLost`].
    pub fn allocate(&self, bytes: u64) -> Result<u64> {
        self.allocate_from(&self.device().default_pool(), bytes)
    }

    /// Like [`Stream::allocate`], from a given pool.
    ///
    /// # Errors
    /// [`Error::ForeignBuffer`] if the pool belongs to another device, [`Error::TooFar`], and the errors of [`Stream::allocate`].
    pub fn allocate_from(&self, pool: &MemoryPool, bytes: u64) -> Result<u64> {
        let device = self.device();
        if !device.has_pool(pool) {
            return Err(Error::ForeignBuffer(device.info().name.clone()));
        }
        device.check_far("memory from a pool")?;
        let has_passed = |position| device.has_passed(position);
        let address = match pool.take_kept(self.state().key(), bytes, has_passed)? {
            Some(address) => address,
            None => {
                let address = device.allocate_apart(bytes)?;
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
    pub unsafe fn free(&self, address: u64) -> Result {
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
