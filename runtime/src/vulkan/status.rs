//! Status records: where kernels report what went wrong, and the host's look at them.
//!
//! Launches only note which kernels are to be looked at. The records are read when the host waits or reads, and never
//! while nothing was launched.

use std::sync::{Arc, Mutex, MutexGuard};

use ptx2spv_translator::interface::{MemoryRegion, Status, output};

use super::device::Device;
use super::memory::Block;
use crate::error::Error;
use crate::lock;
use crate::printf;
use crate::report::{Circumstances, Record, Report, Reporters, read_string};

/// A module's status record.
#[derive(Clone)]
pub(crate) struct StatusRecord {
    block: Arc<Block>,
    offset: u64,
    /// Where kernels print, if they do, and who may use it.
    output: Option<(MemoryRegion, Arc<Mutex<()>>)>,
    reporters: Arc<Reporters>,
}

impl StatusRecord {
    /// The record at an offset of a block, with the region that kernels print to.
    pub fn new(block: &Arc<Block>, offset: u64, output: Option<MemoryRegion>, reporters: &Arc<Reporters>) -> Self {
        let output = output.map(|region| (region, Arc::default()));
        Self { block: block.clone(), offset, output, reporters: reporters.clone() }
    }

    /// Keeps the output from being cleared as long as the guard lives.
    pub fn gate(&self) -> Option<MutexGuard<'_, ()>> {
        self.output.as_ref().map(|(_, gate)| lock(gate))
    }

    fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.block, &other.block) && self.offset == other.offset
    }
}

/// Kernels that were launched, by module.
#[derive(Default)]
pub(crate) struct Watched(Vec<(StatusRecord, Vec<String>)>);

impl Watched {
    /// Adds a kernel, unless it is there already.
    pub fn add(&mut self, record: &StatusRecord, kernel: &str) {
        let index = self.0.iter().position(|(other, _)| other.is(record)).unwrap_or_else(|| {
            self.0.push((record.clone(), Vec::new()));
            self.0.len() - 1
        });
        // The index of an entry that was found or pushed just now.
        let kernels = &mut self.0[index].1;
        if !kernels.iter().any(|other| other == kernel) {
            kernels.push(kernel.to_owned());
        }
    }

    /// Takes out the kernels of one module.
    fn take(&mut self, record: &StatusRecord) -> Vec<String> {
        match self.0.iter().position(|(other, _)| other.is(record)) {
            Some(index) => self.0.swap_remove(index).1,
            None => Vec::new(),
        }
    }
}

impl Device {
    /// Waits for the kernels launched so far that may report something, and fails if one did.
    pub fn check_status(&self) -> Result<(), Error> {
        let mut rest = self.queue.take_watched().0.into_iter();
        while let Some((record, mut kernels)) = rest.next() {
            self.read_output(&record)?;
            let mut words = Record::default();
            self.read(&record.block, record.offset, bytemuck::cast_slice_mut(&mut words))?;
            let Some(report) = Report::read(words.map(u32::from_le)) else { continue };
            self.queue.record(|recorder| {
                // Kernels launched since the reading may have reported too, with no effect on the record.
                for kernel in recorder.watched.take(&record) {
                    if !kernels.contains(&kernel) {
                        kernels.push(kernel);
                    }
                }
                // What was not looked at waits for the next time.
                for (record, kernels) in rest {
                    kernels.iter().for_each(|kernel| recorder.watched.add(&record, kernel));
                }
                recorder.barrier();
                // SAFETY: the command buffer is being recorded; the record lies in the buffer at a multiple of 4, and the
                // buffer is retired through the queue below, for the case that its module is gone.
                unsafe {
                    recorder.raw.ash.cmd_fill_buffer(
                        recorder.commands,
                        record.block.buffer,
                        record.offset,
                        Status::SIZE,
                        Status::FINE,
                    );
                }
                Ok(())
            })?;
            let circumstances = Circumstances { kernels, device: &self.name, loop_budget: self.loop_budget };
            let error = record.reporters.error(&report, circumstances, &mut |address| self.string(&record, address));
            self.queue.retire(record.block);
            return Err(error);
        }
        Ok(())
    }

    /// Reads what the module's kernels have printed, and clears it.
    fn read_output(&self, record: &StatusRecord) -> Result<(), Error> {
        let Some((region, gate)) = &record.output else { return Ok(()) };
        let _gate = lock(gate);
        let mut first = [0; output::RECORDS as usize];
        self.read(&record.block, region.offset, &mut first)?;
        let used = printf::used(&first, region.size);
        if used == 0 {
            return Ok(());
        }
        // At most the region's size, which is small.
        let mut bytes = vec![0; used as usize];
        self.read(&record.block, region.offset, &mut bytes)?;
        printf::render(&bytes, &mut |address| self.string(record, address), &mut lock(&self.output));
        self.queue.record(|recorder| {
            recorder.barrier();
            let (buffer, size) = (record.block.buffer, used.next_multiple_of(4));
            // SAFETY: the command buffer is being recorded; the region lies in the buffer at a multiple of 16 and has a size
            // that is a multiple of 16, and the buffer is retired through the queue when its module goes, or below.
            unsafe { recorder.raw.ash.cmd_fill_buffer(recorder.commands, buffer, region.offset, size, 0) };
            Ok(())
        })?;
        self.queue.retire(record.block.clone());
        Ok(())
    }

    /// The string at an address, if it lies in the module's variables.
    fn string(&self, record: &StatusRecord, address: u64) -> Option<Vec<u8>> {
        let start = address.checked_sub(record.block.address)?;
        read_string(start, record.block.padded, &mut |offset, bytes| self.read(&record.block, offset, bytes).ok())
    }
}
