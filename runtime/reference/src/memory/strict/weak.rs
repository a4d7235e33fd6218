//! Weak visibility: the older values that an access may still see, and the choice among them.
//!
//! Locations written in the running dispatch keep their last writes, in the order of this run. A load may see any of
//! them that is not hidden by a later write that the invocation has to see. For ordinary loads, that is a write
//! location-ordered before the load (anything else is a race); for atomics, a write that happened before or was read by
//! something that did, so that each location is coherent. Read-modify-writes see the last write. Loads never see future
//! writes.

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHasher};

use super::event::Event;
use super::message::Message;
use super::model::{Bytes, Location};
use super::order::AccessOrder;
use crate::config::{Choice, Seeded};

/// Bytes that share a list of writes, so that scalars are never torn.
const GRANULE: u64 = 8;

/// Maximum number of granules with stored writes. For older ones, all invocations see the last write.
const GRANULES: usize = 1 << 14;

/// Maximum number of stored writes of a granule.
const WRITES: usize = 8;

/// Maximum number of stored reads of a granule.
const READS: usize = 8;

/// A value and its undefined bits.
type Value = (u64, u64);

/// A write that is about to happen.
#[derive(Debug)]
pub(super) struct Write {
    pub(super) location: Location,
    pub(super) bytes: u8,
    pub(super) value: Value,
    pub(super) event: Event,
    /// For an atomic write, the message of the previous atomic write.
    pub(super) replaced: Option<Arc<Message>>,
}

/// The part of a write that concerns a granule.
#[derive(Debug)]
struct Written {
    event: Event,
    /// The written bytes of the granule.
    mask: u8,
    value: Value,
    replaced: Option<Arc<Message>>,
}

/// An atomic read, which has seen the first `seen` writes.
#[derive(Debug)]
struct Read {
    event: Event,
    mask: u8,
    seen: usize,
}

/// The last writes to a granule.
#[derive(Debug, Default)]
struct Granule {
    /// The value before these writes, for the bytes that they write.
    base: Value,
    base_mask: u8,
    writes: Vec<Written>,
    reads: Vec<Read>,
}

/// An older value that a load sees instead of the newest one.
#[derive(Debug)]
pub(super) struct Older {
    pub(super) value: Value,
    /// For an atomic load, the message of the write that it sees.
    pub(super) message: Option<Arc<Message>>,
    granule: Location,
    seen: usize,
}

/// The writes that some invocations may not have seen yet.
#[derive(Debug)]
pub(super) struct Weak {
    choice: Seeded,
    /// Makes [`Weak::noise`] different in each run.
    salt: u64,
    granules: FxHashMap<Location, Granule>,
    /// The oldest first.
    ages: VecDeque<Location>,
}

/// The bit mask for a byte mask.
fn bits(mask: u8) -> u64 {
    (0..8).filter(|i| mask >> i & 1 != 0).fold(0, |bits, i| bits | 0xff << (8 * i))
}

fn blend(below: Value, above: Value, mask: u8) -> Value {
    let bits = bits(mask);
    (below.0 & !bits | above.0 & bits, below.1 & !bits | above.1 & bits)
}

/// The parts of an access that lie in one granule each, of which a misaligned one may have two: where they begin in the access, their
/// location and size.
fn parts(location: Location, bytes: u8) -> impl Iterator<Item = (u8, Location, u8)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let begin = done;
        let part = Location { offset: location.offset + u64::from(begin), ..location };
        let count = (bytes - begin).min((GRANULE - part.offset % GRANULE) as u8);
        done += count;
        (count > 0).then_some((begin, part, count))
    })
}

/// The granule of a location, with the position and mask of those of `bytes` bytes that lie in it.
fn place(location: Location, bytes: u8) -> (Location, u32, u8) {
    let start = location.offset % GRANULE;
    let granule = Location { offset: location.offset - start, ..location };
    let mask = ((1_u16 << bytes) - 1) << start;
    (granule, start as u32 * 8, mask as u8)
}

impl Granule {
    fn at(&self, newest: Value, seen: usize) -> Value {
        let base = blend(newest, self.base, self.base_mask);
        self.writes[..seen].iter().fold(base, |value, write| blend(value, write.value, write.mask))
    }

    /// The possible numbers of writes that a load of these bytes may see, given the minimum.
    fn candidates(&self, least: usize, mask: u8) -> Vec<usize> {
        let overlapping = (least..self.writes.len()).filter(|i| self.writes[*i].mask & mask != 0).map(|i| i + 1);
        std::iter::once(least).chain(overlapping).collect()
    }

    /// The minimum number of writes that an atomic read sees.
    fn coherent(&self, order: &AccessOrder, event: &Event, mask: u8) -> usize {
        let written =
            self.writes.iter().rposition(|write| write.mask & mask != 0 && order.happened_before(&write.event, event));
        let read = self.reads.iter().filter(|read| read.mask & mask != 0 && order.happened_before(&read.event, event));
        read.map(|read| read.seen).max().max(written.map(|i| i + 1)).unwrap_or(0)
    }

    /// The minimum number of writes that an ordinary load sees.
    fn visible(&self, order: &AccessOrder, event: &Event, mask: u8) -> usize {
        let visible = |write: &Written| write.mask & mask != 0 && order.missing(&write.event, event).is_none();
        self.writes.iter().rposition(visible).map_or(0, |i| i + 1)
    }

    /// Makes the first writes visible to all invocations.
    fn settle(&mut self, count: usize) {
        for write in self.writes.drain(..count) {
            self.base = blend(self.base, write.value, write.mask);
        }
        for read in &mut self.reads {
            read.seen = read.seen.saturating_sub(count);
        }
        self.reads.retain(|read| read.seen > 0);
    }
}

