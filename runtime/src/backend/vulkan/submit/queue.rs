//! One queue: batches are recorded, submitted in order, and reused when they have finished.

use std::collections::VecDeque;
use std::sync::Arc;

use ash::vk;

use crate::backend::vulkan::device::raw::RawDevice;
use crate::backend::vulkan::submit::batch::Batch;
use crate::backend::vulkan::submit::order::CommandOrder;
use crate::backend::vulkan::submit::progress::{Progress, Waits};
use crate::backend::vulkan::submit::timing::Stamps;
use crate::error::Error;

/// Maximum number of submitted batches. Beyond it, recording waits for the oldest.
const MAX_IN_FLIGHT: usize = 64;

/// A queue for streams. Several may share one Vulkan queue.
pub(crate) struct Queue {
    pub handle: vk::Queue,
    /// The batch being recorded, or one that could not be submitted; its serial is `submitted + 1`.
    pub open: Option<Batch>,
    in_flight: VecDeque<Batch>,
    idle: Vec<Batch>,
    /// An empty batch whose recording has begun already.
    ready: Option<Batch>,
    /// Serial of the last submitted batch.
    pub submitted: u64,
    /// Serial of the last batch known to have finished.
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
            ready: None,
            submitted: 0,
            finished: 0,
            order: CommandOrder::default(),
        }
    }

    /// Serial of the last batch with any commands.
    pub fn last(&self) -> u64 {
        if self.open.is_some() { self.submitted + 1 } else { self.submitted }
    }

    /// Whether all submitted batches are known to have finished.
    pub fn is_idle(&self) -> bool {
        self.in_flight.is_empty()
    }

    /// The serial that has to finish before another batch can be submitted, if too many are in flight.
    pub fn crowd(&self) -> Option<u64> {
        self.in_flight.front().filter(|_| self.in_flight.len() >= MAX_IN_FLIGHT).map(|oldest| oldest.serial)
    }

    /// Begins the batch after the next submission in advance, while the caller has nothing else to do. If that fails, the
    /// call that needs the batch will report the failure.
    pub fn prepare(&mut self, raw: &Arc<RawDevice>, family: u32) {
        if self.ready.is_none() {
            self.ready = self.begin(raw, family).ok();
        }
    }

    /// Begins to record an empty batch.
    pub fn begin(&mut self, raw: &Arc<RawDevice>, family: u32) -> Result<Batch, Error> {
        if let Some(batch) = self.ready.take() {
            return Ok(batch);
        }
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

    /// Submits the recorded commands, if there are any. Everything that the batch waits for has been submitted.
    ///
    /// # Safety
    /// The progress belongs to this queue, the waits to other queues of the device, and no other thread uses its queues
    /// now. Everything that the commands use lives until they have finished.
    pub unsafe fn submit(
        &mut self,
        raw: &RawDevice,
        progress: &Progress,
        waits: impl FnOnce(&Batch) -> Waits,
    ) -> Result<(), vk::Result> {
        let Some(mut batch) = self.open.take() else { return Ok(()) };
        batch.serial = self.submitted + 1;
        let submitted = batch.end(raw).and_then(|()| {
            batch.stamps.iter_mut().for_each(Stamps::submit);
            // SAFETY: by the contract; the serial is higher than all earlier ones.
            unsafe { progress.submit(self.handle, batch.commands, batch.serial, &waits(&batch)) }
        });
        match submitted {
            Ok(()) => {
                self.submitted = batch.serial;
                self.order.separate();
                self.in_flight.push_back(batch);
            }
            // The batch was not submitted, and a later attempt may succeed.
            Err(_) => self.open = Some(batch),
        }
        submitted
    }

    /// Recycles finished batches, after a look at the progress.
    pub fn reclaim(&mut self, progress: &Progress) -> Result<(), Error> {
        if !self.in_flight.is_empty() {
            progress.finished()?;
            self.reclaim_seen(progress);
        }
        Ok(())
    }

    /// Recycles the batches that were seen to have finished.
    pub fn reclaim_seen(&mut self, progress: &Progress) {
        self.finished = progress.seen();
        while self.in_flight.front().is_some_and(|batch| batch.serial <= self.finished) {
            let Some(mut batch) = self.in_flight.pop_front() else { return };
            batch.stamps.iter_mut().for_each(Stamps::report);
            self.idle.push(batch);
        }
    }

    /// # Safety
    /// No submission uses the batches.
    pub unsafe fn destroy(&mut self, ash: &ash::Device) {
        self.in_flight.iter_mut().flat_map(|batch| &mut batch.stamps).for_each(Stamps::report);
        let single = self.open.take().into_iter().chain(self.ready.take());
        for batch in single.chain(self.in_flight.drain(..)).chain(self.idle.drain(..)) {
            // SAFETY: by the contract.
            unsafe { batch.destroy(ash) };
        }
    }
}
