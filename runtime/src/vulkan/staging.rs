//! Copies between the host and memory that isn't mapped, alternating between two mapped blocks: while the device copies
//! one, the host copies the other.

use std::sync::Arc;

use ash::vk;

use super::memory::{Block, BlockLocation, Memory};
use super::queues::Queues;
use super::regions::copy_regions;
use crate::error::Error;
use crate::order::{StreamKey, Ticket};
use crate::shape::Shape;

/// Bytes per staging block: large enough that a copy outweighs its submission.
const BLOCK: usize = 8 << 20;

/// The staging blocks of a device, made on first use.
pub(crate) struct Staging {
    halves: [Half; 2],
    memory: Arc<Memory>,
}

#[derive(Default)]
struct Half {
    block: Option<Block>,
    /// The last copy that uses the block.
    last: Ticket,
}

impl Half {
    /// The block, once no copy uses it.
    fn free_block(&mut self, queues: &Queues, memory: &Arc<Memory>) -> Result<&Block, Error> {
        queues.wait(self.last.into(), queues.deadline())?;
        match &mut self.block {
            Some(block) => Ok(block),
            none => Ok(none.insert(memory.allocate(BLOCK as u64, BlockLocation::Host)?)),
        }
    }
}

impl Staging {
    pub fn new(memory: Arc<Memory>) -> Self {
        Self { halves: Default::default(), memory }
    }

    /// Copies `bytes` to a buffer at `offset`, between all earlier and all later commands. `bytes` is not used after
    /// the return.
    pub fn write(&mut self, queues: &Queues, buffer: vk::Buffer, offset: u64, bytes: &[u8]) -> Result<(), Error> {
        let mut at = offset;
        for (i, piece) in bytes.chunks(BLOCK).enumerate() {
            let half = &mut self.halves[i % 2];
            let block = half.free_block(queues, &self.memory)?;
            block.write_mapped(0, piece)?;
            let size = piece.len() as u64;
            half.last = copy(queues, StreamKey::Everything, block.buffer, 0, buffer, at, size)?;
            queues.flush()?;
            at += size;
        }
        Ok(())
    }

    /// Copies from a buffer at `offset` to `bytes`, in stream order.
    pub fn read(
        &mut self,
        queues: &Queues,
        stream: StreamKey,
        buffer: vk::Buffer,
        offset: u64,
        bytes: &mut [u8],
    ) -> Result<(), Error> {
        let mut at = offset;
        let mut pending: Option<(usize, &mut [u8])> = None;
        for (i, piece) in bytes.chunks_mut(BLOCK).enumerate() {
            // Meanwhile, the other half's copy from the previous round is running.
            let half = &mut self.halves[i % 2];
            let block = half.free_block(queues, &self.memory)?;
            let size = piece.len() as u64;
            half.last = copy(queues, stream, buffer, at, block.buffer, 0, size)?;
            queues.flush()?;
            at += size;
            if let Some((index, piece)) = pending.replace((i % 2, piece)) {
                self.finish_read(queues, index, piece)?;
            }
        }
        match pending {
            Some((index, piece)) => self.finish_read(queues, index, piece),
            None => Ok(()),
        }
    }

    fn finish_read(&mut self, queues: &Queues, index: usize, piece: &mut [u8]) -> Result<(), Error> {
        self.halves[index].free_block(queues, &self.memory)?.read_mapped(0, piece)
    }
}

/// Records a copy of `size` bytes, at least one and within both buffers, and returns its ticket.
fn copy(
    queues: &Queues,
    stream: StreamKey,
    from: vk::Buffer,
    from_offset: u64,
    to: vk::Buffer,
    to_offset: u64,
    size: u64,
) -> Result<Ticket, Error> {
    queues.record(stream, |recorder| {
        // The buffers are retired through the queues when dropped.
        copy_regions(recorder, (from, from_offset), (to, to_offset), &Shape::linear(size));
        Ok(())
    })
}
