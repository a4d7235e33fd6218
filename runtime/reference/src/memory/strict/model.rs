//! Invocations, locations, accesses and races: the terms of the memory model.

use crate::code::Pc;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Agent {
    /// The workgroup's number, unique within a dispatch.
    pub workgroup: u32,
    /// The subgroup's number in the workgroup.
    pub subgroup: u16,
    /// The invocation's number in the workgroup.
    pub lane: u16,
}

/// A memory shared by invocations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// An allocation of device memory. Its number is unique.
    Device(u32),
    /// The workgroup memory of a workgroup ([`Agent::workgroup`]).
    Workgroup(u32),
}

/// A location in shared memory; the offset is in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Location {
    pub space: Space,
    pub offset: u64,
}

/// Access to the bytes of shared memory. Accesses have 1, 2, 4 or 8 bytes.
pub trait Bytes {
    /// The bytes at a location, zero-extended.
    fn load(&self, location: Location, bytes: u8) -> u64;

    fn store(&self, location: Location, bytes: u8, bits: u64);
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Loaded {
    /// The value. Its undefined bits are arbitrary.
    pub bits: u64,
    /// The undefined bits of the value (1). Always 0 in plain mode.
    pub undefined: u64,
    /// Whether the load might also have seen a newer value. A repetition of the load may then return another value, even without a write in
    /// between, so an invocation that repeats the load isn't spinning for ever.
    pub stale: bool,
}

/// The shape of a dispatch.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Number of invocations of a workgroup, at most 65536.
    pub workgroup_size: u32,
    pub subgroup_size: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    Read,
    Write,
    /// An atomic operation that only reads.
    AtomicRead,
    /// An atomic operation that writes.
    AtomicWrite,
}

/// One of the two sides of a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Party {
    pub agent: Agent,
    pub pc: Pc,
    pub action: Action,
}

/// The reason why two accesses race.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Missing {
    /// Nothing orders the accesses.
    Order,
    /// Both accesses are atomic, but the scope of one excludes the other invocation, and nothing orders them.
    Scope,
    /// A private access takes no part in synchronization (`NonPrivatePointer`).
    NonPrivate,
    /// The write is not made available to the other invocation (`MakeAvailable`).
    Availability,
    /// The write is not made visible to the read (`MakeVisible`).
    Visibility,
}

/// A data race: two accesses to the same bytes that the memory model doesn't order, at least one of them a write. Two atomics race if they
/// have different widths, or if the scope of one excludes the other invocation. `first` came first in this run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Race {
    /// The first byte that both accessed.
    pub location: Location,
    pub first: Party,
    pub second: Party,
    pub missing: Missing,
    /// Number of further races between the same two instructions.
    pub repeated: u64,
}

/// The new value of an atomic operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct New {
    /// The value. All invocations read the same undefined bits.
    pub bits: u64,
    /// The undefined bits of the value (1).
    pub undefined: u64,
    /// The bits that the operation doesn't change in memory (1), defined or not.
    pub kept: u64,
}

/// The origin of an undefined value in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UndefinedStore {
    /// Offset of the first undefined byte in the allocation.
    pub offset: u64,
    /// The dispatch that stored it, counted from 1.
    pub dispatch: u32,
    /// The first invocation that stored an undefined value at this instruction.
    pub agent: Agent,
    pub pc: Pc,
}
