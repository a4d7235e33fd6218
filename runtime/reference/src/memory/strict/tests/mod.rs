//! Tests: litmus tests, definedness, and random executions against the memory model's axioms.

mod axioms;
mod definedness;
mod litmus;
mod random;

use std::cell::RefCell;
use std::collections::HashMap;

use super::*;
use crate::code::{Barrier, Binary, Class, Scope, Semantics};

/// Memory that is initially zero.
#[derive(Default)]
struct Plain(RefCell<HashMap<Location, u8>>);

impl Plain {
    fn byte(location: Location, i: u8) -> Location {
        Location { offset: location.offset + u64::from(i), ..location }
    }
}

impl Bytes for Plain {
    fn load(&self, location: Location, bytes: u8) -> u64 {
        let memory = self.0.borrow();
        (0..bytes)
            .fold(0, |bits, i| bits | u64::from(memory.get(&Self::byte(location, i)).copied().unwrap_or(0)) << (8 * i))
    }

    fn store(&self, location: Location, bytes: u8, bits: u64) {
        let mut memory = self.0.borrow_mut();
        for i in 0..bytes {
            memory.insert(Self::byte(location, i), (bits >> (8 * i)) as u8);
        }
    }
}

/// Makes the beginning of a workgroup's memory defined, without a write.
fn define_workgroup(strict: &mut Strict, workgroup: u32) {
    strict.memories.get(Space::Workgroup(workgroup)).defined.define(0, 64);
}

/// A 32-bit atomic operation.
fn atomic(op: AtomicOp, space: Space, scope: Scope, semantics: Semantics) -> Atomic {
    let class = match space {
        Space::Device(_) => Class::Device,
        Space::Workgroup(_) => Class::Workgroup,
    };
    let unequal = Semantics { release: false, available: false, ..semantics };
    Atomic { op, class, bits: 32, d: 0, pointer: 0, value: 0, comparator: 0, scope, semantics, unequal }
}

/// A value that is defined.
fn defined(bits: u64) -> New {
    New { bits, ..New::default() }
}

/// Non-private, as accesses to shared memory should be.
const SHARED: MemoryAccess =
    MemoryAccess { non_private: true, available: None, visible: None, volatile: false, coherent: false };

/// Both storage classes.
const BOTH: Semantics = Semantics {
    acquire: false,
    release: false,
    available: false,
    visible: false,
    device: true,
    workgroup: true,
    volatile: false,
};
const RELAXED: Semantics = Semantics { device: false, workgroup: false, ..BOTH };
const RELEASE: Semantics = Semantics { release: true, available: true, ..BOTH };
const ACQUIRE: Semantics = Semantics { acquire: true, visible: true, ..BOTH };
const ACQUIRE_RELEASE: Semantics = Semantics { release: true, available: true, ..ACQUIRE };
