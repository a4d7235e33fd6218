//! Kernels that may have reported something since they were launched, to be checked when the host next waits or reads.

use std::sync::Arc;

use super::memory::Block;
use crate::order::{MAX_QUEUES, Point, Ticket};
use crate::report::StatusRecord;

/// A module's status record, and the block of the module's variables, which may outlive the module here.
#[derive(Clone)]
pub(crate) struct WatchedRecord {
    pub record: Arc<StatusRecord>,
    pub block: Arc<Block>,
}

/// Kernels of one module that were launched.
pub(crate) struct Launched {
    pub record: WatchedRecord,
    pub kernels: Vec<String>,
    /// The serial of the first unchecked launch on each queue, or zero.
    first: [u64; MAX_QUEUES],
    /// The last launch on each queue.
    last: Point,
}

/// Launched kernels, by module.
#[derive(Default)]
pub(crate) struct Watched(Vec<Launched>);

impl Launched {
    /// Whether one of the launches was before a point.
    fn is_before(&self, point: Point) -> bool {
        (0..).zip(self.first).any(|(queue, first)| first > 0 && first <= point.serial(queue))
    }

    /// The launches that are left to be checked after nothing was reported at a point; `None` if there are none.
    pub fn after(mut self, point: Point) -> Option<Self> {
        if self.last.is_within(&point) {
            return None;
        }
        for (queue, first) in self.first.iter_mut().enumerate() {
            let passed = point.serial(queue);
            if *first <= passed {
                *first = if self.last.serial(queue) > passed { passed + 1 } else { 0 };
            }
        }
        Some(self)
    }
}

impl Watched {
    /// Adds a kernel, unless it is there already.
    pub fn add(&mut self, record: &WatchedRecord, kernel: &str, Ticket { queue, serial }: Ticket) {
        let index = self.0.iter().position(|other| other.record.is(record)).unwrap_or_else(|| {
            let (record, kernels) = (record.clone(), Vec::new());
            self.0.push(Launched { record, kernels, first: [0; MAX_QUEUES], last: Point::default() });
            self.0.len() - 1
        });
        // The index of an entry that was found or pushed above.
        let launched = &mut self.0[index];
        launched.last.add(Ticket { queue, serial });
        if launched.first[queue] == 0 {
            launched.first[queue] = serial;
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

    /// Takes out the modules with launches before a point.
    pub fn take_before(&mut self, point: Point) -> Vec<Launched> {
        self.0.extract_if(.., |launched| launched.is_before(point)).collect()
    }

    /// Puts back what was taken out.
    pub fn extend(&mut self, list: impl IntoIterator<Item = Launched>) {
        for launched in list {
            match self.0.iter_mut().find(|other| other.record.is(&launched.record)) {
                // The module had launches meanwhile.
                Some(other) => {
                    other.last = other.last.max(launched.last);
                    for (first, earlier) in other.first.iter_mut().zip(launched.first) {
                        // The launches that were taken out came before.
                        *first = if earlier > 0 { earlier } else { *first };
                    }
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

    fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.record, &other.record)
    }
}
