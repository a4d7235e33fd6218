//! Data races: conflicting accesses that are not location-ordered.
//!
//! For each word of memory, this module keeps the last ordinary write and, since then, a few ordinary reads and
//! atomics. The three kinds are kept separately, since they race with different accesses: an atomic after an ordinary
//! write of the same invocation doesn't hide that write from other invocations' atomics. A race with one of many
//! readers or atomics may be missed, but no false race is reported.

use rustc_hash::FxHashMap;

use super::event::Event;
use super::model::{Location, Missing, Party, Race};
use super::order::AccessOrder;
use super::pages::Pages;
use crate::code::Pc;

const WORD: u64 = 4;

/// Maximum number of reported pairs of instructions. Further pairs are dropped.
const REPORTS: usize = 256;

/// The accesses to a word or byte. Events of earlier dispatches are ignored.
#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    /// The last write that is not atomic.
    write: Event,
    /// Reads since that write that are not atomic.
    reads: [Event; 2],
    /// Whether there were atomics since that write. They are stored elsewhere, since most memory has none.
    atomic: bool,
    /// Whether the word's bytes have their own cells.
    split: bool,
}

/// Atomics of any kind since the last ordinary write.
type Atomics = [Event; 2];

#[derive(Debug)]
pub(super) struct Accesses {
    words: Pages<Cell>,
    atomics: Pages<Atomics>,
    bytes: FxHashMap<u64, [(Cell, Atomics); WORD as usize]>,
}

impl Accesses {
    pub(super) fn new() -> Self {
        Self {
            words: Pages::new(Cell::default()),
            atomics: Pages::new(Atomics::default()),
            bytes: FxHashMap::default(),
        }
    }

    /// Adds an access. If it races with an earlier one, returns the first common byte, the earlier event, and the
    /// reason.
    pub(super) fn add(
        &mut self,
        order: &AccessOrder,
        offset: u64,
        bytes: u8,
        event: &Event,
    ) -> Option<(u64, Event, Missing)> {
        let end = offset.saturating_add(bytes.into());
        let mut race = None;
        for word in offset / WORD..end.div_ceil(WORD) {
            let first = word * WORD;
            let (from, to) = (offset.max(first), end.min(first + WORD));
            let cell = self.words.get_mut(word);
            if to - from == WORD && !cell.split {
                let found = cell.access(order, event, || self.atomics.get_mut(word));
                race = race.or(found.map(|(other, missing)| (from, other, missing)));
                continue;
            }
            if !cell.split {
                self.bytes.insert(word, [(*cell, self.atomics.get(word)); WORD as usize]);
                cell.split = true;
            }
            let Some(cells) = self.bytes.get_mut(&word) else { continue };
            for byte in from..to {
                let (cell, atomics) = &mut cells[(byte - first) as usize];
                let found = cell.access(order, event, || atomics);
                race = race.or(found.map(|(other, missing)| (byte, other, missing)));
            }
        }
        race
    }
}

impl Cell {
    /// Adds an access. `atomics` are the atomics of the same word or byte.
    fn access<'a>(
        &mut self,
        order: &AccessOrder,
        event: &Event,
        atomics: impl FnOnce() -> &'a mut Atomics,
    ) -> Option<(Event, Missing)> {
        let conflict = |other: &Event| {
            let conflicts =
                order.is_current(other) && other.agent != event.agent && (other.how.writes() || event.how.writes());
            conflicts.then(|| order.missing(other, event)).flatten().map(|missing| (*other, missing))
        };
        let mut atomics = (self.atomic || event.how.is_atomic()).then(atomics);
        let race = conflict(&self.write)
            .or_else(|| atomics.as_ref().and_then(|atomics| atomics.iter().find_map(conflict)))
            .or_else(|| self.reads.iter().find_map(conflict));
        // The invocation's own last write stands for this access, unless a release came in between: everything that
        // races with the access also races with that write.
        let covered = self.write.agent == event.agent && self.write.time == event.time;
        match &mut atomics {
            Some(atomics) if event.how.is_atomic() => {
                if event.how.writes() && self.write.agent == event.agent {
                    self.write.how = self.write.how.made_available(event.how.scope());
                }
                if !covered {
                    keep(atomics, order, event);
                    self.atomic = true;
                }
            }
            atomics if event.how.writes() => {
                // Every later access that is unordered with the earlier ones also races with this write, or is ordered
                // before it.
                (self.write, self.reads, self.atomic) = (*event, Default::default(), false);
                if let Some(atomics) = atomics {
                    **atomics = Default::default();
                }
            }
            _ if !covered => keep(&mut self.reads, order, event),
            _ => {}
        }
        race
    }
}

/// Stores an access beside the last write, replacing one that doesn't matter any more, if there is one.
fn keep(slots: &mut [Event; 2], order: &AccessOrder, event: &Event) {
    let superseded =
        |old: &Event| !order.is_current(old) || event.how.covers(old.how) && order.happened_before(old, event);
    let arbitrary = usize::from(event.agent.lane) + event.agent.workgroup as usize;
    let index = slots.iter().position(superseded).unwrap_or(arbitrary % slots.len());
    slots[index] = *event;
}

#[derive(Debug, Default)]
pub(super) struct Races {
    found: Vec<Race>,
    indices: FxHashMap<(Pc, Pc), usize>,
}

impl Races {
    pub(super) fn report(&mut self, location: Location, first: &Event, second: &Event, missing: Missing) {
        let party = |event: &Event| Party { agent: event.agent, pc: event.pc, action: event.how.action() };
        let pair = (first.pc, second.pc);
        if let Some(known) = self.indices.get(&pair).and_then(|index| self.found.get_mut(*index)) {
            known.repeated += 1;
        } else if self.found.len() < REPORTS {
            self.indices.insert(pair, self.found.len());
            let (first, second) = (party(first), party(second));
            self.found.push(Race { location, first, second, missing, repeated: 0 });
        }
    }

    pub(super) fn take(&mut self) -> Vec<Race> {
        self.indices.clear();
        std::mem::take(&mut self.found)
    }
}
