//! One queue: batches that are recorded, submitted in order, and used again when they have finished.

use std::collections::VecDeque;

use ash::vk;

use super::batch::Batch;
use super::order::CommandOrder;
use super::progress::{Progress, Waits};
use super::raw::RawDevice;
use crate::error::Error;

/// Batches on the device before recording waits for the oldest.
const MAX_IN_FLIGHT: usize = 64;

/// A queue for streams. Several may share one of Vulkan's.
pub(super) struct Queue {
    pub handle: vk::Queue,
    /// The batch being recorded, or one that could not be submitted; its serial is `submitted + 1`.
    pub open: Option<Batch>,
    in_flight: VecDeque<Batch>,
    idle: Vec<Batch>,
    /// Serial of the last submitted batch.
    pub submitted: u64,
    /// Serial of the last batch that was seen to have finished.
    pub finished: u64,
    pub order: CommandOrder,
}

impl Queue {
    pub fn new(handle: vk::Queue) -> Self {
        Self {
            handle,
            open: None,
            in_flight: VecDeque::new(),
            idle: Vec::new(),
            submitted: 0,
            finished: 0,
            order: CommandOrder::default(),
        }
    }

    /// Serial of the last batch that has anything in it.
    pub fn last(&self) -> u64 {
        if self.open.is_some() { self.submitted + 1 } else { self.submitted }
    }

    /// Whether everything submitted has been seen to have finished.
    pub fn is_idle(&self) -> bool {
        self.in_flight.is_empty()
    }

    /// What has to finish before there is room for another batch.
    pub fn crowd(&self) -> Option<u64> {
        self.in_flight.front().filter(|_| self.in_flight.len() >= MAX_IN_FLIGHT).map(|oldest| oldest.serial)
    }

    /// An empty batch that is being recorded.
    pub fn begin(&mut self, raw: &RawDevice, family: u32) -> Result<Batch, Error> {
        let mut batch = match self.idle.pop() {
            Some(batch) => batch,
            None => Batch::new(raw, family)?,
        };
        match batch.begin(raw) {
            Ok(()) => Ok(batch),
            Err(error) => {
                self.idle.push(batch);
                Err(error)
            }
        }
    }

    /// Submits what has been recorded, if anything. What a batch waits for has been submitted.
    ///
    /// # Safety
    /// The progress is this queue's, the waits are for others of the device, and nobody else uses its queues now. All that the
    /// commands use lives until they have finished.
    pub unsafe fn submit(
        &mut self,
        raw: &RawDevice,
        progress: &Progress,
        waits: impl FnOnce(&Batch) -> Waits,
    ) -> Result<(), vk::Result> {
        let Some(mut batch) = self.open.take() else { return Ok(()) };
        batch.serial = self.submitted + 1;
        let submitted = batch.end(raw).and_then(|()| {
            // SAFETY: by the contract; the serial is above all before.
            unsafe { progress.submit(self.handle, batch.commands, batch.serial, &waits(&batch)) }
        });
        match submitted {
            Ok(()) => {
                self.submitted = batch.serial;
                self.in_flight.push_back(batch);
            }
            // Nothing has become of the batch, and submitting it may work later.
            Err(_) => self.open = Some(batch),
        }
        submitted
    }

    /// Sets aside batches that have finished.
    pub fn reclaim(&mut self, progress: &Progress) -> Result<(), Error> {
        if self.in_flight.is_empty() {
            return Ok(());
        }
        self.finished = progress.finished()?;
        while self.in_flight.front().is_some_and(|batch| batch.serial <= self.finished) {
            self.idle.extend(self.in_flight.pop_front());
        }
        Ok(())
    }

    /// # Safety
    /// No submission uses the batches.
    pub unsafe fn destroy(&mut self, ash: &ash::Device) {
        for batch in self.open.take().into_iter().chain(self.in_flight.drain(..)).chain(self.idle.drain(..)) {
            // SAFETY: by the contract.
            unsafe { batch.destroy(ash) };
        }
    }
}
