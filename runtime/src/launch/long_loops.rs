//! Launches whose threads may be suspended in long loops: each part of the grid is dispatched again until no thread is suspended.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use ptx2spv_translator::interface::workspace;

use crate::backend::Pipeline;
use crate::backend::launch::Part;
use crate::backend::launch::{Launch, LongLoops};
use crate::backend::order::{Position, StreamState};
use crate::backend::range::PinnedRange;
use crate::clock::Instant;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::launch::cooperative::Idle;

/// The number of polls by a waiting thread before its block is suspended: only its rounds end its turn.
const PATIENCE: u32 = i32::MAX as u32;

/// Memory of one launch, which the host reads and writes between dispatches.
struct Workspace<'d> {
    range: PinnedRange,
    /// Whether a dispatch that has not ended may use the workspace.
    in_use: bool,
    device: &'d Device,
}

impl<'d> Workspace<'d> {
    /// At least `bytes` bytes.
    fn new(device: &'d Device, bytes: u64) -> Result<Self> {
        let kept = device.kept_workspace().take();
        let range = match kept {
            Some(kept) if kept.size >= bytes => kept,
            small => {
                small.inspect(|small| device.backend().free(small.address));
                device.backend().allocate_pinned(bytes)?
            }
        };
        Ok(Self { range, in_use: false, device })
    }

    /// Writes bytes while no dispatch runs.
    fn write(&mut self, offset: u64, bytes: &[u8]) {
        debug_assert!(offset + bytes.len() as u64 <= self.range.size && !self.in_use);
        // SAFETY: the launch asked for a workspace that holds the bytes at this offset. The range is mapped as long as this lives, and nothing
        // else accesses it now.
        unsafe {
            let to = self.range.pointer().add(offset as usize);
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len());
        }
    }

    /// A word of the head.
    fn word(&self, offset: u64) -> &AtomicU32 {
        // SAFETY: the head lies in the range, which is mapped as long as this lives and begins at a multiple of 256. Host and device
        // access it in turn.
        unsafe { AtomicU32::from_ptr(self.range.pointer().add(offset as usize).cast()) }
    }
}

impl Drop for Workspace<'_> {
    fn drop(&mut self) {
        let left = if self.in_use { Some(self.range) } else { self.device.kept_workspace().replace(self.range) };
        left.inspect(|left| self.device.backend().free(left.address));
    }
}

/// Launches a grid, and waits for its end. No other command that is ordered with the stream comes between two dispatches.
pub(crate) fn run(
    device: &Device,
    stream: &StreamState,
    pipeline: &dyn Pipeline,
    launch: &mut Launch<'_>,
    LongLoops { rounds, bytes, waits }: LongLoops,
) -> Result {
    let _lock = device.wait_to_submit_several(stream)?;
    let backend = device.backend();
    let mut space = Workspace::new(device, bytes)?;
    let (offset, params) = launch.set_workspace_address(space.range.address);
    space.write(offset, params);
    space.word(workspace::ROUNDS).store(rounds, Relaxed);
    space.word(workspace::PATIENCE).store(PATIENCE, Relaxed);
    let start = Instant::now();
    let parts: Vec<Part> = launch.dispatches().collect();
    for part in parts {
        launch.part = part;
        let mut idle = Idle::default();
        for dispatch in 0.. {
            space.word(workspace::DISPATCH).store(dispatch, Relaxed);
            space.word(workspace::SUSPENDED).store(0, Relaxed);
            space.word(workspace::PROGRESS).store(0, Relaxed);
            space.in_use = true;
            let Some(ticket) = pipeline.launch(stream.key(), launch)? else { return Ok(()) };
            // Who waits for the stream is told if the kernel was stopped.
            device.join(stream, Position { point: ticket.into(), function: 0 });
            backend.wait(ticket.into(), device.deadline())?;
            space.in_use = false;
            let suspended = space.word(workspace::SUSPENDED).load(Relaxed);
            if suspended == 0 {
                break;
            }
            // Stopped threads may be waited for.
            backend.check_stopped()?;
            if start.elapsed() > device.wait_limit() {
                return Err(Error::Timeout);
            }
            if waits {
                idle.count(launch, suspended, space.word(workspace::PROGRESS).load(Relaxed) > 0)?;
            }
        }
    }
    Ok(())
}
