//! Measures launches by the device's own clock.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ash::vk;

use crate::backend::Timer;
use crate::backend::launch::Launch;
use crate::backend::order::{StreamKey, Ticket};
use crate::backend::vulkan::device::Device;
use crate::backend::vulkan::device::raw::RawDevice;
use crate::backend::vulkan::pipeline::{VulkanPipeline, lock_printing};
use crate::error::Error;
use crate::profile::Work;

/// Launches per submission: enough to keep the device busy, few enough not to look like a hang.
const GROUP: u32 = 16;

/// Nanoseconds by which a batch may have begun before the first one that is reported.
const EARLIEST: f64 = 1e10;

impl VulkanPipeline {
    /// Launches the kernel `repeats` times, one after another, and returns the time of each launch.
    pub fn time(&self, launch: &mut Launch<'_>, repeats: u32) -> Result<Vec<Duration>, Error> {
        let device = &self.device;
        if device.raw.clock.bits == 0 {
            return Err(Error::NoTimestamps(device.raw.name.clone()));
        }
        let pool = Arc::new(QueryPool::new(device.raw.clone(), 2 * GROUP)?);
        let scratch = self.provide_scratch(launch)?;
        let live = self.provide_live_table(launch)?;
        let mut times = Vec::new();
        let mut result = Ok(());
        while result.is_ok() && (times.len() as u64) < u64::from(repeats) {
            // At most GROUP, so the cast is exact.
            let count = (u64::from(repeats) - times.len() as u64).min(u64::from(GROUP)) as u32;
            result = self.time_group(&pool, launch, count).map(|group| times.extend(group));
        }
        device.queues.retire((pool, scratch, live));
        result.map(|()| times)
    }

    fn time_group(&self, pool: &QueryPool, launch: &mut Launch<'_>, count: u32) -> Result<Vec<Duration>, Error> {
        let device = &self.device;
        let printing = lock_printing(launch);
        let ticket = device.queues.record(StreamKey::Everything, |recorder| {
            self.begin(launch, recorder)?;
            recorder.follow();
            let (ash, commands) = (&recorder.raw.ash, recorder.commands);
            // SAFETY: the command buffer is being recorded; the pool has room for two queries per launch, its earlier
            // queries have finished, and it is retired through the queue.
            unsafe { ash.cmd_reset_query_pool(commands, pool.handle, 0, 2 * count) };
            for index in 0..count {
                // BOTTOM_OF_PIPE: the time when all commands before have finished.
                let stamp = |query| {
                    // SAFETY: as above.
                    unsafe {
                        ash.cmd_write_timestamp(commands, vk::PipelineStageFlags::BOTTOM_OF_PIPE, pool.handle, query)
                    };
                };
                recorder.barrier();
                stamp(2 * index);
                self.dispatch(launch, recorder);
                stamp(2 * index + 1);
            }
            Ok(())
        })?;
        drop(printing);
        device.queues.wait(ticket.into(), device.queues.deadline())?;
        device.check_status(ticket.into(), device.queues.deadline())?;
        let mut stamps = vec![[0_u64; 2]; count as usize];
        pool.read(bytemuck::cast_slice_mut(&mut stamps))?;
        Ok(stamps.into_iter().map(|[start, end]| device.raw.clock.duration(end.wrapping_sub(start))).collect())
    }
}

/// A timer in streams.
pub(crate) struct VulkanTimer {
    pool: Arc<QueryPool>,
    device: Arc<Device>,
}

impl VulkanTimer {
    pub fn new(device: Arc<Device>) -> Result<Self, Error> {
        device.raw.check_process()?;
        if device.raw.clock.bits == 0 {
            return Err(Error::NoTimestamps(device.raw.name.clone()));
        }
        Ok(Self { pool: Arc::new(QueryPool::new(device.raw.clone(), 1)?), device })
    }
}

impl Timer for VulkanTimer {
    /// Records the time when all earlier commands have finished, including those of other streams on the same queue.
    fn record(&self, stream: StreamKey) -> Result<Ticket, Error> {
        self.device.queues.record(stream, |recorder| {
            let (ash, commands, pool) = (&recorder.raw.ash, recorder.commands, self.pool.handle);
            // SAFETY: the command buffer is being recorded; the pool has the query, and is retired through the queue when
            // dropped.
            unsafe {
                ash.cmd_reset_query_pool(commands, pool, 0, 1);
                ash.cmd_write_timestamp(commands, vk::PipelineStageFlags::BOTTOM_OF_PIPE, pool, 0);
            }
            Ok(())
        })
    }

    fn ticks(&self) -> Result<u64, Error> {
        self.device.raw.check_process()?;
        let mut ticks = [0_u64];
        self.pool.read(&mut ticks)?;
        Ok(ticks[0])
    }
}

impl Drop for VulkanTimer {
    fn drop(&mut self) {
        self.device.queues.retire(self.pool.clone());
    }
}

