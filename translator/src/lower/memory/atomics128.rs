//! Atomics on 128 bits, and 128-bit accesses with a memory order or `.volatile` (PTX sections 9.7.9 and 9.7.13). No Vulkan device has them,
//! so four words are accessed while a lock is held.
//!
//! All 128-bit accesses that must be single-copy atomic take the lock. Concurrent weak accesses and accesses of another size are a race in
//! PTX.

use crate::decode::program::{Instruction, Operand};
use crate::diagnostic::{Diagnostic, Result};
use crate::ir::{Access, Builder, MemoryOrder, Scope, Space, Type, Value, Var, locks};
use crate::isa::word::Word;
use crate::lower::lowering::Lowering;

/// A space and an address there.
type SpaceAddress = (Space, Value);

/// `atom.exch.b128` and `atom.cas.b128`, which give the old content.
pub fn atomic(l: &mut Lowering<'_, '_>, i: &Instruction, place: SpaceAddress) -> Result {
    let operand = l.source128(l.operand(i, 2))?;
    let (new, expected) =
        if i.modifiers.has(Word::Cas) { (l.source128(l.operand(i, 3))?, Some(operand)) } else { (operand, None) };
    let old = exchange(l, i, place, |b, old| match expected {
        Some(expected) => {
            let [low, high] = [0, 1].map(|half| b.eq(old[half], expected[half]));
            let is_expected = b.and(low, high);
            Some([0, 1].map(|half| b.select(is_expected, new[half], old[half])))
        }
        None => Some(new),
    })?;
    assign(l, l.operand(i, 0), old)
}

/// `ld` with a memory order.
pub fn load(l: &mut Lowering<'_, '_>, i: &Instruction, place: SpaceAddress, destination: &Operand) -> Result {
    let found = exchange(l, i, place, |_, _| None)?;
    assign(l, destination, found)
}

/// `st` with a memory order.
pub fn store(l: &mut Lowering<'_, '_>, i: &Instruction, place: SpaceAddress, source: &Operand) -> Result {
    let new = l.source128(source)?;
    exchange(l, i, place, |_, _| Some(new)).map(|_| ())
}

fn assign(l: &mut Lowering<'_, '_>, destination: &Operand, halves: [Var; 2]) -> Result {
    let [low, high] = halves.map(|half| l.b.get(half));
    l.assign128(destination, low, high)
}

/// Atomically reads 128 bits and writes the result of `change`. Gives variables with the old halves.
fn exchange(
    l: &Lowering<'_, '_>,
    i: &Instruction,
    place: SpaceAddress,
    change: impl FnOnce(&Builder<'_>, [Value; 2]) -> Option<[Value; 2]>,
) -> Result<[Var; 2]> {
    let table = l.layout.services.locks.ok_or_else(|| Diagnostic::internal("128 bits without locks", i.span))?;
    // The words have a memory order, so that the analysis of waiting loops sees a loop that waits for another thread's
    // value.
    let order = MemoryOrder::Relaxed(Scope::Device);
    let (space, address) = place;
    let word = Access { space, bytes: 4, order, read_only: false };
    let found = [(); 2].map(|()| l.b.var(Type::I64));
    locks::hold_in_table(&l.b, table, address, |b| {
        let addresses = [0, 4, 8, 12].map(|offset| b.add_const(address, offset));
        let words = addresses.map(|address| b.load_one(word, address));
        let old = [b.join(words[0], words[1]), b.join(words[2], words[3])];
        for (var, half) in found.into_iter().zip(old) {
            b.set(var, half);
        }
        if let Some(new) = change(b, old) {
            for (half, addresses) in new.into_iter().zip(addresses.chunks(2)) {
                let high = b.shr(half, 32);
                for (part, address) in [half, high].into_iter().zip(addresses) {
                    b.store(word, *address, vec![b.truncate(part)]);
                }
            }
        }
    });
    Ok(found)
}
