//! Replaces accesses to less than 32 bits by accesses to the enclosing words: for global memory where the target has no narrow accesses,
//! and for any memory where the kernel has atomics on 16 bits, which change whole words.
//!
//! A store becomes a loop around compare-and-swap, since another thread may be writing the rest of the word. A load of memory that may be
//! written reads the word atomically, because another thread may be executing such a loop on it. Allocations end at multiples of words.

use crate::ir::{
    Access, Atomic, AtomicOp, Block, Builder, Function, MemoryOrder, Op, Rewritten, Scope, Space, Stmt, Type, Value,
    Var, any_stmt, rewrite,
};

/// Replaces narrow accesses. Runs after generic accesses are expanded and before atomics are.
pub fn expand_narrow_memory(function: &mut Function, has_narrow_global: bool) {
    let global = !has_narrow_global;
    let changed = [Space::Global, Space::Shared].map(|space| has_narrow_atomics(&function.body, space));
    let lacks = |access: &Access, elements: usize| {
        let replaced = match access.space {
            Space::Global => global || changed[0],
            Space::Shared => changed[1],
            Space::Local | Space::Generic => false,
        };
        replaced && usize::from(access.bytes) * elements < 4
    };
    rewrite(function, |b, stmt| match stmt {
        Stmt::Load { results, access, address } if lacks(access, results.len()) => {
            let bits = 8 * u32::from(access.bytes);
            let part = Part::of(b, *address, bits * results.len() as u32);
            let order = if access.read_only { access.order } else { strong(access.order) };
            let whole = b.load_one(Access { bytes: 4, order, ..*access }, part.word);
            let both = part.extract(b, whole);
            for (result, place) in results.iter().zip(0..) {
                let element = b.and_const(b.shr(both, place * bits), (1 << bits) - 1);
                let var = b.var(Type::I32);
                b.set(var, element);
                b.push(Stmt::Let(*result, Op::Get(var)));
            }
            Rewritten::Replaced
        }
        Stmt::Store { values, access, address } if lacks(access, values.len()) => {
            let bits = 8 * u32::from(access.bytes);
            let part = Part::of(b, *address, bits * values.len() as u32);
            let mut both = b.i32(0);
            for (value, place) in values.iter().zip(0..) {
                let element = b.shl(b.and_const(*value, (1 << bits) - 1), place * bits);
                both = b.or(both, element);
            }
            let word = Access { bytes: 4, order: strong(access.order), ..*access };
            swap_loop(b, word, part.word, |b, whole| part.insert(b, whole, both));
            Rewritten::Replaced
        }
        _ => Rewritten::Kept,
    });
}

fn has_narrow_atomics(block: &Block, space: Space) -> bool {
    let is_narrow = |access: &Access| access.space == space && access.bytes < 4;
    any_stmt(block, &|stmt| matches!(stmt, Stmt::Atomic(atomic) if is_narrow(&atomic.access)))
}

/// A memory order that is at least relaxed, since other blocks may access the same word.
fn strong(order: MemoryOrder) -> MemoryOrder {
    if order == MemoryOrder::Weak { MemoryOrder::Relaxed(Scope::Device) } else { order }
}

/// Less than 32 bits of memory inside of an aligned word.
#[derive(Clone, Copy)]
pub(crate) struct Part {
    /// Address of the word.
    pub(crate) word: Value,
    /// Number of the part's first bit in the word.
    shift: Value,
    bits: u32,
}

impl Part {
    /// The part of `bits` bits at an address that is a multiple of the part's size.
    pub(crate) fn of(b: &Builder<'_>, address: Value, bits: u32) -> Part {
        let word = b.and_const(address, !3);
        let byte = b.and_const(address, 3);
        let byte = if b.type_of(byte) == Type::I64 { b.truncate(byte) } else { byte };
        Part { word, shift: b.shl(byte, 3), bits }
    }

    /// The part of a word, zero-extended.
    pub(crate) fn extract(self, b: &Builder<'_>, whole: Value) -> Value {
        b.and_const(b.shr_by(whole, self.shift), (1 << self.bits) - 1)
    }

    /// A word with the part replaced by a number of as many bits.
    pub(crate) fn insert(self, b: &Builder<'_>, whole: Value, value: Value) -> Value {
        let hole = b.not(b.shl_by(b.i32((1 << self.bits) - 1), self.shift));
        b.or(b.and(whole, hole), b.shl_by(value, self.shift))
    }
}

/// Atomically replaces a word of 32 or 64 bits by the result of `change`; gives the variable that holds the old value.
pub(crate) fn swap_loop(
    b: &Builder<'_>,
    access: Access,
    address: Value,
    change: impl FnOnce(&Builder<'_>, Value) -> Value,
) -> Var {
    let ty = if access.bytes == 8 { Type::I64 } else { Type::I32 };
    let found = b.var(ty);
    let content = b.load_one(Access { order: access.order.relaxed(), ..access }, address);
    b.set(found, content);
    b.loop_(|b| {
        let expected = b.get(found);
        let operand = change(b, expected);
        let old = b.value(ty);
        let op = AtomicOp::CompareExchange;
        b.atomic(Atomic { result: Some(old), op, access, address, operand, compare: Some(expected) });
        b.set(found, old);
        b.if_(b.eq(old, expected), Builder::break_);
    });
    found
}
