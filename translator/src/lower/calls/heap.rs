//! The heap of `malloc` and `free`: lock-free, since threads of one warp can't wait for each other's locks.
//!
//! The heap has a few arenas, each with granules of one size, a bitmap of the granules in use, and a table of allocations. An allocation is
//! a run of up to 32 granules whose bits lie in one word, so that a single compare-and-swap takes it and a single atomic frees it. The
//! table's entry for its first granule holds the requested size plus one; all other entries are zero. The heap's own data lies apart from
//! the granules. `malloc` fails if no arena has a free run. [`arenas`] has the layout.

use crate::ir::{Access, Atomic, AtomicOp, Builder, Compare, MemoryOrder, Scope, Type, Value, Var};
use crate::lower::device_words::WORD;
use ptx2spv_interface::heap::{Arena, arenas};
use ptx2spv_interface::{MemoryRegion, push_constant};
use ptx2spv_target::Fault;

fn base(b: &Builder<'_>, region: MemoryRegion) -> Value {
    b.add_const(b.push_constant(Type::I64, push_constant::VARIABLES_ADDRESS), region.offset)
}

/// `malloc`: zero if there is no room.
pub(crate) fn allocate(b: &Builder<'_>, region: MemoryRegion, size: Value) -> Value {
    allocate_at(b, region, size, None)
}

/// Memory at a multiple of `align`, which is a power of two: zero if it is none, or if there is no room.
pub(crate) fn allocate_aligned(b: &Builder<'_>, region: MemoryRegion, size: Value, align: Value) -> Value {
    let low = b.sub_const(align, 1);
    let common = b.and(align, low);
    let power = b.and(b.is_zero(common), b.is_nonzero(align));
    b.choose(power, |b| allocate_at(b, region, size, Some(low)), |b| b.i64(0))
}

/// Memory at an address that has none of the bits in `low`: zero if there is no room.
fn allocate_at(b: &Builder<'_>, region: MemoryRegion, size: Value, low: Option<Value>) -> Value {
    let base = base(b, region);
    let found = b.var(Type::I64);
    b.set(found, b.i64(0));
    for arena in &arenas(region.size) {
        let room = 32_u64 << arena.shift;
        let missing = b.is_zero(b.get(found));
        let fits = b.compare_const(Compare::LessUnsigned, size, room);
        b.if_(b.and(missing, fits), |b| {
            take(b, arena, base, b.truncate(size), low, found);
        });
    }
    b.get(found)
}

/// A mask with a low bit for each of the 1 to 32 granules in a run for `size` bytes, and the right shift of all ones
/// that gives this mask.
fn run(b: &Builder<'_>, size: Value, shift: Value) -> (Value, Value) {
    // One byte more than requested, so that an access just after the end doesn't hit another allocation.
    let last = b.shr_by(size, shift);
    let rest = b.sub(b.i32(31), last);
    (b.shr_by(b.i32(u32::MAX), rest), rest)
}

/// The number and the address of a granule, by a word of the bitmap and the bit in that.
fn place(b: &Builder<'_>, arena: &Arena, base: Value, word: Value, bit: Value) -> (Value, Value) {
    let granule = b.zero_extend(b.add(b.shl(word, 5), bit));
    let memory = b.add(base, b.shl(granule, arena.shift));
    (granule, b.add_const(memory, arena.granules))
}

