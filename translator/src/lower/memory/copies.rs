//! Asynchronous copies (PTX section 9.7.9.24). They complete immediately or when the thread waits for any group, which PTX allows.

use crate::decode::program::{Base, Instruction, Operand};
use crate::diagnostic::{Diagnostic, Result};
use crate::ir::{Access, Atomic, Binary, Builder, Compare, MemoryOrder, Scope, Space, Type, Value, Var};
use crate::isa::types::ScalarType;
use crate::isa::word::Word;
use crate::lower::lowering::Lowering;
use crate::lower::memory::atomics;
use crate::lower::memory::cluster;
use crate::lower::memory::guard;
use crate::lower::memory::mbarrier::{self, shared_address};
use ptx2spv_target::CheckedAccess;

/// An access of words of 4 bytes.
const fn words_in(space: Space) -> Access {
    Access { space, bytes: 4, order: MemoryOrder::Weak, read_only: false }
}

/// The address in device memory that operand number `index` means.
pub fn global_address(l: &mut Lowering<'_, '_>, i: &Instruction, index: usize) -> Result<Value> {
    let operand = l.operand(i, index);
    device_address(l, i, operand)
}

/// The address in device memory that an operand means.
pub fn device_address(l: &mut Lowering<'_, '_>, i: &Instruction, operand: &Operand) -> Result<Value> {
    let Operand::Address(base, offset) = *operand else {
        return Err(Diagnostic::internal("an access without an address", i.span));
    };
    match base {
        Base::Reg(register) => {
            let register = l.register(register)?;
            let wide = if l.b.type_of(register) == Type::I32 { l.b.zero_extend(register) } else { register };
            Ok(l.b.add_const(wide, offset.cast_unsigned()))
        }
        Base::Absolute => Ok(l.b.i64(offset.cast_unsigned())),
        Base::Variable(_) | Base::Element { .. } | Base::Param(_) => {
            crate::lower::memory::variable_address(l, base, offset)
        }
    }
}

/// `cp.async`: 4, 8 or 16 bytes from device to shared memory; bytes beyond the source size become zero.
pub fn copy(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let from = global_address(l, i, 1)?;
    let size = match (l.operand(i, 2), i.modifiers.has(Word::Cg)) {
        (Operand::Imm(16), _) => 16,
        (Operand::Imm(size @ (4 | 8)), false) => *size,
        (_, true) => return Err(Diagnostic::invalid("`cp.async.cg` copies 16 bytes", i.span)),
        _ => return Err(Diagnostic::invalid("`cp.async` copies 4, 8 or 16 bytes", i.span)),
    };
    let given = match l.operand(i, 3) {
        Operand::Sink => l.b.constant(Type::I32, size),
        Operand::Reg(register) if l.register_type(*register)? != ScalarType::Pred => l.int(i, 3, ScalarType::U32)?,
        Operand::Imm(_) | Operand::Sum(..) => l.int(i, 3, ScalarType::U32)?,
        _ => {
            let ignored = l.int(i, 3, ScalarType::Pred)?;
            let (none, all) = (l.b.i32(0), l.b.constant(Type::I32, size));
            l.b.select(ignored, none, all)
        }
    };
    let to = shared_address(l, i, 0)?;
    let to = inside(l, to, size);
    let copies = l.frame.pending_copies.clone();
    let pending = copies.as_ref().and_then(|copies| Some((copies, copies.at(i.span)?)));
    if let Some((_, copy)) = pending {
        copy.complete(&l.b);
    }
    let words = source_words(&l.b, from, given, size);
    match pending {
        Some((copies, copy)) => copies.begin(&l.b, copy, to, &words),
        None => l.b.store(words_in(Space::Shared), to, words),
    }
    Ok(())
}

