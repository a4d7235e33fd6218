//! Accesses as events: invocation, time and properties.

use super::clock::Time;
use super::message::classes;
use super::model::{Action, Agent};
use crate::code::{Atomic, MemoryAccess, Pc, Scope, Semantics};

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Event {
    pub(super) agent: Agent,
    pub(super) time: Time,
    pub(super) pc: Pc,
    pub(super) how: How,
}

/// Properties of an access, packed because they are kept for every word of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct How(u16);

impl How {
    const READS: u16 = 1;
    const WRITES: u16 = 2;
    const ATOMIC: u16 = 4;
    const PRIVATE: u16 = 8;
    const SCOPE: u16 = 4;
    const BYTES: u16 = 6;
    const CLASSES: u16 = 8;

    fn new(flags: u16, scope: Scope, bytes: u8, class: usize) -> Self {
        let bytes = (bytes.trailing_zeros() as u16 & 3) << Self::BYTES;
        Self(flags | (scope as u16) << Self::SCOPE | bytes | 1 << class << Self::CLASSES)
    }

    /// A load from memory of a storage class.
    pub(super) fn load(access: &MemoryAccess, bytes: u8, class: usize) -> Self {
        Self::plain(Self::READS, access, access.visible, bytes, class)
    }

    pub(super) fn store(access: &MemoryAccess, bytes: u8, class: usize) -> Self {
        Self::plain(Self::WRITES, access, access.available, bytes, class)
    }

    fn plain(flags: u16, access: &MemoryAccess, scope: Option<Scope>, bytes: u8, class: usize) -> Self {
        let scope = if access.coherent { Scope::Device } else { scope.unwrap_or(Scope::Invocation) };
        let private = if access.non_private { 0 } else { Self::PRIVATE };
        Self::new(flags | private, scope, bytes, class)
    }

    /// An atomic operation, with the semantics that apply.
    pub(super) fn atomic(atomic: &Atomic, semantics: Semantics, reads: bool, writes: bool, class: usize) -> Self {
        let flags = if reads { Self::READS } else { 0 } | if writes { Self::WRITES } else { 0 } | Self::ATOMIC;
        let own = Self::new(flags, atomic.scope, atomic.bits / 8, class);
        classes(semantics).fold(own, |how, class| Self(how.0 | 1 << class << Self::CLASSES))
    }

    /// Whether synchronization of a storage class orders the access: the access's own class, and the classes in its semantics.
    pub(super) fn concerns(self, class: usize) -> bool {
        self.0 >> Self::CLASSES >> class & 1 != 0
    }

    pub(super) fn reads(self) -> bool {
        self.0 & Self::READS != 0
    }

    pub(super) fn writes(self) -> bool {
        self.0 & Self::WRITES != 0
    }

    pub(super) fn is_atomic(self) -> bool {
        self.0 & Self::ATOMIC != 0
    }

    pub(super) fn is_private(self) -> bool {
        self.0 & Self::PRIVATE != 0
    }

    /// The scope of an atomic. For other accesses, the scope in which the access is made available or visible, or
    /// `Invocation`.
    pub(super) fn scope(self) -> Scope {
        const SCOPES: [Scope; 4] = [Scope::Invocation, Scope::Subgroup, Scope::Workgroup, Scope::Device];
        SCOPES[usize::from(self.0 >> Self::SCOPE & 3)]
    }

    /// The properties of a write after a later write of the invocation to the same place has made it available too.
    pub(super) fn made_available(self, scope: Scope) -> Self {
        let scope = scope.max(self.scope());
        Self(self.0 & !(3 << Self::SCOPE) | (scope as u16) << Self::SCOPE)
    }

    pub(super) fn is_as_wide_as(self, other: Self) -> bool {
        self.0 >> Self::BYTES & 3 == other.0 >> Self::BYTES & 3
    }

    /// Whether each access that races with an earlier access also races with this one, given that the earlier one happened before. Both are
    /// atomic, or neither is.
    pub(super) fn covers(self, earlier: Self) -> bool {
        let atomic = self.is_atomic();
        (self.writes() || !earlier.writes())
            && (self.is_private() || !earlier.is_private())
            && (!atomic || self.scope() <= earlier.scope() && self.is_as_wide_as(earlier))
    }

    pub(super) fn action(self) -> Action {
        match (self.is_atomic(), self.writes()) {
            (false, false) => Action::Read,
            (false, true) => Action::Write,
            (true, false) => Action::AtomicRead,
            (true, true) => Action::AtomicWrite,
        }
    }
}
