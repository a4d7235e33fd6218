//! Launches from kernels: after a grid has ended, its kernel's requests are carried out one after another, with all
//! requests that follow from them.
//!
//! See [`ptx2spv_translator::interface::launches`] for the order, which obeys the rules of CUDA's streams and events.

use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;

use ptx2spv_translator::interface::Launches;
use ptx2spv_translator::interface::launches::{Kind, TAIL_STREAM, USED, record};

use crate::backend::Backend;
use crate::backend::launch::Launch;
use crate::backend::order::StreamState;
use crate::backend::shape::{Extent, Pitches, Shape};
use crate::clock::Instant;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::launch::args::LaunchConfig;
use crate::launch::cooperative::{self, Terms};
use crate::launch::long_loops;
use crate::module::code::Prepared;
use crate::module::kernel::Kernel;
use crate::module::versions::Loaded;

/// Maximum number of grids that may wait for each other: CUDA's limit of nesting before version 12.
const MAX_WAITING: u32 = 24;

/// Maximum bytes of pending requests, unless a single grid has more. Without it, kernels that each launch themselves
/// twice would never end.
const MAX_PENDING_BYTES: u64 = 1 << 30;

struct Request {
    /// Whether the request comes after all others of its grid.
    tail: bool,
    /// The sequence number of the request in its grid.
    order: u32,
    /// The kernel that made the request.
    kernel: Arc<str>,
    work: Work,
}

enum Work {
    Kernel { number: u32, config: LaunchConfig, params: Vec<u8> },
    Copy { to: Side, from: Side, extent: Extent },
    Fill { to: Side, byte: u8, extent: Extent },
}

/// All requests of a grid.
struct Requests {
    /// In reverse order: the first request is the last element.
    requests: Vec<Request>,
    /// The records that the requests were read from.
    records: Vec<u8>,
}

/// One side of a copy.
#[derive(Clone, Copy)]
struct Side {
    address: u64,
    pitches: Pitches,
}

pub(crate) struct Grid<'a, 'k> {
    pub kernel: &'k Kernel,
    pub prepared: &'a Prepared,
    pub launch: &'a mut Launch<'k>,
}

/// The state that a launch shares with all launches that follow from it.
struct Tree<'d> {
    device: &'d Device,
    stream: &'d StreamState,
    module: &'d Arc<Loaded>,
    launches: &'d Launches,
    /// The region's device address.
    region: u64,
    /// The time of the first launch.
    start: Instant,
}

/// Launches a grid, then carries out its kernel's requests, and so on. The last command may still be running on return.
pub(crate) fn run(stream: &StreamState, grid: Grid<'_, '_>) -> Result {
    let (device, module) = (&grid.kernel.shared.device, &grid.kernel.module);
    let launches =
        module.variables.launches().ok_or_else(|| Error::Interface("it has no region for launches".to_owned()))?;
    let region = module.variables.address() + launches.offset;
    // Held from the first grid to the last, since the region serves one launch at a time.
    let _alone = device.lock_parts();
    let tree = Tree { device, stream, module, launches, region, start: Instant::now() };
    // An earlier launch that failed may have left records, which must not be carried out now.
    if module.variables.has_leftovers().swap(true, SeqCst) {
        tree.write_header([0; 3])?;
    }
    let todo = tree.run(grid, 0)?;
    tree.finish(todo, 0)?;
    module.variables.has_leftovers().store(false, SeqCst);
    Ok(())
}

