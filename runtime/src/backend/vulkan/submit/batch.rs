//! Batches: command buffers with the memory they need while they run, and recording into them.

use std::sync::Arc;

use ash::vk;

use crate::backend::order::{Point, StreamKey, Ticket};
use crate::backend::vulkan::memory::{Block, BlockLocation, Memory};
use crate::backend::vulkan::raw::{Called, RawDevice};
use crate::backend::vulkan::submit::dependencies::CommandOrder;
use crate::backend::vulkan::submit::timing::Stamps;
use crate::backend::vulkan::submit::watched::{Mirrored, Watched};
use crate::error::{Error, Result};
use crate::info::limits::MAX_PARAM_BLOCK;
use crate::profile::Work;

/// Number of commands after which a batch is submitted even if the device is busy.
const BATCH_COMMANDS: u32 = 32;
/// Bytes of a batch's space for parameter blocks.
const PARAM_ROOM: u64 = 128 << 10;

/// The stages of all commands.
const STAGES: vk::PipelineStageFlags = vk::PipelineStageFlags::from_raw(
    vk::PipelineStageFlags::COMPUTE_SHADER.as_raw() | vk::PipelineStageFlags::TRANSFER.as_raw(),
);
/// The memory accesses of all commands.
const ACCESS: vk::AccessFlags = vk::AccessFlags::from_raw(
    vk::AccessFlags::SHADER_READ.as_raw()
        | vk::AccessFlags::SHADER_WRITE.as_raw()
        | vk::AccessFlags::TRANSFER_READ.as_raw()
        | vk::AccessFlags::TRANSFER_WRITE.as_raw(),
);

/// A command buffer with the memory it needs while it runs.
#[derive(Default)]
pub(crate) struct Batch {
    pool: vk::CommandPool,
    pub commands: vk::CommandBuffer,
    pub serial: u64,
    /// The point in other queues that the device must have passed before the batch begins.
    pub after: Point,
    pub recorded: u32,
    /// Whether recording has ended.
    pub ended: bool,
    params: Option<Block>,
    params_used: u64,
    mirrored: Vec<Mirrored>,
    pub stamps: Option<Stamps>,
}

impl Batch {
    /// A new batch, ready for `begin`.
    pub fn new(raw: &Arc<RawDevice>, family: u32) -> Result<Self> {
        let info = vk::CommandPoolCreateInfo::default()
            .queue_family_index(family)
            .flags(vk::CommandPoolCreateFlags::TRANSIENT);
        // SAFETY: the device is alive and has this queue family.
        let pool = unsafe { raw.ash.create_command_pool(&info, None) }.map_err(Error::vulkan("vkCreateCommandPool"))?;
        let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
        // SAFETY: the pool was created above.
        match unsafe { raw.ash.allocate_command_buffers(&info) }.as_deref() {
            Ok([commands, ..]) => Ok(Self { pool, commands: *commands, stamps: Stamps::new(raw), ..Self::default() }),
            other => {
                // SAFETY: nothing uses the pool.
                unsafe { raw.ash.destroy_command_pool(pool, None) };
                let result = other.err().copied().unwrap_or(vk::Result::ERROR_UNKNOWN);
                Err(Error::vulkan("vkAllocateCommandBuffers")(result))
            }
        }
    }

    /// Begins a new recording. The batch has finished, or was never used.
    pub fn begin(&mut self, raw: &RawDevice) -> Result {
        (self.recorded, self.params_used, self.after, self.ended) = (0, 0, Point::default(), false);
        self.mirrored.clear();
        let info = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: no submission uses the pool, so it can be reset.
        unsafe { raw.ash.reset_command_pool(self.pool, vk::CommandPoolResetFlags::empty()) }
            .map_err(Error::vulkan("vkResetCommandPool"))?;
        // SAFETY: the buffer of the pool that was reset can be recorded again.
        unsafe { raw.ash.begin_command_buffer(self.commands, &info) }.map_err(Error::vulkan("vkBeginCommandBuffer"))?;
        if let Some(stamps) = &mut self.stamps {
            stamps.begin(self.commands);
        }
        Ok(())
    }

    /// Ends recording. What the device has written becomes visible to the host once the batch has finished, and to all later commands
    /// of the queue. So the next batch needs no barrier of its own before its first command, which would make a launch that is waited
    /// for take longer.
    pub fn end(&mut self, raw: &RawDevice) -> Called {
        if self.ended {
            return Ok(());
        }
        self.mirror(raw);
        let (stages, access) = (vk::PipelineStageFlags::HOST | STAGES, vk::AccessFlags::HOST_READ | ACCESS);
        memory_barrier(raw, self.commands, stages, access);
        // SAFETY: the command buffer is being recorded.
        unsafe { raw.ash.end_command_buffer(self.commands) }.map_err(|result| ("vkEndCommandBuffer", result))?;
        self.ended = true;
        Ok(())
    }

