//! Kernels that may have reported something since they were launched, to be checked when the host next waits or reads.

use std::sync::Arc;

use ash::vk;
use ptx2spv_translator::interface::{Status, output};

use crate::backend::order::{MAX_QUEUES, Point, Ticket};
use crate::backend::report::StatusRecord;
use crate::backend::vulkan::memory::Block;
use crate::error::Result;

/// A module's status record, and the block of the module's variables, which may outlive the module here.
#[derive(Clone)]
pub(crate) struct WatchedRecord {
    pub record: Arc<StatusRecord>,
    pub block: Arc<Block>,
    /// Host memory with a slot for each queue, and the offset of the first, unless the block is mapped itself.
    pub mirror: Option<(Arc<Block>, u64)>,
}

/// Bytes of a queue's slot: the record's first word, and the number of bytes in use of the output.
const SLOT: u64 = 8;

/// Bytes of a record's mirror.
pub(crate) const MIRROR_BYTES: u64 = SLOT * MAX_QUEUES as u64;

/// Kernels of one module that were launched.
pub(crate) struct Launched {
    pub record: WatchedRecord,
    pub kernels: Vec<String>,
    /// Launches that were not checked yet.
    launches: Launches,
    /// Launches of kernels that may be stopped, until the kernels are known to have run to their end.
    unsettled: Launches,
}

/// From the first to the last launch of some kernels on each queue.
#[derive(Clone, Copy, Default)]
struct Launches {
    /// The serial of the first launch on each queue, or zero.
    first: [u64; MAX_QUEUES],
    /// The last launch on each queue.
    last: Point,
}

/// Launched kernels, by module.
#[derive(Default)]
pub(crate) struct Watched(Vec<Launched>);

impl Launches {
    fn add(&mut self, Ticket { queue, serial }: Ticket) {
        self.last.add(Ticket { queue, serial });
        if self.first[queue] == 0 {
            self.first[queue] = serial;
        }
    }

    /// Adds launches that were taken out before.
    fn put_back(&mut self, earlier: Self) {
        self.last = self.last.max(earlier.last);
        for (first, earlier) in self.first.iter_mut().zip(earlier.first) {
            *first = if earlier > 0 { earlier } else { *first };
        }
    }

    /// Whether a launch was before a point.
    fn is_before(&self, point: Point) -> bool {
        self.queues_before(point).next().is_some()
    }

    /// The queues with launches before a point.
    fn queues_before(&self, point: Point) -> impl Iterator<Item = usize> {
        let is_before = move |(queue, first): &(usize, u64)| *first > 0 && *first <= point.serial(*queue);
        (0..).zip(self.first).filter(is_before).map(|(queue, _)| queue)
    }

    fn last_before(&self, point: Point) -> Point {
        let mut last = Point::default();
        for queue in self.queues_before(point) {
            last.add(Ticket { queue, serial: self.last.serial(queue).min(point.serial(queue)) });
        }
        last
    }

    /// Removes the launches before a point.
    fn pass(&mut self, point: Point) {
        for (queue, first) in self.first.iter_mut().enumerate() {
            let passed = point.serial(queue);
            if *first > 0 && *first <= passed {
                *first = if self.last.serial(queue) > passed { passed + 1 } else { 0 };
            }
        }
    }

    fn is_empty(&self) -> bool {
        self.first == [0; MAX_QUEUES]
    }
}

impl Launched {
    /// Whether one of the launches was before a point.
    fn is_before(&self, point: Point) -> bool {
        self.launches.is_before(point)
    }

