//! Heap memory, the thread's last error, and queries about kernels and the device. Undocumented behaviour, such as which fields stay
//! unwritten, follows an H200.

use super::launch::{function as place_of, word};
use super::site::{ERROR, GENERIC, OWN, Site, clear_error, error, store_long};
use crate::ir::{Builder, Compare, Value};
use crate::lower::calls::heap;
use crate::lower::layout::launch_texts;
use crate::lower::layout::runtime_calls::Which;
use ptx2spv_interface::MemoryRegion;
use ptx2spv_interface::launches::{ATTRIBUTES, Function};

/// The result of `cudaRuntimeGetVersion`.
pub const RUNTIME_VERSION: u32 = 6000;

/// Registers of a thread: Vulkan drivers don't report them, and the host's functions give the same number.
const REGISTERS: u32 = 32;
/// Most threads of a block.
const MAX_THREADS: u64 = 1024;
/// The most shared memory of a block.
const MAX_SHARED: u64 = 227 << 10;

mod attribute {
    pub const THREADS_PER_MULTIPROCESSOR: u64 = 39;
    pub const CAPABILITY_MAJOR: u64 = 75;
    pub const CAPABILITY_MINOR: u64 = 76;
    pub const SHARED_PER_MULTIPROCESSOR: u64 = 81;
    pub const BLOCKS_PER_MULTIPROCESSOR: u64 = 106;
}

/// `cudaMalloc`
pub fn allocate(b: &Builder<'_>, region: MemoryRegion, place: Value, size: Value) -> Value {
    let found = heap::allocate(b, region, size);
    store_long(b, place, found);
    let there = b.is_nonzero(found);
    let [none, wrong] = [error::SUCCESS, error::OUT_OF_MEMORY].map(|code| b.i32(code));
    b.select(there, none, wrong)
}

/// `cudaFree`
pub fn free(b: &Builder<'_>, region: MemoryRegion, pointer: Value) -> Value {
    heap::free(b, region, pointer);
    b.i32(error::SUCCESS)
}

/// `cudaGetLastError`, which clears the error, and `cudaPeekAtLastError`.
pub fn last_error(b: &Builder<'_>, site: &Site, forgets: bool) -> Value {
    let error = b.load_one(ERROR, b.i32(site.last_error));
    if forgets {
        clear_error(b, site.last_error);
    }
    error
}

/// Writes a number through a pointer unless it is null, and gives the error.
pub fn constant(b: &Builder<'_>, site: &Site, place: Value, number: u32) -> Value {
    let given = b.is_nonzero(place);
    let number = b.i32(number);
    b.if_(given, |b| b.store(GENERIC, place, vec![number]));
    site.first_error(b, &[(given, error::INVALID_VALUE)])
}

/// An attribute that every device has.
fn known_attribute(b: &Builder<'_>, site: &Site, number: u64) -> Value {
    b.load_one(OWN, site.address(b, site.region.attributes() + 8 * number + 4))
}

/// `cudaDeviceGetAttribute`
pub fn device(b: &Builder<'_>, site: &Site, place: Value, attribute: Value, device: Value) -> Value {
    let first = b.is_zero(device);
    let given = b.is_nonzero(place);
    let inside = b.compare_const(Compare::LessUnsigned, attribute, ATTRIBUTES.into());
    let number = b.select(inside, attribute, b.i32(0));
    let offset = b.shl(b.zero_extend(number), 3);
    let table = site.address(b, site.region.attributes());
    let entry = b.add(table, offset);
    let known = b.and(inside, b.is_nonzero(b.load_one(OWN, entry)));
    let checks = [(first, error::INVALID_DEVICE), (given, error::INVALID_VALUE), (known, error::INVALID_VALUE)];
    let error = site.first_error(b, &checks);
    b.if_(b.is_zero(error), |b| {
        let value = b.load_one(OWN, b.add_const(entry, 4));
        b.store(GENERIC, place, vec![value]);
    });
    error
}

