//! Submission: records commands into batches, hands them to the device in order, and recycles what has finished.
//!
//! Commands are recorded under a lock in the order of the calls. A batch is submitted when the device is idle, when it
//! is full, or when somebody waits: while the device is busy, launches cost a few recorded commands only. Each batch
//! has a serial number, by which [`super::progress`] knows whether it has finished.
//!
//! A command is preceded by a barrier against all before it where its stream asks for that: see [`super::order`].

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use ash::vk;

use super::memory::{Block, Memory, Place};
use super::order::Order;
use super::progress::Progress;
use super::raw::RawDevice;
use super::watched::Watched;
use crate::error::Error;
use crate::limits::MAX_PARAM_BLOCK;
use crate::order::{StreamKey, Ticket};
use crate::sync::lock;

/// Commands in a batch before it is submitted even if the device is busy.
const BATCH_COMMANDS: u32 = 32;
/// Batches on the device before recording waits for the oldest.
const MAX_IN_FLIGHT: usize = 64;
/// Bytes of a batch's room for parameter blocks.
const PARAM_ROOM: u64 = 128 << 10;

/// The device's one queue.
pub(crate) struct Queue {
    state: Mutex<State>,
    progress: Progress,
    memory: Arc<Memory>,
    raw: Arc<RawDevice>,
    family: u32,
}

struct State {
    handle: vk::Queue,
    /// The batch being recorded; its serial is `submitted + 1`.
    open: Option<Batch>,
    in_flight: VecDeque<Batch>,
    idle: Vec<Batch>,
    /// Things to drop once the batch of that serial has finished, by rising serial.
    retired: VecDeque<(u64, Box<dyn Send>)>,
    /// Serial of the last submitted batch.
    submitted: u64,
    order: Order,
    /// Kernels launched whose status nobody has looked at since.
    watched: Watched,
    /// Set when a submission failed: its commands never run, so nothing after it may.
    failed: Option<vk::Result>,
}

/// A command buffer with what it needs while it runs.
struct Batch {
    pool: vk::CommandPool,
    commands: vk::CommandBuffer,
    serial: u64,
    recorded: u32,
    params: Option<Block>,
    params_used: u64,
}

/// Gives access to the command buffer that is being recorded.
pub(crate) struct Recorder<'a> {
    pub raw: &'a RawDevice,
    pub commands: vk::CommandBuffer,
    /// Kernels whose status is to be looked at.
    pub watched: &'a mut Watched,
    stream: StreamKey,
    order: &'a mut Order,
    batch: &'a mut Batch,
    memory: &'a Arc<Memory>,
}

impl Recorder<'_> {
    /// Brings the command that comes next into the order of its stream.
    pub fn follow(&mut self) {
        if self.order.add(self.stream) {
            self.barrier();
        }
    }

    /// Makes everything before visible to everything after.
    pub fn barrier(&self) {
        use vk::AccessFlags as Access;
        memory_barrier(
            self.raw,
            self.commands,
            vk::PipelineStageFlags::COMPUTE_SHADER | vk::PipelineStageFlags::TRANSFER,
            Access::SHADER_READ | Access::SHADER_WRITE | Access::TRANSFER_READ | Access::TRANSFER_WRITE,
        );
    }

    /// Puts a parameter block of at most [`MAX_PARAM_BLOCK`] bytes where it stays until the batch has finished, and returns
    /// its device address, a multiple of 16.
    pub fn params(&mut self, bytes: &[u8]) -> Result<u64, Error> {
        let (block, offset) = self.place(bytes)?;
        Ok(block.address + offset)
    }

    /// As [`Recorder::params`], for bytes to be copied from: returns the buffer and the offset there.
    pub fn upload(&mut self, bytes: &[u8]) -> Result<(vk::Buffer, u64), Error> {
        let (block, offset) = self.place(bytes)?;
        Ok((block.buffer, offset))
    }

    fn place(&mut self, bytes: &[u8]) -> Result<(&Block, u64), Error> {
        let block = match &mut self.batch.params {
            Some(block) => block,
            none => none.insert(self.memory.allocate(PARAM_ROOM, Place::Upload)?),
        };
        // There is always room: a batch without room for the largest block is submitted (see `Batch::is_full`).
        let offset = self.batch.params_used;
        block.write_mapped(offset, bytes)?;
        self.batch.params_used += (bytes.len() as u64).next_multiple_of(16);
        Ok((block, offset))
    }
}

/// Makes what shaders and copies have written visible to later accesses.
fn memory_barrier(raw: &RawDevice, commands: vk::CommandBuffer, to: vk::PipelineStageFlags, access: vk::AccessFlags) {
    let barrier = vk::MemoryBarrier::default()
        .src_access_mask(vk::AccessFlags::SHADER_WRITE | vk::AccessFlags::TRANSFER_WRITE)
        .dst_access_mask(access);
    let from = vk::PipelineStageFlags::COMPUTE_SHADER | vk::PipelineStageFlags::TRANSFER;
    // SAFETY: the command buffer is being recorded.
    unsafe {
        raw.ash.cmd_pipeline_barrier(commands, from, to, vk::DependencyFlags::empty(), &[barrier], &[], &[]);
    }
}

