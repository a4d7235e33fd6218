//! 64-bit atomics, and 64-bit accesses with a memory order, on targets that have none: plain accesses while a lock is
//! held.
//!
//! Accesses of 128 bits, which no device has, take the same locks ([`hold_lock`]).
//!
//! The lock is a word of a table, chosen by the address. For global memory the table lies in the module's allocation, for shared memory in
//! words of the translator's own. All accesses that must be single-copy atomic take the lock, loads too, so no thread sees half of one.
//! Weak accesses and accesses of another size take no lock: PTX calls these a race.
//!
//! An access holds one lock at a time, for a few instructions, and releases the lock in the same loop iteration that took it. So the
//! invocations of a subgroup that run in lockstep all make progress. An invocation waits for others only while they hold the lock. This
//! needs a device that keeps running an invocation that it has started, and GPUs do.

use crate::diagnostic::Diagnostic;
use crate::ir::{
    Access, Atomic, AtomicOp, Block, Builder, Builtin, Compare, Function, MemoryOrder, Op, OwnShared, Rewritten, Scope,
    Space, Stmt, Type, Value, Var, any_stmt, locks, rewrite,
};
use crate::policy::Memory;

use crate::opt::expand_generic;

/// Locks for the shared memory of a block.
const SHARED_LOCKS: u32 = 16;

/// Replaces 64-bit accesses that the target can't do atomically. `table` is where the locks for global memory begin in
/// the module's allocation, which is zero at first.
///
/// # Errors
/// Internal: there is such an access to global memory and no table.
pub fn lock_long_accesses(function: &mut Function, memory: &Memory, table: Option<u64>) -> Result<(), Diagnostic> {
    let is_replaced = |space, access: &Access| {
        // Read-only memory can't be seen half written.
        access.bytes == 8 && !access.read_only && access.space == space && !is_native(memory, space)
    };
    let [global, shared] = [Space::Global, Space::Shared].map(|space| !is_native(memory, space));
    if !global && !shared {
        return Ok(());
    }
    let is_generic = any_strong(&function.body, &|access| access.bytes == 8 && access.space == Space::Generic);
    if is_generic {
        expand_generic(function);
    }
    let [has_global, has_shared, has_local] = [Space::Global, Space::Shared, Space::Local]
        .map(|space| any_strong(&function.body, &|access| is_replaced(space, access)));
    if has_global && table.is_none() {
        return Err(Diagnostic::internal("a 64-bit atomic without locks", None));
    }
    if !has_global && !has_shared && !has_local {
        return Ok(());
    }
    let locks =
        Locks { table: table.unwrap_or_default(), shared: has_shared.then(|| function.take_shared(SHARED_LOCKS)) };
    rewrite(function, |b, stmt| match stmt {
        Stmt::Atomic(atomic) if is_replaced(atomic.access.space, &atomic.access) => locks.atomic(b, atomic),
        Stmt::Load { results, access, address }
            if is_replaced(access.space, access) && access.order != MemoryOrder::Weak =>
        {
            locks.load(b, results, *access, *address)
        }
        Stmt::Store { values, access, address }
            if is_replaced(access.space, access) && access.order != MemoryOrder::Weak =>
        {
            locks.store(b, values, *access, *address)
        }
        _ => Rewritten::Kept,
    });
    if let Some(shared) = locks.shared {
        release_all(function, shared);
    }
    Ok(())
}

/// Whether the target accesses 64 bits of a space atomically. No other thread sees local memory.
fn is_native(memory: &Memory, space: Space) -> bool {
    match space {
        Space::Global | Space::Generic => memory.global_long_atomics,
        Space::Shared => memory.shared_long_atomics,
        Space::Local => memory.int64,
    }
}

/// Whether `is_wanted` holds for some atomic, or some access with a memory order.
fn any_strong(block: &Block, is_wanted: &impl Fn(&Access) -> bool) -> bool {
    any_stmt(block, &|stmt| match stmt {
        Stmt::Load { access, .. } | Stmt::Store { access, .. } => {
            access.order != MemoryOrder::Weak && is_wanted(access)
        }
        Stmt::Atomic(atomic) => is_wanted(&atomic.access),
        _ => false,
    })
}

