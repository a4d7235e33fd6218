//! The timestamps of batches, and pools of them.

use std::sync::Arc;
use std::time::Instant;

use ash::vk;

use crate::backend::vulkan::raw::RawDevice;
use crate::error::{Error, Result};
use crate::profile::Work;

/// Nanoseconds by which a batch may have begun before the first one that is reported.
const EARLIEST: f64 = 1e10;

/// The timestamps of a batch for the profile: one when the batch begins, and one when each of its commands has ended, so that a command's
/// time begins with the end of the one before.
pub(crate) struct Stamps {
    pool: QueryPool,
    /// The work of each recorded command, and the row of the command's stream.
    works: Vec<Option<(u64, Work)>>,
    /// The work and the row of the command that is being recorded.
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
pub(crate) struct QueryPool {
    pub handle: vk::QueryPool,
    raw: Arc<RawDevice>,
}

impl QueryPool {
    pub fn new(raw: Arc<RawDevice>, count: u32) -> Result<Self> {
        let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(count);
        // SAFETY: the device is alive and its queue has timestamps.
        let handle = unsafe { raw.ash.create_query_pool(&info, None) }.map_err(Error::vulkan("vkCreateQueryPool"))?;
        Ok(Self { handle, raw })
    }

    /// The times of the first queries, which a submission has written or will write.
    pub fn read(&self, ticks: &mut [u64]) -> Result {
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
