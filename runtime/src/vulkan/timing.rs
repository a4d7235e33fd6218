//! Measures launches by the device's own clock.

use std::sync::Arc;
use std::time::Duration;

use ash::vk;

use super::pipeline::{VulkanPipeline, lock_printing};
use super::raw::RawDevice;
use crate::dispatch::Launch;
use crate::error::Error;

/// Launches per submission: enough to keep the device busy, few enough not to look like a hang.
const GROUP: u32 = 16;

impl VulkanPipeline {
    /// Launches it `repeats` times, one after another, and returns how long each took.
    pub fn time(&self, launch: &mut Launch<'_>, repeats: u32) -> Result<Vec<Duration>, Error> {
        let device = &self.device;
        if device.timestamp_bits == 0 {
            return Err(Error::NoTimestamps(device.name.clone()));
        }
        let pool = Arc::new(QueryPool::new(device.raw.clone())?);
        let scratch = self.provide_scratch(launch)?;
        let mut times = Vec::new();
        let mut result = Ok(());
        while result.is_ok() && (times.len() as u64) < u64::from(repeats) {
            // At most GROUP, so the cast is exact.
            let count = (u64::from(repeats) - times.len() as u64).min(u64::from(GROUP)) as u32;
            result = self.time_group(&pool, launch, count).map(|group| times.extend(group));
        }
        device.queue.retire((pool, scratch));
        result.map(|()| times)
    }

    fn time_group(&self, pool: &QueryPool, launch: &mut Launch<'_>, count: u32) -> Result<Vec<Duration>, Error> {
        let device = &self.device;
        let printing = lock_printing(launch);
        let serial = device.queue.record(|recorder| {
            self.begin(launch, recorder)?;
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
        device.queue.wait(serial)?;
        device.check_status()?;
        let mut stamps = vec![[0_u64; 2]; count as usize];
        let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
        // SAFETY: the queries have been written, and the vector has room for them.
        unsafe {
            device.raw.ash.get_query_pool_results(
                pool.handle,
                0,
                bytemuck::cast_slice_mut::<_, u64>(&mut stamps),
                flags,
            )
        }
        .map_err(Error::vulkan("vkGetQueryPoolResults"))?;
        let mask = u64::MAX >> 64_u32.saturating_sub(device.timestamp_bits).min(63);
        let ticks = stamps.into_iter().map(|[start, end]| end.wrapping_sub(start) & mask);
        let period = f64::from(device.timestamp_period);
        Ok(ticks.map(|ticks| Duration::from_nanos((ticks as f64 * period) as u64)).collect())
    }
}

/// Two timestamps for each launch of a group.
struct QueryPool {
    handle: vk::QueryPool,
    raw: Arc<RawDevice>,
}

impl QueryPool {
    fn new(raw: Arc<RawDevice>) -> Result<Self, Error> {
        let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(2 * GROUP);
        // SAFETY: the device is alive and its queue has timestamps.
        let handle = unsafe { raw.ash.create_query_pool(&info, None) }.map_err(Error::vulkan("vkCreateQueryPool"))?;
        Ok(Self { handle, raw })
    }
}

impl Drop for QueryPool {
    fn drop(&mut self) {
        if let Some(ash) = self.raw.destroyer() {
            // SAFETY: dropped by the queue when its last use has finished.
            unsafe { ash.destroy_query_pool(self.handle, None) };
        }
    }
}