/// The words of a copy of `size` bytes, of which only the first `given` are read.
fn source_words(b: &Builder<'_>, from: Value, given: Value, size: u64) -> Vec<Value> {
    let count = usize::try_from(size / 4).unwrap_or(1);
    if b.known(given) == Some(size) {
        return b.load(words_in(Space::Global), from, count);
    }
    let vars: Vec<Var> = (0..count).map(|_| b.var(Type::I32)).collect();
    let is_whole = b.compare_const(Compare::Equal, given, size);
    let whole = |b: &Builder<'_>| {
        let words = b.load(words_in(Space::Global), from, count);
        vars.iter().zip(words).for_each(|(var, word)| b.set(*var, word));
    };
    let part = |b: &Builder<'_>| {
        for (offset, var) in (0..size).step_by(4).zip(&vars) {
            b.set(*var, partial_word(b, b.add_const(from, offset), given, offset));
        }
    };
    b.if_else(is_whole, whole, part);
    vars.iter().map(|var| b.get(*var)).collect()
}

/// The address of `size` bytes of shared memory. If they aren't inside, the address is noted, and is replaced by the first one. There is no
/// branch, over which compilers would not move the loads of several copies together.
fn inside(l: &mut Lowering<'_, '_>, address: Value, size: u64) -> Value {
    let end = guard::end(l);
    let inside = guard::is_inside(&l.b, address, l.b.constant(Type::I32, size), end);
    let Some(var) = l.frame.copied_outside.filter(|_| l.b.known(inside) != Some(1)) else { return address };
    let noted = l.b.select(inside, l.b.get(var), l.b.add_const(address, 1));
    l.b.set(var, noted);
    l.b.select(inside, address, l.b.i32(0))
}

/// `cp.async.commit_group`, and `cp.async.wait_group` and `cp.async.wait_all`, which complete copies, and report an
/// address that they have noted. The end of a kernel reports as well.
pub fn awaited(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    if !i.modifiers.has(Word::CommitGroup) {
        let but = match i.operands.first() {
            Some(&Operand::Imm(groups)) => Some(u32::try_from(groups).unwrap_or(u32::MAX)),
            _ => None,
        };
        complete(l, but);
    } else if let Some(copies) = l.frame.pending_copies.clone() {
        copies.commit(&l.b);
    }
    Ok(())
}

/// Completes all pending copies, or those of all groups but the last ones.
fn complete(l: &mut Lowering<'_, '_>, but: Option<u32>) {
    if let Some(copies) = l.frame.pending_copies.clone() {
        copies.complete(&l.b, but);
    }
    if let Some(noted) = l.frame.copied_outside {
        guard::report_noted(&l.b, l.layout, noted);
    }
}

/// `cp.async.mbarrier.arrive`
pub fn arrive(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    complete(l, None);
    mbarrier::arrive_for_copies(l, i)
}

/// Copies bytes by accesses that are as wide as possible.
fn move_all(b: &Builder<'_>, from: Value, to: Value, size: u64) {
    let elements = usize::try_from(size / 4).unwrap_or(1);
    let values = b.load(words_in(Space::Global), from, elements);
    b.store(words_in(Space::Shared), to, values);
}

/// The word at `offset` of a source of which only the first `given` bytes may be read; the other bytes are zero.
pub fn partial_word(b: &Builder<'_>, source: Value, given: Value, offset: u64) -> Value {
    let whole = b.compare(Compare::LessEqualUnsigned, b.constant(Type::I32, offset + 4), given);
    b.choose(
        whole,
        |b| b.load_one(words_in(Space::Global), source),
        |b| {
            let mut word = b.i32(0);
            for byte in 0..3 {
                let there = b.compare(Compare::LessUnsigned, b.constant(Type::I32, offset + byte), given);
                let source = b.add_const(source, byte);
                let value = b.choose(
                    there,
                    |b| b.load_one(Access { bytes: 1, ..words_in(Space::Global) }, source),
                    |b| b.i32(0),
                );
                word = b.or(word, b.binary_const(Binary::Shl, value, 8 * byte));
            }
            word
        },
    )
}

/// Runs `what` for the offset of each piece of `size` bytes.
pub fn for_each(b: &Builder<'_>, size: Value, piece: u32, what: impl FnOnce(&Builder<'_>, Value)) {
    let next = b.var(Type::I32);
    b.set(next, b.i32(0));
    b.loop_(|b| {
        let offset = b.get(next);
        let inside = b.compare(Compare::LessUnsigned, offset, size);
        b.if_else(inside, |_| {}, Builder::break_);
        what(b, offset);
        b.set(next, b.add_const(offset, piece.into()));
    });
}

