//! The back end's operations on the interpreter.

use std::ptr::NonNull;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ptx2spv_reference::Pool;
use ptx2spv_translator::interface::heap::{Arena, arenas};

use super::device::{FINISHED, ReferenceDevice, fault};
use super::info::MAX_BUFFER;
use super::lent::Lent;
use super::pipeline::ReferenceShader;
use crate::backend::deadline::Deadline;
use crate::backend::order::{Point, StreamKey, Ticket};
use crate::backend::range::{MemoryInfo, MemoryRange, PinnedKind, PinnedRange, Rows};
use crate::backend::shape::Shape;
use crate::backend::{Backend, Shader, Timer};
use crate::clock::Instant;
use crate::error::{Error, Result};
use crate::profile::Work;
use crate::sync::lock;

/// Bytes that are filled at a time.
const PIECE: usize = 64 << 10;

impl Backend for ReferenceDevice {
    fn allocate(&self, size: u64) -> Result<u64> {
        check_size(size)?;
        // If narrow stores go through whole words, buffers end with a whole word, as in `vulkan::memory`.
        let narrow = self.interpreter.config().target.has_narrow_global();
        let address = self.interpreter.allocate(if narrow { size } else { size.next_multiple_of(4) });
        let address = address.ok_or_else(|| no_room(size))?;
        self.allocations.insert(MemoryRange { address, size }, None);
        Ok(address)
    }

    fn allocate_pinned(&self, size: u64) -> Result<PinnedRange> {
        check_size(size)?;
        let memory = Lent::allocate(size).ok_or_else(|| no_room(size))?;
        let host = memory.address();
        let address = self.lend(size, |_| Some(memory)).ok_or_else(|| no_room(size))?;
        Ok(PinnedRange { host, address, size, kind: PinnedKind::Pinned })
    }

    fn allocate_managed(&self, size: u64) -> Result<PinnedRange> {
        check_size(size)?;
        // Each failure leads to the next address, of which hosts have 2^47 bytes.
        let found = (0..2048).find_map(|_| self.lend(size, |address| Lent::map_at(address, size)));
        let device = || self.interpreter.config().target.name.clone();
        let reason = "its addresses are not free on the host";
        let address = found.ok_or_else(|| Error::NoManagedMemory { device: device(), reason })?;
        Ok(PinnedRange { host: address, address, size, kind: PinnedKind::Managed })
    }

    unsafe fn register(&self, host: NonNull<u8>, size: u64) -> Result<u64> {
        // SAFETY: by the contract.
        let memory = unsafe { Lent::foreign(host, size) };
        memory.and_then(|memory| self.lend(size, |_| Some(memory))).ok_or_else(|| Error::NotRegistered {
            device: self.interpreter.config().target.name.clone(),
            host: host.addr().get() as u64,
            reason: "it is not aligned to words".to_owned(),
        })
    }

    fn free(&self, address: u64) {
        // Host memory in use by an allocation is released after the device has freed the allocation.
        if let Some(_lent) = self.allocations.remove(address) {
            self.interpreter.free(address);
        }
    }

    fn find(&self, address: u64) -> Option<MemoryRange> {
        self.allocations.find(address).map(|(range, _)| range)
    }

    fn overlapping(&self, range: MemoryRange) -> Vec<MemoryRange> {
        self.allocations.overlapping(range)
    }

    fn memory_info(&self) -> MemoryInfo {
        MemoryInfo { free: MAX_BUFFER.saturating_sub(self.allocations.bytes()), total: MAX_BUFFER }
    }

    fn write(&self, address: u64, bytes: &[u8]) -> Result {
        let _measured = self.measure(StreamKey::Everything, || Work::copy(true, false, bytes.len() as u64));
        self.interpreter.write(address, bytes).map_err(fault)
    }

    fn read(&self, address: u64, bytes: &mut [u8]) -> Result {
        let _measured = self.measure(StreamKey::Everything, || Work::copy(false, true, bytes.len() as u64));
        self.interpreter.read(address, bytes).map_err(fault)
    }

    fn fill(&self, stream: StreamKey, rows: Rows, word: u32) -> Result<Ticket> {
        let _measured = self.measure(stream, || Work::fill(rows.ranges().map(|row| row.size).sum()));
        rows.ranges().try_for_each(|row| self.fill_row(row, word)).map(|()| FINISHED)
    }

    fn copy(&self, stream: StreamKey, from: u64, to: u64, shape: &Shape) -> Result<Ticket> {
        let work = || Work::copy(self.is_on_host(from), self.is_on_host(to), shape.bytes());
        let _measured = self.measure(stream, work);
        for region in shape.regions() {
            self.interpreter.copy(from + region.from, to + region.to, region.size).map_err(fault)?;
        }
        Ok(FINISHED)
    }

    fn upload(&self, stream: StreamKey, to: u64, shape: &Shape, bytes: &[u8]) -> Result<Ticket> {
        let _measured = self.measure(stream, || Work::copy(true, false, shape.bytes()));
        let mut rest = bytes;
        for region in shape.regions() {
            // The rows have as many bytes together as the list.
            let (row, others) = rest.split_at((region.size as usize).min(rest.len()));
            self.interpreter.write(to + region.to, row).map_err(fault)?;
            rest = others;
        }
        Ok(FINISHED)
    }

