//! Critical sections: operations on memory that no other thread may see half done, where a device has no atomics for them.

use super::{Access, Atomic, AtomicOp, Builder, MemoryOrder, Scope, Space, Type, Value};
use ptx2spv_interface::push_constant;

/// Bytes of the table of locks for global memory: 1,024 words.
pub const TABLE_BYTES: u64 = 4 * GLOBAL_LOCKS;
const GLOBAL_LOCKS: u64 = 1024;

/// Runs what `critical` appends while a lock of the table for global memory is held, which the address chooses.
pub fn hold_in_table(b: &Builder<'_>, table: u64, address: Value, critical: impl FnOnce(&Builder<'_>)) {
    let number = number(b, address);
    let number = b.xor(number, b.shr(number, 10));
    let offset = b.zero_extend(b.shl(b.and_const(number, GLOBAL_LOCKS - 1), 2));
    let base = b.add_const(b.push_constant(Type::I64, push_constant::VARIABLES_ADDRESS), table);
    hold(b, Space::Global, Scope::Device, b.add(base, offset), critical);
}

/// The hash that chooses a lock. Neighbouring addresses get different locks, and so do arrays whose sizes are powers of two.
pub fn number(b: &Builder<'_>, address: Value) -> Value {
    let number = if b.type_of(address) == Type::I64 { b.truncate(address) } else { address };
    b.shr(number, 3)
}

/// Runs what `critical` appends while a lock is held, which lies in a space and is taken by the threads of a scope.
pub fn hold(b: &Builder<'_>, space: Space, scope: Scope, lock: Value, critical: impl FnOnce(&Builder<'_>)) {
    let word = |order| Access { space, bytes: 4, order, read_only: false };
    let done = b.var(Type::Bool);
    b.set(done, b.bool(false));
    b.loop_(|b| {
        let taken = b.value(Type::I32);
        let operand = b.i32(1);
        let access = word(MemoryOrder::Acquire(scope));
        let op = AtomicOp::Exchange;
        b.atomic(Atomic { result: Some(taken), op, access, address: lock, operand, compare: None });
        let is_free = b.is_zero(taken);
        b.if_(is_free, |b| {
            critical(b);
            b.store(word(MemoryOrder::Release(scope)), lock, vec![b.i32(0)]);
            b.set(done, b.bool(true));
        });
        let is_done = b.get(done);
        b.if_(is_done, Builder::break_);
    });
}
