//! The world that invocations act on. The interpreter is generic over it: a plain run has only bytes, a strict run also
//! tracks what is undefined, unordered or not yet visible.

use std::sync::atomic::AtomicU64;

use crate::code::{Atomic, Barrier, Class, MemoryAccess, Pc};
use crate::config::Choice;
use crate::finding::FindingKind;
use crate::memory::Fault;

/// A number, and which of its bits are undefined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Value {
    /// The number.
    pub bits: u64,
    /// Its undefined bits.
    pub undefined: u64,
}

/// An invocation and its current instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Who {
    /// `LocalInvocationIndex`.
    pub lane: u32,
    /// `SubgroupId`.
    pub subgroup: u32,
    /// The instruction.
    pub pc: Pc,
}

/// An access to device or workgroup memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    /// Which of them.
    pub class: Class,
    /// Where.
    pub address: u64,
    /// How many bytes.
    pub bytes: u8,
    /// The memory operands.
    pub how: MemoryAccess,
}

/// The memory and choices that invocations act on.
pub(super) trait World {
    /// Makes the choices that Vulkan leaves open.
    type Choice: Choice;
    /// A workgroup's state besides its invocations.
    type Local;

    /// Whether undefined bits may be tracked; `false` lets the compiler drop the code for it.
    const STRICT: bool;

    /// Who decides.
    fn choice(&mut self) -> &mut Self::Choice;

    /// Goes up whenever memory changed.
    fn version(&self) -> u64;

    /// Tells other threads of changes of memory, by the version that they share.
    fn publish(&mut self, shared: &AtomicU64);

    /// Which workgroup begins as the one with this number; `None` if there are no more, and a number that isn't below
    /// `total` if another should be tried.
    fn place_in_order(&self, number: u64, total: u64) -> Option<u64>;

    /// Time that has passed, in no particular unit.
    fn clock(&mut self) -> u64;

    /// What the workgroup of this number, counted through the grid, has when it begins; `None` if the host has no room.
    fn begin(&mut self, number: u64) -> Option<Self::Local>;

    /// An invocation has ended.
    fn end_invocation(&mut self, local: &mut Self::Local, who: Who);

    /// Ends a workgroup.
    fn end(&mut self, local: Self::Local);

    /// Whether `bytes` bytes may be accessed at an address, as a whole.
    fn check(&mut self, local: &mut Self::Local, class: Class, address: u64, bytes: u32) -> Result<(), Box<Fault>>;

    /// Loads from device or workgroup memory.
    fn load(&mut self, local: &mut Self::Local, who: Who, access: Access) -> Result<Value, Box<Fault>>;

    /// Stores to device or workgroup memory.
    fn store(&mut self, local: &mut Self::Local, who: Who, access: Access, value: Value) -> Result<(), Box<Fault>>;

    /// Does an atomic operation, and returns the old value.
    fn atomic(
        &mut self,
        local: &mut Self::Local,
        who: Who,
        atomic: &Atomic,
        address: u64,
        value: Value,
        comparator: Value,
    ) -> Result<Value, Box<Fault>>;

    /// A thread, of which an invocation may have several, arrives at a barrier instruction of PTX.
    fn arrive(&mut self, local: &mut Self::Local, who: Who, thread: u32, place: u32);

    /// A memory barrier.
    fn fence(&mut self, local: &mut Self::Local, who: Who, barrier: &Barrier);

    /// A control barrier, with all that take part in it.
    fn barrier(&mut self, local: &mut Self::Local, who: &[Who], barrier: &Barrier);

    /// Something to report that ends nothing. `origin` is where an undefined value comes from.
    fn report(&mut self, local: &Self::Local, who: Who, kind: FindingKind, message: String, origin: Option<Pc>);
}
