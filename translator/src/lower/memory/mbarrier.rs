//! `mbarrier` (PTX section 9.7.12.15): barriers in shared memory that count arrivals and pending bytes of copies.
//!
//! The layout of the 64 bits is opaque in PTX. Here they hold, from bit 0: the pending arrivals (20 bits), the arrivals that a phase
//! expects (20 bits), the parity of the phase (1 bit), two unused bits, and on top the pending bytes (21 bits, two's complement), whose
//! carries get lost. So every operation is one addition. The thread whose addition leaves neither arrivals nor bytes pending ends the phase
//! by a second addition. Until then no thread may arrive for the next phase, because no thread has seen that this phase is complete. The
//! state that `arrive` returns is the content before the arrival.

use crate::ast::StateSpace;
use crate::decode::program::{Base, Instruction, Operand};
use crate::diagnostic::{Diagnostic, Result};
use crate::ir::{Access, Atomic, AtomicOp, Compare, MemoryOrder, Scope, Space, Type, Value};
use crate::isa::types::ScalarType;
use crate::isa::word::Word;
use crate::lower::lowering::Lowering;
use crate::lower::memory::cluster;
use crate::lower::memory::guard;
use crate::lower::memory::variable_address;
use ptx2spv_target::CheckedAccess;

/// Width of a count of arrivals.
const COUNT_BITS: u32 = 20;
/// Position of the expected arrivals.
const EXPECTED: u32 = COUNT_BITS;
/// Position of the phase.
const PHASE: u32 = 2 * COUNT_BITS;
/// Position of the pending bytes.
const BYTES: u32 = 43;

const COUNT_MASK: u64 = (1 << COUNT_BITS) - 1;

const fn access(order: MemoryOrder) -> Access {
    Access { space: Space::Shared, bytes: 8, order, read_only: false }
}

/// The offset in shared memory that an operand means. An address in a register may be a generic one, whose lower half counts.
pub fn shared_address(l: &mut Lowering<'_, '_>, i: &Instruction, index: usize) -> Result<Value> {
    let Operand::Address(base, offset) = *l.operand(i, index) else {
        return Err(Diagnostic::internal("an access without an address", i.span));
    };
    let address = match base {
        Base::Reg(register) => {
            let register = l.register(register)?;
            let low = l.narrow(register);
            l.b.add_const(low, offset.cast_unsigned())
        }
        Base::Absolute => cluster::own_address(&l.b, offset as u32),
        Base::Variable(id) | Base::Element { variable: id, .. }
            if l.program.variables.at(id).is_some_and(|known| known.space != StateSpace::Shared) =>
        {
            return Err(Diagnostic::invalid("this variable is not in shared memory", i.span));
        }
        Base::Variable(_) | Base::Element { .. } | Base::Param(_) => {
            let address = variable_address(l, base, offset)?;
            l.narrow(address)
        }
    };
    Ok(l.b.shared_offset(address))
}

pub fn init(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let address = shared_address(l, i, 0)?;
    let count = l.int(i, 1, ScalarType::U32)?;
    let count = l.b.and_const(l.b.zero_extend(count), COUNT_MASK);
    let word = l.b.or(count, l.b.shl(count, EXPECTED));
    let (address, _) = guard::word(l, CheckedAccess::Write, address);
    l.b.store(access(MemoryOrder::Relaxed(Scope::Cta)), address, vec![word]);
    Ok(())
}

/// `mbarrier.expect_tx` and `mbarrier.complete_tx`
pub fn count_bytes(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let address = shared_address(l, i, 0)?;
    let bytes = l.int(i, 1, ScalarType::U32)?;
    if i.modifiers.has(Word::CompleteTx) {
        complete(l, address, bytes);
    } else {
        let bytes = positioned(l, bytes);
        add(l, address, bytes, MemoryOrder::Relaxed(Scope::Cta));
    }
    Ok(())
}

/// Subtracts copied bytes from the pending bytes.
pub fn complete(l: &mut Lowering<'_, '_>, address: Value, bytes: Value) {
    let bytes = positioned(l, bytes);
    change(l, address, l.b.neg(bytes));
}

fn positioned(l: &mut Lowering<'_, '_>, bytes: Value) -> Value {
    l.b.shl(l.b.zero_extend(bytes), BYTES)
}