impl Batch {
    fn is_full(&self) -> bool {
        self.recorded >= BATCH_COMMANDS || self.params_used + u64::from(MAX_PARAM_BLOCK) > PARAM_ROOM
    }
}

impl Queue {
    pub fn new(raw: Arc<RawDevice>, memory: Arc<Memory>, family: u32) -> Result<Self, Error> {
        let progress = Progress::new(raw.clone())?;
        // SAFETY: the device was created with this queue.
        let handle = unsafe { raw.ash.get_device_queue(family, 0) };
        let state = State {
            handle,
            open: None,
            in_flight: VecDeque::new(),
            idle: Vec::new(),
            retired: VecDeque::new(),
            submitted: 0,
            order: Order::default(),
            watched: Watched::default(),
            failed: None,
        };
        Ok(Self { state: Mutex::new(state), progress, memory, raw, family })
    }

    /// Records commands of a stream and returns the serial to wait for. `write` should do what can fail before it records
    /// anything, and call [`Recorder::follow`] before the first command.
    pub fn record(
        &self,
        stream: StreamKey,
        write: impl FnOnce(&mut Recorder<'_>) -> Result<(), Error>,
    ) -> Result<Ticket, Error> {
        let mut guard = self.lock()?;
        let state = &mut *guard;
        let mut batch = match state.open.take() {
            Some(batch) => batch,
            None => self.begin(state)?,
        };
        let commands = batch.commands;
        let written = write(&mut Recorder {
            raw: &self.raw,
            commands,
            watched: &mut state.watched,
            stream,
            order: &mut state.order,
            batch: &mut batch,
            memory: &self.memory,
        });
        batch.recorded += 1;
        let full = batch.is_full();
        state.open = Some(batch);
        let serial = state.submitted + 1;
        written?;
        self.reclaim(state)?;
        if full || state.in_flight.is_empty() {
            self.submit(state)?;
        }
        Ok(serial)
    }

    /// Has the stream's next command come after everything recorded so far.
    pub fn follow(&self, stream: StreamKey) -> Result<(), Error> {
        self.lock()?.order.wait(stream);
        Ok(())
    }

    /// Whether a serial that [`Queue::record`] returned has finished. What has collected is submitted first, so that the answer
    /// is yes at some time.
    pub fn is_finished(&self, serial: Ticket) -> Result<bool, Error> {
        let mut state = self.lock()?;
        if serial > state.submitted {
            self.submit(&mut state)?;
        }
        Ok(self.progress.finished()? >= serial)
    }

    /// Submits what has been recorded.
    pub fn flush(&self) -> Result<(), Error> {
        let mut state = self.lock()?;
        self.submit(&mut state)
    }

    /// Waits until a serial that [`Queue::record`] returned has finished. Other threads can go on launching.
    pub fn wait(&self, serial: u64) -> Result<(), Error> {
        {
            let mut state = self.lock()?;
            if serial > state.submitted {
                self.submit(&mut state)?;
            }
        }
        self.progress.wait(serial)?;
        let mut state = self.lock()?;
        self.reclaim(&mut state)
    }

    /// Has every wait fail with [`Error::Timeout`] after a time.
    pub fn set_wait_limit(&self, limit: Duration) {
        self.progress.set_wait_limit(limit);
    }

    /// Waits until everything recorded so far has finished.
    pub fn synchronize(&self) -> Result<(), Error> {
        let last = {
            let mut state = self.lock()?;
            self.submit(&mut state)?;
            state.submitted
        };
        self.wait(last)
    }

    /// Runs `access` while nothing is on the device and nothing can be launched.
    pub fn while_idle<R>(&self, access: impl FnOnce() -> Result<R, Error>) -> Result<R, Error> {
        let mut state = self.lock()?;
        self.submit(&mut state)?;
        self.progress.wait(state.submitted)?;
        self.reclaim(&mut state)?;
        access()
    }

    /// How many batches were submitted.
    pub fn submissions(&self) -> u64 {
        lock(&self.state).submitted
    }

    /// The kernels recorded so far whose status is to be looked at, and forgets them.
    pub fn take_watched(&self) -> Watched {
        std::mem::take(&mut lock(&self.state).watched)
    }

    /// Drops something once everything recorded so far has finished.
    pub fn retire(&self, thing: impl Send + 'static) {
        // In another process the state may be locked by a thread that isn't there, and nothing is destroyed.
        if self.raw.check_process().is_err() {
            return;
        }
        let mut state = lock(&self.state);
        let serial = if state.open.is_some() { state.submitted + 1 } else { state.submitted };
        // On a failed queue it waits for the queue's own end.
        state.retired.push_back((serial, Box::new(thing)));
        if state.failed.is_none() {
            // A failure shows up again in the next call that can report it.
            let _ = self.reclaim(&mut state);
        }
    }

    fn lock(&self) -> Result<MutexGuard<'_, State>, Error> {
        self.raw.check_process()?;
        let state = lock(&self.state);
        match state.failed {
            Some(result) => Err(Error::vulkan("an earlier vkQueueSubmit")(result)),
            None => Ok(state),
        }
    }