/// Searches an arena for a run of granules for `size` bytes at an address without the bits in `low`, and sets `found` to it.
fn take(b: &Builder<'_>, arena: &Arena, base: Value, size: Value, low: Option<Value>, found: Var) {
    let (word, bit) = (b.var(Type::I32), b.var(Type::I32));
    let zero = b.i32(0);
    b.set(word, zero);
    b.set(bit, zero);
    let (ones, rest) = run(b, size, b.i32(arena.shift));
    b.loop_(|b| {
        let index = b.get(word);
        let more = b.compare_const(Compare::LessUnsigned, index, arena.words.into());
        b.if_(b.not(more), Builder::break_);
        let offset = b.shl(b.zero_extend(index), 2);
        let address = b.add_const(b.add(base, offset), arena.bitmap);
        let used = b.load_one(WORD, address);
        let position = b.get(bit);
        let mask = b.shl_by(ones, position);
        let clash = b.and(used, mask);
        let free = b.is_zero(clash);
        let (granule, memory) = place(b, arena, base, index, position);
        let suits = match low {
            Some(low) => {
                let odd = b.and(memory, low);
                b.and(free, b.is_zero(odd))
            }
            None => free,
        };
        b.if_else(
            suits,
            |b| {
                let taken = b.or(used, mask);
                let seen = b.value(Type::I32);
                let access = Access { order: MemoryOrder::AcquireRelease(Scope::Device), ..WORD };
                b.atomic(Atomic {
                    result: Some(seen),
                    op: AtomicOp::CompareExchange,
                    access,
                    address,
                    operand: taken,
                    compare: Some(used),
                });
                // If another thread was faster, try the same position again.
                let won = b.eq(seen, used);
                b.if_(won, |b| {
                    let entry = b.add_const(b.add(base, b.shl(granule, 2)), arena.sizes);
                    b.store(WORD, entry, vec![b.add_const(size, 1)]);
                    b.set(found, memory);
                    b.break_();
                });
            },
            |b| {
                // On to the next position in the word, or to the next word.
                let next = b.add_const(position, 1);
                let last = b.compare(Compare::LessUnsigned, rest, next);
                let last = b.or(last, b.compare_const(Compare::Equal, used, u64::from(u32::MAX)));
                b.set(bit, b.select(last, zero, next));
                b.set(word, b.add(index, b.bool_to(Type::I32, last)));
            },
        );
    });
}

/// `free`: does nothing for a null pointer. A pointer that `malloc` didn't return, or that is already freed, is reported and otherwise
/// ignored.
pub(crate) fn free(b: &Builder<'_>, region: MemoryRegion, pointer: Value) {
    let base = base(b, region);
    b.if_(b.is_nonzero(pointer), |b| {
        let freed = b.var(Type::Bool);
        b.set(freed, b.bool(false));
        let Granule { exists, number, shift, bitmap, sizes } = granule(b, base, pointer, region.size);
        b.if_(exists, |b| {
            let offset = b.shl(b.zero_extend(number), 2);
            let address = b.add(b.add(base, offset), sizes);
            // Of two threads that free the same memory, only one gets the size.
            let entry = b.value(Type::I32);
            let operand = b.i32(0);
            b.atomic(Atomic {
                result: Some(entry),
                op: AtomicOp::Exchange,
                access: WORD,
                address,
                operand,
                compare: None,
            });
            b.if_(b.is_nonzero(entry), |b| {
                let (ones, _) = run(b, b.sub_const(entry, 1), shift);
                let kept = b.not(b.shl_by(ones, b.and_const(number, 31)));
                let offset = b.shl(b.zero_extend(b.shr(number, 5)), 2);
                let address = b.add(b.add(base, offset), bitmap);
                // Earlier writes to this memory happen before writes of its next owner.
                let access = Access { order: MemoryOrder::Release(Scope::Device), ..WORD };
                b.atomic(Atomic { result: None, op: AtomicOp::And, access, address, operand: kept, compare: None });
                b.set(freed, b.bool(true));
            });
        });
        b.if_(b.not(b.get(freed)), |b| b.report(Fault::InvalidFree));
    });
}

/// The granule at an address.
struct Granule {
    /// Whether a granule begins at the address.
    exists: Value,
    /// Its number in the arena.
    number: Value,
    /// Base-2 logarithm of its bytes.
    shift: Value,
    /// Offset of the bitmap in the region.
    bitmap: Value,
    /// Offset of the table of allocations in the region.
    sizes: Value,
}

fn granule(b: &Builder<'_>, base: Value, address: Value, bytes: u64) -> Granule {
    let (exists, number, zero) = (b.bool(false), b.i32(0), b.i64(0));
    let mut found = Granule { exists, number, shift: number, bitmap: zero, sizes: zero };
    let offset = b.sub(address, base);
    for arena in &arenas(bytes) {
        let within = b.sub_const(offset, arena.granules);
        let inside = b.compare_const(Compare::LessUnsigned, within, u64::from(arena.words) << (arena.shift + 5));
        let even = b.is_zero(b.and_const(within, (1 << arena.shift) - 1));
        let exists = b.and(inside, even);
        let number = b.shr(b.truncate(within), arena.shift);
        let (shift, bitmap, sizes) = (b.i32(arena.shift), b.i64(arena.bitmap), b.i64(arena.sizes));
        found = Granule {
            exists: b.or(found.exists, exists),
            number: b.select(exists, number, found.number),
            shift: b.select(exists, shift, found.shift),
            bitmap: b.select(exists, bitmap, found.bitmap),
            sizes: b.select(exists, sizes, found.sizes),
        };
    }
    found
}
