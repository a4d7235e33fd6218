//! What checked and adversarial runs know of device and workgroup memory besides its bytes: which bits are undefined, which
//! accesses race, and which older values an invocation may still see.
//!
//! The bytes themselves lie elsewhere ([`Bytes`]); nothing in here checks bounds, so only accesses inside of allocations
//! get here. Everything is single-threaded and deterministic.

use crate::code::{Atomic, Barrier, MemoryAccess, Pc};
use crate::config::Mode;

/// An invocation of the running dispatch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Agent {
    /// Number of its workgroup, never used twice within a dispatch.
    pub workgroup: u32,
    /// Number of its subgroup in the workgroup.
    pub subgroup: u16,
    /// Its number in the workgroup.
    pub lane: u16,
}

/// A memory that invocations share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// An allocation of device memory, by its number. Numbers are never used twice.
    Device(u32),
    /// The workgroup memory of a workgroup ([`Agent::workgroup`]).
    Workgroup(u32),
}

/// A place in shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Location {
    /// In which memory.
    pub space: Space,
    /// Bytes from its beginning.
    pub offset: u64,
}

/// Where the bytes of shared memory lie. Accesses are of 1, 2, 4 or 8 bytes.
pub trait Bytes {
    /// The bytes at a location, zero-extended.
    fn load(&self, location: Location, bytes: u8) -> u64;

    /// Sets the bytes at a location.
    fn store(&self, location: Location, bytes: u8, bits: u64);
}

/// What a load found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Loaded {
    /// The value. Its undefined bits are arbitrary.
    pub bits: u64,
    /// Which of its bits are undefined (1); always 0 in plain mode.
    pub undefined: u64,
    /// Whether newer values were there that this load might have seen too: the same load may give another value next time
    /// although nobody wrote meanwhile, so an invocation that repeats it isn't spinning for ever.
    pub stale: bool,
}

/// What a dispatch looks like.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Invocations of a workgroup; at most 65536.
    pub workgroup_size: u32,
    /// Invocations of a subgroup.
    pub subgroup_size: u32,
    /// Whether workgroup memory starts as zeroes rather than undefined.
    pub workgroup_zeroed: bool,
}

/// How an access took part in a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// It read.
    Read,
    /// It wrote.
    Write,
    /// An atomic operation that read.
    AtomicRead,
    /// An atomic operation that wrote.
    AtomicWrite,
}

/// One of the two sides of a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Party {
    /// Who.
    pub agent: Agent,
    /// Where in the code.
    pub pc: Pc,
    /// What it did.
    pub action: Action,
}

/// What is missing between two accesses that race.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Missing {
    /// Nothing orders them.
    Order,
    /// A private access takes no part in synchronisation (`NonPrivatePointer`).
    NonPrivate,
    /// The write is not made available to the other invocation (`MakeAvailable`).
    Availability,
    /// The write is not made visible to the read (`MakeVisible`).
    Visibility,
    /// Both are atomic, but one's scope excludes the other, and nothing orders them.
    Scope,
}

/// A data race: two accesses to the same bytes, at least one of them a write and one of them no atomic, that are not ordered
/// by the memory model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Race {
    /// The first byte that both accessed.
    pub location: Location,
    /// What happened first in this run.
    pub first: Party,
    /// What happened second.
    pub second: Party,
    /// Why they are not ordered.
    pub missing: Missing,
    /// How many more times these two instructions raced.
    pub repeated: u64,
}

/// Where an undefined value in memory came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UndefinedStore {
    /// The first undefined byte, counted from the allocation's beginning.
    pub offset: u64,
    /// The dispatch that stored it, counted from 1 on.
    pub dispatch: u32,
    /// The first invocation that stored an undefined value at this instruction.
    pub agent: Agent,
    /// The instruction.
    pub pc: Pc,
}

/// The knowledge about all shared memory of a device.
#[derive(Debug)]
pub struct Strict {
    mode: Mode,
    dispatch: u32,
}