    /// Records the copies of mirrored words.
    fn mirror(&self, raw: &RawDevice) {
        if self.mirrored.is_empty() {
            return;
        }
        let access = vk::AccessFlags::TRANSFER_READ | vk::AccessFlags::TRANSFER_WRITE;
        memory_barrier(raw, self.commands, vk::PipelineStageFlags::TRANSFER, access);
        for Mirrored { from, to, status, output } in &self.mirrored {
            for region in [Some(*status), *output].into_iter().flatten() {
                // SAFETY: the command buffer is being recorded; the words lie in the buffers, which are retired through the
                // queue when freed.
                unsafe { raw.ash.cmd_copy_buffer(self.commands, *from, *to, &[region]) };
            }
        }
    }

    /// Whether there is space for another parameter block, and for another timestamp.
    pub fn has_room(&self) -> bool {
        self.params_used + u64::from(MAX_PARAM_BLOCK) <= PARAM_ROOM && self.stamps.as_ref().is_none_or(Stamps::has_room)
    }

    /// Whether the batch has enough commands to be submitted even if the device is busy.
    pub fn is_long(&self) -> bool {
        self.recorded >= BATCH_COMMANDS
    }

    /// # Safety
    /// No submission uses the batch.
    pub unsafe fn destroy(&self, ash: &ash::Device) {
        // SAFETY: by the contract.
        unsafe { ash.destroy_command_pool(self.pool, None) };
    }
}

/// A command buffer that is being recorded.
pub(crate) struct Recorder<'a> {
    pub raw: &'a RawDevice,
    pub commands: vk::CommandBuffer,
    /// The ticket of the commands that are being recorded.
    pub ticket: Ticket,
    /// Kernels whose status has to be checked.
    pub watched: &'a mut Watched,
    pub(crate) stream: StreamKey,
    pub(crate) order: &'a mut CommandOrder,
    pub(crate) batch: &'a mut Batch,
    pub(crate) memory: &'a Arc<Memory>,
}

impl Recorder<'_> {
    /// Inserts a barrier if the stream's order requires one before the next command.
    pub fn follow(&mut self) {
        if self.order.add(self.stream) {
            self.barrier();
        }
    }

    /// Tells the profile the work of the commands that are being recorded.
    pub fn profile(&mut self, stream: StreamKey, work: impl FnOnce() -> Work) {
        if let Some(profile) = &self.raw.profile {
            match &mut self.batch.stamps {
                Some(stamps) => stamps.next = Some((stream.row(), work())),
                None => profile.untimed(),
            }
        }
    }

    /// A barrier between all earlier and all later commands.
    pub fn barrier(&self) {
        memory_barrier(self.raw, self.commands, STAGES, ACCESS);
    }

    /// Has words copied to host memory at the batch's end.
    pub(crate) fn mirror(&mut self, mirrored: Mirrored) {
        if !self.batch.mirrored.iter().any(|other| other.is(&mirrored)) {
            self.batch.mirrored.push(mirrored);
        }
    }

    /// Stores a parameter block of at most [`MAX_PARAM_BLOCK`] bytes until the batch has finished, and returns its
    /// device address, a multiple of 16.
    pub fn params(&mut self, bytes: &[u8]) -> Result<u64> {
        let (block, offset) = self.place(bytes)?;
        Ok(block.address + offset)
    }

    /// Like [`Recorder::params`], for bytes that are the source of a copy: returns the buffer and the offset in it.
    pub fn upload(&mut self, bytes: &[u8]) -> Result<(vk::Buffer, u64)> {
        let (block, offset) = self.place(bytes)?;
        Ok((block.buffer, offset))
    }

    fn place(&mut self, bytes: &[u8]) -> Result<(&Block, u64)> {
        let block = match &mut self.batch.params {
            Some(block) => block,
            none => none.insert(self.memory.allocate(PARAM_ROOM, BlockLocation::Upload)?),
        };
        // There is always enough space: a batch without space for the largest block is submitted (see
        // `Batch::has_room`).
        let offset = self.batch.params_used;
        block.write_mapped(offset, bytes)?;
        self.batch.params_used += (bytes.len() as u64).next_multiple_of(16);
        Ok((block, offset))
    }
}

/// Makes writes of shaders and copies visible to later accesses.
fn memory_barrier(raw: &RawDevice, commands: vk::CommandBuffer, to: vk::PipelineStageFlags, access: vk::AccessFlags) {
    let barrier = vk::MemoryBarrier::default()
        .src_access_mask(vk::AccessFlags::SHADER_WRITE | vk::AccessFlags::TRANSFER_WRITE)
        .dst_access_mask(access);
    // SAFETY: the command buffer is being recorded.
    unsafe {
        raw.ash.cmd_pipeline_barrier(commands, STAGES, to, vk::DependencyFlags::empty(), &[barrier], &[], &[]);
    }
}
