//! The progress of a queue: submissions with ascending serial numbers, and which of them have finished.
//!
//! A timeline semaphore counts them if the device has one, which Vulkan 1.1 doesn't require. Otherwise each submission
//! has a fence, and the fences of finished submissions are reused.

use std::collections::VecDeque;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use ash::vk;

use crate::backend::order::{MAX_QUEUES, Point, Ticket};
use crate::backend::vulkan::instance::held;
use crate::backend::vulkan::raw::{Called, RawDevice};
use crate::error::{Error, Result};
use crate::sync::lock;

/// The longest single wait, after which the driver is asked whether the device is lost.
const LONGEST_WAIT: Duration = Duration::from_secs(1);
/// The longest single wait where kernels on the CPU may fault: a fault is found without asking the driver.
const FAULT_WAIT: Duration = Duration::from_millis(50);
/// The longest wait for the driver's answer, if the device is still working: at most this part of each second.
const LOSS_WAIT: Duration = Duration::from_millis(100);

/// The submissions of one queue. Each serial number is higher than the previous one.
pub(crate) struct Progress {
    means: Means,
    /// The last serial given to the driver, or about to be. Threads that wait read it without the queue's lock.
    submitted: AtomicU64,
    /// The last serial that was seen to have finished.
    seen: AtomicU64,
    /// A fence behind the work that took long when the device was last asked for.
    loss: Mutex<Option<Arc<Fence>>>,
    /// The last finished serial that a poll saw which wanted a later one, and since when polls have seen it.
    polled: Mutex<Option<(u64, Instant)>>,
    raw: Arc<RawDevice>,
}

enum Means {
    /// The semaphore's value is the last finished serial.
    Timeline(vk::Semaphore),
    Fences(Mutex<Fences>),
}

#[derive(Default)]
struct Fences {
    /// Submissions that had not finished at the last check, by ascending serial.
    pending: VecDeque<(u64, Arc<Fence>)>,
    /// Unsignalled and unused fences.
    free: Vec<Arc<Fence>>,
    /// The last serial known to have finished.
    finished: u64,
}

/// The points in other queues that a submission waits for.
#[derive(Default)]
pub(crate) struct Waits {
    semaphores: [vk::Semaphore; MAX_QUEUES],
    serials: [u64; MAX_QUEUES],
    count: usize,
}

impl Waits {
    /// Waits for a point, given the progress of each queue. Only queues with timeline semaphores can be waited for.
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
    /// Progress without submissions. Serial 0 counts as finished.
    pub fn new(raw: Arc<RawDevice>) -> Result<Self> {
        let means = if raw.own.timeline {
            let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
            let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
            // SAFETY: the device is alive, and timeline semaphores are enabled.
            let semaphore = unsafe { raw.ash.create_semaphore(&info, None) };
            Means::Timeline(semaphore.map_err(Error::vulkan("vkCreateSemaphore"))?)
        } else {
            Means::Fences(Mutex::default())
        };
        Ok(Self {
            means,
            submitted: AtomicU64::default(),
            seen: AtomicU64::default(),
            loss: Mutex::default(),
            polled: Mutex::default(),
            raw,
        })
    }

