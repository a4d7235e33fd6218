//! The knowledge of checked and adversarial runs about device and workgroup memory other than its bytes: undefined
//! bits, races between accesses, and older values that an invocation may still see.
//!
//! The bytes themselves are elsewhere ([`Bytes`]). This module doesn't check bounds, so callers must only pass accesses
//! inside of allocations. Everything is single-threaded and deterministic.

mod clock;
mod defined;
mod event;
mod invocation;
mod message;
mod model;
mod order;
mod pages;
mod races;
#[cfg(test)]
mod tests;
mod weak;

use rustc_hash::FxHashMap;

use crate::code::{Atomic, AtomicOp, MemoryAccess, Pc};
use crate::config::Mode;
use defined::{Definedness, Origins};
use event::{Event, How};
pub use model::{Action, Agent, Bytes, Loaded, Location, Missing, New, Party, Race, Shape, Space, UndefinedStore};
use order::{AccessOrder, class};
use races::{Accesses, Races};
use weak::{Weak, Write};

/// The knowledge about all shared memory of a device.
#[derive(Debug)]
pub struct Strict {
    /// Counted from 1.
    dispatch: u32,
    memories: Memories,
    origins: Origins,
    pub(crate) order: AccessOrder,
    /// Set if races are to be detected.
    races: Option<Races>,
    /// Set if loads may see older values.
    weak: Option<Weak>,
}

#[derive(Debug, Default)]
struct Memories(FxHashMap<Space, Memory>);

#[derive(Debug)]
struct Memory {
    defined: Definedness,
    accesses: Accesses,
}

impl Memories {
    fn get(&mut self, space: Space) -> &mut Memory {
        self.0.entry(space).or_insert_with(Memory::new)
    }
}

impl Memory {
    fn new() -> Self {
        Self { defined: Definedness::new(), accesses: Accesses::new() }
    }

    /// The newest value at a location, and its undefined bits.
    fn newest(&self, memory: &impl Bytes, location: Location, bytes: u8) -> (u64, u64) {
        (memory.load(location, bytes), self.defined.load(location.offset, bytes))
    }
}

impl Strict {
    /// No knowledge yet. The mode determines what is tracked.
    pub fn new(mode: Mode) -> Self {
        Self {
            dispatch: 0,
            memories: Memories::default(),
            origins: Origins::default(),
            order: AccessOrder::default(),
            races: mode.check.then(Races::default),
            weak: mode.seed.map(Weak::new),
        }
    }

    pub fn allocate(&mut self, allocation: u32) {
        self.memories.0.insert(Space::Device(allocation), Memory::new());
    }

    pub fn free(&mut self, allocation: u32) {
        self.memories.0.remove(&Space::Device(allocation));
    }

    /// Records that the host has written or filled bytes of an allocation.
    pub fn host_write(&mut self, allocation: u32, offset: u64, bytes: u64) {
        self.memories.get(Space::Device(allocation)).defined.define(offset, bytes);
    }

    /// Records that the host has copied bytes between allocations (number and offset). The ranges don't overlap.
    pub fn host_copy(&mut self, from: (u32, u64), to: (u32, u64), bytes: u64) {
        // Removed for the copy, since both may be the same.
        let (source, target) = (Space::Device(from.0), Space::Device(to.0));
        let mut memory = self.memories.0.remove(&target).unwrap_or_else(Memory::new);
        let from_other = (source != target).then(|| &self.memories.get(source).defined);
        memory.defined.copy(to.1, from_other, from.1, bytes);
        self.memories.0.insert(target, memory);
    }

    /// For a read of an allocation by the host, the first byte to which a kernel stored an undefined value.
    pub fn host_read(&self, allocation: u32, offset: u64, bytes: u64) -> Option<UndefinedStore> {
        let memory = self.memories.0.get(&Space::Device(allocation))?;
        let (offset, origin) = memory.defined.stored_undefined(offset, bytes)?;
        self.origins.get(origin, offset)
    }

    /// Begins a dispatch, after all earlier work. Returns its number, see [`UndefinedStore::dispatch`].
    pub fn begin_dispatch(&mut self, shape: Shape) -> u32 {
        if !self.order.begin_dispatch(&shape) {
            self.memories.0.values_mut().for_each(|memory| memory.accesses = Accesses::new());
        }
        self.dispatch += 1;
        self.dispatch
    }

    /// Ends a dispatch, complete or not. Returns its races in the order of their detection.
    pub fn end_dispatch(&mut self) -> Vec<Race> {
        self.memories.0.retain(|space, _| matches!(space, Space::Device(_)));
        self.order.end_dispatch();
        if let Some(weak) = &mut self.weak {
            weak.forget();
        }
        self.races.as_mut().map_or_else(Vec::new, Races::take)
    }

    /// Ends a workgroup, and so its memory.
    pub fn end_workgroup(&mut self, workgroup: u32) {
        self.order.end_workgroup(workgroup);
        self.memories.0.remove(&Space::Workgroup(workgroup));
    }

    pub fn load(
        &mut self,
        memory: &impl Bytes,
        agent: Agent,
        location: Location,
        bytes: u8,
        access: &MemoryAccess,
        pc: Pc,
    ) -> Loaded {
        let event = self.order.event(agent, pc, How::load(access, bytes, class(location.space)));
        let newest = self.accessed(location, bytes, &event).newest(memory, location, bytes);
        let load = |weak: &mut Weak| weak.load(&self.order, location, bytes, newest, &event, access.volatile);
        let older = self.weak.as_mut().and_then(load);
        let value = older.unwrap_or(newest);
        Loaded { bits: self.filled(value), undefined: value.1, stale: older.is_some() }
    }

