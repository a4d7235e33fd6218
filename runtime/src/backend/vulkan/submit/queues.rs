//! Submission: records commands into batches, submits them in order, and recycles finished ones.
//!
//! Streams are spread over the device's queues. Commands are recorded under a lock in the order of the calls. A batch
//! is submitted when its queue is idle, when it is full, or when another queue or a thread waits for it. While a queue
//! is busy, a launch only costs a few recorded commands. Each batch has a serial number on its queue, by which
//! [`crate::backend::vulkan::submit::progress`] knows whether it has finished.
//!
//! A command is preceded by a barrier against all earlier commands on the same queue if its stream's order requires it
//! (see [`crate::backend::vulkan::submit::dependencies::CommandOrder`]). If it depends on commands in other queues, its queue waits for them (see
//! [`crate::backend::vulkan::submit::dependencies`]), which requires a new batch.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

use ash::vk;

use crate::backend::deadline::{Deadline, TimeLimit};
use crate::backend::order::{Point, StreamKey, Ticket};
use crate::backend::vulkan::memory::Memory;
use crate::backend::vulkan::raw::{Called, RawDevice};
use crate::backend::vulkan::submit::batch::{Batch, Recorder};
use crate::backend::vulkan::submit::dependencies::{CommandOrder, Dependencies};
use crate::backend::vulkan::submit::progress::{Progress, Waits};
use crate::backend::vulkan::submit::timing::Stamps;
use crate::backend::vulkan::submit::watched::{Launched, Watched};
use crate::error::{Error, Result};
use crate::profile::ProfileRange;
use crate::sync::lock;

/// The queue of the default stream, and of commands that are ordered with everything.
const FIRST: usize = 0;

/// Minimum number of queues for which the last one is reserved for urgent streams.
const MANY: usize = 3;

/// The queues of a device.
pub(crate) struct Queues {
    state: Mutex<State>,
    progress: Vec<Progress>,
    /// Limit of waits that have no deadline of their own.
    pub limit: TimeLimit,
    memory: Arc<Memory>,
    raw: Arc<RawDevice>,
}

#[derive(Default)]
struct State {
    queues: Vec<Queue>,
    dependencies: Dependencies,
    /// Objects to drop once the device has passed a point, by ascending points.
    retired: VecDeque<(Point, Box<dyn Send>)>,
    /// Kernels launched since their status was last checked.
    watched: Watched,
    /// Set when a submission failed permanently. Its commands never run, so later ones must not either.
    failed: Option<vk::Result>,
    /// Number of callers that collect commands.
    holders: u32,
}

impl State {
    /// The last recorded point.
    fn recorded(&self) -> Point {
        self.point(Queue::last)
    }

    /// The last point known to have finished.
    fn finished(&self) -> Point {
        self.point(|queue| queue.finished)
    }

    /// Drops the objects that waited for commands that have finished.
    fn drop_retired(&mut self) {
        let finished = self.finished();
        while self.retired.front().is_some_and(|(point, _)| point.is_within(&finished)) {
            self.retired.pop_front();
        }
    }

    fn point(&self, serial: impl Fn(&Queue) -> u64) -> Point {
        let mut point = Point::default();
        for (queue, state) in self.queues.iter().enumerate() {
            point.add(Ticket { queue, serial: serial(state) });
        }
        point
    }
}

impl Queues {
    /// Spreads streams over `count` queues, at most [`MAX_QUEUES`](crate::backend::order::MAX_QUEUES). If the device has fewer,
    /// some share a Vulkan queue. A device without timeline semaphores has a single queue.
    pub fn new(raw: Arc<RawDevice>, memory: Arc<Memory>, count: usize) -> Result<Self> {
        let progress = (0..count).map(|_| Progress::new(raw.clone())).collect::<Result<_, _>>()?;
        let queues = (0..).map(|number| Queue::new(raw.queue(number))).take(count).collect();
        let state = State { queues, ..State::default() };
        Ok(Self { state: Mutex::new(state), progress, limit: TimeLimit::default(), memory, raw })
    }

    /// The queue of a stream. The program's first stream shares the default stream's queue, since many programs use no
    /// other stream.
    fn queue_of(&self, stream: StreamKey) -> usize {
        let count = self.progress.len();
        let shared = if count >= MANY { count - 1 } else { count };
        match stream {
            StreamKey::Default | StreamKey::Everything => FIRST,
            StreamKey::Made { urgent: true, .. } if count >= MANY => shared,
            // Less than `MAX_QUEUES`.
            StreamKey::Made { number, .. } => (number % shared as u64) as usize,
        }
    }