impl Strict {
    /// Knows nothing of any memory yet. It does as much as the mode asks for.
    pub fn new(mode: Mode) -> Self {
        Self { mode, dispatch: 0 }
    }

    /// An allocation of device memory comes into being, undefined.
    pub fn allocate(&mut self, allocation: u32) {
        let _ = allocation;
    }

    /// An allocation is gone.
    pub fn free(&mut self, allocation: u32) {
        let _ = allocation;
    }

    /// The host writes or fills bytes of an allocation.
    pub fn host_write(&mut self, allocation: u32, offset: u64, bytes: u64) {
        let _ = (allocation, offset, bytes);
    }

    /// The host copies bytes between allocations, given as number and offset, that don't overlap.
    pub fn host_copy(&mut self, from: (u32, u64), to: (u32, u64), bytes: u64) {
        let _ = (from, to, bytes);
    }

    /// The host reads bytes of an allocation: the first of them to which a kernel stored an undefined value.
    pub fn host_read(&self, allocation: u32, offset: u64, bytes: u64) -> Option<UndefinedStore> {
        let _ = (allocation, offset, bytes);
        None
    }

    /// A dispatch begins, behind all that went before. Returns its number, see [`UndefinedStore::dispatch`].
    pub fn begin_dispatch(&mut self, shape: Shape) -> u32 {
        let _ = shape;
        self.dispatch += 1;
        self.dispatch
    }

    /// The dispatch ends, or is given up. Returns the races found in it, in the order in which they were found.
    pub fn end_dispatch(&mut self) -> Vec<Race> {
        Vec::new()
    }

    /// A workgroup begins. All its invocations are taken to run until [`Strict::end_invocation`].
    pub fn begin_workgroup(&mut self, workgroup: u32) {
        let _ = workgroup;
    }

    /// An invocation ends.
    pub fn end_invocation(&mut self, agent: Agent) {
        let _ = agent;
    }

    /// A workgroup ends, and with it its memory.
    pub fn end_workgroup(&mut self, workgroup: u32) {
        let _ = workgroup;
    }

    /// Loads a scalar of 1, 2, 4 or 8 bytes.
    pub fn load(
        &mut self,
        memory: &impl Bytes,
        agent: Agent,
        location: Location,
        bytes: u8,
        access: &MemoryAccess,
        pc: Pc,
    ) -> Loaded {
        let _ = (agent, access, pc, self.mode);
        Loaded { bits: memory.load(location, bytes), undefined: 0, stale: false }
    }

    /// Stores a scalar, of which some bits may be undefined.
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
        let _ = (agent, access, pc);
        memory.store(location, bytes, value.0);
    }

    /// An atomic operation. `update` gets the old value and its undefined bits and returns the new value and its undefined
    /// bits, or `None` to write nothing (a load, or a compare-exchange that fails). It may be called twice, with different
    /// old values, of which the last counts. Returns the old value.
    pub fn atomic(
        &mut self,
        memory: &impl Bytes,
        agent: Agent,
        location: Location,
        atomic: &Atomic,
        pc: Pc,
        mut update: impl FnMut(u64, u64) -> Option<(u64, u64)>,
    ) -> Loaded {
        let _ = (agent, pc);
        let bytes = atomic.bits / 8;
        let old = memory.load(location, bytes);
        if let Some((new, _)) = update(old, 0) {
            memory.store(location, bytes, new);
        }
        Loaded { bits: old, undefined: 0, stale: false }
    }

    /// A memory barrier.
    pub fn fence(&mut self, agent: Agent, barrier: &Barrier) {
        let _ = (agent, barrier);
    }

    /// A control barrier, for the invocations of one workgroup or subgroup that leave it together.
    pub fn barrier(&mut self, agents: &[Agent], barrier: &Barrier) {
        let _ = (agents, barrier);
    }
}