    /// Stores a scalar, given its bits and its undefined bits.
    #[allow(clippy::too_many_arguments, reason = "an access has this many properties")]
    pub fn store(
        &mut self,
        memory: &impl Bytes,
        agent: Agent,
        location: Location,
        bytes: u8,
        value: (u64, u64),
        access: &MemoryAccess,
        pc: Pc,
    ) {
        let event = self.order.event(agent, pc, How::store(access, bytes, class(location.space)));
        self.order.announce(&event);
        self.accessed(location, bytes, &event);
        self.write(memory, Write { location, bytes, value, event, replaced: None }, 0);
    }

    /// An atomic operation. `update` gets the old value and its undefined bits, and returns the new value, or `None` to
    /// write nothing (a load, or a failed compare-exchange). It may be called twice with different old values, and then
    /// the last call counts. Returns the old value.
    pub fn atomic(
        &mut self,
        memory: &impl Bytes,
        agent: Agent,
        location: Location,
        atomic: &Atomic,
        pc: Pc,
        mut update: impl FnMut(u64, u64) -> Option<New>,
    ) -> Loaded {
        let (bytes, class) = (atomic.bits / 8, class(location.space));
        let reads = atomic.op != AtomicOp::Store;
        let newest = self.memories.get(location.space).newest(memory, location, bytes);
        // Undefined bits are arbitrary, but the same for all atomics.
        let noise = self.weak.as_ref().map(|weak| weak.noise(location));
        let settled = |(bits, undefined): (u64, u64)| noise.map_or(bits, |noise| bits & !undefined | noise & undefined);

        // Only an operation that doesn't write may see an older value.
        let semantics = if atomic.op == AtomicOp::CompareExchange { atomic.unequal } else { atomic.semantics };
        let how = How::atomic(atomic, semantics, true, false, class);
        let may_only_read = matches!(atomic.op, AtomicOp::Load | AtomicOp::CompareExchange);
        let load =
            |weak: &mut Weak| weak.load_atomic(&self.order, location, bytes, newest, &self.order.event(agent, pc, how));
        let older = self
            .weak
            .as_mut()
            .filter(|_| may_only_read)
            .and_then(load)
            .filter(|older| update(settled(older.value), older.value.1).is_none());
        let new = if older.is_some() { None } else { update(settled(newest), newest.1) };

        let semantics = match (atomic.op, new) {
            (AtomicOp::CompareExchange, None) => atomic.unequal,
            _ => atomic.semantics,
        };
        let how = How::atomic(atomic, semantics, reads, new.is_some(), class);
        let event = self.order.event(agent, pc, how);
        let message = match &older {
            Some(older) => older.message.clone(),
            None => self.order.message(location).cloned(),
        };
        if let Some(message) = message.as_ref().filter(|_| reads) {
            self.order.read(agent, message, class, atomic.scope);
        }
        if semantics.acquire && reads {
            // Everything that it synchronizes with happens before it.
            self.order.acquire(agent, message.as_ref(), atomic.scope, semantics);
        }
        self.accessed(location, bytes, &event);

        let value = older.as_ref().map_or(newest, |older| older.value);
        let loaded = Loaded { bits: settled(value), undefined: value.1, stale: older.is_some() };
        if new.is_none()
            && let Some(weak) = &mut self.weak
        {
            weak.was_read(location, bytes, &event, older.as_ref());
        }
        if let Some(new) = new {
            self.order.announce(&event);
            let sequence = message.filter(|_| reads);
            let replaced = self.order.write(agent, location, atomic.scope, semantics, sequence);
            // The kept bits may have become defined since the read.
            let value = (new.bits, new.undefined & !(new.kept & !newest.1));
            self.write(memory, Write { location, bytes, value, event, replaced }, new.kept);
        }
        loaded
    }

    /// The knowledge about the memory of an access, which is added to the accesses that may race.
    fn accessed(&mut self, location: Location, bytes: u8, event: &Event) -> &Memory {
        let known = self.memories.get(location.space);
        if let Some(races) = &mut self.races
            && let Some((offset, other, missing)) = known.accesses.add(&self.order, location.offset, bytes, event)
        {
            races.report(Location { offset, ..location }, &other, event, missing);
        }
        known
    }

    /// A value with its undefined bits replaced by arbitrary ones.
    fn filled(&mut self, (bits, undefined): (u64, u64)) -> u64 {
        match &mut self.weak {
            Some(weak) if undefined != 0 => bits & !undefined | weak.bits() & undefined,
            _ => bits,
        }
    }

    /// Records a write. `kept` are the bits that the write doesn't change: their undefined bits keep their origin.
    fn write(&mut self, memory: &impl Bytes, write: Write, kept: u64) {
        let Write { location, bytes, value, event, .. } = write;
        let defined = &mut self.memories.get(location.space).defined;
        if let Some(weak) = &mut self.weak {
            weak.store(memory, |byte| defined.load(byte.offset, 1), write);
        }
        memory.store(location, bytes, value.0);
        let origin = || self.origins.number(self.dispatch, event.agent, event.pc);
        defined.store(location.offset, bytes, value.1, kept, origin);
    }
}