    /// Records commands of a stream and returns their ticket. `write` should do everything that can fail before it
    /// records anything, and call [`Recorder::follow`] before the first command.
    pub fn record(&self, stream: StreamKey, write: impl FnOnce(&mut Recorder<'_>) -> Result) -> Result<Ticket> {
        let index = self.queue_of(stream);
        let mut guard = self.lock_with_room(index)?;
        let state = &mut *guard;
        let after = state.dependencies.needed(stream, index);
        let mut batch = self.open(state, index, after)?;
        let queue = &mut state.queues[index];
        let ticket = Ticket { queue: index, serial: queue.submitted + 1 };
        state.dependencies.add(stream, ticket);
        let commands = batch.commands;
        let written = write(&mut Recorder {
            raw: &self.raw,
            commands,
            ticket,
            watched: &mut state.watched,
            stream,
            order: &mut queue.order,
            batch: &mut batch,
            memory: &self.memory,
        });
        batch.recorded += 1;
        batch.stamps.iter_mut().for_each(|stamps| stamps.end(commands));
        queue.open = Some(batch);
        written?;
        self.submit_if_due(state, index)?;
        Ok(ticket)
    }

    /// Submits the commands recorded for a queue if the queue is idle or the batch is full.
    fn submit_if_due(&self, state: &mut State, index: usize) -> Result {
        let (queue, is_held) = (&mut state.queues[index], state.holders > 0);
        let Some(batch) = &queue.open else { return Ok(()) };
        let is_full = !batch.has_room() || batch.is_long() && !is_held;
        queue.reclaim(&self.progress[index])?;
        if !is_full && (is_held || !queue.is_idle()) {
            return Ok(());
        }
        match self.submit(state, index) {
            // The commands are recorded. The next wait for them tries to submit again.
            Err(Error::OutOfMemory(_)) => Ok(()),
            submitted => submitted,
        }
    }

    /// Collects commands until [`Queues::release`], unless a batch has no space left or a caller waits for them.
    pub fn hold(&self) {
        // In another process the state may be locked by a thread that isn't there.
        if self.raw.check_process().is_ok() {
            lock(&self.state).holders += 1;
        }
    }

    /// Ends the last [`Queues::hold`].
    pub fn release(&self) {
        if self.raw.check_process().is_err() {
            return;
        }
        let mut state = lock(&self.state);
        state.holders = state.holders.saturating_sub(1);
        if state.failed.is_none() {
            // A failure shows up again in the next call that can report it.
            let _ = (0..self.progress.len()).try_for_each(|index| self.submit_if_due(&mut state, index));
        }
    }

    /// Takes the batch for a queue's next command, which waits for a point of other queues.
    fn open(&self, state: &mut State, index: usize, after: Point) -> Result<Batch> {
        self.submit_until(state, after)?;
        let has_ended = state.queues[index].open.as_ref().is_some_and(|batch| batch.ended);
        // Waits apply to whole batches.
        if has_ended || after != Point::default() {
            self.submit(state, index)?;
        }
        let queue = &mut state.queues[index];
        let mut batch = match queue.open.take() {
            Some(batch) => batch,
            None => queue.begin(&self.raw, self.raw.family)?,
        };
        batch.after = batch.after.max(after);
        state.dependencies.wait(index, after);
        Ok(batch)
    }

    /// Makes the stream's next command wait for a recorded point.
    pub fn follow(&self, stream: StreamKey, point: Point) -> Result {
        let mut state = self.lock()?;
        for Ticket { queue, .. } in point.tickets() {
            state.queues[queue].order.wait(stream);
        }
        let finished = state.finished();
        state.dependencies.follow(stream, point, &finished);
        Ok(())
    }

    /// Whether a recorded point has been passed. Collected commands are submitted first, because otherwise the answer
    /// might never become yes.
    pub fn is_finished(&self, point: Point) -> Result<bool> {
        let mut state = self.lock()?;
        self.submit_until(&mut state, point)?;
        for Ticket { queue, serial } in point.tickets() {
            let progress = &self.progress[queue];
            let finished = progress.finished()?;
            if finished < serial {
                if progress.is_stuck(finished) {
                    self.prepare_to_find_loss(&state, queue)?;
                    drop(state);
                    progress.find_loss()?;
                }
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a submitted ticket has finished.
    pub fn is_known_finished(&self, Ticket { queue, serial }: Ticket) -> Result<bool> {
        Ok(self.progress[queue].finished()? >= serial)
    }

    /// Submits the recorded commands.
    pub fn flush(&self) -> Result {
        self.submit_all(&mut *self.lock()?)
    }

    /// Waits until the device has passed a recorded point. Other threads can launch meanwhile.
    pub fn wait(&self, point: Point, deadline: Deadline) -> Result {
        let mut state = self.lock()?;
        self.submit_until(&mut state, point)?;
        if self.raw.spin.is_used() {
            let prepare = |Ticket { queue, .. }: Ticket| state.queues[queue].prepare(&self.raw, self.raw.family);
            point.tickets().for_each(prepare);
        }
        drop(state);
        self.wait_for_submitted(point, deadline)?;
        let mut state = self.lock()?;
        state.queues.iter_mut().zip(&self.progress).for_each(|(queue, progress)| queue.reclaim_seen(progress));
        state.drop_retired();
        Ok(())
    }

    /// The deadline of a wait that begins now, unless it has its own.
    pub fn deadline(&self) -> Deadline {
        self.limit.get().map_or(Deadline::NEVER, Deadline::after)
    }

    /// The point after everything recorded so far.
    pub fn recorded(&self) -> Result<Point> {
        Ok(self.lock()?.recorded())
    }

    /// Waits until everything recorded so far has finished.
    pub fn synchronize(&self, deadline: Deadline) -> Result {
        self.wait(self.recorded()?, deadline)
    }

    /// Runs `access` while the device is idle and no thread can launch.
    pub fn while_idle<R>(&self, access: impl FnOnce() -> Result<R>) -> Result<R> {
        // Most of the waiting is done without the lock, so that other threads can launch meanwhile.
        self.synchronize(self.deadline())?;
        let mut state = self.lock()?;
        self.submit_all(&mut state)?;
        self.wait_locked(&state, state.recorded(), self.deadline())?;
        self.reclaim(&mut state)?;
        access()
    }

    /// Number of submitted batches.
    pub fn submissions(&self) -> u64 {
        lock(&self.state).queues.iter().map(|queue| queue.submitted).sum()
    }

    /// Takes the kernels whose status has to be checked of modules with launches before a point.
    pub fn take_watched(&self, point: Point) -> Vec<Launched> {
        lock(&self.state).watched.take_before(point)
    }

    /// The last launches of kernels that may have been stopped, among the launches before a point and the launches that have ended. `None`
    /// if there are none.
    pub fn unsettled(&self, before: Point) -> Result<Option<Point>> {
        let state = self.lock()?;
        if !state.watched.may_have_stopped() {
            return Ok(None);
        }
        let mut point = before;
        for (queue, progress) in self.progress.iter().enumerate() {
            point.add(Ticket { queue, serial: progress.finished()? });
        }
        Ok(state.watched.unsettled(point))
    }

    /// Whether no kernel launched before a passed point was stopped. If so, [`Queues::unsettled`] forgets these launches.
    pub fn were_all_fine(&self, point: Point) -> bool {
        lock(&self.state).watched.settle(point)
    }

    /// Whether a kernel launched before a passed point was stopped.
    pub fn was_stopped_before(&self, point: Point) -> bool {
        lock(&self.state).watched.was_stopped_before(point)
    }

    /// Puts back the launches that [`Queues::take_watched`] returned, to be checked later.
    pub fn watch_again(&self, launched: impl IntoIterator<Item = Launched>) {
        lock(&self.state).watched.extend(launched);
    }

    /// Drops an object once everything recorded so far has finished.
    pub fn retire(&self, thing: impl Send + 'static) {
        // In a forked process, the state may be locked by a thread that doesn't exist there, and nothing is destroyed.
        if self.raw.check_process().is_err() {
            return;
        }
        let mut state = lock(&self.state);
        let recorded = state.recorded();
        // If submission has failed, the object is kept until the queues are dropped.
        state.retired.push_back((recorded, Box::new(thing)));
        if state.failed.is_none() {
            // A failure shows up again in the next call that can report it.
            let _ = self.reclaim(&mut state);
        }
    }

    fn lock(&self) -> Result<MutexGuard<'_, State>> {
        self.raw.check_process()?;
        self.raw.check_lost()?;
        let state = lock(&self.state);
        match state.failed {
            Some(result) => Err(self.raw.error("an earlier vkQueueSubmit")(result)),
            None => Ok(state),
        }
    }

    /// Locks the state once a queue can take another batch. Other threads can use it until then.
    fn lock_with_room(&self, index: usize) -> Result<MutexGuard<'_, State>> {
        loop {
            let mut state = self.lock()?;
            let queue = &mut state.queues[index];
            let Some(oldest) = queue.crowd() else { return Ok(state) };
            queue.reclaim(&self.progress[index])?;
            if queue.crowd().is_none() {
                return Ok(state);
            }
            drop(state);
            self.wait_for_submitted(Ticket { queue: index, serial: oldest }.into(), self.deadline())?;
        }
    }

    /// Waits until the device has passed a submitted point.
    fn wait_for_submitted(&self, point: Point, deadline: Deadline) -> Result {
        let prepare = |queue: usize| self.prepare_to_find_loss(&lock(&self.state), queue);
        self.wait_preparing(point, deadline, prepare)
    }

    /// Like [`Self::wait_for_submitted`], for a thread that has locked the state.
    fn wait_locked(&self, state: &State, point: Point, deadline: Deadline) -> Result {
        self.wait_preparing(point, deadline, |queue| self.prepare_to_find_loss(state, queue))
    }

    fn wait_preparing(&self, point: Point, deadline: Deadline, prepare: impl Fn(usize) -> Result) -> Result {
        let _range = ProfileRange::of_runtime("wait for the device", None);
        point.tickets().try_for_each(|Ticket { queue, serial }| {
            let progress = &self.progress[queue];
            progress.wait(serial, deadline.left(), || prepare(queue).and_then(|()| progress.find_loss()))
        })
    }

    fn prepare_to_find_loss(&self, state: &State, queue: usize) -> Result {
        // SAFETY: the state is locked, which gives exclusive access to the queues.
        unsafe { self.progress[queue].prepare_to_find_loss(state.queues[queue].handle) }
    }

    /// Submits the commands recorded before a point.
    fn submit_until(&self, state: &mut State, point: Point) -> Result {
        point.tickets().try_for_each(|Ticket { queue, serial }| {
            if serial > state.queues[queue].submitted { self.submit(state, queue) } else { Ok(()) }
        })
    }

    fn submit_all(&self, state: &mut State) -> Result {
        (0..self.progress.len()).try_for_each(|index| self.submit(state, index))
    }

    /// Submits the commands recorded for a queue. Everything that its batch waits for was submitted when the batch was
    /// recorded.
    fn submit(&self, state: &mut State, index: usize) -> Result {
        let waits = |batch: &Batch| Waits::new(batch.after, &self.progress);
        // SAFETY: the state's lock gives exclusive access to the queues, and what commands use is retired through them.
        let submitted = unsafe { state.queues[index].submit(&self.raw, &self.progress[index], waits) };
        submitted.map_err(|(call, result)| {
            let batch = &state.queues[index].open;
            let can_retry =
                matches!(result, vk::Result::ERROR_OUT_OF_HOST_MEMORY | vk::Result::ERROR_OUT_OF_DEVICE_MEMORY)
                    && batch.as_ref().is_some_and(|batch| batch.ended);
            if !can_retry {
                state.failed = Some(result);
            }
            self.raw.error(call)(result)
        })
    }

    /// Recycles finished batches, and drops objects that were waiting for them.
    fn reclaim(&self, state: &mut State) -> Result {
        state.queues.iter_mut().zip(&self.progress).try_for_each(|(queue, progress)| queue.reclaim(progress))?;
        state.drop_retired();
        Ok(())
    }
}

impl Drop for Queues {
    fn drop(&mut self) {
        let Some(ash) = self.raw.destroyer() else {
            // The allocator would return memory to the driver, which must not happen in a forked process.
            std::mem::forget(self.memory.clone());
            return;
        };
        let state = self.state.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner);
        // Errors mean that the device is lost, and then nothing runs on it.
        // SAFETY: no other code uses the queues; after the waits, no submission uses the batches or the retired
        // objects. The open batches were never submitted.
        unsafe {
            for queue in &state.queues {
                let _ = ash.queue_wait_idle(queue.handle);
            }
            state.retired.clear();
            state.queues.iter_mut().for_each(|queue| queue.destroy(ash));
        }
    }
}

/// Maximum number of submitted batches. Beyond it, recording waits for the oldest.
const MAX_IN_FLIGHT: usize = 64;

/// A queue for streams. Several may share one Vulkan queue.
#[derive(Default)]
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
        Self { handle, ..Self::default() }
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
    pub fn begin(&mut self, raw: &Arc<RawDevice>, family: u32) -> Result<Batch> {
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
    ) -> Called {
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
    pub fn reclaim(&mut self, progress: &Progress) -> Result {
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
