//! Arrays in local memory that carry values from one loop over the lanes to another.

use rustc_hash::FxHashMap;

use super::choose::WARP;
use crate::ir::{Access, Block, Builder, Function, MemoryOrder, Space, Stmt, Type, Var, bits_type, for_each_read};

/// Words that one iteration clears, since some drivers have a budget of loop iterations. The length of each array is a
/// multiple of this.
const CLEARED: u32 = 8;

/// An array in local memory with an element for each lane.
#[derive(Clone, Copy, Debug)]
pub(super) struct Array {
    pub(super) offset: u32,
    /// Bytes of an element.
    pub(super) bytes: u8,
}

impl Array {
    pub(super) fn access(self) -> Access {
        Access { space: Space::Local, bytes: self.bytes, order: MemoryOrder::Weak, read_only: false }
    }
}

pub(super) struct Arrays {
    /// Offset of the arrays in local memory.
    pub(super) start: u32,
    /// The first free offset, for the next array.
    pub(super) end: u32,
    /// The arrays of the old function's variables that may differ between threads.
    pub(super) vars: FxHashMap<Var, Array>,
    /// The number of reads of each variable in the old function.
    pub(super) reads: FxHashMap<Var, u32>,
}

impl Arrays {
    /// No arrays yet. They will lie after `start` bytes of local memory.
    pub(super) fn new(body: &Block, start: u32) -> Self {
        let mut reads = FxHashMap::default();
        for_each_read(body, &mut |var| *reads.entry(var).or_default() += 1);
        Self { start, end: start, vars: FxHashMap::default(), reads }
    }

    pub(super) fn add(&mut self, ty: Type) -> Array {
        let bytes = if bits_type(ty) == Type::I64 { 8 } else { 4 };
        let offset = self.end.next_multiple_of(bytes.into());
        self.end = offset.saturating_add(WARP * u32::from(bytes));
        Array { offset, bytes }
    }

    /// Clears all arrays before everything else, since variables start as zero.
    pub(super) fn clear(self, function: &mut Function) {
        function.local_bytes = self.end;
        if self.end == self.start {
            return;
        }
        let body = std::mem::take(&mut function.body);
        let b = Builder::new(function);
        let address = b.var(Type::I32);
        let start = b.i32(self.start);
        let zero = b.i32(0);
        b.set(address, start);
        b.loop_(|b| {
            let here = b.get(address);
            for word in 0..CLEARED {
                let place = b.add_const(here, 4 * u64::from(word));
                b.store(Array { offset: 0, bytes: 4 }.access(), place, vec![zero]);
            }
            let next = b.add_const(here, 4 * u64::from(CLEARED));
            b.set(address, next);
            let more = b.ult(next, b.i32(self.end));
            b.push(Stmt::If { condition: more, then: Vec::new(), otherwise: vec![Stmt::Break] });
        });
        b.append(body);
        b.finish();
    }
}
