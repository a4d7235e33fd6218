//! What the front asks of a back end: device memory by its addresses, shaders, and launches in the order of the calls.
//!
//! What only one back end has is reached through its own type: see [`Backend`]'s supertrait [`Any`].

use std::any::Any;
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;

use ptx2spv_translator::interface::Entry;

use crate::dispatch::Launch;
use crate::error::Error;
use crate::order::{Point, StreamKey, Ticket};
use crate::pinned_range::PinnedRange;
use crate::range::{MemoryInfo, MemoryRange, Rows};
use crate::shape::Shape;
use crate::variant::Variant;

/// An open device.
pub(crate) trait Backend: Any + Send + Sync {
    /// Makes memory of `size` bytes with undefined contents, and returns the address of its first byte, a multiple of 256. There
    /// is an address also if the size is zero.
    fn allocate(&self, size: u64) -> Result<u64, Error>;

    /// As [`Backend::allocate`], for memory that the host reaches too.
    fn allocate_pinned(&self, size: u64) -> Result<PinnedRange, Error>;

    /// As [`Backend::allocate_pinned`], with the same address for host and device.
    fn allocate_managed(&self, size: u64) -> Result<PinnedRange, Error>;

    /// Has the device reach memory of the host's, at least one byte, and returns the device's address of the first byte.
    ///
    /// # Safety
    /// The memory is there, readable and writable, until it is freed here and what was recorded before has finished.
    unsafe fn register(&self, host: NonNull<u8>, size: u64) -> Result<u64, Error>;

    /// Frees what was made or registered at an address, once everything launched before has finished.
    fn free(&self, address: u64);

    /// Fails in a process that was forked off from the device's, if the device doesn't work there.
    fn check_process(&self) -> Result<(), Error> {
        Ok(())
    }

    /// The allocation in which an address lies.
    fn find(&self, address: u64) -> Option<MemoryRange>;

    /// How much memory there is.
    fn memory_info(&self) -> MemoryInfo;

    /// Writes bytes, at least one and within an allocation, after everything launched before.
    fn write(&self, address: u64, bytes: &[u8]) -> Result<(), Error>;

    /// Reads bytes, at least one and within an allocation, as everything launched before leaves them.
    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Error>;

    /// Sets bytes of rows, at least one and within an allocation, to those of a little-endian word: each to the one at its
    /// address modulo 4.
    fn fill(&self, stream: StreamKey, rows: Rows, word: u32) -> Result<Ticket, Error>;

    /// Copies bytes, within allocations, between places that don't overlap.
    fn copy(&self, stream: StreamKey, from: u64, to: u64, shape: &Shape) -> Result<Ticket, Error>;

    /// As [`Backend::write`], but in stream order: the bytes, which lie without gaps, are taken at the call, and nobody waits.
    fn upload(&self, stream: StreamKey, to: u64, shape: &Shape, bytes: &[u8]) -> Result<Ticket, Error>;

    /// As [`Backend::read`], but in stream order: `after` is the point that the stream has reached. The bytes are put without
    /// gaps.
    fn download(
        &self,
        stream: StreamKey,
        after: Point,
        from: u64,
        shape: &Shape,
        bytes: &mut [u8],
    ) -> Result<(), Error>;

    /// Has the stream's next command come after a point that was reached.
    fn follow(&self, stream: StreamKey, point: Point) -> Result<(), Error>;

    /// Whether the device has passed a point.
    fn is_finished(&self, point: Point) -> Result<bool, Error>;

    /// Waits until the device has passed a point.
    fn wait(&self, point: Point) -> Result<(), Error>;

    /// Has waiting for the device fail with [`Error::Timeout`] after a time.
    fn set_wait_limit(&self, _limit: Duration) {}

    /// The time between two readings of the device's clock; zero if the second was before the first.
    fn elapsed(&self, start: u64, end: u64) -> Duration;

    /// Makes something that takes the time in a stream.
    fn timer(self: Arc<Self>) -> Result<Box<dyn Timer>, Error>;

    /// Names a part of an allocation, if the device has findings to tell.
    fn name_part(&self, _part: MemoryRange, _name: &str) {}

    /// Says that kernels allocate from a region, if the device looks after what they do with it.
    fn add_heap(&self, _region: MemoryRange) {}

    /// Takes a module that passed [`crate::check::interface`].
    fn shader(self: Arc<Self>, spirv: &[u32]) -> Result<Box<dyn Shader>, Error>;

    /// Waits until everything launched has finished.
    fn synchronize(&self) -> Result<(), Error>;

    /// Waits for the kernels launched so far that may have been stopped or have printed something, and fails if one was
    /// stopped and nobody was told yet.
    fn check_stopped(&self) -> Result<(), Error>;

    /// What kernels have printed, as far as [`Backend::check_stopped`] has found it, since the last call.
    fn take_output(&self) -> Vec<u8>;

    /// How often something was submitted.
    fn submissions(&self) -> u64;
}

/// Takes the time in a stream.
pub(crate) trait Timer: Send + Sync {
    /// Takes the time when everything before in the stream has finished.
    fn record(&self, stream: StreamKey) -> Result<Ticket, Error>;

    /// The time that was taken last, in ticks of the device's clock. The recording has finished.
    fn ticks(&self) -> Result<u64, Error>;
}

/// A SPIR-V module.
pub(crate) trait Shader: Send + Sync {
    /// Makes a pipeline of one of its kernels. The variant's sizes are within the device's limits.
    fn pipeline(&self, entry: &Entry, variant: Variant) -> Result<Box<dyn Pipeline>, Error>;
}

/// A kernel for one block size and amount of shared memory.
pub(crate) trait Pipeline: Send + Sync {
    /// Launches the kernel in stream order. `None`: it was stopped already.
    fn launch(&self, stream: StreamKey, launch: &mut Launch<'_>) -> Result<Option<Ticket>, Error>;

    /// Launches the kernel `repeats` times, one after another, and returns how long each took.
    fn time(&self, launch: &mut Launch<'_>, repeats: u32) -> Result<Vec<Duration>, Error>;
}
