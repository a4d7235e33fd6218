//! Measures launches by the device's own clock.

use std::sync::Arc;
use std::time::Duration;

use ash::vk;

use crate::backend::launch::Launch;
use crate::backend::order::StreamKey;
use crate::backend::vulkan::pipeline::{VulkanPipeline, lock_printing};
use crate::backend::vulkan::submit::timing::QueryPool;
use crate::error::{Error, Result};

/// Launches per submission: enough to keep the device busy, few enough not to look like a hang.
const GROUP: u32 = 16;

impl VulkanPipeline {
    /// Launches the kernel `repeats` times, one after another, and returns the time of each launch.
    pub fn time(&self, launch: &mut Launch<'_>, repeats: u32) -> Result<Vec<Duration>> {
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

    fn time_group(&self, pool: &QueryPool, launch: &mut Launch<'_>, count: u32) -> Result<Vec<Duration>> {
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
