//! The open device: what it is, and waiting for it.

use std::fmt;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use ptx2spv_translator::Target;

use crate::backend::{Backend, Shader, Timer};
use crate::error::Error;
use crate::host_functions::HostFunctions;
use crate::info::DeviceInfo;
use crate::near::{self, Near, NearUser};
use crate::order::{Point, Position, Progress, StreamKey, StreamState, Ticket};
use crate::pinned_range::PinnedRanges;
use crate::pool::{MemoryPool, Pooled};
use crate::range::MemoryRange;
use crate::sync::lock;

/// An open device. Clones share it; it is closed with the last of its clones, buffers, modules and kernels, after it
/// has finished its work.
///
/// ```
/// use ptx2spv_runtime::{Device, DeviceSelector};
///
/// // The best device that is here, or the one that the environment variable `PTX2SPV_DEVICE` names.
/// let device = Device::open(&DeviceSelector::Default)?;
/// println!("{}, {}", device.info().name, device.info().driver_info);
/// # Ok::<(), ptx2spv_runtime::Error>(())
/// ```
#[derive(Clone)]
pub struct Device {
    shared: Arc<Shared>,
}

struct Shared {
    backend: Arc<dyn Backend>,
    info: DeviceInfo,
    fallback: Option<Error>,
    max_dispatch_time: Mutex<Option<Duration>>,
    wait_limit: Mutex<Option<Duration>>,
    /// Held by a launch that is submitted in parts.
    split: Mutex<()>,
    /// The default stream.
    default: Arc<StreamState>,
    /// How far all streams have got that are in order with the default stream.
    blocking: Progress,
    streams: AtomicU64,
    functions: HostFunctions,
    /// Memory that the host reaches too.
    pinned: PinnedRanges,
    /// Memory from pools.
    pooled: Pooled,
    default_pool: MemoryPool,
    /// Where all buffers come from while a module with 32-bit pointers is loaded.
    near: Mutex<Option<Arc<Near>>>,
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Device({})", self.shared.info.name)
    }
}

impl Device {
    /// The device that a back end has opened; `fallback` is why it is not the one that was asked for.
    pub(crate) fn new(backend: Arc<dyn Backend>, info: DeviceInfo, fallback: Option<Error>) -> Self {
        let default_pool = MemoryPool::new(&backend);
        let shared = Shared {
            backend,
            info,
            fallback,
            max_dispatch_time: Mutex::default(),
            wait_limit: Mutex::default(),
            split: Mutex::default(),
            default: Arc::new(StreamState::new(StreamKey::Default)),
            blocking: Progress::default(),
            streams: AtomicU64::new(0),
            functions: HostFunctions::default(),
            pinned: PinnedRanges::default(),
            pooled: Pooled::default(),
            default_pool,
            near: Mutex::default(),
        };
        Self { shared: Arc::new(shared) }
    }

    pub(crate) fn backend(&self) -> &dyn Backend {
        &*self.shared.backend
    }

    /// Takes a module that passed [`crate::check::interface`].
    pub(crate) fn shader(&self, spirv: &[u32]) -> Result<Arc<dyn Shader>, Error> {
        self.shared.backend.clone().shader(spirv).map(Arc::from)
    }

    /// Whether both are the same open device.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// Errors unless both are the same open device.
    pub(crate) fn check_same(&self, other: &Self) -> Result<(), Error> {
        if self.is(other) { Ok(()) } else { Err(Error::ForeignBuffer(self.info().name.clone())) }
    }

    /// Whether there is something to do with a range, which must lie within an allocation if so.
    pub(crate) fn check_range(&self, address: u64, len: u64) -> Result<bool, Error> {
        if len == 0 {
            return Ok(false);
        }
        let MemoryRange { address: start, size } = self.find(address).ok_or(Error::NotAllocated { address })?;
        let offset = address - start;
        if len > size - offset { Err(Error::OutOfRange { offset, len, size }) } else { Ok(true) }
    }

    pub(crate) fn default_state(&self) -> &Arc<StreamState> {
        &self.shared.default
    }

    pub(crate) fn pinned_ranges(&self) -> &PinnedRanges {
        &self.shared.pinned
    }

    pub(crate) fn pooled(&self) -> &Pooled {
        &self.shared.pooled
    }

    /// The pool that streams allocate from if no other is named.
    pub fn default_pool(&self) -> MemoryPool {
        self.shared.default_pool.clone()
    }

    /// Makes a pool with a release threshold of zero.
    pub fn pool(&self) -> MemoryPool {
        MemoryPool::new(&self.shared.backend)
    }

