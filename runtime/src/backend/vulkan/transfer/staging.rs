//! Copies between the host and memory that isn't mapped, through mapped blocks: while the device copies one, the host
//! copies others. Several threads make large copies, since one alone copies host memory more slowly than the device does.

use std::collections::VecDeque;
use std::num::NonZero;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

use ash::vk;

use crate::backend::order::{StreamKey, Ticket};
use crate::backend::range::MemoryRange;
use crate::backend::shape::Shape;
use crate::backend::vulkan::memory::{Block, BlockLocation, Memory};
use crate::backend::vulkan::submit::batch::Recorder;
use crate::backend::vulkan::submit::queues::Queues;
use crate::error::Result;
use crate::profile::Work;
use crate::sync::lock;

/// Bytes per staging block: large enough that a copy outweighs its submission.
const BLOCK: usize = 4 << 20;

/// Bytes for which another thread is worth its start.
const SHARE: usize = 2 << 20;

/// The most threads that make a copy, with that of the caller.
const MAX_THREADS: usize = 4;

/// The most blocks: two for each thread, so that the device copies one while the host copies the other.
const MAX_BLOCKS: usize = 2 * MAX_THREADS;

/// The staging blocks of a device, made when needed. Threads may use them at the same time.
pub(crate) struct Staging {
    blocks: Mutex<Blocks>,
    /// Signalled when a block is given back.
    returned: Condvar,
    /// The most threads that make a copy.
    threads: usize,
    memory: Arc<Memory>,
}

#[derive(Default)]
struct Blocks {
    /// Blocks that no thread uses, the longest unused first.
    free: VecDeque<StagingBlock>,
    /// Number of all blocks, free or in use.
    count: usize,
}

struct StagingBlock {
    block: Block,
    /// The last copy that uses the block.
    last: Ticket,
}

/// A block that a thread uses.
struct Lent<'s> {
    /// `None` only when it is given back.
    block: Option<StagingBlock>,
    staging: &'s Staging,
}

impl Lent<'_> {
    /// Lets the device use the block by a copy that `record` records with its buffer.
    fn copy(&mut self, record: impl FnOnce(&Block) -> Result<Ticket>) -> Result<Ticket> {
        let Some(StagingBlock { block, last }) = &mut self.block else { return Ok(Ticket::default()) };
        *last = record(block)?;
        Ok(*last)
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        lock(&self.staging.blocks).free.extend(self.block.take());
        self.staging.returned.notify_one();
    }
}

impl Staging {
    pub fn new(memory: Arc<Memory>) -> Self {
        let processors = thread::available_parallelism().map_or(1, NonZero::get);
        // Two threads at least: then one copies while the other one waits for the device.
        let threads = processors.clamp(2, MAX_THREADS);
        Self { blocks: Mutex::default(), returned: Condvar::new(), threads, memory }
    }

    /// Copies `bytes`, at least one, to an address, in stream order, and returns the ticket of the last copy. `find` returns the
    /// buffer of each piece, and the offset in it. `bytes` is not used after the return.
    pub fn write(
        &self,
        queues: &Queues,
        stream: StreamKey,
        find: impl Fn(MemoryRange) -> Result<(vk::Buffer, u64)> + Sync,
        address: u64,
        bytes: &[u8],
    ) -> Result<Ticket> {
        let last = Mutex::new(Ticket::default());
        let (threads, size) = self.split(bytes.len());
        let pieces = (address..).step_by(size).zip(bytes.chunks(size));
        share(threads, pieces, |(address, piece): (u64, &[u8])| {
            let mut lent = self.lend(queues)?;
            let range = MemoryRange { address, size: piece.len() as u64 };
            let ticket = lent.copy(|block| {
                block.write_mapped(0, piece)?;
                queues.record(stream, |recorder| {
                    // The buffers are retired through the queues when dropped.
                    copy_regions(recorder, (block.buffer, 0), find(range)?, &Shape::linear(range.size));
                    recorder.profile(stream, || Work::copy(true, false, range.size));
                    Ok(())
                })
            })?;
            queues.flush()?;
            let mut last = lock(&last);
            // Commands of a stream are on one queue.
            if ticket.serial > last.serial {
                *last = ticket;
            }
            Ok(())
        })?;
        Ok(*lock(&last))
    }