/// The timestamps of a batch for the profile: one when the batch begins, and one when each of its commands has ended, so that a command's
/// time begins with the end of the one before.
pub(crate) struct Stamps {
    pool: QueryPool,
    /// What each recorded command does, and the row of its stream.
    works: Vec<Option<(u64, Work)>>,
    /// The same for the command that is being recorded.
    pub next: Option<(u64, Work)>,
    submitted: Instant,
}

impl Stamps {
    /// The timestamps of a batch.
    const ROOM: u32 = 64;

    /// `None` without a profile or timestamps.
    pub fn new(raw: &Arc<RawDevice>) -> Option<Self> {
        raw.profile.as_ref().filter(|_| raw.clock.bits > 0)?;
        let pool = QueryPool::new(raw.clone(), Self::ROOM).ok()?;
        Some(Self { pool, works: Vec::new(), next: None, submitted: Instant::now() })
    }

    /// Whether another command can have a timestamp.
    pub fn has_room(&self) -> bool {
        self.works.len() + 1 < Self::ROOM as usize
    }

    /// Begins the recording of a batch, whose earlier commands have finished.
    pub fn begin(&mut self, commands: vk::CommandBuffer) {
        self.works.clear();
        // SAFETY: the command buffer is being recorded, and no submission uses the pool, which lives as long as the batch.
        unsafe { self.pool.raw.ash.cmd_reset_query_pool(commands, self.pool.handle, 0, Self::ROOM) };
        self.stamp(commands, 0);
    }

    /// Ends a command.
    pub fn end(&mut self, commands: vk::CommandBuffer) {
        let work = self.next.take();
        let has_room = self.has_room();
        if let (Some(profile), Some(_)) = (&self.pool.raw.profile, &work) {
            if has_room { profile.count(1) } else { profile.untimed() }
        }
        if has_room {
            self.works.push(work);
            // Less than ROOM, so the cast is exact.
            self.stamp(commands, self.works.len() as u32);
        }
    }

    /// The batch is about to be submitted.
    pub fn submit(&mut self) {
        self.submitted = Instant::now();
    }

    /// Reports the commands of a batch that has finished.
    pub fn report(&mut self) {
        let clock = self.pool.raw.clock;
        let mut ticks = vec![0_u64; self.works.len() + 1];
        let flags = vk::QueryResultFlags::TYPE_64;
        // SAFETY: the queries belong to a batch that has finished, and the vector has room for them.
        let read = unsafe { self.pool.raw.ash.get_query_pool_results(self.pool.handle, 0, &mut ticks, flags) };
        let works = std::mem::take(&mut self.works);
        let (Ok(()), Some(profile)) = (read, &self.pool.raw.profile) else { return };
        let first = *profile.first.get_or_init(|| ticks[0].wrapping_sub((EARLIEST / f64::from(clock.period)) as u64));
        let since_first = |tick: u64| clock.duration(tick.wrapping_sub(first));
        profile.submitted(self.submitted, since_first(ticks[0]));
        for (work, pair) in works.iter().zip(ticks.windows(2)) {
            let Some((row, work)) = work else { continue };
            let begin = since_first(pair[0]);
            profile.ran(*row, begin, begin + clock.duration(pair[1].wrapping_sub(pair[0])), work);
            profile.count(-1);
        }
    }

    fn stamp(&self, commands: vk::CommandBuffer, query: u32) {
        // Devices on the CPU run commands one after another. To wait for the end takes lavapipe as long as several launches.
        let stage = if self.pool.raw.is_on_cpu {
            vk::PipelineStageFlags::TOP_OF_PIPE
        } else {
            vk::PipelineStageFlags::BOTTOM_OF_PIPE
        };
        // SAFETY: the command buffer is being recorded, and the pool has the query.
        unsafe {
            self.pool.raw.ash.cmd_write_timestamp(commands, stage, self.pool.handle, query);
        }
    }
}

/// A pool of timestamp queries.
struct QueryPool {
    handle: vk::QueryPool,
    raw: Arc<RawDevice>,
}

impl QueryPool {
    fn new(raw: Arc<RawDevice>, count: u32) -> Result<Self, Error> {
        let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(count);
        // SAFETY: the device is alive and its queue has timestamps.
        let handle = unsafe { raw.ash.create_query_pool(&info, None) }.map_err(Error::vulkan("vkCreateQueryPool"))?;
        Ok(Self { handle, raw })
    }

    /// The times of the first queries, which a submission has written or will write.
    fn read(&self, ticks: &mut [u64]) -> Result<(), Error> {
        let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
        // SAFETY: the queries are written, and there is room for their values.
        unsafe { self.raw.ash.get_query_pool_results(self.handle, 0, ticks, flags) }
            .map_err(self.raw.error("vkGetQueryPoolResults"))
    }
}

impl Drop for QueryPool {
    fn drop(&mut self) {
        if let Some(ash) = self.raw.destroyer() {
            // SAFETY: the queue drops this when its last use has finished.
            unsafe { ash.destroy_query_pool(self.handle, None) };
        }
    }
}
