//! The heap behind `malloc` and `free`: exact, and without locks, which threads of one warp could not wait for.
//!
//! It is a few arenas, each with granules of one size and a bitmap of the granules in use. An allocation is a run of up to
//! 32 granules whose bits lie in one word, so that a single compare-and-swap takes it and a single atomic gives it back.
//! The first granule begins with a header that says which run it is. Where no arena has such a run, there is no memory.

use crate::interface::{Region, push_constant};
use crate::ir::{Access, Atomic, AtomicOp, Builder, Compare, Order, Scope, Space, Type, Value};

/// Granules of one size.
struct Arena {
    /// Base-2 logarithm of a granule's bytes.
    shift: u32,
    /// Words of the bitmap, each for 32 granules.
    words: u32,
    /// Where the bitmap begins in the region.
    bitmap: u64,
    /// Where the granules begin in the region.
    granules: u64,
}

/// Allocations of up to 1 KiB, 32 KiB and 1 MiB with their headers. Together they take 7 MiB and their bitmaps, less than
/// the 8 MiB that the region has.
const ARENAS: [Arena; 3] = [
    Arena { shift: 5, words: 2048, bitmap: 0, granules: 1 << 20 },
    Arena { shift: 10, words: 64, bitmap: 2048 * 4, granules: 3 << 20 },
    Arena { shift: 15, words: 3, bitmap: 2112 * 4, granules: 5 << 20 },
];
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

/// `free`: nothing for a null pointer.
pub(super) fn free(b: &mut Builder<'_>, region: Region, pointer: Value) {
    let base = base(b, region);
    let given = b.is_nonzero(pointer);
    b.if_(given, |b| {
        let header = b.sub_const(pointer, HEADER);
        let run = b.load_one(OWN, header);
        let address = b.add_const(header, 4);
        let mask = b.load_one(OWN, address);
        let number = b.and_const(run, 0xff);
        let index = b.shr(run, 8);
        let mut bitmap = b.i64(0);
        for (candidate, arena) in (0_u64..).zip(&ARENAS) {
            let this = b.compare_const(Compare::Equal, number, candidate);
            let start = b.i64(arena.bitmap);
            bitmap = b.select(this, start, bitmap);
        }
        let offset = b.zero_extend(index);
        let offset = b.shl(offset, 2);
        let address = b.add(base, offset);
        let address = b.add(address, bitmap);
        let kept = b.not(mask);
        // What was written here happens before whoever gets the memory next writes.
        let access = Access { order: Order::Release(Scope::Device), ..COMMON };
        b.atomic(Atomic { result: None, op: AtomicOp::And, access, address, operand: kept, compare: None });
    });
}
