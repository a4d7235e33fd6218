//! The open device: its properties, and waits for its work.

pub(crate) mod apart;
pub(crate) mod attributes;
pub(crate) mod host_functions;
pub(crate) mod locks;
pub(crate) mod near;
pub(crate) mod pool;
pub(crate) mod texture_bits;

use std::fmt;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use ptx2spv_translator::Target;
use ptx2spv_translator::interface::texture::Record;

use crate::backend::deadline::{Deadline, TimeLimit};
use crate::backend::order::{Point, Position, Progress, StreamKey, StreamState, Ticket};
use crate::backend::range::{MemoryRange, PinnedRange, PinnedRanges};
use crate::backend::{Backend, Image, Shader, Timer};
use crate::device::apart::Apart;
use crate::device::host_functions::{HostFunction, HostFunctions};
use crate::device::locks::{StreamLock, StreamLocks};
use crate::device::near::{Near, NearUser};
use crate::device::pool::{MemoryPool, Pooled};
use crate::device::texture_bits::{TextureBits, is_exact};
use crate::error::{Error, Result};
use crate::info::DeviceInfo;
use crate::sync::lock;

/// An open device. Clones share it. It is closed, after it has finished its work, with the last of its clones, buffers,
/// modules and kernels.
///
/// ```
/// use ptx2spv_runtime::{Device, DeviceSelector};
///
/// // The best device, or the one that the environment variable `PTX2SPV_DEVICE` names.
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
    max_dispatch_time: TimeLimit,
    wait_limit: TimeLimit,
    /// Locked by a launch that is submitted in parts.
    split: Mutex<()>,
    default: Arc<StreamState>,
    /// The progress of all streams that synchronize with the default stream.
    blocking: Progress,
    streams: AtomicU64,
    locks: StreamLocks,
    /// The workspace of suspended threads. It is kept between launches because allocating one takes longer than a short launch.
    kept_workspace: Mutex<Option<PinnedRange>>,
    functions: HostFunctions,
    /// Memory that the host can access too.
    pinned: PinnedRanges,
    /// Memory allocated from pools.
    pooled: Pooled,
    default_pool: MemoryPool,
    /// The image bits that all textures have in common.
    texture_bits: Arc<TextureBits>,
    /// Whether a module accepts reads of textures by samplers that are not exact.
    wants_images: AtomicBool,
    /// The region that all buffers come from while a module with 32-bit pointers is loaded.
    near: Mutex<Option<Arc<Near>>>,
    apart: Apart,
}

/// While this lives, commands are collected.
pub(crate) struct Held<'d>(&'d dyn Backend);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.release();
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Device({})", self.shared.info.name)
    }
}

impl Device {
    /// A device that a back end has opened. `fallback` is the reason why it is not the requested one.
    pub(crate) fn new(backend: Arc<dyn Backend>, info: DeviceInfo, fallback: Option<Error>) -> Self {
        let default_pool = MemoryPool::new(&backend);
        let shared = Shared {
            backend,
            info,
            fallback,
            max_dispatch_time: TimeLimit::default(),
            wait_limit: TimeLimit::default(),
            split: Mutex::default(),
            default: Arc::new(StreamState::new(StreamKey::Default)),
            blocking: Progress::default(),
            streams: AtomicU64::new(0),
            locks: StreamLocks::default(),
            kept_workspace: Mutex::default(),
            functions: HostFunctions::default(),
            pinned: PinnedRanges::default(),
            pooled: Pooled::default(),
            default_pool,
            texture_bits: Arc::default(),
            wants_images: AtomicBool::new(false),
            near: Mutex::default(),
            apart: Apart::default(),
        };
        Self { shared: Arc::new(shared) }
    }

    pub(crate) fn backend(&self) -> &dyn Backend {
        &*self.shared.backend
    }

    /// Makes images of textures from now on, for modules that read them by samplers.
    pub(crate) fn want_images(&self) {
        self.shared.wants_images.store(true, Relaxed);
    }

    /// The image bits that all textures have in common.
    pub(crate) fn texture_bits(&self) -> &Arc<TextureBits> {
        &self.shared.texture_bits
    }

    /// The image of a texture's array, which has one level and no layers. `None` if the image isn't as exact as loads and no module accepts
    /// inexact ones, or if the device has no such image or no memory for it.
    pub(crate) fn image(&self, record: &Record) -> Result<Option<Box<dyn Image>>> {
        if !self.shared.wants_images.load(Relaxed) && !is_exact(&self.target().facts, record) {
            return Ok(None);
        }
        match self.shared.backend.clone().image(record) {
            Err(Error::OutOfMemory(_)) => Ok(None),
            made => made,
        }
    }

