//! Launches from kernels: when a grid has ended, what its kernel has asked for is done, one after the other, with all that comes of it.
//!
//! See [`ptx2spv_translator::interface::launches`] for the order, which obeys the rules of CUDA's streams and events.

use std::sync::Arc;

use ptx2spv_translator::interface::Launches;
use ptx2spv_translator::interface::launches::{Kind, ORDER, TAIL_STREAM, USED, record};

use crate::backend::Backend;
use crate::cooperative;
use crate::device::Device;
use crate::dispatch::Launch;
use crate::error::Error;
use crate::kernel::Kernel;
use crate::launch::LaunchConfig;
use crate::module;
use crate::order::StreamState;
use crate::shape::{Extent, Pitches, Shape};
use crate::version::Prepared;

/// What a kernel has asked for.
struct Request {
    /// Whether it comes after all others of its grid.
    tail: bool,
    /// By when it was asked for.
    order: u32,
    work: Work,
}

enum Work {
    Kernel { number: u32, config: LaunchConfig, params: Vec<u8> },
    Copy { to: Side, from: Side, extent: Extent },
    Fill { to: Side, byte: u8, extent: Extent },
}

/// One side of a copy.
#[derive(Clone, Copy)]
struct Side {
    address: u64,
    pitches: Pitches,
}

/// A grid that is to be launched.
pub(crate) struct Grid<'a, 'k> {
    pub kernel: &'k Kernel,
    pub prepared: &'a Prepared,
    pub launch: &'a mut Launch<'k>,
}

/// What all launches that come of one have in common.
struct Tree<'d> {
    device: &'d Device,
    stream: &'d StreamState,
    module: &'d Arc<module::Shared>,
    launches: &'d Launches,
    /// Device address of the region.
    region: u64,
}

/// Launches a grid, then what its kernel has asked for, and so on. The last of these may still run.
pub(crate) fn run(stream: &StreamState, grid: Grid<'_, '_>) -> Result<(), Error> {
    let (device, module) = (&grid.kernel.shared.device, &grid.kernel.module);
    let launches = module.variables.launches().ok_or_else(|| wrong("it has no region for launches".to_owned()))?;
    let region = module.variables.address() + launches.offset;
    // Held from the first grid to the last, since the region is for one at a time.
    let _alone = device.lock_parts();
    let tree = Tree { device, stream, module, launches, region };
    // What comes next is at the end.
    let mut todo = tree.run(grid)?;
    while let Some(request) = todo.pop() {
        match request.work {
            Work::Kernel { number, config, params } => todo.append(&mut tree.child(number, &config, &params)?),
            Work::Copy { to, from, extent } => tree.copy(to, from, extent)?,
            Work::Fill { to, byte, extent } => tree.fill(to, byte, extent)?,
        }
    }
    Ok(())
}

