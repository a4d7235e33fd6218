//! The world that invocations act on. The interpreter is generic over it: a plain run only has bytes, a strict run also
//! tracks undefined bits, order and visibility.

use std::sync::atomic::AtomicU64;

use crate::code::{Atomic, Barrier, Class, MemoryAccess, Pc};
use crate::config::Choice;
use crate::finding::FindingKind;
use crate::memory::Result;

/// A number and its undefined bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Value {
    pub bits: u64,
    pub undefined: u64,
}

/// Marks a pointer that was made with an index outside of its array. No memory has such an address.
pub(super) const STRAY: u64 = 1 << 63;

/// The address of an element of an array of `count` elements, or of one of unknown length if that is 0.
#[inline(always)]
pub(super) fn element(array: u64, index: u64, stride: u64, count: u32) -> u64 {
    let address = array.wrapping_add(index.wrapping_mul(stride));
    if count != 0 && index >= u64::from(count) { address | STRAY } else { address }
}

/// An invocation and its current instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Who {
    /// `LocalInvocationIndex`.
    pub lane: u32,
    /// `SubgroupId`.
    pub subgroup: u32,
    pub pc: Pc,
}

/// An access to device or workgroup memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    pub class: Class,
    pub address: u64,
    pub bytes: u8,
    pub how: MemoryAccess,
}

/// The memory and choices that invocations act on.
pub(super) trait World {
    /// Makes the choices that Vulkan leaves open.
    type Choice: Choice;
    /// A workgroup's state other than its invocations.
    type Local;

    /// Whether undefined bits may be tracked. `false` lets the compiler remove the code for it.
    const STRICT: bool;

    fn choice(&mut self) -> &mut Self::Choice;

    /// Increases whenever memory has changed.
    fn version(&self) -> u64;

    /// Publishes changes of memory to other threads, through a shared version.
    fn publish(&mut self, shared: &AtomicU64);

    /// The workgroup that begins as the one with this number. `None` if there are no more. A result that is not below
    /// `total` means that the next number should be tried.
    fn place_in_order(&self, number: u64, total: u64) -> Option<u64>;

    /// The elapsed time, in no particular unit.
    fn clock(&mut self) -> u64;

    /// The initial state of a workgroup, given its number in the grid; `None` if the host has too little memory.
    fn begin(&mut self, number: u64) -> Option<Self::Local>;

    fn end_invocation(&mut self, _local: &mut Self::Local, _who: Who) {}

    fn end(&mut self, local: Self::Local);

    /// Checks that `bytes` bytes at an address may be accessed as a whole, unless each access is checked by itself.
    #[inline(always)]
    fn check(&mut self, _local: &mut Self::Local, _class: Class, _address: u64, _bytes: u32) -> Result {
        Ok(())
    }

    fn load(&mut self, local: &mut Self::Local, who: Who, access: Access) -> Result<Value>;

    fn store(&mut self, local: &mut Self::Local, who: Who, access: Access, value: Value) -> Result;

    /// Runs an atomic operation, and returns the old value.
    fn atomic(
        &mut self,
        local: &mut Self::Local,
        who: Who,
        atomic: &Atomic,
        address: u64,
        value: Value,
        comparator: Value,
    ) -> Result<Value>;

    /// Records that a thread arrives at a barrier instruction of PTX. An invocation may run several threads.
    fn arrive(&mut self, _local: &mut Self::Local, _who: Who, _thread: u32, _place: u32) {}

    fn fence(&mut self, local: &mut Self::Local, who: Who, barrier: &Barrier);

    /// A control barrier, with all its participants.
    fn barrier(&mut self, local: &mut Self::Local, who: &[Who], barrier: &Barrier);

    /// Reports a finding that doesn't end the run. `origin` is the origin of an undefined value.
    fn report(&mut self, _local: &Self::Local, _who: Who, _kind: FindingKind, _message: String, _origin: Option<Pc>) {}
}
