//! The bounds of memory: of allocations, of which the launch has a table, of shared memory, and of local memory.

use crate::ir::{Access, Builder, Builtin, Compare, MemoryOrder, Space, Type, Value};
use ptx2spv_interface::allocations;

/// Access to the table, which is constant while kernels run.
const TABLE: Access = Access { space: Space::Global, bytes: 8, order: MemoryOrder::Weak, read_only: true };

/// The address and the size of the last allocation in the table that doesn't begin after an address.
pub(crate) fn find(b: &Builder<'_>, table: u32, address: Value) -> (Value, Value) {
    let (place, step) = (b.var(Type::I64), b.var(Type::I32));
    let table = b.push_constant(Type::I64, table);
    // The first entry is at address 0.
    b.set(place, b.add_const(table, allocations::ENTRIES));
    let at = b.add_const(table, allocations::STEP);
    let half = b.load_one(Access { bytes: 4, ..TABLE }, at);
    b.set(step, half);
    b.loop_(|b| {
        let (from, bytes) = (b.get(place), b.get(step));
        b.if_(b.compare_const(Compare::LessUnsigned, bytes, allocations::ENTRY), Builder::break_);
        let middle = b.add(from, b.zero_extend(bytes));
        let before = b.ule(b.load_one(TABLE, middle), address);
        b.set(place, b.select(before, middle, from));
        b.set(step, b.shr(bytes, 1));
    });
    let place = b.get(place);
    (b.load_one(TABLE, place), b.load_one(TABLE, b.add_const(place, 8)))
}

pub(crate) fn shared_size(b: &Builder<'_>) -> Value {
    if !b.function(|function| function.dynamic_shared) {
        // Offsets have 32 bits.
        let bytes = b.function(|function| function.workgroup_shared_bytes()).min(u32::MAX.into());
        return b.constant(Type::I32, bytes);
    }
    if let Some(cluster) = b.function(|function| function.cluster) {
        return b.add_const(b.builtin(Builtin::SharedBytes), cluster.own_shared_bytes.into());
    }
    let declared = (b.function(|function| function.shared_bytes) - b.function(|function| function.own_shared_bytes))
        .next_multiple_of(16);
    b.add_const(b.builtin(Builtin::DynamicSharedBytes), declared.into())
}

/// Whether bytes from an offset on lie in shared memory.
pub(crate) fn in_shared(b: &Builder<'_>, offset: Value, bytes: u64) -> Value {
    let inside = within(b, offset, shared_size(b), bytes);
    let own = b.function(|function| function.own_shared_bytes);
    if !b.function(|function| function.dynamic_shared) || b.function(|function| function.cluster).is_some() || own == 0
    {
        return inside;
    }
    // The translator's own lies after all that the launch has.
    let after = b.sub(offset, b.builtin(Builtin::SharedBytes));
    let is_own = within(b, after, b.i32(own), bytes);
    b.or(inside, is_own)
}

/// Whether bytes from an offset on lie in local memory.
pub(crate) fn in_local(b: &Builder<'_>, offset: Value, bytes: u64) -> Value {
    let size = b.i32(b.function(|function| function.local_bytes));
    within(b, offset, size, bytes)
}

/// Whether bytes from an offset on lie in a memory of a size.
pub(crate) fn within(b: &Builder<'_>, offset: Value, size: Value, bytes: u64) -> Value {
    let begins = b.ult(offset, size);
    let rest = b.sub(size, offset);
    b.and(begins, b.ule(b.constant_like(rest, bytes), rest))
}
