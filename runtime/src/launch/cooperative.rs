//! Cooperative launches: a grid is dispatched again and again until none of its blocks waits for others.

use ptx2spv_translator::interface::workspace;

use crate::backend::launch::Launch;
use crate::backend::order::{StreamKey, StreamState};
use crate::backend::range::{MemoryRange, Rows};
use crate::backend::{Backend, Pipeline};
use crate::clock::Instant;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::info::DeviceKind;

/// Maximum number of successive dispatches without progress. Blocks may be waiting for the host.
const MAX_IDLE: u32 = 10_000;

/// On devices that run many blocks at a time, the number of polls by a waiting thread before its block is suspended.
const PATIENCE: u32 = 1_000;

/// The number of successive dispatches without progress.
#[derive(Default)]
pub(crate) struct Idle(u32);

impl Idle {
    /// Counts a dispatch after which some workgroups are suspended.
    ///
    /// # Errors
    /// [`Error::Aborted`] after too many without progress.
    pub fn count(&mut self, launch: &Launch<'_>, suspended: u32, progress: bool) -> Result {
        self.0 = if progress { 0 } else { self.0 + 1 };
        if self.0 <= MAX_IDLE {
            return Ok(());
        }
        Err(Error::Aborted {
            kernels: vec![launch.kernel.to_owned()],
            reason: format!("blocks waited for each other without end: {suspended} of them are still waiting"),
            place: None,
        })
    }
}

/// Memory of one launch.
struct Workspace<'d> {
    address: u64,
    backend: &'d dyn Backend,
}

impl<'d> Workspace<'d> {
    fn new(backend: &'d dyn Backend, size: u64) -> Result<Self> {
        let size = size.next_multiple_of(4);
        let workspace = Self { address: backend.allocate(size)?, backend };
        let all = MemoryRange { address: workspace.address, size };
        backend.fill(StreamKey::Everything, Rows { first: all, count: 1, pitch: size }, 0)?;
        Ok(workspace)
    }

    fn write(&self, offset: u64, word: u32) -> Result {
        self.backend.write(self.address + offset, &word.to_le_bytes())
    }

    /// Reads the number of suspended blocks, and of blocks that made progress.
    fn counts(&self) -> Result<[u32; 2]> {
        let mut bytes = [[0; 4]; 2];
        self.backend.read(self.address + workspace::SUSPENDED, bytes.as_flattened_mut())?;
        Ok(bytes.map(u32::from_le_bytes))
    }
}

impl Drop for Workspace<'_> {
    fn drop(&mut self) {
        self.backend.free(self.address);
    }
}

/// Launches a grid with a workspace of `bytes` bytes, and waits for its end. No other launch runs in between.
pub(crate) fn run(
    device: &Device,
    stream: &StreamState,
    pipeline: &dyn Pipeline,
    launch: &mut Launch<'_>,
    bytes: u64,
) -> Result {
    // Locked from the first dispatch to the last.
    let _alone = device.lock_parts();
    let _lock = device.wait_to_submit_several(stream)?;
    run_alone(device, stream, pipeline, launch, Terms { bytes, patient: true }, &mut || Ok(false))
}

/// Properties of a launch's workspace.
pub(crate) struct Terms {
    pub bytes: u64,
    /// Whether waiting can help, because other blocks run at the same time and may release a block.
    pub patient: bool,
}

/// Like [`run`], for a caller who has waited for earlier work, and prevents other launches. `between` is called between two dispatches, and
/// returns whether it did something that blocks may have waited for.
pub(crate) fn run_alone(
    device: &Device,
    stream: &StreamState,
    pipeline: &dyn Pipeline,
    launch: &mut Launch<'_>,
    Terms { bytes, patient }: Terms,
    between: &mut dyn FnMut() -> Result<bool>,
) -> Result {
    let backend = device.backend();
    let space = Workspace::new(backend, bytes)?;
    let patience = match device.info().kind {
        DeviceKind::Cpu | DeviceKind::Reference => 0,
        _ if patient => PATIENCE,
        _ => 0,
    };
    space.write(0, 8)?;
    space.write(workspace::PATIENCE, patience)?;
    if let Some(loops) = launch.long_loops() {
        space.write(workspace::ROUNDS, loops.rounds)?;
    }
    let (offset, params) = launch.set_workspace_address(space.address);
    if !params.is_empty() {
        backend.write(space.address + offset, params)?;
    }
    let mut idle = Idle::default();
    let start = Instant::now();
    loop {
        let Some(ticket) = pipeline.launch(stream.key(), launch)? else { return Ok(()) };
        backend.wait(ticket.into(), device.deadline())?;
        // Stopped blocks will never release the others.
        backend.check_stopped()?;
        let [suspended, progress] = space.counts()?;
        if suspended == 0 {
            return Ok(());
        }
        // Each dispatch may be short, but their number may be unlimited.
        if start.elapsed() > device.wait_limit() {
            return Err(Error::Timeout);
        }
        let helped = between()?;
        idle.count(launch, suspended, progress > 0 || helped)?;
        space.write(workspace::SUSPENDED, 0)?;
        space.write(workspace::PROGRESS, 0)?;
    }
}