    /// Whether a pool is of this device.
    pub(crate) fn has_pool(&self, pool: &MemoryPool) -> bool {
        pool.is_on(&self.shared.backend)
    }

    /// Frees what was allocated or registered at an address, once everything launched before has finished.
    pub(crate) fn free(&self, address: u64) {
        // In another process the tables may be locked by a thread that isn't there.
        if self.backend().check_process().is_ok() {
            self.shared.pinned.remove(address);
            self.shared.pooled.forget(address);
        }
        self.release(address);
    }

    /// The region for modules with 32-bit pointers, if there is one yet.
    pub(crate) fn near(&self) -> Option<Arc<Near>> {
        lock(&self.shared.near).clone()
    }

    /// The same, if there is such a module.
    pub(crate) fn needed_near(&self) -> Option<Arc<Near>> {
        self.near().filter(|near| near.is_needed())
    }

    /// Has all buffers come from one region while this lives.
    pub(crate) fn stay_near(&self) -> Result<NearUser, Error> {
        let near = &mut *lock(&self.shared.near);
        if let Some(near) = near {
            return Ok(NearUser::new(near.clone()));
        }
        let size = near::MOST.min(self.backend().memory_info().total / 4);
        let address = self.backend().allocate(size)?;
        let made = near.insert(Arc::new(Near::new(MemoryRange { address, size })));
        Ok(NearUser::new(made.clone()))
    }

    /// Makes memory of `size` bytes for a buffer.
    pub(crate) fn allocate(&self, size: u64) -> Result<u64, Error> {
        match self.needed_near() {
            Some(near) => near.allocate(size),
            None => self.backend().allocate(size),
        }
    }

    /// Gives back what [`Device::allocate`] has made, once everything launched before has finished.
    pub(crate) fn release(&self, address: u64) {
        match self.near().filter(|near| near.contains(address)) {
            // The next buffer there must not be reached by what was launched for this one.
            Some(near) => {
                if self.backend().synchronize().is_ok() {
                    near.free(address);
                }
            }
            None => self.backend().free(address),
        }
    }

    /// Errors if there are modules that memory of a kind is out of reach for.
    pub(crate) fn check_far(&self, what: &str) -> Result<(), Error> {
        if self.needed_near().is_some() { Err(Error::TooFar(what.to_owned())) } else { Ok(()) }
    }

    /// The allocation in which an address lies.
    pub(crate) fn find(&self, address: u64) -> Option<MemoryRange> {
        match self.near().filter(|near| near.contains(address)) {
            Some(near) => near.find(address),
            None => self.backend().find(address),
        }
    }

    /// A number that no stream has had.
    pub(crate) fn next_stream(&self) -> u64 {
        self.shared.streams.fetch_add(1, SeqCst)
    }

    pub(crate) fn timer(&self) -> Result<Box<dyn Timer>, Error> {
        self.shared.backend.clone().timer()
    }

    /// Asks for a command in a stream, after the stream's host functions.
    pub(crate) fn submit(
        &self,
        stream: &StreamState,
        command: impl FnOnce(&dyn Backend, StreamKey) -> Result<Ticket, Error>,
    ) -> Result<(), Error> {
        self.wait_for_functions(stream)?;
        let ticket = command(self.backend(), stream.key())?;
        self.join(stream, Position { point: ticket.into(), function: 0 });
        Ok(())
    }

    /// Waits for the host functions that a stream's next command comes after.
    pub(crate) fn wait_for_functions(&self, stream: &StreamState) -> Result<(), Error> {
        let function = self.last_function(stream);
        if !self.shared.functions.is_done(function) {
            // In a forked process nobody runs them, and the back end says so.
            self.shared.backend.check_process()?;
            self.shared.functions.wait(function, self.wait_limit())?;
        }
        Ok(())
    }

    /// The host function that a stream's next command comes after.
    fn last_function(&self, stream: &StreamState) -> u64 {
        self.before(stream).map_or(0, Progress::function).max(stream.progress.function())
    }

    /// What a stream's next command comes after beside the stream's own.
    fn before(&self, stream: &StreamState) -> Option<&Progress> {
        match stream.key() {
            StreamKey::Made { blocking: false, .. } => None,
            StreamKey::Made { .. } => Some(&self.shared.default.progress),
            StreamKey::Default | StreamKey::Everything => Some(&self.shared.blocking),
        }
    }