/// `cp.async.bulk` from device to shared memory: a multiple of 16 bytes, which an mbarrier counts.
pub fn bulk_load(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let to = shared_address(l, i, 0)?;
    let from = global_address(l, i, 1)?;
    let size = l.int(i, 2, ScalarType::U32)?;
    let barrier = shared_address(l, i, 3)?;
    load_all(l, from, to, size);
    mbarrier::complete(l, barrier, size);
    Ok(())
}

/// The same without the first and last bytes that the instruction says may lie outside of an allocation. The content of
/// their place is then left open by PTX.
pub fn bulk_load_within(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let to = shared_address(l, i, 0)?;
    let from = global_address(l, i, 1)?;
    let size = l.int(i, 2, ScalarType::U32)?;
    let left = l.int(i, 3, ScalarType::U32)?;
    let right = l.int(i, 4, ScalarType::U32)?;
    let barrier = shared_address(l, i, 5)?;
    let end = l.b.sub(size, right);
    guard::if_inside(l, CheckedAccess::Write, (to, size, 16), |b| {
        for_each(b, size, 4, |b, offset| {
            // Words that have a byte of what is copied. An allocation may end within a word, but doesn't begin there.
            let is_after = b.compare(Compare::LessUnsigned, left, b.add_const(offset, 4));
            let is_before = b.compare(Compare::LessUnsigned, offset, end);
            let is_within = b.and(is_after, is_before);
            b.if_(is_within, |b| {
                let source = b.add(from, b.zero_extend(offset));
                let target = b.add(to, offset);
                let given = b.sub(end, offset);
                let word = partial_word(b, source, given, 0);
                b.store(words_in(Space::Shared), target, vec![word]);
            });
        });
    });
    mbarrier::complete(l, barrier, size);
    Ok(())
}

/// The same as [`bulk_load`] to each block of the cluster whose bit is set in a mask: to the same offset in its shared memory, counted
/// by its mbarrier.
pub fn bulk_multicast(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let to = shared_address(l, i, 0)?;
    let from = global_address(l, i, 1)?;
    let size = l.int(i, 2, ScalarType::U32)?;
    let barrier = shared_address(l, i, 3)?;
    let mask = l.int(i, 4, ScalarType::B16)?;
    cluster::multicast(l, mask, to, (barrier, cluster::Barrier::Own), |l, [to, barrier]| {
        load_all(l, from, to, size);
        mbarrier::complete(l, barrier, size);
    });
    Ok(())
}

fn load_all(l: &mut Lowering<'_, '_>, from: Value, to: Value, size: Value) {
    guard::if_inside(l, CheckedAccess::Write, (to, size, 16), |b| {
        for_each(b, size, 16, |b, offset| {
            let target = b.add(to, offset);
            move_all(b, b.add(from, b.zero_extend(offset)), target, 16);
        });
    });
}

/// `cp.async.bulk` from shared memory to that of another block of the cluster, whose mbarrier counts the copy.
pub fn bulk_exchange(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let to = shared_address(l, i, 0)?;
    let from = shared_address(l, i, 1)?;
    let size = l.int(i, 2, ScalarType::U32)?;
    let barrier = shared_address(l, i, 3)?;
    let end = guard::end(l);
    let from_inside = guard::is_inside(&l.b, from, size, end);
    guard::if_inside(l, CheckedAccess::Write, (to, size, 16), |b| {
        let copy = |b: &Builder<'_>| {
            for_each(b, size, 16, |b, offset| {
                let source = b.add(from, offset);
                let values = b.load(words_in(Space::Shared), source, 4);
                b.store(words_in(Space::Shared), b.add(to, offset), values);
            });
        };
        b.if_else(from_inside, copy, |b| guard::report(b, CheckedAccess::Read, from, 16, end));
    });
    mbarrier::complete(l, barrier, size);
    Ok(())
}