impl Tree<'_> {
    /// Carries out requests, given in reverse order, with all requests that follow from them. `depth` grids are
    /// waiting.
    fn finish(&self, mut todo: Vec<Request>, depth: u32) -> Result {
        while let Some(request) = todo.pop() {
            // Each grid may be short, but their number may be unlimited.
            if self.start.elapsed() > self.device.wait_limit() {
                return Err(Error::Timeout);
            }
            match request.work {
                Work::Kernel { number, config, params } => {
                    todo.append(&mut self.child(number, &config, &params, depth)?);
                    if !may_wait(self.launches, todo.len()) {
                        let kernel = self.launches.kernels.get(number as usize).map_or("", |known| &known.name);
                        return Err(aborted(kernel, "too many launches are pending".to_owned()));
                    }
                }
                Work::Copy { to, from, extent } => {
                    self.copy(to, from, extent).map_err(|error| impossible(&request.kernel, "a copy", error))?;
                }
                Work::Fill { to, byte, extent } => {
                    let what = "bytes to be set";
                    self.fill(to, byte, extent).map_err(|error| impossible(&request.kernel, what, error))?;
                }
            }
        }
        Ok(())
    }

    fn child(&self, number: u32, config: &LaunchConfig, params: &[u8], depth: u32) -> Result<Vec<Request>> {
        let known = self.launches.kernels.get(number as usize);
        let known = known.ok_or_else(|| Error::Interface(format!("there is no kernel {number} to be launched")))?;
        let kernel = Kernel::of_module(self.module, &known.name, None, false)?;
        let (prepared, mut launch) = kernel.with_block(config, params)?;
        self.run(Grid { kernel: &kernel, prepared: &prepared, launch: &mut launch }, depth)
    }

    /// Launches a grid while `depth` others wait, and returns its requests in reverse order.
    fn run(&self, Grid { kernel, prepared, launch }: Grid<'_, '_>, depth: u32) -> Result<Vec<Request>> {
        let entry = kernel.entry();
        let mut tail = Vec::new();
        let ran = match (launch.workspace_bytes(), launch.long_loops()) {
            (Some(bytes), _) => {
                let terms = Terms { bytes, patient: entry.cooperative.is_some() };
                let name = kernel.name();
                let mut between = || if entry.launches { self.help(name, &mut tail, depth) } else { Ok(false) };
                drop(self.device.wait_to_submit(self.stream)?);
                cooperative::run_alone(self.device, self.stream, &*prepared.pipeline, launch, terms, &mut between)
            }
            (None, Some(loops)) => long_loops::run(self.device, self.stream, &*prepared.pipeline, launch, loops),
            // A stopped launch has already finished.
            (None, None) => {
                self.device.submit(self.stream, |_, key| Ok(prepared.pipeline.launch(key, launch)?.unwrap_or_default()))
            }
        };
        if !entry.launches {
            return ran.map(|()| tail);
        }
        // The region is cleared even after an error.
        let asked = self.collect(kernel.name());
        let cleared = self.write_header([0; 3]);
        let stopped = self.device.backend().check_stopped();
        ran.and(stopped).and(cleared)?;
        tail.append(&mut asked?.requests);
        sort(&mut tail);
        Ok(tail)
    }

    /// Carries out the requests of suspended blocks, except for tail launches, which are added to `tail`. Returns
    /// whether there were any requests.
    fn help(&self, kernel: &str, tail: &mut Vec<Request>, depth: u32) -> Result<bool> {
        let [used, order, completed] = self.header()?;
        if order == completed {
            return Ok(false);
        }
        if depth >= MAX_WAITING {
            return Err(aborted(
                kernel,
                format!("more than {MAX_WAITING} nested grids wait for grids that they have launched"),
            ));
        }
        let Requests { requests, records } = self.collect(kernel)?;
        let (last, todo) = requests.into_iter().partition(|request| request.tail);
        tail.extend::<Vec<Request>>(last);
        self.write_header([0; 3])?;
        self.finish(todo, depth + 1)?;
        // Records that blocks have allocated but not completed yet are put back.
        let taken =
            records.chunks_exact(self.launches.record_bytes as usize).any(|record| word(record, record::ORDER) == 0);
        if taken {
            self.backend().write(self.region + self.launches.records, &records)?;
        }
        self.write_header([if taken { used } else { 0 }, order, order])?;
        Ok(true)
    }

    fn backend(&self) -> &dyn Backend {
        self.device.backend()
    }

    /// The header of the region: records in use, the last sequence number, and the last one carried out.
    fn header(&self) -> Result<[u32; 3]> {
        let mut bytes = [[0; 4]; 3];
        self.backend().read(self.region + USED, bytes.as_flattened_mut())?;
        Ok(bytes.map(u32::from_le_bytes))
    }

    fn write_header(&self, words: [u32; 3]) -> Result {
        self.backend().write(self.region + USED, words.map(u32::to_le_bytes).as_flattened())
    }

    /// Waits for the grid, and reads its kernel's requests.
    fn collect(&self, kernel: &str) -> Result<Requests> {
        let kernel: Arc<str> = kernel.into();
        let [used, _, completed] = self.header()?;
        let count = used.min(self.launches.capacity);
        let mut records = vec![0; count as usize * self.launches.record_bytes as usize];
        if count > 0 {
            self.backend().read(self.region + self.launches.records, &mut records)?;
        }
        let mut requests = Vec::new();
        for record in records.chunks_exact(self.launches.record_bytes as usize) {
            let request = read(record, self.launches, &kernel)
                .map_err(|reason| Error::Overwritten { kernel: kernel.to_string(), reason })?;
            requests.extend(request.filter(|request| request.order > completed));
        }
        sort(&mut requests);
        Ok(Requests { requests, records })
    }

    fn copy(&self, to: Side, from: Side, extent: Extent) -> Result {
        let Some(shape) = Shape::new(extent, from.pitches, to.pitches)? else { return Ok(()) };
        self.device.check_range(from.address, shape.source_span())?;
        self.device.check_range(to.address, shape.target_span())?;
        if shape.overlaps(from.address, to.address) {
            return Err(Error::Overlap);
        }
        self.device.submit(self.stream, |backend, key| backend.copy(key, from.address, to.address, &shape))
    }

    fn fill(&self, to: Side, byte: u8, extent: Extent) -> Result {
        let word = u32::from_ne_bytes([byte; 4]);
        let Side { address: first, pitches } = to;
        // Slices don't overlap, and so their number is limited by the allocation's size.
        let Some(whole) = Shape::new(extent, pitches, pitches)? else { return Ok(()) };
        self.device.check_range(first, whole.target_span())?;
        let rows = Extent::rows(extent.width, extent.height);
        for slice in 0..extent.depth {
            // Within the range checked above.
            let address = first + slice * pitches.slice;
            let Some(shape) = Shape::new(rows, pitches, pitches)? else { return Ok(()) };
            self.device.submit(self.stream, |backend, key| backend.fill(key, shape.rows(address), word))?;
        }
        Ok(())
    }
}

