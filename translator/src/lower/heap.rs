//! The heap behind `malloc` and `free`: exact, and without locks, which threads of one warp could not wait for.
//!
//! It is a few arenas, each with granules of one size and a bitmap of the granules in use. An allocation is a run of up to
//! 32 granules whose bits lie in one word, so that a single compare-and-swap takes it and a single atomic gives it back.
//! The first granule begins with a header that says which run it is. Where no arena has such a run, there is no memory.
//! [`ARENAS`] has the layout.

use crate::interface::heap::{ARENAS, Arena};
use crate::interface::{Fault, Region, push_constant};
use crate::ir::{Access, Atomic, AtomicOp, Builder, Compare, Order, Scope, Space, Type, Value};

/// Bytes before the memory that the program gets, which is aligned to as many.
const HEADER: u64 = 16;

const COMMON: Access =
    Access { space: Space::Global, bytes: 4, order: Order::Relaxed(Scope::Device), read_only: false };
const OWN: Access = Access { space: Space::Global, bytes: 4, order: Order::Weak, read_only: false };

fn base(b: &mut Builder<'_>, region: Region) -> Value {
    let base = b.push_constant(Type::I64, push_constant::VARIABLES_ADDRESS);
    b.add_const(base, region.offset)
}

/// `malloc`: zero if there is no room.
pub(super) fn allocate(b: &mut Builder<'_>, region: Region, size: Value) -> Value {
    let base = base(b, region);
    let found = b.var(Type::I64);
    let nothing = b.i64(0);
    b.set(found, nothing);
    for (number, arena) in (0..).zip(&ARENAS) {
        let most = (32_u64 << arena.shift) - HEADER;
        let missing = b.get(found);
        let missing = b.is_zero(missing);
        let most = b.i64(most);
        let fits = b.compare(Compare::LessEqualUnsigned, size, most);
        let wanted = b.and(missing, fits);
        b.if_(wanted, |b| {
            let bytes = b.truncate(size);
            let bytes = b.add_const(bytes, HEADER + (1 << arena.shift) - 1);
            let count = b.shr(bytes, arena.shift);
            take(b, arena, number, base, count, found);
        });
    }
    b.get(found)
}

/// Looks through an arena for a run of `count` granules, 1 to 32, and sets `found` to the memory in it.
fn take(b: &mut Builder<'_>, arena: &Arena, number: u32, base: Value, count: Value, found: crate::ir::Var) {
    let (word, bit) = (b.var(Type::I32), b.var(Type::I32));
    let zero = b.i32(0);
    b.set(word, zero);
    b.set(bit, zero);
    // `count` ones: all of them shifted down.
    let rest = {
        let all = b.i32(32);
        b.sub(all, count)
    };
    let ones = b.i32(u32::MAX);
    let ones = b.shr_by(ones, rest);
    b.loop_(|b| {
        let index = b.get(word);
        let more = b.compare_const(Compare::LessUnsigned, index, arena.words.into());
        let ended = b.not(more);
        b.if_(ended, Builder::break_);
        let offset = b.zero_extend(index);
        let offset = b.shl(offset, 2);
        let address = b.add(base, offset);
        let address = b.add_const(address, arena.bitmap);
        let used = b.load_one(COMMON, address);
        let position = b.get(bit);
        let mask = b.shl_by(ones, position);
        let clash = b.and(used, mask);
        let free = b.is_zero(clash);
        b.if_else(
            free,
            |b| {
                let taken = b.or(used, mask);
                let seen = b.function.value(Type::I32);
                let access = Access { order: Order::AcquireRelease(Scope::Device), ..COMMON };
                b.atomic(Atomic {
                    result: Some(seen),
                    op: AtomicOp::CompareExchange,
                    access,
                    address,
                    operand: taken,
                    compare: Some(used),
                });
                // If somebody else was faster, the same place is looked at again.
                let won = b.eq(seen, used);
                b.if_(won, |b| {
                    let granule = b.shl(index, 5);
                    let granule = b.add(granule, position);
                    let bytes = b.zero_extend(granule);
                    let bytes = b.shl(bytes, arena.shift);
                    let memory = b.add(base, bytes);
                    let memory = b.add_const(memory, arena.granules);
                    let run = b.shl(index, 8);
                    let run = b.add_const(run, u64::from(number));
                    for (offset, value) in [(0, run), (4, mask)] {
                        let address = b.add_const(memory, offset);
                        b.store(OWN, address, vec![value]);
                    }
                    let memory = b.add_const(memory, HEADER);
                    b.set(found, memory);
                    b.break_();
                });
            },
            |b| {
                // On to the next place in the word, or to the next word.
                let next = b.add_const(position, 1);
                let last = b.compare(Compare::LessUnsigned, rest, next);
                let full = b.compare_const(Compare::Equal, used, u64::from(u32::MAX));
                let last = b.or(last, full);
                let start = b.select(last, zero, next);
                b.set(bit, start);
                let step = b.bool_to(Type::I32, last);
                let index = b.add(index, step);
                b.set(word, index);
            },
        );
    });
}

