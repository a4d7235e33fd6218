//! Data for kernels that check their accesses: a table of the live allocations, and for messages the recently freed
//! ones.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use ptx2spv_translator::interface::allocations::{ENTRIES, ENTRY};

use crate::backend::range::{Allocations, MemoryRange};
use crate::backend::report::StatusRecord;
use crate::backend::report::illegal_access::Nearest;
use crate::backend::vulkan::memory::{Block, BlockLocation, Memory};
use crate::error::Result;
use crate::sync::lock;

/// Number of freed allocations to remember.
const MAX_FREED: usize = 1024;

/// Empty as long as no kernel checks its accesses.
#[derive(Default)]
pub(crate) struct Live(Mutex<State>);

#[derive(Default)]
struct State {
    /// The last table, and the number of changes of the allocations when it was made.
    table: Option<(u64, Arc<Block>)>,
    freed: VecDeque<MemoryRange>,
}

impl Live {
    /// Records that an allocation was freed.
    pub fn freed(&self, range: MemoryRange) {
        let mut state = lock(&self.0);
        if state.table.is_some() {
            state.freed.truncate(MAX_FREED - 1);
            state.freed.push_front(range);
        }
    }

    /// The table of the current allocations. After recording a launch with it, the caller retires it through the
    /// queues.
    pub fn table(&self, blocks: &Allocations<Arc<Block>>, memory: &Arc<Memory>) -> Result<Arc<Block>> {
        let mut state = lock(&self.0);
        // Later changes lead to a new table at the next launch.
        let changes = blocks.changes();
        if let Some((_, block)) = state.table.as_ref().filter(|(made, _)| *made == changes) {
            return Ok(block.clone());
        }
        let bytes = table(&blocks.ranges());
        let block = Arc::new(memory.allocate(bytes.len() as u64, BlockLocation::Upload)?);
        block.write_mapped(0, &bytes)?;
        // Launches recorded with the previous table have retired it.
        state.table = Some((changes, block.clone()));
        Ok(block)
    }

    /// The allocation nearest to an address, with the name that the module gives it.
    pub fn nearest(
        &self,
        blocks: &Allocations<Arc<Block>>,
        record: &StatusRecord,
        kernels: &[String],
        address: u64,
    ) -> Option<Nearest> {
        let live = blocks.ranges().into_iter().map(|range| (range, false));
        let freed: Vec<MemoryRange> = lock(&self.0).freed.iter().copied().collect();
        // For equal distances the first: live allocations come first, then freed ones, the most recent first.
        let all = live.chain(freed.into_iter().map(|range| (range, true)));
        let (range, is_freed) = all.min_by_key(|(range, _)| distance(*range, address))?;
        let parts = record.names.iter().filter(|_| range.address == record.variables.address);
        if let Some((part, name)) = parts.min_by_key(|(part, _)| distance(*part, address)) {
            return Some(Nearest { name: name.clone(), range: *part, is_freed });
        }
        let arguments = lock(&record.arguments);
        let of_kernels = kernels.iter().filter_map(|kernel| arguments.get(kernel)).flatten();
        let inside = of_kernels.filter(|(_, at)| at.wrapping_sub(range.address) < range.size.max(1));
        let names: Vec<String> = inside.map(|(index, _)| format!("argument {index}")).collect();
        let name = if names.is_empty() { "an allocation".to_owned() } else { names.join(" and ") };
        Some(Nearest { name, range, is_freed })
    }
}

/// The table of ranges, sorted by address.
fn table(ranges: &[MemoryRange]) -> Vec<u8> {
    let first = MemoryRange { address: 0, size: 0 };
    let last = MemoryRange { address: u64::MAX, size: 0 };
    let count = (ranges.len() + 1).next_power_of_two();
    // The step fits its 32 bits: no device has memory for 2^28 allocations.
    let step = count as u64 / 2 * ENTRY;
    let mut bytes = step.to_le_bytes().to_vec();
    bytes.resize(ENTRIES as usize, 0);
    let all = std::iter::once(&first).chain(ranges).chain(std::iter::repeat(&last)).take(count);
    bytes.extend(all.flat_map(|range| [range.address, range.size]).flat_map(u64::to_le_bytes));
    bytes
}

/// The distance of an address from the nearest byte of a range.
fn distance(range: MemoryRange, address: u64) -> u64 {
    match address.checked_sub(range.address) {
        None => range.address - address,
        Some(offset) => offset.saturating_sub(range.size.saturating_sub(1)),
    }
}
