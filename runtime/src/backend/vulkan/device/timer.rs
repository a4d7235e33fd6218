//! Times in streams by the device's own clock.

use std::sync::Arc;

use ash::vk;

use crate::backend::Timer;
use crate::backend::order::{StreamKey, Ticket};
use crate::backend::vulkan::device::Device;
use crate::backend::vulkan::submit::timing::QueryPool;
use crate::error::{Error, Result};

/// A timer in streams.
pub(crate) struct VulkanTimer {
    pool: Arc<QueryPool>,
    device: Arc<Device>,
}

impl VulkanTimer {
    pub fn new(device: Arc<Device>) -> Result<Self> {
        device.raw.check_process()?;
        if device.raw.clock.bits == 0 {
            return Err(Error::NoTimestamps(device.raw.name.clone()));
        }
        Ok(Self { pool: Arc::new(QueryPool::new(device.raw.clone(), 1)?), device })
    }
}

impl Timer for VulkanTimer {
    /// Records the time when all earlier commands have finished, including those of other streams on the same queue.
    fn record(&self, stream: StreamKey) -> Result<Ticket> {
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

    fn ticks(&self) -> Result<u64> {
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
