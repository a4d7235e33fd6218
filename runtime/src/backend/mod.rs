//! The interface between the front and a back end: device memory by address, shaders, and launches in the order of the
//! calls.
//!
//! Features of one back end alone are reached through its own type: see [`Backend`]'s supertrait [`Any`].

pub(crate) mod deadline;
pub(crate) mod launch;
pub(crate) mod order;
pub(crate) mod range;
#[cfg(feature = "reference")]
pub(crate) mod reference;
#[cfg(not(feature = "reference"))]
#[path = "no_reference.rs"]
pub(crate) mod reference;
pub(crate) mod report;
pub(crate) mod shape;
#[cfg(not(target_family = "wasm"))]
pub(crate) mod vulkan;

use std::any::Any;
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;

use ptx2spv_translator::interface::Entry;
use ptx2spv_translator::interface::texture::Record;

use crate::backend::deadline::Deadline;
use crate::backend::launch::{Launch, PipelineKey};
use crate::backend::order::{Point, StreamKey, Ticket};
use crate::backend::range::{MemoryInfo, MemoryRange, PinnedRange, Rows};
use crate::backend::shape::Shape;
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;

/// An open device.
pub(crate) trait Backend: Any + Send + Sync {
    /// Allocates `size` bytes with undefined contents, and returns the address of the first byte, a multiple of 256. An
    /// allocation of size zero has an address too.
    fn allocate(&self, size: u64) -> Result<u64>;

    /// Like [`Backend::allocate`], at other addresses where the device has such for other kinds of allocations.
    fn allocate_elsewhere(&self, size: u64) -> Result<u64> {
        self.allocate(size)
    }

    /// Like [`Backend::allocate`], for memory that the host can access too.
    fn allocate_pinned(&self, size: u64) -> Result<PinnedRange>;

    /// Like [`Backend::allocate_pinned`], with the same address for host and device.
    fn allocate_managed(&self, size: u64) -> Result<PinnedRange>;

    /// Takes `size` bytes of the device's addresses, without memory, until the result is dropped. `None` if there is no room, or the
    /// device can't.
    fn reserve(&self, _size: u64) -> Option<Reservation> {
        None
    }

    /// Makes host memory of at least one byte accessible to the device, and returns the device address of the first
    /// byte.
    ///
    /// # Safety
    /// The memory exists, readable and writable, until it is freed here and everything recorded before has finished.
    unsafe fn register(&self, host: NonNull<u8>, size: u64) -> Result<u64>;

    /// Frees the memory allocated or registered at an address, once everything launched before has finished.
    fn free(&self, address: u64);

    /// Fails in a process forked from the device's process, if the device doesn't work there.
    fn check_process(&self) -> Result {
        Ok(())
    }

    /// Bytes of host memory that the back end wants for each module whose kernels may report something.
    fn report_mirror_bytes(&self) -> Option<u64> {
        None
    }

    /// The allocation that contains an address.
    fn find(&self, address: u64) -> Option<MemoryRange>;

    /// The allocations that share bytes with a range of at least one byte.
    fn overlapping(&self, range: MemoryRange) -> Vec<MemoryRange>;

    /// Total and free memory.
    fn memory_info(&self) -> MemoryInfo;

    /// Writes bytes, at least one and within an allocation, after everything launched before.
    fn write(&self, address: u64, bytes: &[u8]) -> Result;

    /// Reads bytes, at least one and within an allocation, as everything launched before leaves them.
    fn read(&self, address: u64, bytes: &mut [u8]) -> Result;

    /// Fills the bytes of rows, at least one and within an allocation, with a little-endian word: each byte gets the
    /// word's byte at its address modulo 4.
    fn fill(&self, stream: StreamKey, rows: Rows, word: u32) -> Result<Ticket>;

    /// Copies bytes within allocations. Source and destination must not overlap.
    fn copy(&self, stream: StreamKey, from: u64, to: u64, shape: &Shape) -> Result<Ticket>;

    /// Like [`Backend::write`], but in stream order and asynchronous: the bytes, which are contiguous, are read during
    /// the call.
    fn upload(&self, stream: StreamKey, to: u64, shape: &Shape, bytes: &[u8]) -> Result<Ticket>;

    /// Like [`Backend::read`], but in stream order: `after` is the point that the stream has reached. The bytes are
    /// written contiguously.
    fn download(&self, stream: StreamKey, after: Point, from: u64, shape: &Shape, bytes: &mut [u8]) -> Result;