/// `mbarrier.arrive` and `mbarrier.arrive_drop`
pub fn arrive(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let address = shared_address(l, i, 1)?;
    let expects = i.modifiers.has(Word::ExpectTx);
    let count = match l.operand(i, 2) {
        Operand::Sink => l.b.i32(1),
        _ if expects => l.b.i32(1),
        _ => l.int(i, 2, ScalarType::U32)?,
    };
    let count = l.b.zero_extend(count);
    let mut less = count;
    if i.modifiers.has(Word::ArriveDrop) {
        less = l.b.add(less, l.b.shl(count, EXPECTED));
    }
    let mut delta = l.b.neg(less);
    if expects {
        let bytes = l.int(i, 2, ScalarType::U32)?;
        let bytes = positioned(l, bytes);
        delta = l.b.add(delta, bytes);
    }
    let old = change(l, address, delta);
    l.set(i, 0, ScalarType::B64, old)
}

/// `cp.async.mbarrier.arrive`: the copies are complete, so the arrival happens now. Without `.noinc` the arrival also adds one to the
/// pending arrivals, so the count doesn't change; the operation only orders the copies.
pub fn arrive_for_copies(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let address = shared_address(l, i, 0)?;
    if i.modifiers.has(Word::Noinc) {
        change(l, address, l.b.i64(u64::MAX));
    } else {
        add(l, address, l.b.i64(0), MemoryOrder::AcquireRelease(Scope::Cta));
    }
    Ok(())
}

/// Adds to the barrier and gives its old content.
fn add(l: &mut Lowering<'_, '_>, address: Value, delta: Value, order: MemoryOrder) -> Value {
    let (address, _) = guard::word(l, CheckedAccess::Atomic, address);
    let old = l.b.value(Type::I64);
    l.b.atomic(Atomic {
        result: Some(old),
        op: AtomicOp::Add,
        access: access(order),
        address,
        operand: delta,
        compare: None,
    });
    old
}

/// As [`add`], and ends the phase if this completes it. Earlier writes are visible to threads that observe the end of
/// the phase.
fn change(l: &mut Lowering<'_, '_>, address: Value, delta: Value) -> Value {
    let order = MemoryOrder::AcquireRelease(Scope::Cta);
    let old = add(l, address, delta, order);
    let new = l.b.add(old, delta);
    let pending = l.b.and_const(new, COUNT_MASK | u64::MAX << BYTES);
    let done = l.b.is_zero(pending);
    let expected = l.b.and_const(l.b.shr(new, EXPECTED), COUNT_MASK);
    // Flip the bit of the phase by an addition.
    let twice = l.b.shl(l.b.and_const(new, 1 << PHASE), 1);
    let flip = l.b.sub(l.b.i64(1 << PHASE), twice);
    let next = l.b.add(expected, flip);
    let outer = l.b.take_block();
    add(l, address, next, order);
    let then = l.b.replace_block(outer);
    l.b.push(crate::ir::Stmt::If { condition: done, then, otherwise: Vec::new() });
    old
}

/// `mbarrier.test_wait` and `mbarrier.try_wait`, which doesn't block here, since loops around it let other threads run.
pub fn test(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let address = shared_address(l, i, 1)?;
    let (address, inside) = guard::word(l, CheckedAccess::Read, address);
    let now = l.b.load_one(access(MemoryOrder::Acquire(Scope::Cta)), address);
    let now = phase(l, now);
    let tested = if i.modifiers.has(Word::Parity) {
        let parity = l.int(i, 2, ScalarType::U32)?;
        l.b.and_const(parity, 1)
    } else {
        let state = l.int(i, 2, ScalarType::B64)?;
        phase(l, state)
    };
    let complete = l.b.compare(Compare::NotEqual, now, tested);
    // A thread doesn't wait for what isn't there.
    l.set(i, 0, ScalarType::Pred, l.b.or(complete, l.b.not(inside)))
}

fn phase(l: &mut Lowering<'_, '_>, word: Value) -> Value {
    l.b.and_const(l.b.truncate(l.b.shr(word, PHASE)), 1)
}

pub fn pending_count(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let state = l.int(i, 1, ScalarType::B64)?;
    l.set(i, 0, ScalarType::U32, l.b.and_const(l.b.truncate(state), COUNT_MASK))
}