/// `cp.async.bulk` from shared to device memory; with `.cp_mask` only the bytes of each 16 whose bits are set in a
/// mask.
pub fn bulk_store(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let mask = match (i.modifiers.has(Word::CpMask), i.modifiers.has(Word::L2CacheHint)) {
        (false, _) => None,
        (true, hint) => Some(l.int(i, 3 + usize::from(hint), ScalarType::B16)?),
    };
    let to = global_address(l, i, 0)?;
    let from = shared_address(l, i, 1)?;
    let size = l.int(i, 2, ScalarType::U32)?;
    guard::if_inside(l, CheckedAccess::Read, (from, size, 16), |b| {
        for_each(b, size, 16, |b, offset| {
            let source = b.add(from, offset);
            let values = b.load(words_in(Space::Shared), source, 4);
            let target = b.add(to, b.zero_extend(offset));
            match mask {
                None => b.store(words_in(Space::Global), target, values),
                Some(mask) => store_masked(b, target, &values, mask),
            }
        });
    });
    Ok(())
}

/// Stores the bytes of words whose bits are set in `mask` to device memory.
fn store_masked(b: &Builder<'_>, target: Value, values: &[Value], mask: Value) {
    for (number, &word) in (0..).zip(values) {
        let bits = b.and_const(b.shr(mask, 4 * number), 0xf);
        let whole = b.compare_const(Compare::Equal, bits, 0xf);
        let target = b.add_const(target, (4 * number).into());
        b.if_else(
            whole,
            |b| b.store(words_in(Space::Global), target, vec![word]),
            |b| {
                for byte in 0..4 {
                    b.if_(b.is_nonzero(b.and_const(bits, 1 << byte)), |b| {
                        let target = b.add_const(target, byte.into());
                        let value = b.shr(word, 8 * byte);
                        b.store(Access { bytes: 1, ..words_in(Space::Global) }, target, vec![value]);
                    });
                }
            },
        );
    }
}

/// `cp.reduce.async.bulk` from shared to device memory, or to shared memory of the cluster, where an mbarrier counts the copy: one relaxed
/// atomic for each element, or for each pair of 16-bit elements.
pub fn bulk_reduce(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let ty = i.ty(0)?;
    let op = atomics::operation(i, ty)?;
    let barrier = if i.modifiers.has(Word::BulkGroup) { None } else { Some(shared_address(l, i, 3)?) };
    let to = if barrier.is_some() { shared_address(l, i, 0)? } else { global_address(l, i, 0)? };
    let from = shared_address(l, i, 1)?;
    let size = l.int(i, 2, ScalarType::U32)?;
    let bytes = u8::try_from(ty.bytes()).unwrap_or(4).max(4);
    let order = MemoryOrder::Relaxed(Scope::Device);
    let space = if barrier.is_some() { Space::Shared } else { Space::Global };
    let reduce = |b: &Builder<'_>| {
        for_each(b, size, bytes.into(), |b, offset| {
            let source = b.add(from, offset);
            let operand = b.load_one(Access { bytes, ..words_in(Space::Shared) }, source);
            let offset = if space == Space::Global { b.zero_extend(offset) } else { offset };
            let address = b.add(to, offset);
            let access = Access { space, bytes, order, read_only: false };
            b.atomic(Atomic { result: None, op, access, address, operand, compare: None });
        });
    };
    let end = guard::end(l);
    let to_inside = if space == Space::Shared { guard::is_inside(&l.b, to, size, end) } else { l.b.bool(true) };
    guard::if_inside(l, CheckedAccess::Read, (from, size, bytes.into()), |b| {
        b.if_else(to_inside, reduce, |b| guard::report(b, CheckedAccess::Atomic, to, bytes.into(), end));
    });
    if let Some(barrier) = barrier {
        mbarrier::complete(l, barrier, size);
    }
    Ok(())
}

/// `st.bulk`: zeros to a multiple of 8 bytes of shared memory.
pub fn bulk_zeros(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let to = shared_address(l, i, 0)?;
    let size = l.int(i, 1, ScalarType::U64)?;
    let size = l.b.truncate(size);
    if *l.operand(i, 2) != Operand::Imm(0) {
        return Err(Diagnostic::invalid("`st.bulk` stores zeros", i.span));
    }
    guard::if_inside(l, CheckedAccess::Write, (to, size, 8), |b| {
        for_each(b, size, 8, |b, offset| {
            b.store(words_in(Space::Shared), b.add(to, offset), vec![b.i32(0); 2]);
        });
    });
    Ok(())
}