    /// Where a stream's next command comes after.
    pub(crate) fn position(&self, stream: &StreamState) -> Position {
        let own = stream.progress.position();
        self.before(stream).map_or(own, |before| own.max(before.position()))
    }

    /// As [`Device::position`], without host functions.
    pub(crate) fn reached(&self, stream: &StreamState) -> Point {
        self.position(stream).point
    }

    /// Has a stream's next command come after a point too.
    pub(crate) fn join(&self, stream: &StreamState, position: Position) {
        stream.progress.advance(position);
        if let StreamKey::Made { blocking: true, .. } = stream.key() {
            self.shared.blocking.advance(position);
        }
    }

    /// Has a function run after everything before in a stream.
    pub(crate) fn add_function(&self, stream: &StreamState, function: Box<dyn FnOnce() + Send>) -> Result<(), Error> {
        let after = self.reached(stream);
        let function = self.shared.functions.add(self.shared.backend.clone(), after, function)?;
        self.join(stream, Position { function, ..Position::default() });
        Ok(())
    }

    /// Whether the device has passed a point.
    pub(crate) fn has_passed(&self, position: Position) -> Result<bool, Error> {
        Ok(self.shared.functions.is_done(position.function) && self.shared.backend.is_finished(position.point)?)
    }

    /// Waits until the device has passed a point.
    pub(crate) fn wait_until(&self, position: Position) -> Result<(), Error> {
        self.shared.backend.wait(position.point)?;
        self.shared.functions.wait(position.function, self.wait_limit())
    }

    /// Keeps other launches from coming between the parts of one that is submitted in parts.
    pub(crate) fn lock_parts(&self) -> MutexGuard<'_, ()> {
        lock(&self.shared.split)
    }

    /// What the driver says of the device.
    pub fn info(&self) -> &DeviceInfo {
        &self.shared.info
    }

    /// What the translator needs to know of the device. All its features are enabled.
    pub fn target(&self) -> &Target {
        &self.shared.info.target
    }

    /// Why the reference device stands in for a Vulkan device; `None` if it doesn't.
    pub fn fallback(&self) -> Option<&Error> {
        self.shared.fallback.as_ref()
    }

    /// Waits until everything launched has finished.
    ///
    /// # Errors
    /// [`Error::Aborted`], [`Error::Fault`], [`Error::Timeout`], [`Error::DeviceLost`].
    pub fn synchronize(&self) -> Result<(), Error> {
        self.shared.backend.synchronize()?;
        self.shared.functions.wait(self.shared.functions.last(), self.wait_limit())?;
        self.shared.backend.check_stopped()
    }

    /// Lets no submission of a launch take much longer than this, as far as one block allows, so that a desktop's watchdog
    /// doesn't take the device for hung; `None`, as at first, submits whole grids. [`Kernel::launch`](crate::Kernel::launch)
    /// then submits a few blocks at first, measures, and goes on with as many as fill half of the time, also at the kernel's
    /// later launches. It returns when the last part has ended.
    ///
    /// Grids whose blocks may wait for each other, as at a barrier of the whole grid, stay whole
    /// ([`Entry::waits`](ptx2spv_translator::interface::Entry::waits)). If several threads use the device, copies may come between two parts.
    pub fn set_max_dispatch_time(&self, time: Option<Duration>) {
        *lock(&self.shared.max_dispatch_time) = time;
    }

    /// What was last set.
    pub fn max_dispatch_time(&self) -> Option<Duration> {
        *lock(&self.shared.max_dispatch_time)
    }

    /// Has every call that waits for the device, or for a host function, fail with [`Error::Timeout`] after a time; `None`, as at
    /// first, waits without end. What was waited for goes on: a kernel can't be taken from a Vulkan device, and closing the device
    /// waits for it in any case.
    pub fn set_wait_limit(&self, limit: Option<Duration>) {
        *lock(&self.shared.wait_limit) = limit;
        self.shared.backend.set_wait_limit(self.wait_limit());
    }

    /// How long calls wait at most.
    pub(crate) fn wait_limit(&self) -> Duration {
        lock(&self.shared.wait_limit).unwrap_or(Duration::MAX)
    }

    /// How often work was submitted to the device so far: launches and copies that collected while it was busy count once, a
    /// launch in several parts as often as it has parts.
    pub fn submissions(&self) -> u64 {
        self.shared.backend.submissions()
    }

    /// What kernels have printed since the last call, as far as the device was waited for or read from after them. The text
    /// of one `printf` stands together; which thread's comes first is open.
    pub fn take_output(&self) -> Vec<u8> {
        self.shared.backend.take_output()
    }
}