impl Weak {
    pub(super) fn new(seed: u64) -> Self {
        Self { choice: Seeded::new(seed), salt: seed, granules: FxHashMap::default(), ages: VecDeque::new() }
    }

    /// Makes everything visible to all invocations.
    pub(super) fn forget(&mut self) {
        self.granules.clear();
        self.ages.clear();
    }

    pub(super) fn bits(&mut self) -> u64 {
        self.choice.bits()
    }

    /// Up to 8 arbitrary bytes that are always the same at a location, for any width of access.
    pub(super) fn noise(&self, location: Location) -> u64 {
        let mut hasher = FxHasher::default();
        (self.salt, location.space, location.offset / 8).hash(&mut hasher);
        hasher.finish().rotate_left(20) >> (8 * (location.offset % 8))
    }

    /// Chooses the value of an ordinary load of up to 8 bytes; `newest` is the newest value. With `fresh`, repeated loads see the newest
    /// value sooner.
    pub(super) fn load(
        &mut self,
        order: &AccessOrder,
        location: Location,
        bytes: u8,
        newest: Value,
        event: &Event,
        fresh: bool,
    ) -> Option<Value> {
        if self.granules.is_empty() {
            return None;
        }
        let mut seen = None;
        for (begin, part, count) in parts(location, bytes) {
            let (place, start, mask) = place(part, count);
            let Some(granule) = self.granules.get(&place) else { continue };
            let mut least = granule.visible(order, event, mask);
            if fresh {
                least = least.max(granule.coherent(order, event, mask));
            }
            let Some(chosen) = choose(&mut self.choice, &granule.candidates(least, mask), fresh) else { continue };
            let shift = u32::from(begin) * 8;
            let older = granule.at((newest.0 >> shift << start, newest.1 >> shift << start), chosen);
            let older = (older.0 >> start << shift, older.1 >> start << shift);
            seen = Some(blend(seen.unwrap_or(newest), older, (((1_u16 << count) - 1) << begin) as u8));
        }
        seen
    }

    /// Chooses the value that an atomic operation sees, unless it is the newest value.
    pub(super) fn load_atomic(
        &mut self,
        order: &AccessOrder,
        location: Location,
        bytes: u8,
        newest: Value,
        event: &Event,
    ) -> Option<Older> {
        let (place, start, mask) = place(location, bytes);
        let granule = self.granules.get(&place)?;
        let least = granule.coherent(order, event, mask);
        let seen = choose(&mut self.choice, &granule.candidates(least, mask), true)?;
        let value = granule.at((newest.0 << start, newest.1 << start), seen);
        let kept = bits(mask) >> start;
        // The write that it sees is the one before the next.
        let next = granule.writes[seen..].iter().find(|write| write.event.how.is_atomic() && write.mask == mask);
        let message = match next {
            Some(next) => next.replaced.clone(),
            None => order.message(location).cloned(),
        };
        let value = (value.0 >> start & kept, value.1 >> start & kept);
        Some(Older { value, message, granule: place, seen })
    }

    /// Records an atomic operation that has read without writing: the chosen value, or the newest one.
    pub(super) fn was_read(&mut self, location: Location, bytes: u8, event: &Event, older: Option<&Older>) {
        let (place, _, mask) = place(location, bytes);
        let Some(granule) = self.granules.get_mut(&older.map_or(place, |older| older.granule)) else { return };
        let seen = older.map_or(granule.writes.len(), |older| older.seen);
        granule.reads.retain(|read| read.event.agent != event.agent || read.mask != mask);
        if seen == 0 {
            return;
        }
        granule.reads.push(Read { event: *event, mask, seen });
        if granule.reads.len() > READS {
            // From now on, every invocation is assumed to know the write that was read first.
            granule.settle(granule.reads[0].seen);
        }
    }

    /// Records a write that is about to happen, given the undefined bits of its bytes.
    pub(super) fn store(&mut self, memory: &impl Bytes, undefined: impl Fn(Location) -> u64, write: Write) {
        let Write { location, bytes, value, event, replaced } = write;
        for (begin, part, count) in parts(location, bytes) {
            let shift = u32::from(begin) * 8;
            let (place, start, mask) = place(part, count);
            let granule = self.granules.entry(place).or_insert_with(|| {
                self.ages.push_back(place);
                Granule::default()
            });
            for i in (0..8).filter(|i| mask & !granule.base_mask & 1 << i != 0) {
                let byte = Location { offset: place.offset + i, ..place };
                let old = (memory.load(byte, 1) << (8 * i), undefined(byte) << (8 * i));
                granule.base = blend(granule.base, old, 1 << i);
            }
            granule.base_mask |= mask;
            let value = (value.0 >> shift << start, value.1 >> shift << start);
            granule.writes.push(Written { event, mask, value, replaced: replaced.clone() });
            if granule.writes.len() > WRITES {
                granule.settle(1);
            }
        }
        while self.ages.len() > GRANULES {
            if let Some(oldest) = self.ages.pop_front() {
                self.granules.remove(&oldest);
            }
        }
    }
}

/// Chooses a candidate, most often the oldest. `None` is the newest one.
fn choose(choice: &mut Seeded, candidates: &[usize], fresh: bool) -> Option<usize> {
    let older = candidates.len() - 1;
    if older == 0 {
        return None;
    }
    let index = match (choice.pick(8), fresh) {
        (0..=3, true) | (0..=5, false) => 0,
        (4 | 5, true) | (6, false) => choice.pick(older as u32) as usize,
        _ => return None,
    };
    candidates.get(index).copied()
}