    /// Makes the stream's next command wait for a point.
    fn follow(&self, stream: StreamKey, point: Point) -> Result;

    /// Whether the device has passed a point.
    fn is_finished(&self, point: Point) -> Result<bool>;

    /// Waits until the device has passed a point.
    fn wait(&self, point: Point, deadline: Deadline) -> Result;

    /// Sets a limit after which other waits for the device fail with [`Error::Timeout`].
    fn set_wait_limit(&self, _limit: Option<Duration>) {}

    /// Collects the commands that follow until [`Backend::release`], unless a caller waits for them.
    fn hold(&self) {}

    /// Ends the last [`Backend::hold`]. What fails then fails again in the next call that can report it.
    fn release(&self) {}

    /// The time between two readings of the device's clock, zero if the second came first.
    fn elapsed(&self, start: u64, end: u64) -> Duration;

    /// Makes a timer for streams.
    fn timer(self: Arc<Self>) -> Result<Box<dyn Timer>>;

    /// Names a part of an allocation, for devices that report findings.
    fn name_part(&self, _part: MemoryRange, _name: &str) {}

    /// Declares a region that kernels allocate from, for devices that check accesses.
    fn add_heap(&self, _region: MemoryRange) {}

    /// Makes an image of a texture's array, which has one level and no layers and follows changes of the array by copies. `None` if
    /// the device has none such.
    fn image(self: Arc<Self>, _record: &Record) -> Result<Option<Box<dyn Image>>> {
        Ok(None)
    }

    /// Makes a shader of a module that has passed [`crate::module::check::interface`].
    fn shader(self: Arc<Self>, spirv: &[u32]) -> Result<Box<dyn Shader>>;

    /// Waits until everything launched has finished.
    fn synchronize(&self) -> Result;

    /// Waits for the kernels launched so far that can be stopped or print. Fails if one was stopped and that was not
    /// reported yet.
    fn check_stopped(&self) -> Result;

    /// Like [`Backend::check_stopped`], for kernels launched before a point that was passed, and others of their modules.
    fn check_stopped_before(&self, _point: Point, _deadline: Deadline) -> Result {
        self.check_stopped()
    }

    /// Waits for the kernels launched before a point that may be stopped, so that the caller's next command doesn't run after a stopped
    /// kernel. Fails if a kernel was stopped, whether before the point or not, and the stop was not reported yet.
    fn settle(&self, before: Point, deadline: Deadline) -> Result;

    /// Whether a kernel that was launched before a passed point was stopped, and the stop was not reported yet.
    fn was_stopped_before(&self, point: Point) -> bool;

    /// Returns the kernels' output found by [`Backend::check_stopped`] since the last call.
    fn take_output(&self) -> Vec<u8>;

    /// The number of submissions so far.
    fn submissions(&self) -> u64;
}

/// Addresses that no allocation gets.
pub(crate) type Reservation = Box<dyn Any + Send + Sync>;

/// A timer in streams.
pub(crate) trait Timer: Send + Sync {
    /// Records the time when all earlier work of the stream has finished.
    fn record(&self, stream: StreamKey) -> Result<Ticket>;

    /// The time recorded last, in ticks of the device's clock. The recording must have finished.
    fn ticks(&self) -> Result<u64>;
}

/// An image that kernels read by a sampler.
pub(crate) trait Image: Send + Sync {
    /// The image's place in its table, for the texture's record.
    fn place(&self) -> u32;
}

/// A SPIR-V module.
pub(crate) trait Shader: Send + Sync {
    /// Makes a pipeline of one of its kernels. The key's sizes are within the device's limits.
    fn pipeline(&self, entry: &Entry, key: PipelineKey) -> Result<Box<dyn Pipeline>>;
}

/// A kernel for one block size and amount of shared memory.
pub(crate) trait Pipeline: Send + Sync {
    /// Launches the kernel in stream order. Returns `None` if the kernel was stopped during the call.
    fn launch(&self, stream: StreamKey, launch: &mut Launch<'_>) -> Result<Option<Ticket>>;

    /// Launches the kernel `repeats` times, one after another, and returns how long each took.
    fn time(&self, launch: &mut Launch<'_>, repeats: u32) -> Result<Vec<Duration>>;
}