/// Sorts requests in reverse order.
fn sort(requests: &mut [Request]) {
    requests.sort_unstable_by_key(|request| std::cmp::Reverse((request.tail, request.order)));
}

/// A word of a record, or zero after its end.
fn word(record: &[u8], offset: u64) -> u32 {
    let bytes = record.get(offset as usize..).and_then(|rest| rest.first_chunk());
    bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

/// Whether this many requests may be pending.
fn may_wait(launches: &Launches, requests: usize) -> bool {
    let bytes = (requests as u64).saturating_mul(launches.record_bytes.into());
    bytes <= MAX_PENDING_BYTES.max(launches.size)
}

/// Attributes the error of a request to its kernel. Errors that concern the device are passed on.
fn impossible(kernel: &str, what: &'static str, error: Error) -> Error {
    match error {
        Error::NotAllocated { .. } | Error::OutOfRange { .. } | Error::Overlap | Error::Pitch { .. } => {
            Error::Request { kernel: kernel.to_owned(), what, reason: Box::new(error) }
        }
        error => error,
    }
}

fn aborted(kernel: &str, reason: String) -> Error {
    Error::Aborted { kernels: vec![kernel.to_owned()], reason, place: None }
}

/// Decodes a kernel's record: its request if the record is complete, or the fault of the record.
fn read(bytes: &[u8], launches: &Launches, by: &Arc<str>) -> Result<Option<Request>, String> {
    let word = |offset: u64| word(bytes, offset);
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
        let number = word(record::KERNEL);
        if number as usize >= launches.kernels.len() {
            return Err(format!("a record asks for kernel {number} of {}", launches.kernels.len()));
        }
        let dynamic_shared_bytes = word(record::DYNAMIC_SHARED);
        let config = LaunchConfig { grid: triple(record::GRID), block: triple(record::BLOCK), dynamic_shared_bytes };
        let params = bytes.get(record::PARAMS as usize..).unwrap_or_default().to_vec();
        Work::Kernel { number, config, params }
    } else if kind == Kind::Copy as u32 {
        Work::Copy { to, from, extent }
    } else if kind == Kind::Fill as u32 {
        // As in CUDA, the low byte is the value.
        Work::Fill { to, byte: from.address.to_le_bytes()[0], extent }
    } else {
        return Err(format!("a record has the unknown kind {kind}"));
    };
    Ok(Some(Request { tail: long(record::STREAM) == TAIL_STREAM, order, kernel: by.clone(), work }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pending_requests_are_bounded() {
        let launches = |size: u64, record_bytes: u32| Launches {
            offset: 0,
            size,
            records: 0,
            capacity: 1,
            record_bytes,
            attributes: None,
            kernels: Vec::new(),
        };
        let small = launches(1 << 16, 1 << 10);
        assert!(may_wait(&small, 1 << 20) && !may_wait(&small, (1 << 20) + 1));
        // The requests of a single grid are always accepted.
        let large = launches(1 << 31, 1 << 10);
        assert!(may_wait(&large, 1 << 21) && !may_wait(&large, (1 << 21) + 1));
        assert!(!may_wait(&small, usize::MAX));
    }
}
