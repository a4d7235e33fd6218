//! Blocks by their addresses.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use super::memory::Block;

/// Blocks by the addresses of their first bytes.
#[derive(Default)]
pub(crate) struct Addresses(RwLock<BTreeMap<u64, Arc<Block>>>);

impl Addresses {
    /// Adds a block.
    pub fn insert(&self, block: Arc<Block>) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(block.address, block);
    }

    /// Takes out the block that begins at an address.
    pub fn remove(&self, address: u64) -> Option<Arc<Block>> {
        self.0.write().unwrap_or_else(PoisonError::into_inner).remove(&address)
    }

    /// The block around an address, and the address's offset in the block.
    pub fn find(&self, address: u64) -> Option<(Arc<Block>, u64)> {
        let blocks = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let (start, block) = blocks.range(..=address).next_back()?;
        let offset = address - start;
        (offset < block.padded).then(|| (block.clone(), offset))
    }
}