    fn download(&self, stream: StreamKey, _after: Point, from: u64, shape: &Shape, bytes: &mut [u8]) -> Result {
        let _measured = self.measure(stream, || Work::copy(false, true, shape.bytes()));
        let mut rest = bytes;
        for region in shape.regions() {
            // The rows have as many bytes together as the list.
            let (row, others) = rest.split_at_mut((region.size as usize).min(rest.len()));
            self.interpreter.read(from + region.from, row).map_err(fault)?;
            rest = others;
        }
        Ok(())
    }

    fn follow(&self, _stream: StreamKey, _point: Point) -> Result {
        Ok(())
    }

    fn is_finished(&self, _point: Point) -> Result<bool> {
        Ok(true)
    }

    fn wait(&self, _point: Point, _deadline: Deadline) -> Result {
        Ok(())
    }

    /// The clock counts in nanoseconds.
    fn elapsed(&self, start: u64, end: u64) -> Duration {
        Duration::from_nanos(end.saturating_sub(start))
    }

    fn timer(self: Arc<Self>) -> Result<Box<dyn Timer>> {
        Ok(Box::new(ReferenceTimer { taken: Mutex::default(), opened: self.opened }))
    }

    fn name_part(&self, part: MemoryRange, name: &str) {
        self.interpreter.name_part(part.address, part.size, name);
    }

    fn add_heap(&self, MemoryRange { address, size }: MemoryRange) {
        for Arena { shift, words, sizes, granules, .. } in arenas(size) {
            self.interpreter.add_pool(Pool {
                address: address + granules,
                granule: 1 << shift,
                count: 32 * u64::from(words),
                sizes: address + sizes,
            });
        }
    }

    fn shader(self: Arc<Self>, spirv: &[u32]) -> Result<Box<dyn Shader>> {
        Ok(Box::new(ReferenceShader::new(self, spirv)?))
    }

    /// Launches have finished when they return.
    fn synchronize(&self) -> Result {
        Ok(())
    }

    fn check_stopped(&self) -> Result {
        let faults = std::mem::take(&mut *lock(&self.faults));
        if !faults.is_empty() {
            return Err(Error::Fault { findings: faults });
        }
        lock(&self.reports).pop_front().map_or(Ok(()), Err)
    }

    fn settle(&self, _before: Point, _deadline: Deadline) -> Result {
        self.check_stopped()
    }

    fn was_stopped_before(&self, _point: Point) -> bool {
        !lock(&self.faults).is_empty() || !lock(&self.reports).is_empty()
    }

    fn take_output(&self) -> Vec<u8> {
        std::mem::take(&mut *lock(&self.output))
    }

    fn submissions(&self) -> u64 {
        self.submissions.load(Relaxed)
    }
}

impl ReferenceDevice {
    /// Makes an allocation in host memory, which `make` provides for the allocation's address.
    fn lend(&self, size: u64, make: impl FnOnce(u64) -> Option<Lent>) -> Option<u64> {
        let mut lent = None;
        let address = self.interpreter.allocate_lent(size, |address| {
            let made = lent.insert(make(address)?);
            // SAFETY: the table below keeps the memory until the device has forgotten the allocation.
            Some(unsafe { made.words() })
        });
        let address = address?;
        self.allocations.insert(MemoryRange { address, size }, lent.map(Arc::new));
        Some(address)
    }

    fn fill_row(&self, row: MemoryRange, word: u32) -> Result {
        let MemoryRange { address, size } = row;
        let bytes = word.to_le_bytes();
        if bytes == [bytes[0]; 4] {
            return self.interpreter.fill(address, size, bytes[0]).map_err(fault);
        }
        let mut piece: Vec<u8> = bytes.repeat(PIECE / 4);
        piece.rotate_left((address % 4) as usize);
        let mut done = 0;
        while done < size {
            // At most PIECE, so the cast is exact.
            let len = (size - done).min(PIECE as u64) as usize;
            self.interpreter.write(address + done, &piece[..len]).map_err(fault)?;
            done += len as u64;
        }
        Ok(())
    }
}

fn check_size(size: u64) -> Result {
    if size > MAX_BUFFER {
        return Err(Error::BufferTooLarge { requested: size, available: MAX_BUFFER });
    }
    Ok(())
}

fn no_room(size: u64) -> Error {
    Error::OutOfMemory(format!("no room for {size} bytes of reference memory"))
}

/// A timer that uses the host's clock.
struct ReferenceTimer {
    /// Nanoseconds since the device was opened.
    taken: Mutex<u64>,
    opened: Instant,
}

impl Timer for ReferenceTimer {
    fn record(&self, _stream: StreamKey) -> Result<Ticket> {
        // Enough for centuries.
        *lock(&self.taken) = u64::try_from(self.opened.elapsed().as_nanos()).unwrap_or(u64::MAX);
        Ok(FINISHED)
    }

    fn ticks(&self) -> Result<u64> {
        Ok(*lock(&self.taken))
    }
}