/// Frees the locks of shared memory at the start.
fn release_all(function: &mut Function, locks: OwnShared) {
    let body = std::mem::take(&mut function.body);
    let b = Builder::new(function);
    b.if_(b.is_zero(b.builtin(Builtin::InvocationIndex)), |b| {
        let zero = b.i32(0);
        let access = Access { space: Space::Shared, bytes: 4, order: MemoryOrder::Weak, read_only: false };
        for first in (0..SHARED_LOCKS).step_by(4) {
            b.store(access, b.own_shared(locks, 4 * first), vec![zero; 4]);
        }
    });
    b.barrier();
    b.append(body);
    b.finish();
}

struct Locks {
    /// Offset in the module's allocation of the locks for global memory.
    table: u64,
    shared: Option<OwnShared>,
}

impl Locks {
    fn atomic(&self, b: &Builder<'_>, atomic: &Atomic) -> Rewritten {
        let plain = Access { order: MemoryOrder::Weak, ..atomic.access };
        let found = b.var(Type::I64);
        self.hold(b, atomic.access, atomic.address, |b| {
            let old = b.load_one(plain, atomic.address);
            let new = changed(b, atomic, old);
            b.store(plain, atomic.address, vec![new]);
            b.set(found, old);
        });
        if let Some(result) = atomic.result {
            b.push(Stmt::Let(result, Op::Get(found)));
        }
        Rewritten::Replaced
    }

    /// Loads each element by itself: PTX promises no more.
    fn load(&self, b: &Builder<'_>, results: &[Value], access: Access, address: Value) -> Rewritten {
        let plain = Access { order: MemoryOrder::Weak, ..access };
        let mut found: Vec<Var> = Vec::new();
        for (_, offset) in results.iter().zip((0u64..).step_by(8)) {
            let address = b.add_const(address, offset);
            let var = b.var(Type::I64);
            self.hold(b, access, address, |b| {
                b.set(var, b.load_one(plain, address));
            });
            found.push(var);
        }
        for (result, var) in results.iter().zip(found) {
            b.push(Stmt::Let(*result, Op::Get(var)));
        }
        Rewritten::Replaced
    }

    fn store(&self, b: &Builder<'_>, values: &[Value], access: Access, address: Value) -> Rewritten {
        let plain = Access { order: MemoryOrder::Weak, ..access };
        for (value, offset) in values.iter().zip((0u64..).step_by(8)) {
            let address = b.add_const(address, offset);
            self.hold(b, access, address, |b| b.store(plain, address, vec![*value]));
        }
        Rewritten::Replaced
    }

    /// Runs what `critical` appends while the lock for an address is held. Local memory needs no lock, since no other
    /// thread sees it.
    fn hold(&self, b: &Builder<'_>, access: Access, address: Value, critical: impl FnOnce(&Builder<'_>)) {
        match (access.space, self.shared) {
            (Space::Global | Space::Generic, _) => locks::hold_in_table(b, self.table, address, critical),
            (Space::Shared, Some(shared)) => {
                let first = b.own_shared(shared, 0);
                let offset = b.shl(b.and_const(locks::number(b, address), u64::from(SHARED_LOCKS) - 1), 2);
                locks::hold(b, Space::Shared, Scope::Cta, b.add(first, offset), critical);
            }
            _ => critical(b),
        }
    }
}

/// The new value of 64 bits.
fn changed(b: &Builder<'_>, atomic: &Atomic, old: Value) -> Value {
    let operand = atomic.operand;
    let keep_if = |compare, x, y| {
        let keep = b.compare(compare, x, y);
        b.select(keep, old, operand)
    };
    match atomic.op {
        AtomicOp::MinUnsigned => keep_if(Compare::LessUnsigned, old, operand),
        AtomicOp::MaxUnsigned => keep_if(Compare::LessUnsigned, operand, old),
        AtomicOp::MinSigned => keep_if(Compare::LessSigned, old, operand),
        AtomicOp::MaxSigned => keep_if(Compare::LessSigned, operand, old),
        AtomicOp::CompareExchange => keep_if(Compare::NotEqual, old, atomic.compare.unwrap_or(old)),
        AtomicOp::Add => b.add(old, operand),
        AtomicOp::And => b.and(old, operand),
        AtomicOp::Or => b.or(old, operand),
        AtomicOp::Xor => b.xor(old, operand),
        AtomicOp::FAdd => {
            let [x, y] = [old, operand].map(|bits| b.bitcast(bits, Type::F64));
            b.bits(b.fadd(x, y))
        }
        // The other operations are on fewer bits.
        AtomicOp::Exchange | AtomicOp::Increment | AtomicOp::Decrement | AtomicOp::Half(..) => operand,
    }
}
