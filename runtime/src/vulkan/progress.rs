//! How far a queue's work has got: submissions with rising serial numbers, and which of them have finished.
//!
//! A timeline semaphore counts them where the device has one. Vulkan 1.1 need not: there each submission has a fence, and
//! those of finished ones are used again.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use ash::vk;

use super::raw::RawDevice;
use crate::error::Error;
use crate::order::{MAX_QUEUES, Point, Ticket};
use crate::sync::lock;

/// Submissions of one queue, each with a serial number above that of the one before.
pub(crate) struct Progress {
    means: Means,
    raw: Arc<RawDevice>,
}

enum Means {
    /// The semaphore's value is the last serial that has finished.
    Timeline(vk::Semaphore),
    Fences(Mutex<Fences>),
}

#[derive(Default)]
struct Fences {
    /// Of submissions that had not finished when last looked at, by rising serial.
    pending: VecDeque<(u64, Arc<Fence>)>,
    /// Not signalled, and used by nobody.
    free: Vec<Fence>,
    /// The last serial that was seen to have finished.
    finished: u64,
}

/// What a submission waits for in other queues.
#[derive(Default)]
pub(super) struct Waits {
    semaphores: [vk::Semaphore; MAX_QUEUES],
    serials: [u64; MAX_QUEUES],
    count: usize,
}

impl Waits {
    /// Waits for a point, given the progress of each queue. Only queues with timeline semaphores are waited for.
    pub fn new(point: Point, progress: &[Progress]) -> Self {
        let mut waits = Self::default();
        for Ticket { queue, serial } in point.tickets() {
            if let Means::Timeline(semaphore) = progress[queue].means {
                (waits.semaphores[waits.count], waits.serials[waits.count]) = (semaphore, serial);
                waits.count += 1;
            }
        }
        waits
    }
}

impl Progress {
    /// Nothing has been submitted, and serial 0 counts as finished.
    pub fn new(raw: Arc<RawDevice>) -> Result<Self, Error> {
        if !raw.own.timeline {
            return Ok(Self { means: Means::Fences(Mutex::default()), raw });
        }
        let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
        let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
        // SAFETY: the device is alive, and timeline semaphores are enabled.
        let semaphore = unsafe { raw.ash.create_semaphore(&info, None) }.map_err(Error::vulkan("vkCreateSemaphore"))?;
        Ok(Self { means: Means::Timeline(semaphore), raw })
    }

    /// Submits a recorded command buffer as `serial`, which is above all before.
    ///
    /// # Safety
    /// The queue is this device's and nobody else uses it now. What is waited for has been submitted. All that the commands use lives
    /// until they have finished.
    pub unsafe fn submit(
        &self,
        queue: vk::Queue,
        commands: vk::CommandBuffer,
        serial: u64,
        waits: &Waits,
    ) -> Result<(), vk::Result> {
        let buffers = [commands];
        let info = vk::SubmitInfo::default().command_buffers(&buffers);
        match &self.means {
            Means::Timeline(semaphore) => {
                let (semaphores, values) = ([*semaphore], [serial]);
                let stages = [vk::PipelineStageFlags::ALL_COMMANDS; MAX_QUEUES];
                let mut timeline = vk::TimelineSemaphoreSubmitInfo::default()
                    .wait_semaphore_values(&waits.serials[..waits.count])
                    .signal_semaphore_values(&values);
                let info = info
                    .wait_semaphores(&waits.semaphores[..waits.count])
                    .wait_dst_stage_mask(&stages[..waits.count])
                    .signal_semaphores(&semaphores)
                    .push_next(&mut timeline);
                // SAFETY: by the contract; the semaphore is alive and its value below `serial`.
                unsafe { self.raw.ash.queue_submit(queue, &[info], vk::Fence::null()) }
            }
            Means::Fences(fences) => {
                let mut fences = lock(fences);
                let fence = match fences.free.pop() {
                    Some(fence) => fence,
                    None => Fence::new(self.raw.clone())?,
                };
                // SAFETY: by the contract; the fence is alive, not signalled, and no other submission uses it.
                unsafe { self.raw.ash.queue_submit(queue, &[info], fence.handle) }?;
                fences.pending.push_back((serial, Arc::new(fence)));
                Ok(())
            }
        }
    }