    /// Whether something was reported or printed on the queues with launches before a point. These launches have ended.
    pub fn has_news(&self, point: Point) -> Result<bool> {
        for queue in self.launches.queues_before(point) {
            if self.record.has_news(queue)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The launches that are left to be checked after nothing was reported at a point; `None` if there are none.
    pub fn after(mut self, point: Point) -> Option<Self> {
        self.launches.pass(point);
        self.unsettled.pass(point);
        (!self.launches.is_empty()).then_some(self)
    }

    /// Whether a kernel was stopped on the queues with unsettled launches before a point. These launches have ended. A record that can't be
    /// read counts as a stop, so that the caller looks for the error.
    fn was_stopped_before(&self, point: Point) -> bool {
        let fine = |queue| self.record.status(queue).is_ok_and(|status| status == Status::FINE);
        !self.unsettled.queues_before(point).all(fine)
    }
}

impl Watched {
    /// Adds a launch of a kernel.
    pub fn add(&mut self, record: &WatchedRecord, kernel: &str, may_stop: bool, ticket: Ticket) {
        let index = self.0.iter().position(|other| other.record.is(record)).unwrap_or_else(|| {
            let (record, kernels) = (record.clone(), Vec::new());
            self.0.push(Launched { record, kernels, launches: Launches::default(), unsettled: Launches::default() });
            self.0.len() - 1
        });
        // The index of an entry that was found or pushed above.
        let launched = &mut self.0[index];
        launched.launches.add(ticket);
        if may_stop {
            launched.unsettled.add(ticket);
        }
        if !launched.kernels.iter().any(|other| other == kernel) {
            launched.kernels.push(kernel.to_owned());
        }
    }

    /// Removes the kernels of one module.
    pub fn take(&mut self, record: &WatchedRecord) -> Vec<String> {
        match self.0.iter().position(|other| other.record.is(record)) {
            Some(index) => self.0.swap_remove(index).kernels,
            None => Vec::new(),
        }
    }

    /// Whether there are unsettled launches: launches of kernels of which it is not known yet whether they were stopped.
    pub fn may_have_stopped(&self) -> bool {
        self.0.iter().any(|launched| !launched.unsettled.is_empty())
    }

    /// The last unsettled launches before a point; `None` if there are none.
    pub fn unsettled(&self, before: Point) -> Option<Point> {
        let none = Point::default();
        let last = self.0.iter().fold(none, |last, launched| last.max(launched.unsettled.last_before(before)));
        Some(last).filter(|last| *last != none)
    }

    /// Whether a kernel launched before a passed point was stopped.
    pub fn was_stopped_before(&self, point: Point) -> bool {
        self.0.iter().any(|launched| launched.was_stopped_before(point))
    }

    /// Whether no kernel launched before a passed point was stopped. Then the launches before the point are settled.
    pub fn settle(&mut self, point: Point) -> bool {
        let fine = !self.was_stopped_before(point);
        if fine {
            self.0.iter_mut().for_each(|launched| launched.unsettled.pass(point));
        }
        fine
    }

    /// Takes out the modules with launches before a point.
    pub fn take_before(&mut self, point: Point) -> Vec<Launched> {
        self.0.extract_if(.., |launched| launched.is_before(point)).collect()
    }

    /// Puts back modules that were taken out.
    pub fn extend(&mut self, list: impl IntoIterator<Item = Launched>) {
        for launched in list {
            match self.0.iter_mut().find(|other| other.record.is(&launched.record)) {
                // The module had launches meanwhile.
                Some(other) => {
                    other.launches.put_back(launched.launches);
                    other.unsettled.put_back(launched.unsettled);
                    let is_new = |kernel: &String| !other.kernels.contains(kernel);
                    let more: Vec<_> = launched.kernels.into_iter().filter(is_new).collect();
                    other.kernels.extend(more);
                }
                None => self.0.push(launched),
            }
        }
    }
}

impl WatchedRecord {
    /// Offset of an address of the module's variables in the block.
    pub fn offset(&self, address: u64) -> u64 {
        address - self.block.address
    }

    /// The copies of the record to host memory at the end of a queue's batch, unless the block is mapped.
    pub(crate) fn mirrored(&self, queue: usize) -> Option<Mirrored> {
        let (mirror, offset) = self.mirror.as_ref()?;
        let slot = offset + SLOT * queue as u64;
        let copy = |from, to| vk::BufferCopy { src_offset: self.offset(from), dst_offset: to, size: 4 };
        Some(Mirrored {
            from: self.block.buffer,
            to: mirror.buffer,
            status: copy(self.record.address, slot),
            output: self.record.output.map(|region| copy(region.address + output::USED, slot + 4)),
        })
    }

    /// Whether something was reported or printed, by the record that the last batch of a queue has left.
    fn has_news(&self, queue: usize) -> Result<bool> {
        let Some(region) = self.record.output else { return Ok(self.status(queue)? != Status::FINE) };
        let (block, used) = match &self.mirror {
            Some((mirror, offset)) => (mirror, offset + SLOT * queue as u64 + 4),
            None => (&self.block, self.offset(region.address + output::USED)),
        };
        Ok(block.peek_mapped(used)? > 0 || self.status(queue)? != Status::FINE)
    }

    /// The first word of the status record, as the last batch of a queue has left it.
    fn status(&self, queue: usize) -> Result<u32> {
        match &self.mirror {
            Some((mirror, offset)) => mirror.peek_mapped(offset + SLOT * queue as u64),
            None => self.block.peek_mapped(self.offset(self.record.address)),
        }
    }

    fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.record, &other.record)
    }
}

/// Words of device memory that are copied to host memory at a batch's end, so that a wait for the batch needs no further
/// submission to read them.
#[derive(Clone, Copy)]
pub(crate) struct Mirrored {
    pub from: vk::Buffer,
    pub to: vk::Buffer,
    pub status: vk::BufferCopy,
    pub output: Option<vk::BufferCopy>,
}

impl Mirrored {
    /// Whether both are copies to the same place in host memory.
    pub fn is(&self, other: &Self) -> bool {
        self.to == other.to && self.status.dst_offset == other.status.dst_offset
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launches_are_passed_queue_by_queue() {
        let point = |tickets: &[(usize, u64)]| {
            let mut point = Point::default();
            tickets.iter().for_each(|&(queue, serial)| point.add(Ticket { queue, serial }));
            point
        };
        let mut launches = Launches::default();
        for (queue, serial) in [(0, 2), (0, 5), (1, 3)] {
            launches.add(Ticket { queue, serial });
        }
        assert!(!launches.is_before(point(&[(0, 1), (1, 2), (2, 9)])));
        assert_eq!(launches.last_before(point(&[(0, 4), (1, 9)])), point(&[(0, 4), (1, 3)]));
        launches.pass(point(&[(1, 3)]));
        // What was passed on one queue stays so when another one is.
        launches.pass(point(&[(0, 4)]));
        assert_eq!(launches.last_before(point(&[(0, 9), (1, 9)])), point(&[(0, 5)]));
        let taken = launches;
        launches = Launches::default();
        launches.add(Ticket { queue: 0, serial: 7 });
        launches.put_back(taken);
        assert!(launches.is_before(point(&[(0, 5)])) && !launches.is_before(point(&[(0, 4)])));
        launches.pass(point(&[(0, 7)]));
        assert!(launches.is_empty());
    }
}