impl Tree<'_> {
    fn child(&self, number: u32, config: &LaunchConfig, params: &[u8]) -> Result<Vec<Request>, Error> {
        let known = self.launches.kernels.get(number as usize);
        let known = known.ok_or_else(|| wrong(format!("a launch of kernel {number}, which there isn't")))?;
        let kernel = module::kernel(self.module, &known.name, None, false)?;
        let (prepared, mut launch) = kernel.prepare_block(config, params)?;
        self.run(Grid { kernel: &kernel, prepared: &prepared, launch: &mut launch })
    }

    /// Launches a grid, and gives what it has asked for, the first at the end.
    fn run(&self, Grid { kernel, prepared, launch }: Grid<'_, '_>) -> Result<Vec<Request>, Error> {
        match launch.workspace_bytes() {
            Some(bytes) => cooperative::run_alone(self.device, self.stream, &*prepared.pipeline, launch, bytes)?,
            // What was stopped has finished.
            None => self
                .device
                .submit(self.stream, |_, key| Ok(prepared.pipeline.launch(key, launch)?.unwrap_or_default()))?,
        }
        if !kernel.entry().launches {
            return Ok(Vec::new());
        }
        // The region is cleared in any case.
        let asked = self.collect();
        self.device.backend().check_stopped()?;
        asked
    }

    fn backend(&self) -> &dyn Backend {
        self.device.backend()
    }

    /// Waits for a grid, takes what it has asked for, and clears the region.
    fn collect(&self) -> Result<Vec<Request>, Error> {
        let mut used = [0; 4];
        self.backend().read(self.region + USED, &mut used)?;
        let count = u32::from_le_bytes(used).min(self.launches.capacity);
        if count == 0 {
            return Ok(Vec::new());
        }
        let mut records = vec![0; count as usize * self.launches.record_bytes as usize];
        self.backend().read(self.region + self.launches.records, &mut records)?;
        for word in [USED, ORDER] {
            self.backend().write(self.region + word, &[0; 4])?;
        }
        let mut requests = Vec::new();
        for record in records.chunks_exact(self.launches.record_bytes as usize) {
            requests.extend(read(record)?);
        }
        requests.sort_unstable_by_key(|request| std::cmp::Reverse((request.tail, request.order)));
        Ok(requests)
    }

    fn copy(&self, to: Side, from: Side, extent: Extent) -> Result<(), Error> {
        let Some(shape) = Shape::new(extent, from.pitches, to.pitches)? else { return Ok(()) };
        self.device.check_range(from.address, shape.source_span())?;
        self.device.check_range(to.address, shape.target_span())?;
        if shape.overlaps(from.address, to.address) {
            return Err(Error::Overlap);
        }
        self.device.submit(self.stream, |backend, key| backend.copy(key, from.address, to.address, &shape))
    }

    fn fill(&self, to: Side, byte: u8, extent: Extent) -> Result<(), Error> {
        let word = u32::from_ne_bytes([byte; 4]);
        for slice in 0..extent.depth {
            let Side { address, pitches } = to;
            let offset = slice.checked_mul(pitches.slice).and_then(|offset| address.checked_add(offset));
            let address = offset.ok_or(Error::NotAllocated { address })?;
            let rows = Extent::rows(extent.width, extent.height);
            let Some(shape) = Shape::new(rows, pitches, pitches)? else { return Ok(()) };
            self.device.check_range(address, shape.target_span())?;
            self.device.submit(self.stream, |backend, key| backend.fill(key, shape.rows(address), word))?;
        }
        Ok(())
    }
}

fn wrong(what: String) -> Error {
    Error::Interface(what)
}

/// What a record asks for, if it does.
fn read(bytes: &[u8]) -> Result<Option<Request>, Error> {
    let word = |offset: u64| {
        let bytes = bytes.get(offset as usize..).and_then(|rest| rest.first_chunk());
        bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes))
    };
    let long = |offset: u64| u64::from(word(offset)) | u64::from(word(offset + 4)) << 32;
    let order = word(record::ORDER);
    if order == 0 {
        return Ok(None);
    }
    let triple = |offset: u64| [0, 4, 8].map(|part| word(offset + part));
    let side =
        |first: u64| Side { address: long(first), pitches: Pitches { row: long(first + 8), slice: long(first + 16) } };
    let (to, from) = (side(record::PARAMS), side(record::PARAMS + 24));
    let [width, height, depth] = [48, 56, 64].map(|offset| long(record::PARAMS + offset));
    let extent = Extent { width, height, depth };
    let kind = word(record::KIND);
    let work = if kind == Kind::Kernel as u32 {
        let dynamic_shared_bytes = word(record::DYNAMIC_SHARED);
        let config = LaunchConfig { grid: triple(record::GRID), block: triple(record::BLOCK), dynamic_shared_bytes };
        let params = bytes.get(record::PARAMS as usize..).unwrap_or_default().to_vec();
        Work::Kernel { number: word(record::KERNEL), config, params }
    } else if kind == Kind::Copy as u32 {
        Work::Copy { to, from, extent }
    } else if kind == Kind::Fill as u32 {
        // CUDA takes the low byte.
        Work::Fill { to, byte: from.address.to_le_bytes()[0], extent }
    } else {
        return Err(wrong(format!("a kernel asked for {kind}, which there isn't")));
    };
    Ok(Some(Request { tail: long(record::STREAM) == TAIL_STREAM, order, work }))
}
