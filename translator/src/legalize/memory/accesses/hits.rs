//! The allocations that pointers have hit last.

use rustc_hash::FxHashMap;

use super::bounds::within;
use crate::ir::{Builder, Type, Value, Var};

/// The number of pointers that have variables of their own; more pointers share them.
const MAX: usize = 8;

/// The origin of an address.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Root {
    /// A push constant.
    Constant(u32),
    /// A variable.
    Var(Var),
    /// Something else.
    Other(Value),
}

/// For each pointer the allocation that it has hit last.
#[derive(Default)]
pub(crate) struct Hits {
    /// The number in `slots` of a pointer's slot.
    numbers: FxHashMap<Root, usize>,
    slots: [Slot; MAX],
}

#[derive(Clone, Copy)]
struct Slot {
    /// Bytes of the smallest access.
    least: u64,
    /// The variables, once there is an access.
    vars: Option<(Var, Var)>,
}

impl Default for Slot {
    fn default() -> Self {
        Self { least: u64::MAX, vars: None }
    }
}

/// The allocation that a pointer has hit last, in variables that are zero at first.
#[derive(Clone, Copy)]
pub(crate) struct Hit {
    start: Var,
    /// The number of its bytes at which an access of `least` bytes may begin: all for one byte, all but seven for eight
    /// bytes.
    beginnings: Var,
    least: u64,
}

impl Hits {
    /// Prepares for accesses of so many bytes through a pointer. Others are right too, but slower.
    pub fn expect(&mut self, root: Root, bytes: u64) {
        let next = self.numbers.len() % MAX;
        let number = *self.numbers.entry(root).or_insert(next);
        self.slots[number].least = self.slots[number].least.min(bytes);
    }

    /// The variables that keep the allocation which a pointer has hit.
    pub fn of(&mut self, b: &Builder<'_>, root: Root) -> Hit {
        let slot = &mut self.slots[self.numbers.get(&root).copied().unwrap_or_default()];
        let (start, beginnings) = *slot.vars.get_or_insert_with(|| (b.var(Type::I64), b.var(Type::I64)));
        Hit { start, beginnings, least: slot.least }
    }
}

impl Hit {
    /// Whether so many bytes from an address on lie in the allocation. For fewer than `least` bytes at its end the answer may be no.
    pub fn has(self, b: &Builder<'_>, address: Value, count: u64) -> Value {
        let (start, beginnings) = (b.get(self.start), b.get(self.beginnings));
        let offset = b.sub(address, start);
        match count.saturating_sub(self.least) {
            0 => b.ult(offset, beginnings),
            more => within(b, offset, beginnings, more + 1),
        }
    }

    /// Keeps an allocation.
    pub fn set(self, b: &Builder<'_>, start: Value, size: Value) {
        let before_last = b.i64(self.least - 1);
        let has_room = b.ult(before_last, size);
        let rest = b.sub(size, before_last);
        let beginnings = b.select(has_room, rest, b.i64(0));
        b.set(self.start, start);
        b.set(self.beginnings, beginnings);
    }
}