    /// Makes a shader of a module that has passed [`crate::module::check::interface`].
    pub(crate) fn shader(&self, spirv: &[u32]) -> Result<Arc<dyn Shader>> {
        self.shared.backend.clone().shader(spirv).map(Arc::from)
    }

    /// Whether both are the same open device.
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// Fails unless both are the same open device.
    pub(crate) fn check_same(&self, other: &Self) -> Result {
        if self.is(other) { Ok(()) } else { Err(Error::ForeignBuffer(self.info().name.clone())) }
    }

    /// Checks that a range lies within an allocation. Returns whether it has any bytes.
    pub(crate) fn check_range(&self, address: u64, len: u64) -> Result<bool> {
        if len == 0 {
            return Ok(false);
        }
        let allocation = self.find(address).ok_or(Error::NotAllocated { address })?;
        allocation.check(MemoryRange { address, size: len })?;
        Ok(true)
    }

    pub(crate) fn default_state(&self) -> &Arc<StreamState> {
        &self.shared.default
    }

    pub(crate) fn kept_workspace(&self) -> MutexGuard<'_, Option<PinnedRange>> {
        lock(&self.shared.kept_workspace)
    }

    pub(crate) fn pinned_ranges(&self) -> &PinnedRanges {
        &self.shared.pinned
    }

    pub(crate) fn pooled(&self) -> &Pooled {
        &self.shared.pooled
    }

    /// The pool that streams allocate from by default.
    pub fn default_pool(&self) -> MemoryPool {
        self.shared.default_pool.clone()
    }

    /// Creates a pool with a release threshold of zero.
    pub fn pool(&self) -> MemoryPool {
        MemoryPool::new(&self.shared.backend)
    }

    /// Whether a pool belongs to this device.
    pub(crate) fn has_pool(&self, pool: &MemoryPool) -> bool {
        pool.is_on(&self.shared.backend)
    }

    /// Frees the memory allocated or registered at an address, once everything launched before has finished.
    pub(crate) fn free(&self, address: u64) {
        // In a forked process, the tables may be locked by a thread that doesn't exist there.
        if self.backend().check_process().is_ok() {
            self.shared.pinned.remove(address);
            self.shared.pooled.forget(address);
        }
        self.release(address);
    }

    pub(crate) fn apart(&self) -> &Apart {
        &self.shared.apart
    }

    /// The region for modules with 32-bit pointers, if it was created.
    pub(crate) fn near(&self) -> Option<Arc<Near>> {
        lock(&self.shared.near).clone()
    }

    /// The region, if a module with 32-bit pointers is loaded.
    pub(crate) fn needed_near(&self) -> Option<Arc<Near>> {
        self.near().filter(|near| near.is_needed())
    }

    /// Allocates all buffers from one region while the result lives.
    pub(crate) fn stay_near(&self) -> Result<NearUser> {
        let near = &mut *lock(&self.shared.near);
        if let Some(near) = near {
            return Ok(NearUser::new(near.clone()));
        }
        let mut size = near::MOST.min(self.backend().memory_info().total / 4);
        let address = loop {
            match self.allocate_apart(size) {
                Err(_) if size / 2 >= near::LEAST => size /= 2,
                made => break made?,
            }
        };
        let made = near.insert(Arc::new(Near::new(MemoryRange { address, size })));
        Ok(NearUser::new(made.clone()))
    }

    /// Allocates `size` bytes for a buffer.
    pub(crate) fn allocate(&self, size: u64) -> Result<u64> {
        match self.needed_near() {
            Some(near) => near.allocate(size),
            None => self.allocate_apart(size),
        }
    }

    /// Frees memory from [`Device::allocate`], once everything launched before has finished.
    pub(crate) fn release(&self, address: u64) {
        match self.near().filter(|near| near.contains(address)) {
            // Earlier launches must not access the next buffer at this place.
            Some(near) => {
                if self.backend().synchronize().is_ok() {
                    near.free(address);
                }
            }
            None => self.backend().free(address),
        }
    }

    /// Fails if modules are loaded that can't reach this kind of memory.
    pub(crate) fn check_far(&self, what: &str) -> Result {
        if self.needed_near().is_some() { Err(Error::TooFar(what.to_owned())) } else { Ok(()) }
    }

    /// The allocation that contains an address.
    pub(crate) fn find(&self, address: u64) -> Option<MemoryRange> {
        match self.near().filter(|near| near.contains(address)) {
            Some(near) => near.find(address),
            None => self.backend().find(address),
        }
    }

    pub(crate) fn next_stream(&self) -> u64 {
        self.shared.streams.fetch_add(1, SeqCst)
    }

    pub(crate) fn timer(&self) -> Result<Box<dyn Timer>> {
        self.shared.backend.clone().timer()
    }

    /// Submits a command to a stream, after the work that the command has to wait for: see [`Device::wait_to_submit`].
    pub(crate) fn submit(
        &self,
        stream: &StreamState,
        command: impl FnOnce(&dyn Backend, StreamKey) -> Result<Ticket>,
    ) -> Result {
        let _lock = self.wait_to_submit(stream)?;
        self.record(stream, command)
    }

    /// Submits a command that changes nothing that kernels or the host can see, and may come after a kernel that was stopped.
    pub(crate) fn submit_harmless(
        &self,
        stream: &StreamState,
        command: impl FnOnce(&dyn Backend, StreamKey) -> Result<Ticket>,
    ) -> Result {
        self.wait_for_functions(stream)?;
        self.record(stream, command)
    }

    fn record(&self, stream: &StreamState, command: impl FnOnce(&dyn Backend, StreamKey) -> Result<Ticket>) -> Result {
        let ticket = command(self.backend(), stream.key())?;
        self.join(stream, Position { point: ticket.into(), function: 0 });
        Ok(())
    }

    /// Waits for the work that must have ended before a stream's next command is recorded: host functions, launches of several dispatches,
    /// and kernels that may be stopped, because nothing runs after a stopped kernel. Fails if a kernel was stopped. The caller keeps the
    /// lock until the command is recorded.
    pub(crate) fn wait_to_submit(&self, stream: &StreamState) -> Result<StreamLock<'_>> {
        self.lock_settled(stream, StreamLocks::shared)
    }

    /// Like [`Device::wait_to_submit`], for a launch of several dispatches. While the caller keeps the lock, no other command comes between
    /// that is ordered with the stream.
    pub(crate) fn wait_to_submit_several(&self, stream: &StreamState) -> Result<StreamLock<'_>> {
        self.lock_settled(stream, StreamLocks::exclusive)
    }

    fn lock_settled<'d>(
        &'d self,
        stream: &StreamState,
        lock: impl Fn(&'d StreamLocks, StreamKey, Deadline) -> Result<StreamLock<'d>>,
    ) -> Result<StreamLock<'d>> {
        self.wait_for_functions(stream)?;
        let held = lock(&self.shared.locks, stream.key(), self.deadline())?;
        self.backend().settle(self.reached(stream), self.deadline())?;
        Ok(held)
    }

    /// Waits for the host functions that precede a stream's next command.
    fn wait_for_functions(&self, stream: &StreamState) -> Result {
        let function = self.last_function(stream);
        if !self.shared.functions.is_done(function) {
            // A forked process has no thread that runs them. The back end reports that.
            self.shared.backend.check_process()?;
            self.shared.functions.wait(function, self.wait_limit())?;
        }
        Ok(())
    }

    /// The last host function that precedes a stream's next command.
    fn last_function(&self, stream: &StreamState) -> u64 {
        self.before(stream).map_or(0, Progress::function).max(stream.progress.function())
    }

    /// The progress of other streams that a stream's next command has to wait for.
    fn before(&self, stream: &StreamState) -> Option<&Progress> {
        match stream.key() {
            StreamKey::Made { blocking: false, .. } => None,
            StreamKey::Made { .. } => Some(&self.shared.default.progress),
            StreamKey::Default | StreamKey::Everything => Some(&self.shared.blocking),
        }
    }

    /// The position that a stream's next command has to wait for.
    pub(crate) fn position(&self, stream: &StreamState) -> Position {
        let own = stream.progress.position();
        self.before(stream).map_or(own, |before| own.max(before.position()))
    }

    /// Like [`Device::position`], without host functions.
    pub(crate) fn reached(&self, stream: &StreamState) -> Point {
        self.position(stream).point
    }

    /// Makes a stream's next command wait for a position.
    pub(crate) fn join(&self, stream: &StreamState, position: Position) {
        stream.progress.advance(position);
        if let StreamKey::Made { blocking: true, .. } = stream.key() {
            self.shared.blocking.advance(position);
        }
    }

    /// Runs a function after all earlier work in a stream.
    pub(crate) fn add_function(&self, stream: &StreamState, function: HostFunction) -> Result {
        let after = self.reached(stream);
        let function = self.shared.functions.add(self.shared.backend.clone(), after, function)?;
        self.join(stream, Position { function, ..Position::default() });
        Ok(())
    }

    /// Whether the device has passed a position. Fails if a kernel before it was stopped.
    pub(crate) fn has_passed(&self, position: Position) -> Result<bool> {
        let passed =
            self.shared.functions.is_done(position.function) && self.shared.backend.is_finished(position.point)?;
        if passed {
            self.shared.backend.settle(position.point, self.deadline())?;
        }
        Ok(passed)
    }

    /// Waits until the device has passed a position.
    pub(crate) fn wait_until(&self, position: Position, deadline: Deadline) -> Result {
        self.shared.backend.wait(position.point, deadline)?;
        self.shared.functions.wait(position.function, deadline.left().unwrap_or(Duration::MAX))
    }

    /// Like [`Device::wait_until`], and fails if a kernel launched before the point was stopped.
    pub(crate) fn finish(&self, position: Position, limit: Duration) -> Result {
        let deadline = Deadline::after(limit.min(self.wait_limit()));
        self.wait_until(position, deadline)?;
        self.shared.backend.check_stopped_before(position.point, deadline)
    }

    /// The deadline of a call that begins to wait now.
    pub(crate) fn deadline(&self) -> Deadline {
        Deadline::after(self.wait_limit())
    }

    /// Collects the commands that follow until the result is dropped, unless a caller waits for them.
    pub(crate) fn hold(&self) -> Held<'_> {
        self.backend().hold();
        Held(self.backend())
    }

    /// Prevents other launches between the parts of a launch that is submitted in parts.
    pub(crate) fn lock_parts(&self) -> MutexGuard<'_, ()> {
        lock(&self.shared.split)
    }

    /// The driver's description of the device.
    pub fn info(&self) -> &DeviceInfo {
        &self.shared.info
    }

    /// The description of the device for the translator. All its features are enabled.
    pub fn target(&self) -> &Target {
        &self.shared.info.target
    }

    /// The reason why the reference device replaces a Vulkan device; `None` if it doesn't.
    pub fn fallback(&self) -> Option<&Error> {
        self.shared.fallback.as_ref()
    }

    /// Waits until everything launched has finished.
    ///
    /// # Errors
    /// [`Error::Aborted`], [`Error::Fault`], [`Error::Timeout`], [`Error::DeviceLost`].
    pub fn synchronize(&self) -> Result {
        self.shared.backend.synchronize()?;
        self.shared.functions.wait(self.shared.functions.last(), self.wait_limit())?;
        self.shared.backend.check_stopped()
    }

    /// Limits the time of each submission of a launch, as far as single blocks allow, so that a desktop's watchdog
    /// doesn't take the device for hung. `None`, the default, submits whole grids.
    /// [`Kernel::launch`](crate::Kernel::launch) then submits a few blocks at first, measures, and continues with as
    /// many blocks as fill half of the time. The kernel's later launches reuse the measurement. The call returns when
    /// the last part has ended.
    ///
    /// Grids whose blocks may wait for each other, as at a barrier of the whole grid, stay whole
    /// ([`Entry::waits`](ptx2spv_translator::interface::Entry::waits)). Commands of other
    /// streams may come between two parts, unless they are ordered with the launch's.
    pub fn set_max_dispatch_time(&self, time: Option<Duration>) {
        self.shared.max_dispatch_time.set(time);
    }

    /// The limit set by [`Device::set_max_dispatch_time`].
    pub fn max_dispatch_time(&self) -> Option<Duration> {
        self.shared.max_dispatch_time.get()
    }

    /// Sets a limit after which every call that waits for the device, or for a host function, fails with
    /// [`Error::Timeout`]. `None`, the default, waits without limit. For single waits there are
    /// [`Stream::synchronize_for`](crate::Stream::synchronize_for) and
    /// [`Event::synchronize_for`](crate::Event::synchronize_for). The work itself continues: Vulkan can't cancel a
    /// kernel, and closing the device waits for it in any case.
    pub fn set_wait_limit(&self, limit: Option<Duration>) {
        self.shared.wait_limit.set(limit);
        self.shared.backend.set_wait_limit(limit);
    }

    pub(crate) fn wait_limit(&self) -> Duration {
        self.shared.wait_limit.get().unwrap_or(Duration::MAX)
    }

    /// The number of submissions to the device so far. Launches and copies that were collected while the device was
    /// busy count once; a launch in several parts counts once for each part.
    pub fn submissions(&self) -> u64 {
        self.shared.backend.submissions()
    }

    /// Returns the kernels' output since the last call, as far as a wait or a read came after the kernels. The output
    /// of one `printf` is contiguous; the order of threads is unspecified.
    pub fn take_output(&self) -> Vec<u8> {
        self.shared.backend.take_output()
    }
}