    /// The last serial that has finished, and with it all before.
    pub fn finished(&self) -> Result<u64, Error> {
        match &self.means {
            Means::Timeline(semaphore) => {
                // SAFETY: the semaphore is alive, and a timeline semaphore of this device.
                let value = unsafe {
                    match &self.raw.timeline {
                        Some(extension) => extension.get_semaphore_counter_value(*semaphore),
                        None => self.raw.ash.get_semaphore_counter_value(*semaphore),
                    }
                };
                value.map_err(self.raw.error("vkGetSemaphoreCounterValue"))
            }
            Means::Fences(fences) => lock(fences).look(),
        }
    }

    /// Waits until a serial that was submitted has finished, for so many nanoseconds at most. Others can go on submitting.
    pub fn wait(&self, serial: u64, limit: u64) -> Result<(), Error> {
        match &self.means {
            Means::Timeline(semaphore) => {
                let (semaphores, values) = ([*semaphore], [serial]);
                let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
                // SAFETY: as in `finished`; the slices live until the call returns.
                let waited = unsafe {
                    match &self.raw.timeline {
                        Some(extension) => extension.wait_semaphores(&info, limit),
                        None => self.raw.ash.wait_semaphores(&info, limit),
                    }
                };
                waited.map_err(self.raw.error("vkWaitSemaphores"))
            }
            Means::Fences(fences) => {
                let fence = lock(fences).of(serial);
                fence.map_or(Ok(()), |fence| fence.wait(limit))
            }
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let (Means::Timeline(semaphore), Some(ash)) = (&self.means, self.raw.destroyer()) {
            // SAFETY: the queue is idle when it drops this, and nobody waits any more.
            unsafe { ash.destroy_semaphore(*semaphore, None) };
        }
    }
}

impl Fences {
    /// The fence to wait for; none if the serial has finished. A fence is signalled after those of all submissions before it.
    fn of(&self, serial: u64) -> Option<Arc<Fence>> {
        let found = self.pending.iter().find(|(pending, _)| *pending >= serial);
        found.filter(|_| serial > self.finished).map(|(_, fence)| fence.clone())
    }

    /// Sets aside what has finished.
    fn look(&mut self) -> Result<u64, Error> {
        while let Some((serial, fence)) = self.pending.front() {
            if !fence.is_signalled()? {
                break;
            }
            self.finished = *serial;
            // A fence that somebody else still waits for is destroyed by whoever drops it last.
            if let Some(fence) = self.pending.pop_front().and_then(|(_, fence)| Arc::into_inner(fence)) {
                fence.reset()?;
                self.free.push(fence);
            }
        }
        Ok(self.finished)
    }
}

/// A fence; destroyed when dropped, when no submission uses it any more.
struct Fence {
    handle: vk::Fence,
    raw: Arc<RawDevice>,
}

impl Fence {
    fn new(raw: Arc<RawDevice>) -> Result<Self, vk::Result> {
        // SAFETY: the device is alive.
        let handle = unsafe { raw.ash.create_fence(&vk::FenceCreateInfo::default(), None) }?;
        Ok(Self { handle, raw })
    }

    fn is_signalled(&self) -> Result<bool, Error> {
        // SAFETY: the fence is alive.
        unsafe { self.raw.ash.get_fence_status(self.handle) }.map_err(self.raw.error("vkGetFenceStatus"))
    }

    fn wait(&self, limit: u64) -> Result<(), Error> {
        // SAFETY: the fence is alive.
        unsafe { self.raw.ash.wait_for_fences(&[self.handle], true, limit) }.map_err(self.raw.error("vkWaitForFences"))
    }

    /// It has been signalled, and nobody waits for it.
    fn reset(&self) -> Result<(), Error> {
        // SAFETY: the fence is alive, and its submission has finished.
        unsafe { self.raw.ash.reset_fences(&[self.handle]) }.map_err(Error::vulkan("vkResetFences"))
    }
}

impl Drop for Fence {
    fn drop(&mut self) {
        if let Some(ash) = self.raw.destroyer() {
            // SAFETY: it is signalled, or was never submitted, or the queue is idle.
            unsafe { ash.destroy_fence(self.handle, None) };
        }
    }
}
