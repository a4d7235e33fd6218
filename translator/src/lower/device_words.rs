//! Words of device memory that all threads of a launch share: counters and tables of the services.

use crate::ir::{Access, Atomic, AtomicOp, Builder, MemoryOrder, Scope, Space, Type, Value};

/// Access to such a word.
pub(super) const WORD: Access =
    Access { space: Space::Global, bytes: 4, order: MemoryOrder::Relaxed(Scope::Device), read_only: false };

/// Adds to a word and gives its old value.
pub(super) fn fetch_add(b: &Builder<'_>, address: Value, operand: Value) -> Value {
    let result = b.value(Type::I32);
    b.atomic(Atomic { result: Some(result), op: AtomicOp::Add, access: WORD, address, operand, compare: None });
    result
}
