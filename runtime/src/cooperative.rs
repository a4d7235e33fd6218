//! Cooperative launches: a grid is dispatched until none of its blocks waits for others any more.

use std::time::Instant;

use ptx2spv_translator::interface::workspace;

use crate::backend::{Backend, Pipeline};
use crate::device::Device;
use crate::dispatch::Launch;
use crate::error::Error;
use crate::info::DeviceKind;
use crate::order::{StreamKey, StreamState};
use crate::range::{MemoryRange, Rows};

/// How often in succession a grid is dispatched without that any block does more than wait. It may wait for the host.
const MAX_IDLE: u32 = 10_000;

/// How often threads look again on a device that runs many blocks side by side, before the host has to dispatch the grid anew.
const PATIENCE: u32 = 1_000;

/// Memory of one launch.
struct Workspace<'d> {
    address: u64,
    backend: &'d dyn Backend,
}

impl<'d> Workspace<'d> {
    fn new(backend: &'d dyn Backend, size: u64) -> Result<Self, Error> {
        let size = size.next_multiple_of(4);
        let workspace = Self { address: backend.allocate(size)?, backend };
        let all = MemoryRange { address: workspace.address, size };
        backend.fill(StreamKey::Everything, Rows { first: all, count: 1, pitch: size }, 0)?;
        Ok(workspace)
    }

    fn write(&self, offset: u64, word: u32) -> Result<(), Error> {
        self.backend.write(self.address + offset, &word.to_le_bytes())
    }

    /// Reads the words that count suspended blocks and those that did something.
    fn counts(&self) -> Result<[u32; 2], Error> {
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

/// Launches a grid with a workspace of so many bytes, and waits until it has ended, while no other launch comes in between.
pub(crate) fn run(
    device: &Device,
    stream: &StreamState,
    pipeline: &dyn Pipeline,
    launch: &mut Launch<'_>,
    bytes: u64,
) -> Result<(), Error> {
    // Held from the first dispatch to the last.
    let _alone = device.lock_parts();
    run_alone(device, stream, pipeline, launch, Terms { bytes, patient: true }, &mut || Ok(false))
}

/// What a launch's workspace is like.
pub(crate) struct Terms {
    pub bytes: u64,
    /// Whether blocks may get on while others run beside them.
    pub patient: bool,
}

/// The same, for a caller that keeps other launches from coming in between. `between` is called between two dispatches, and says whether blocks may get on because
/// of what it has done.
pub(crate) fn run_alone(
    device: &Device,
    stream: &StreamState,
    pipeline: &dyn Pipeline,
    launch: &mut Launch<'_>,
    Terms { bytes, patient }: Terms,
    between: &mut dyn FnMut() -> Result<bool, Error>,
) -> Result<(), Error> {
    device.wait_for_functions(stream)?;
    let backend = device.backend();
    let space = Workspace::new(backend, bytes)?;
    let patience = match device.info().kind {
        DeviceKind::Cpu | DeviceKind::Reference => 0,
        _ if patient => PATIENCE,
        _ => 0,
    };
    space.write(0, 8)?;
    space.write(workspace::PATIENCE, patience)?;
    launch.set_workspace_address(space.address);
    let mut idle = 0;
    let start = Instant::now();
    loop {
        let Some(ticket) = pipeline.launch(stream.key(), launch)? else { return Ok(()) };
        backend.wait(ticket.into())?;
        // Blocks that were stopped will never let others go on.
        backend.check_stopped()?;
        let [suspended, progress] = space.counts()?;
        if suspended == 0 {
            return Ok(());
        }
        // Each dispatch may be short, and their number without end.
        if start.elapsed() > device.wait_limit() {
            return Err(Error::Timeout);
        }
        let helped = between()?;
        idle = if progress == 0 && !helped { idle + 1 } else { 0 };
        if idle > MAX_IDLE {
            return Err(Error::Aborted {
                kernels: vec![launch.kernel.to_owned()],
                reason: format!("blocks waited for each other without end: {suspended} of them are left"),
                place: None,
            });
        }
        space.write(workspace::SUSPENDED, 0)?;
        space.write(workspace::PROGRESS, 0)?;
    }
}