    /// Submits a recorded command buffer as `serial`, which is higher than all earlier serials.
    ///
    /// # Safety
    /// The queue belongs to this device, and no other thread uses it now. Everything to wait for has been submitted.
    /// Everything that the commands use lives until they have finished.
    pub unsafe fn submit(&self, queue: vk::Queue, commands: vk::CommandBuffer, serial: u64, waits: &Waits) -> Called {
        const CALL: &str = "vkQueueSubmit";
        if self.raw.held_fault().is_some() {
            return Err((CALL, vk::Result::ERROR_DEVICE_LOST));
        }
        self.submitted.store(serial, Release);
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
                unsafe { self.raw.ash.queue_submit(queue, &[info], vk::Fence::null()) }.map_err(|result| (CALL, result))
            }
            Means::Fences(fences) => {
                let mut fences = lock(fences);
                let fence = match fences.free.pop() {
                    Some(fence) => fence,
                    None => Arc::new(Fence::new(self.raw.clone()).map_err(|result| ("vkCreateFence", result))?),
                };
                // SAFETY: by the contract; the fence is alive, not signalled, and no other submission uses it.
                unsafe { self.raw.ash.queue_submit(queue, &[info], fence.handle) }.map_err(|result| (CALL, result))?;
                fences.pending.push_back((serial, fence));
                Ok(())
            }
        }
    }

    /// The last finished serial. All earlier ones have finished too.
    pub fn finished(&self) -> Result<u64> {
        if self.raw.held_fault().is_some() {
            return Err(self.lost());
        }
        // Another thread may have been told.
        self.raw.check_lost()?;
        let finished = self.ask()?;
        if finished > self.submitted.load(Acquire) {
            // The counter of a lost device may have any value.
            return Err(self.lost());
        }
        self.seen.fetch_max(finished, Release);
        Ok(finished)
    }

    /// The last serial that was seen to have finished, without a call of the driver.
    pub fn seen(&self) -> u64 {
        self.seen.load(Acquire)
    }

    fn ask(&self) -> Result<u64> {
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

    /// Waits until a submitted serial has finished, for at most `limit`. Other threads can submit meanwhile. If that takes long,
    /// `find_loss` is called now and then, which returns an error if the device is lost.
    pub fn wait(&self, serial: u64, limit: Option<Duration>, find_loss: impl Fn() -> Result) -> Result {
        if self.seen() >= serial {
            return Ok(());
        }
        let start = Instant::now();
        if self.raw.spin.until(limit, || Ok(self.finished()? >= serial))? {
            return Ok(());
        }
        let mut next_question = start + LONGEST_WAIT;
        loop {
            let left = limit.map(|limit| limit.saturating_sub(start.elapsed()));
            let longest = if held::is_holding() { FAULT_WAIT } else { LONGEST_WAIT };
            match self.wait_once(serial, left.map_or(longest, |left| left.min(longest))) {
                // On a lost device a wait may succeed too (Vulkan, "Lost Device").
                Ok(()) if self.finished()? < serial => return Err(self.lost()),
                Ok(()) => return Ok(()),
                Err((_, vk::Result::TIMEOUT)) if left.is_none_or(|left| left > longest) => {
                    self.finished()?;
                    if Instant::now() >= next_question {
                        find_loss()?;
                        next_question = Instant::now() + LONGEST_WAIT;
                    }
                }
                Err((call, result)) => return Err(self.raw.error(call)(result)),
            }
        }
    }

    /// One wait in the driver.
    fn wait_once(&self, serial: u64, limit: Duration) -> Called {
        let limit = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
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
                waited.map_err(|result| ("vkWaitSemaphores", result))
            }
            Means::Fences(fences) => {
                let fence = lock(fences).of(serial);
                let waited = fence.map_or(Ok(()), |fence| fence.wait(limit));
                waited.map_err(|result| ("vkWaitForFences", result))
            }
        }
    }

    /// Whether polls for a later serial have seen `finished` as the last one for [`LONGEST_WAIT`]. Then the caller should find out whether
    /// the device is lost. The next such answer takes as long again.
    pub fn is_stuck(&self, finished: u64) -> bool {
        let mut polled = lock(&self.polled);
        match *polled {
            Some((seen, since)) if seen == finished && since.elapsed() < LONGEST_WAIT => false,
            before => {
                *polled = Some((finished, Instant::now()));
                before.is_some_and(|(seen, _)| seen == finished)
            }
        }
    }

    /// Submits the fence that [`Self::find_loss`] waits for, unless an earlier one is still there.
    ///
    /// # Safety
    /// The queue belongs to this device, and no other thread uses it now.
    pub unsafe fn prepare_to_find_loss(&self, queue: vk::Queue) -> Result {
        let mut loss = lock(&self.loss);
        if loss.is_none() && matches!(self.means, Means::Timeline(_)) {
            let fence = Fence::new(self.raw.clone()).map_err(self.raw.error("vkCreateFence"))?;
            // SAFETY: by the contract; the fence is new, and lives until it is signalled or the queue is idle.
            unsafe { self.raw.ash.queue_submit(queue, &[], fence.handle) }.map_err(self.raw.error("vkQueueSubmit"))?;
            *loss = Some(Arc::new(fence));
        }
        Ok(())
    }

    /// Asks the driver whether the device is lost. NVIDIA's only answers those who wait for a fence: waits for a semaphore time out, and
    /// its counter stays as it is.
    pub fn find_loss(&self) -> Result {
        let Some(fence) = lock(&self.loss).clone() else { return Ok(()) };
        match fence.wait(LOSS_WAIT.as_nanos() as u64) {
            Ok(()) => {
                lock(&self.loss).take_if(|known| Arc::ptr_eq(known, &fence));
                Ok(())
            }
            Err(vk::Result::TIMEOUT) => Ok(()),
            Err(result) => Err(self.raw.error("vkWaitForFences")(result)),
        }
    }

    fn lost(&self) -> Error {
        self.raw.error("vkWaitSemaphores")(vk::Result::ERROR_DEVICE_LOST)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let (Means::Timeline(semaphore), Some(ash)) = (&self.means, self.raw.destroyer()) {
            // SAFETY: the queue is idle when this is dropped, and no thread waits for it.
            unsafe { ash.destroy_semaphore(*semaphore, None) };
        }
    }
}

impl Fences {
    /// The fence to wait for; `None` if the serial has finished. A fence is signalled after those of all earlier
    /// submissions.
    fn of(&self, serial: u64) -> Option<Arc<Fence>> {
        let found = self.pending.iter().find(|(pending, _)| *pending >= serial);
        found.filter(|_| serial > self.finished).map(|(_, fence)| fence.clone())
    }

    /// Recycles the fences of finished submissions.
    fn look(&mut self) -> Result<u64> {
        while let Some((serial, fence)) = self.pending.front() {
            if !fence.is_signalled()? {
                break;
            }
            self.finished = *serial;
            // If another thread still waits for the fence, it is destroyed when the last owner drops it.
            if let Some((_, mut fence)) = self.pending.pop_front()
                && Arc::get_mut(&mut fence).is_some()
            {
                fence.reset()?;
                self.free.push(fence);
            }
        }
        Ok(self.finished)
    }
}

/// A fence. It must be dropped only when no submission uses it.
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

    fn is_signalled(&self) -> Result<bool> {
        // SAFETY: the fence is alive.
        unsafe { self.raw.ash.get_fence_status(self.handle) }.map_err(self.raw.error("vkGetFenceStatus"))
    }

    fn wait(&self, limit: u64) -> Result<(), vk::Result> {
        // SAFETY: the fence is alive.
        unsafe { self.raw.ash.wait_for_fences(&[self.handle], true, limit) }
    }

    /// Resets a signalled fence that no thread waits for.
    fn reset(&self) -> Result {
        // SAFETY: the fence is alive, and its submission has finished.
        unsafe { self.raw.ash.reset_fences(&[self.handle]) }.map_err(Error::vulkan("vkResetFences"))
    }
}

impl Drop for Fence {
    fn drop(&mut self) {
        if let Some(ash) = self.raw.destroyer() {
            // SAFETY: the fence is signalled, or was never submitted, or the queue is idle.
            unsafe { ash.destroy_fence(self.handle, None) };
        }
    }
}