    /// Copies from an address to `bytes`, in stream order. `find` is that of [`Staging::write`].
    pub fn read(
        &self,
        queues: &Queues,
        stream: StreamKey,
        find: impl Fn(MemoryRange) -> Result<(vk::Buffer, u64)> + Sync,
        address: u64,
        bytes: &mut [u8],
    ) -> Result {
        let (threads, size) = self.split(bytes.len());
        let pieces = (address..).step_by(size).zip(bytes.chunks_mut(size));
        share(threads, pieces, |(address, piece): (u64, &mut [u8])| {
            let mut lent = self.lend(queues)?;
            let range = MemoryRange { address, size: piece.len() as u64 };
            let copied = lent.copy(|block| {
                queues.record(stream, |recorder| {
                    // As above.
                    copy_regions(recorder, find(range)?, (block.buffer, 0), &Shape::linear(range.size));
                    recorder.profile(stream, || Work::copy(false, true, range.size));
                    Ok(())
                })
            })?;
            queues.wait(copied.into(), queues.deadline())?;
            lent.block.as_ref().map_or(Ok(()), |StagingBlock { block, .. }| block.read_mapped(0, piece))
        })
    }

    /// The number of threads for a copy, and the bytes of its pieces, a multiple of 4.
    fn split(&self, bytes: usize) -> (usize, usize) {
        let threads = (bytes / SHARE).clamp(1, self.threads);
        (threads, bytes.div_ceil(threads).next_multiple_of(4).min(BLOCK))
    }

    /// A block that no copy uses.
    fn lend(&self, queues: &Queues) -> Result<Lent<'_>> {
        let mut blocks = lock(&self.blocks);
        let block = loop {
            let is_ready = match blocks.free.front() {
                Some(block) => queues.is_known_finished(block.last)?,
                None => false,
            };
            if !is_ready && blocks.count < MAX_BLOCKS {
                blocks.count += 1;
                drop(blocks);
                let made = self.memory.allocate(BLOCK as u64, BlockLocation::Host);
                match made {
                    Ok(block) => break StagingBlock { block, last: Ticket::default() },
                    Err(error) => {
                        lock(&self.blocks).count -= 1;
                        return Err(error);
                    }
                }
            }
            if let Some(block) = blocks.free.pop_front() {
                drop(blocks);
                break block;
            }
            blocks = self.returned.wait(blocks).unwrap_or_else(std::sync::PoisonError::into_inner);
        };
        let last = block.last;
        // From here on, dropping it gives it back.
        let lent = Lent { block: Some(block), staging: self };
        queues.wait(last.into(), queues.deadline())?;
        Ok(lent)
    }
}

/// Gives the pieces to `work` on several threads, the caller's among them. Fewer do if no more can be started.
fn share<P>(threads: usize, pieces: impl Iterator<Item = P> + Send, work: impl Fn(P) -> Result + Sync) -> Result {
    let pieces = Mutex::new(pieces);
    let run = || -> Result {
        loop {
            let Some(piece) = lock(&pieces).next() else { return Ok(()) };
            work(piece)?;
        }
    };
    if threads == 1 {
        return run();
    }
    thread::scope(|scope| {
        let start = |_| thread::Builder::new().spawn_scoped(scope, run).ok();
        let others: Vec<_> = (1..threads).filter_map(start).collect();
        let join = |other: thread::ScopedJoinHandle<'_, _>| {
            other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        // All are joined, whatever the first ones return.
        others.into_iter().map(join).fold(run(), Result::and)
    })
}

/// Regions of one command: few enough for the stack.
const REGIONS: usize = 64;

/// Records a copy between two offsets of buffers, within both. The buffers live until the commands have finished.
pub(crate) fn copy_regions(
    recorder: &mut Recorder<'_>,
    (from, from_offset): (vk::Buffer, u64),
    (to, to_offset): (vk::Buffer, u64),
    shape: &Shape,
) {
    recorder.follow();
    let mut regions = shape.regions().map(|region| {
        vk::BufferCopy::default()
            .src_offset(from_offset + region.from)
            .dst_offset(to_offset + region.to)
            .size(region.size)
    });
    let mut piece = [vk::BufferCopy::default(); REGIONS];
    loop {
        let count = piece.iter_mut().zip(&mut regions).map(|(place, region)| *place = region).count();
        if count == 0 {
            return;
        }
        // SAFETY: the command buffer is being recorded; the caller guarantees ranges and buffers.
        unsafe { recorder.raw.ash.cmd_copy_buffer(recorder.commands, from, to, &piece[..count]) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    #[test]
    fn every_piece_is_worked_on_once() {
        for threads in [1, 2, 4] {
            let seen = Mutex::new(Vec::new());
            let shared = share(threads, 0..10, |piece| {
                lock(&seen).push(piece);
                Ok(())
            });
            assert!(shared.is_ok());
            let mut seen = lock(&seen).clone();
            seen.sort_unstable();
            assert_eq!(seen, (0..10).collect::<Vec<_>>());
        }
    }

    #[test]
    fn an_error_of_any_piece_is_returned() {
        for threads in [1, 3] {
            let shared = share(threads, 0..10, |piece| if piece == 7 { Err(Error::Timeout) } else { Ok(()) });
            assert!(matches!(shared, Err(Error::Timeout)));
        }
    }
}