    /// An empty batch, ready to be recorded.
    fn begin(&self, state: &mut State) -> Result<Batch, Error> {
        if state.in_flight.len() >= MAX_IN_FLIGHT {
            if let Some(oldest) = state.in_flight.front() {
                self.progress.wait(oldest.serial)?;
            }
            self.reclaim(state)?;
        }
        let batch = match state.idle.pop() {
            Some(batch) => batch,
            None => self.create_batch()?,
        };
        let info = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: the batch has finished or was never used, so its pool can be reset and its buffer recorded anew.
        let begun = unsafe {
            self.raw
                .ash
                .reset_command_pool(batch.pool, vk::CommandPoolResetFlags::empty())
                .and_then(|()| self.raw.ash.begin_command_buffer(batch.commands, &info))
        };
        match begun {
            Ok(()) => Ok(Batch { recorded: 0, params_used: 0, ..batch }),
            Err(result) => {
                state.idle.push(batch);
                Err(Error::vulkan("vkBeginCommandBuffer")(result))
            }
        }
    }

    fn create_batch(&self) -> Result<Batch, Error> {
        let info = vk::CommandPoolCreateInfo::default()
            .queue_family_index(self.family)
            .flags(vk::CommandPoolCreateFlags::TRANSIENT);
        // SAFETY: the device is alive and has this queue family.
        let pool =
            unsafe { self.raw.ash.create_command_pool(&info, None) }.map_err(Error::vulkan("vkCreateCommandPool"))?;
        let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
        // SAFETY: the pool was made just now.
        match unsafe { self.raw.ash.allocate_command_buffers(&info) }.as_deref() {
            Ok([commands, ..]) => {
                Ok(Batch { pool, commands: *commands, serial: 0, recorded: 0, params: None, params_used: 0 })
            }
            other => {
                // SAFETY: nothing uses the pool.
                unsafe { self.raw.ash.destroy_command_pool(pool, None) };
                let result = other.err().copied().unwrap_or(vk::Result::ERROR_UNKNOWN);
                Err(Error::vulkan("vkAllocateCommandBuffers")(result))
            }
        }
    }

    fn submit(&self, state: &mut State) -> Result<(), Error> {
        let Some(mut batch) = state.open.take() else { return Ok(()) };
        batch.serial = state.submitted + 1;
        let commands = batch.commands;
        // What the device wrote must be visible to the host once the batch has finished.
        memory_barrier(&self.raw, commands, vk::PipelineStageFlags::HOST, vk::AccessFlags::HOST_READ);
        // SAFETY: the command buffer is being recorded and everything it uses is kept until the batch has finished; the
        // state's lock gives exclusive access to the queue.
        let submitted = unsafe {
            self.raw
                .ash
                .end_command_buffer(batch.commands)
                .and_then(|()| self.progress.submit(state.handle, batch.commands, batch.serial))
        };
        match submitted {
            Ok(()) => {
                state.submitted = batch.serial;
                state.in_flight.push_back(batch);
                Ok(())
            }
            Err(result) => {
                state.idle.push(batch);
                state.failed = Some(result);
                Err(Error::vulkan("vkQueueSubmit")(result))
            }
        }
    }

    /// Recycles batches that have finished, and drops what waited for them.
    fn reclaim(&self, state: &mut State) -> Result<(), Error> {
        if state.in_flight.is_empty() && state.retired.is_empty() {
            return Ok(());
        }
        let finished = self.progress.finished()?;
        while state.in_flight.front().is_some_and(|batch| batch.serial <= finished) {
            state.idle.extend(state.in_flight.pop_front());
        }
        while state.retired.front().is_some_and(|(serial, _)| *serial <= finished) {
            state.retired.pop_front();
        }
        Ok(())
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        let Some(ash) = self.raw.destroyer() else {
            // The allocator knows nothing of processes, and would give memory back to the driver.
            std::mem::forget(self.memory.clone());
            return;
        };
        let state = self.state.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner);
        // Errors mean that the device is lost, and then nothing runs on it any more.
        // SAFETY: nobody else has the queue; after the wait no submission uses the pools or what is retired. The open batch
        // was never submitted.
        unsafe {
            let _ = ash.queue_wait_idle(state.handle);
            state.retired.clear();
            for batch in state.open.take().into_iter().chain(state.in_flight.drain(..)).chain(state.idle.drain(..)) {
                ash.destroy_command_pool(batch.pool, None);
            }
        }
    }
}
