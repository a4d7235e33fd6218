//! Operations that the ways of resolving barriers share.

use crate::ir::{Access, Atomic, AtomicOp, Block, Builder, Builtin, MemoryOrder, Op, Scope, Space, Stmt, Type, Value};

/// Threads of a warp.
pub(super) const WARP: u32 = 32;

/// Access to words of shared memory that other threads may read or write at any time.
pub(super) const WORD: Access =
    Access { space: Space::Shared, bytes: 4, order: MemoryOrder::Relaxed(Scope::Cta), read_only: false };

/// Access to words of the workspace.
pub const GLOBAL: Access = Access { space: Space::Global, bytes: 4, order: MemoryOrder::Weak, read_only: false };

/// The bits of a value that its block defines as a constant.
pub(in crate::sync) fn constant(body: &Block, value: Value) -> Option<u64> {
    body.iter().find_map(|stmt| match stmt {
        Stmt::Let(defined, Op::Const(bits)) if *defined == value => Some(*bits),
        _ => None,
    })
}

pub(super) fn block_threads(b: &Builder<'_>) -> Value {
    let [x, y, z] = [0, 1, 2].map(|dimension| b.builtin(Builtin::BlockSize(dimension)));
    b.mul(b.mul(x, y), z)
}

pub fn store(b: &Builder<'_>, address: Value, value: Value) {
    b.store(WORD, address, vec![value]);
}

pub(super) fn add(b: &Builder<'_>, address: Value, operand: Value) {
    b.atomic(Atomic { result: None, op: AtomicOp::Add, access: WORD, address, operand, compare: None });
}

/// A word of the head of the workspace whose address is at an offset in the push constants.
pub fn head(b: &Builder<'_>, address: u32, word: u64) -> Value {
    b.load_one(GLOBAL, b.add_const(b.push_constant(Type::I64, address), word))
}
