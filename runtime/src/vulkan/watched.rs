//! Kernels that may have reported something since they were launched, to be checked when the host next waits or reads.

use std::sync::Arc;

use super::memory::Block;
use crate::report::StatusRecord;

/// A module's status record, and the block of the module's variables, which may outlive the module here.
#[derive(Clone)]
pub(crate) struct WatchedRecord {
    pub record: Arc<StatusRecord>,
    pub block: Arc<Block>,
}

/// Launched kernels, by module.
#[derive(Default)]
pub(crate) struct Watched(pub Vec<(WatchedRecord, Vec<String>)>);

impl Watched {
    /// Adds a kernel, unless it is there already.
    pub fn add(&mut self, record: &WatchedRecord, kernel: &str) {
        let index = self.0.iter().position(|(other, _)| other.is(record)).unwrap_or_else(|| {
            self.0.push((record.clone(), Vec::new()));
            self.0.len() - 1
        });
        // The index of an entry that was found or pushed above.
        let kernels = &mut self.0[index].1;
        if !kernels.iter().any(|other| other == kernel) {
            kernels.push(kernel.to_owned());
        }
    }

    /// Removes the kernels of one module.
    pub fn take(&mut self, record: &WatchedRecord) -> Vec<String> {
        match self.0.iter().position(|(other, _)| other.is(record)) {
            Some(index) => self.0.swap_remove(index).1,
            None => Vec::new(),
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
