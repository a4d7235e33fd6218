//! Status records: where kernels report what went wrong, and the host's look at them.
//!
//! Launches only note which kernels are to be looked at. The records are read when the host waits or reads, and never
//! while nothing was launched.

use std::sync::Arc;

use ptx2spv_translator::interface::Status;

use super::device::Device;
use super::memory::Block;
use crate::error::Error;
use crate::report::{Circumstances, Record, Report, Reporters};

/// A module's status record.
#[derive(Clone)]
pub(crate) struct StatusRecord {
    block: Arc<Block>,
    offset: u64,
    reporters: Arc<Reporters>,
}

impl StatusRecord {
    /// The record at an offset of a block.
    pub fn new(block: &Arc<Block>, offset: u64, reporters: &Arc<Reporters>) -> Self {
        Self { block: block.clone(), offset, reporters: reporters.clone() }
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
            let error = record.reporters.error(&report, circumstances);
            self.queue.retire(record.block);
            return Err(error);
        }
        Ok(())
    }
}
