//! Invocations, locations, accesses and races: the terms of the memory model.

use crate::code::Pc;

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
    /// Whether the load might also have seen a newer value. The same load may then give another value next time without a write in between,
    /// so an invocation that repeats it isn't spinning for ever.
    pub stale: bool,
}

/// The shape of a dispatch.
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
    /// The invocation.
    pub agent: Agent,
    /// The instruction.
    pub pc: Pc,
    /// The kind of access.
    pub action: Action,
}

/// What is missing between two accesses that race.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Missing {
    /// Nothing orders them.
    Order,
    /// Both are atomic, but one's scope excludes the other, and nothing orders them.
    Scope,
    /// A private access takes no part in synchronisation (`NonPrivatePointer`).
    NonPrivate,
    /// The write is not made available to the other invocation (`MakeAvailable`).
    Availability,
    /// The write is not made visible to the read (`MakeVisible`).
    Visibility,
}

/// A data race: two accesses to the same bytes, at least one of them a write and one of them no atomic, that are not ordered
/// by the memory model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Race {
    /// The first byte that both accessed.
    pub location: Location,
    /// The access that came first in this run.
    pub first: Party,
    /// The access that came second.
    pub second: Party,
    /// Why they are not ordered.
    pub missing: Missing,
    /// How many more times these two instructions raced.
    pub repeated: u64,
}

/// What an atomic operation writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct New {
    /// The value. Its undefined bits are those that everybody reads there.
    pub bits: u64,
    /// Which of its bits are undefined (1).
    pub undefined: u64,
    /// Which of its bits stay what they are in memory (1), defined or not.
    pub kept: u64,
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