/// `free`: nothing for a null pointer. What `malloc` didn't give, or what was given back already, is reported and left as it
/// is.
pub(super) fn free(b: &mut Builder<'_>, region: Region, pointer: Value) {
    let base = base(b, region);
    let given = b.is_nonzero(pointer);
    b.if_(given, |b| {
        let freed = b.var(Type::Bool);
        let no = b.bool(false);
        b.set(freed, no);
        let header = b.sub_const(pointer, HEADER);
        let Granule { exists, number, index, position, bitmap } = granule(b, base, header);
        b.if_(exists, |b| {
            let offset = b.zero_extend(index);
            let offset = b.shl(offset, 2);
            let address = b.add(base, offset);
            let bits = b.add(address, bitmap);
            let one = b.i32(1);
            let first = b.shl_by(one, position);
            let used = b.load_one(COMMON, bits);
            let used = b.and(used, first);
            let taken = b.is_nonzero(used);
            b.if_(taken, |b| {
                // The header says the same as its address, and the run begins with the header.
                let run = b.load_one(OWN, header);
                let address = b.add_const(header, 4);
                let mask = b.load_one(OWN, address);
                let expected = b.shl(index, 8);
                let expected = b.or(expected, number);
                let same = b.eq(run, expected);
                let lowest = {
                    let zero = b.i32(0);
                    let negative = b.sub(zero, mask);
                    b.and(mask, negative)
                };
                let begins = b.eq(lowest, first);
                let valid = b.and(same, begins);
                b.if_(valid, |b| {
                    let kept = b.not(mask);
                    // What was written here happens before whoever gets the memory next writes.
                    let access = Access { order: Order::Release(Scope::Device), ..COMMON };
                    let used = b.function.value(Type::I32);
                    b.atomic(Atomic {
                        result: Some(used),
                        op: AtomicOp::And,
                        access,
                        address: bits,
                        operand: kept,
                        compare: None,
                    });
                    let used = b.and(used, mask);
                    let all = b.eq(used, mask);
                    b.set(freed, all);
                });
            });
        });
        let freed = b.get(freed);
        let fails = b.not(freed);
        b.if_(fails, |b| b.report(Fault::InvalidFree));
    });
}

/// A granule, found by its address.
struct Granule {
    /// Whether there is one that begins there.
    exists: Value,
    /// The arena's number.
    number: Value,
    /// The word of its bitmap.
    index: Value,
    /// The bit in the word.
    position: Value,
    /// Where the bitmap begins in the region.
    bitmap: Value,
}

fn granule(b: &mut Builder<'_>, base: Value, address: Value) -> Granule {
    let (exists, number, zero) = (b.bool(false), b.i32(0), b.i64(0));
    let mut found = Granule { exists, number, index: number, position: number, bitmap: zero };
    let offset = b.sub(address, base);
    for (number, arena) in (0..).zip(&ARENAS) {
        let within = b.sub_const(offset, arena.granules);
        let inside = b.compare_const(Compare::LessUnsigned, within, u64::from(arena.words) << (arena.shift + 5));
        let odd = b.and_const(within, (1 << arena.shift) - 1);
        let even = b.is_zero(odd);
        let exists = b.and(inside, even);
        let granule = b.truncate(within);
        let granule = b.shr(granule, arena.shift);
        let (own, index, position) = (b.i32(number), b.shr(granule, 5), b.and_const(granule, 31));
        let bitmap = b.i64(arena.bitmap);
        found = Granule {
            exists: b.or(found.exists, exists),
            number: b.select(exists, own, found.number),
            index: b.select(exists, index, found.index),
            position: b.select(exists, position, found.position),
            bitmap: b.select(exists, bitmap, found.bitmap),
        };
    }
    found
}
