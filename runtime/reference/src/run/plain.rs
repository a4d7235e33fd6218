//! Plain runs: only bytes, shared by all host threads.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU64, fence};

use super::launch::Launch;
use super::private;
use super::schedule::Shared;
use super::world::{Access, Value, Who, World};
use crate::code::{Atomic, AtomicOp, Barrier, Class, FloatControls, Semantics};
use crate::config::Plain;
use crate::finding::Finding;
use crate::memory::device::Memory;
use crate::memory::{Fault, Result, Words};

/// Runs a dispatch on the requested number of threads.
pub(crate) fn run(launch: &Launch<'_>, memory: &Memory) -> Result<(), Box<Finding>> {
    let shared = Shared::new(launch.threads);
    let world = || PlainWorld {
        memory,
        shared: &shared,
        changes: 0,
        choice: Plain,
        floats: &launch.program.code.floats,
        workgroup_bytes: launch.program.code.workgroup_bytes,
        spare: None,
    };
    std::thread::scope(|scope| {
        for thread in 1..launch.threads {
            let (shared, world) = (&shared, world());
            scope.spawn(move || shared.work(thread, launch, world));
        }
        shared.work(0, launch, world());
    });
    shared.into_fatal().map_or(Ok(()), Err)
}

struct PlainWorld<'a> {
    memory: &'a Memory,
    shared: &'a Shared,
    /// Changes of memory that were not published to other threads yet.
    changes: u64,
    choice: Plain,
    floats: &'a FloatControls,
    workgroup_bytes: u32,
    /// The memory of a workgroup that has ended, for reuse.
    spare: Option<Words>,
}

/// Runs `body` between host fences for these semantics. All other accesses are relaxed.
fn ordered<T>(semantics: Semantics, body: impl FnOnce() -> T) -> T {
    if semantics.release {
        fence(Release);
    }
    let result = body();
    if semantics.acquire {
        fence(Acquire);
    }
    result
}

impl PlainWorld<'_> {
    #[cold]
    fn outside(&self, local: &Words, class: Class, address: u64, bytes: u32, what: &str) -> Box<Fault> {
        match class {
            Class::Device => self.memory.fault(address, bytes.into(), what),
            _ => private::outside(class, address, bytes, local.bytes() as usize),
        }
    }
}

impl World for PlainWorld<'_> {
    type Choice = Plain;
    type Local = Words;

    const STRICT: bool = false;

    fn choice(&mut self) -> &mut Plain {
        &mut self.choice
    }

    fn version(&self) -> u64 {
        self.shared.version.load(Relaxed).wrapping_add(self.changes)
    }

    fn publish(&mut self, shared: &AtomicU64) {
        if self.changes != 0 {
            shared.fetch_add(std::mem::take(&mut self.changes), Relaxed);
        }
    }

    fn clock(&mut self) -> u64 {
        self.shared.clock.fetch_add(16, Relaxed)
    }

    fn place_in_order(&self, number: u64, total: u64) -> Option<u64> {
        (number < total).then_some(number)
    }

    fn begin(&mut self, _number: u64) -> Option<Words> {
        let Some(spare) = self.spare.take() else { return Words::zeroed(self.workgroup_bytes.into()) };
        spare.fill(0, spare.bytes(), 0)?;
        Some(spare)
    }

    fn end(&mut self, local: Words) {
        self.spare = Some(local);
    }

    #[inline(always)]
    fn load(&mut self, local: &mut Words, _who: Who, access: Access) -> Result<Value> {
        let Access { class, address, bytes, .. } = access;
        let bits = match class {
            Class::Device => self.memory.load(address, bytes),
            _ => local.load(address, bytes),
        };
        match bits {
            Some(bits) => Ok(Value { bits, undefined: 0 }),
            None => Err(self.outside(local, class, address, bytes.into(), "a read")),
        }
    }

    #[inline(always)]
    fn store(&mut self, local: &mut Words, _who: Who, access: Access, value: Value) -> Result {
        let Access { class, address, bytes, .. } = access;
        let changed = match class {
            Class::Device => self.memory.store(address, bytes, value.bits),
            _ => local.store(address, bytes, value.bits),
        };
        match changed {
            Some(changed) => {
                self.changes += u64::from(changed);
                Ok(())
            }
            None => Err(self.outside(local, class, address, bytes.into(), "a write")),
        }
    }

    fn atomic(
        &mut self,
        local: &mut Words,
        _who: Who,
        atomic: &Atomic,
        address: u64,
        value: Value,
        comparator: Value,
    ) -> Result<Value> {
        let bytes = atomic.bits / 8;
        let floats = self.floats;
        let change = |old| atomic.op.apply(atomic.bits, [old, value.bits, comparator.bits], floats, &mut Plain);
        let result = ordered(atomic.semantics, || match (atomic.class, atomic.op) {
            // A 64-bit value can only be read atomically under the lock for updates.
            (Class::Device, AtomicOp::Load) if bytes <= 4 => self.memory.load(address, bytes).map(|old| (old, old)),
            (Class::Device, _) => self.memory.update(address, bytes, change),
            _ => local.update(address, bytes, change),
        });
        match result {
            Some((old, new)) => {
                self.changes += u64::from(old != new);
                Ok(Value { bits: old, undefined: 0 })
            }
            None => Err(self.outside(local, atomic.class, address, bytes.into(), "an atomic access")),
        }
    }

    fn fence(&mut self, _local: &mut Words, _who: Who, barrier: &Barrier) {
        ordered(barrier.semantics, || {});
    }

    fn barrier(&mut self, _local: &mut Words, _who: &[Who], barrier: &Barrier) {
        ordered(barrier.semantics, || {});
    }
}
