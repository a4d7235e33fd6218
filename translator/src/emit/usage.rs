//! Properties of a kernel's whole body that declarations depend on.

use super::module::Module;
use crate::ir::{Access, Function, MemoryOrder, Space, Stmt, SubgroupOp};

/// The declaration of a kernel's shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SharedLayout {
    /// Aliased blocks.
    Blocks,
    /// An array of words of this many bits.
    Words(u32),
    /// An array of vectors of four 32-bit words.
    Vectors,
}

impl SharedLayout {
    /// The layout for a kernel on the module's target.
    pub(super) fn choose(module: &Module<'_>, function: &Function) -> SharedLayout {
        if module.device.shared_blocks {
            SharedLayout::Blocks
        } else if has_long_shared_atomics(function) {
            SharedLayout::Words(64)
        } else if has_shared_vectors(function) {
            SharedLayout::Vectors
        } else {
            SharedLayout::Words(32)
        }
    }
}

/// Whether some 64 bits of shared memory are accessed as one: by atomics, or with an order.
fn has_long_shared_atomics(function: &Function) -> bool {
    any_shared(function, |stmt, access, _| {
        access.bytes == 8 && (matches!(stmt, Stmt::Atomic(_)) || access.order.scope().is_some())
    })
}

/// Whether shared memory is read as vectors of 16 bytes, and written as nothing else. Some compilers write a component
/// by writing its whole vector, with the other components, which another thread may be changing.
fn has_shared_vectors(function: &Function) -> bool {
    let size = |access: &Access, elements| usize::from(access.bytes) * elements;
    let is_vector = |access: &Access, elements| size(access, elements) == 16 && access.order == MemoryOrder::Weak;
    let is_read =
        |stmt: &Stmt, access: &Access, elements| matches!(stmt, Stmt::Load { .. }) && is_vector(access, elements);
    let is_other = |stmt: &Stmt, access: &Access, elements| match stmt {
        Stmt::Load { .. } => access.order != MemoryOrder::Weak || size(access, elements) < 4,
        Stmt::Store { .. } => !is_vector(access, elements),
        _ => true,
    };
    any_shared(function, is_read)
        && !any_shared(function, is_other)
        && !any_statement(function, |stmt| matches!(stmt, Stmt::Fence(_)))
}

/// Whether a store to shared memory writes less than a word, which takes compare-and-swap of the word.
pub(super) fn has_shared_parts(function: &Function, word_bytes: usize) -> bool {
    any_shared(function, |stmt, access, elements| {
        !matches!(stmt, Stmt::Load { .. }) && usize::from(access.bytes) * elements < word_bytes
    })
}

/// Whether some access to shared memory satisfies a predicate of statement, access and number of elements.
fn any_shared(function: &Function, is_wanted: impl Fn(&Stmt, &Access, usize) -> bool) -> bool {
    any_statement(function, |stmt| {
        let (access, elements) = match stmt {
            Stmt::Load { access, results, .. } => (access, results.len()),
            Stmt::Store { access, values, .. } => (access, values.len()),
            Stmt::Atomic(atomic) => (&atomic.access, 1),
            _ => return false,
        };
        access.space == Space::Shared && is_wanted(stmt, access, elements)
    })
}

/// Whether some statement of a function satisfies a predicate.
fn any_statement(function: &Function, is_wanted: impl Fn(&Stmt) -> bool) -> bool {
    let mut lists = vec![function.body.as_slice()];
    while let Some(list) = lists.pop() {
        for stmt in list {
            lists.extend(stmt.lists().map(Vec::as_slice));
            if is_wanted(stmt) {
                return true;
            }
        }
    }
    false
}

/// Whether a statement of a function orders memory accesses of several threads.
pub(super) fn orders_memory(function: &Function) -> bool {
    let orders = |order| !matches!(order, MemoryOrder::Weak | MemoryOrder::Relaxed(_));
    any_statement(function, |stmt| match stmt {
        Stmt::Barrier(_) | Stmt::Fence(_) | Stmt::Subgroup(_, SubgroupOp::Barrier) => true,
        Stmt::Load { access, .. } | Stmt::Store { access, .. } => orders(access.order),
        Stmt::Atomic(atomic) => orders(atomic.access.order),
        _ => false,
    })
}