/// `cudaDeviceGetLimit`
pub fn limit(b: &Builder<'_>, site: &Site, place: Value, limit: Value) -> Value {
    let region = site.region;
    let limits = [
        (0, 1024),
        (1, region.output),
        (2, region.heap),
        (4, region.capacity.into()),
        (5, 64),
        (6, 0),
        (7, MAX_SHARED),
    ];
    let mut value = b.i64(u64::MAX);
    let mut known = b.bool(false);
    for (number, size) in limits {
        let this = b.compare_const(Compare::Equal, limit, number);
        value = b.select(this, b.i64(size), value);
        known = b.or(known, this);
    }
    let given = b.is_nonzero(place);
    b.if_(given, |b| store_long(b, place, value));
    site.first_error(b, &[(given, error::INVALID_VALUE), (known, error::UNSUPPORTED_LIMIT)])
}

/// `cudaFuncGetAttributes`: shared, constant and local memory, most threads, registers, versions of PTX and of the code. Fields that later
/// versions of CUDA have added stay as they are.
pub fn function(b: &Builder<'_>, site: &Site, place: Value, kernel: Value) -> Value {
    let (entry, known) = place_of(b, site, kernel);
    let given = b.is_nonzero(place);
    let writes = b.and(known, given);
    b.if_(writes, |b| {
        let zero = b.i32(0);
        let [shared, local, threads] =
            [Function::SharedBytes, Function::LocalBytes, Function::MaxThreads].map(|which| word(b, entry, which));
        let major = known_attribute(b, site, attribute::CAPABILITY_MAJOR);
        let minor = known_attribute(b, site, attribute::CAPABILITY_MINOR);
        let version = b.add(b.mul_const(major, 10), minor);
        let words = [shared, zero, zero, zero, local, zero, threads, b.i32(REGISTERS), version, version];
        for (offset, value) in (0..).step_by(4).zip(words) {
            b.store(GENERIC, b.add_const(place, offset), vec![value]);
        }
    });
    site.first_error(b, &[(known, error::INVALID_VALUE), (given, error::INVALID_VALUE)])
}

/// `cudaOccupancyMaxActiveBlocksPerMultiprocessor`
pub fn occupancy(b: &Builder<'_>, site: &Site, place: Value, kernel: Value, threads: Value, dynamic: Value) -> Value {
    let (entry, known) = place_of(b, site, kernel);
    let declared = word(b, entry, Function::SharedBytes);
    let zero = b.i32(0);
    let some = b.is_nonzero(threads);
    // Subtract one, so that zero and negative numbers are above the limit too.
    let before = b.add_const(threads, u64::from(u32::MAX));
    let possible = b.compare_const(Compare::LessUnsigned, before, MAX_THREADS);
    let little = b.compare_const(Compare::LessEqualUnsigned, dynamic, MAX_SHARED);
    let possible = b.and(b.and(possible, little), known);
    let count = b.choose(
        possible,
        |b| {
            let padded = b.and_const(b.add_const(threads, 31), !31);
            let [all, shared, most] = [
                attribute::THREADS_PER_MULTIPROCESSOR,
                attribute::SHARED_PER_MULTIPROCESSOR,
                attribute::BLOCKS_PER_MULTIPROCESSOR,
            ]
            .map(|number| known_attribute(b, site, number));
            let by_threads = b.div_unsigned(all, padded);
            let each = b.add(declared, b.truncate(dynamic));
            let by_shared = b.choose(b.is_nonzero(each), |b| b.div_unsigned(shared, each), |_| most);
            let mut least = most;
            for count in [by_threads, by_shared] {
                least = b.minimum(Compare::LessUnsigned, count, least);
            }
            least
        },
        |_| zero,
    );
    let given = b.is_nonzero(place);
    b.if_(given, |b| b.store(GENERIC, place, vec![count]));
    site.first_error(b, &[(given, error::INVALID_VALUE), (some, error::INVALID_VALUE)])
}

/// Address of an error's string.
pub fn error_string(b: &Builder<'_>, site: &Site, error: Value, which: Which) -> Value {
    let known = b.compare_const(Compare::LessUnsigned, error, launch_texts::count().into());
    // Numbers beyond the table use an entry without an error.
    let number = b.zero_extend(b.select(known, error, b.i32(launch_texts::UNUSED)));
    let offset = b.shl(number, 3);
    let table = site.address(b, site.region.texts_offset());
    let entry = b.add_const(b.add(table, offset), 4 * which as u64);
    b.add(table, b.zero_extend(b.load_one(OWN, entry)))
}
