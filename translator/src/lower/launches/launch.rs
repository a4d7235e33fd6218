//! Launches: parameter buffers, which are parts of records, and the fields that make a record a launch; streams and
//! events.

use super::site::{OWN, Site, error, is_global, store_long, store_words};
use crate::ir::{Builder, Compare, Value};
use crate::lower::device_words::{WORD, fetch_add};
use crate::lower::layout::launch_region::LaunchRegion;
use ptx2spv_interface::launches::{self, FUNCTION_BYTES, Function, Kind, record};

/// CUDA's limits: blocks of a grid in x, and in y and z; threads of a block; of these in z.
const MAX_GRID: u64 = i32::MAX as u64;
const MAX_GRID_YZ: u64 = 65_535;
const MAX_BLOCK: u64 = 1024;
const MAX_BLOCK_Z: u64 = 64;
/// Stream handles from here on are handles of graphs.
const GRAPH_STREAMS: u64 = 1 << 48;

/// The configuration of a launch.
pub struct Shape {
    pub grid: [Value; 3],
    pub block: [Value; 3],
    pub shared: Value,
}

/// The address of a kernel's entry in the table, and whether the table has one.
pub(super) fn function(b: &Builder<'_>, site: &Site, kernel: Value) -> (Value, Value) {
    // A function's address is sixteen times its number plus one.
    let number = b.add_const(b.shr(kernel, 4), u64::MAX);
    let known = b.compare_const(Compare::LessUnsigned, number, site.region.functions.into());
    let offset = b.mul_const(b.select(known, number, b.i64(0)), FUNCTION_BYTES);
    let table = site.address(b, LaunchRegion::TABLE);
    let place = b.add(table, offset);
    let kernel = word(b, place, Function::Number);
    (place, b.and(known, b.is_nonzero(kernel)))
}

/// A word of a function's entry in the table.
pub(super) fn word(b: &Builder<'_>, place: Value, word: Function) -> Value {
    b.load_one(OWN, b.add_const(place, word.offset()))
}

/// Whether a kernel takes launches of a shape.
fn fits(b: &Builder<'_>, place: Value, shape: &Shape) -> Value {
    let mut fine = b.bool(true);
    let within = |b: &Builder<'_>, size: Value, most: u64| {
        // Sizes must be at least 1.
        b.compare_const(Compare::LessUnsigned, b.add_const(size, u64::from(u32::MAX)), most)
    };
    let limits = [MAX_GRID, MAX_GRID_YZ, MAX_GRID_YZ, MAX_BLOCK, MAX_BLOCK, MAX_BLOCK_Z];
    for (size, most) in shape.grid.into_iter().chain(shape.block).zip(limits) {
        let inside = within(b, size, most);
        fine = b.and(fine, inside);
    }
    // The product can't overflow if each factor is within its limit.
    let [x, y, z] = shape.block;
    let row = b.mul(x, y);
    let threads = b.mul(row, z);
    let most = word(b, place, Function::MaxThreads);
    let inside = b.ule(threads, most);
    fine = b.and(fine, inside);
    let required = [Function::RequiredX, Function::RequiredY, Function::RequiredZ];
    for (size, required) in shape.block.into_iter().zip(required) {
        let required = word(b, place, required);
        let any = b.is_zero(required);
        let same = b.eq(size, required);
        let right = b.or(any, same);
        fine = b.and(fine, right);
    }
    let declared = word(b, place, Function::SharedBytes);
    let limit = word(b, place, Function::SharedLimit);
    let little = b.ule(shape.shared, limit);
    let inside = b.and(little, b.ule(b.add(declared, shape.shared), limit));
    b.and(fine, inside)
}

/// Allocates a record: gives its address, or zero if none is left.
pub(super) fn take(b: &Builder<'_>, site: &Site) -> Value {
    let capacity: u64 = site.region.capacity.into();
    let used = site.address(b, launches::USED);
    // Once all records are taken the count isn't increased, so that it can't overflow.
    let open = b.compare_const(Compare::LessUnsigned, b.load_one(WORD, used), capacity);
    let number = b.choose(open, |b| fetch_add(b, used, b.i32(1)), |b| b.i32(u32::MAX));
    let taken = b.compare_const(Compare::LessUnsigned, number, capacity);
    b.choose(
        taken,
        |b| {
            let offset = b.mul_const(b.zero_extend(number), site.region.record_bytes.into());
            let first = site.address(b, site.region.records());
            let place = b.add(first, offset);
            store_words(b, place, &[(record::ORDER, b.i32(0))]);
            place
        },
        |b| b.i64(0),
    )
}

/// Gives a record its kind and stream, and the next place in the order of requests.
pub(super) fn ask(b: &Builder<'_>, site: &Site, place: Value, kind: Kind, stream: Value) {
    let order = site.address(b, launches::ORDER);
    let before = fetch_add(b, order, b.i32(1));
    let number = b.add_const(before, 1);
    let (low, high) = b.halves(stream);
    let kind = b.i32(kind as u32);
    store_words(
        b,
        place,
        &[(record::ORDER, number), (record::KIND, kind), (record::STREAM, low), (record::STREAM + 4, high)],
    );
}

/// Writes the configuration of a launch.
fn describe(b: &Builder<'_>, place: Value, function: Value, shape: &Shape) {
    let number = b.add_const(word(b, function, Function::Number), u64::from(u32::MAX));
    let mut words = vec![(record::KERNEL, number), (record::DYNAMIC_SHARED, shape.shared)];
    for (i, offset) in [0, 4, 8].into_iter().enumerate() {
        words.extend([(record::GRID + offset, shape.grid[i]), (record::BLOCK + offset, shape.block[i])]);
    }
    store_words(b, place, &words);
}

/// The address of a record's parameters, or zero without a record, which sets the error for that.
fn parameters(b: &Builder<'_>, site: &Site, place: Value) -> Value {
    let taken = b.is_nonzero(place);
    let fine = site.first_error(b, &[(taken, error::TOO_MANY_LAUNCHES)]);
    site.give(b, fine);
    b.select(taken, b.add_const(place, record::PARAMS), b.i64(0))
}

/// The error that keeps a kernel from being launched.
fn launch_error(b: &Builder<'_>, site: &Site, (place, known): (Value, Value), shape: &Shape) -> Value {
    let fits = fits(b, place, shape);
    site.first_error(b, &[(known, error::INVALID_FUNCTION), (fits, error::INVALID_CONFIGURATION)])
}

/// `cudaGetParameterBufferV2`: zero if such a launch is impossible.
pub fn buffer(b: &Builder<'_>, site: &Site, kernel: Value, shape: &Shape) -> Value {
    let function = function(b, site, kernel);
    let error = launch_error(b, site, function, shape);
    let fine = b.is_zero(error);
    b.choose(
        fine,
        |b| {
            let place = take(b, site);
            b.if_(b.is_nonzero(place), |b| describe(b, place, function.0, shape));
            parameters(b, site, place)
        },
        |b| {
            site.give(b, error);
            b.i64(0)
        },
    )
}

/// `cudaGetParameterBuffer`: zero if there is no room.
pub fn sized_buffer(b: &Builder<'_>, site: &Site, alignment: Value, size: Value) -> Value {
    let room = u64::from(site.region.record_bytes) - record::PARAMS;
    let fits = b.compare_const(Compare::LessEqualUnsigned, size, room);
    let aligned = b.compare_const(Compare::LessEqualUnsigned, alignment, 64);
    let fine = b.and(fits, aligned);
    b.choose(
        fine,
        |b| {
            let place = take(b, site);
            parameters(b, site, place)
        },
        |b| {
            site.give(b, b.i32(error::INVALID_VALUE));
            b.i64(0)
        },
    )
}

/// The record that a parameter buffer belongs to, and whether it exists and isn't launched yet.
fn record_of(b: &Builder<'_>, site: &Site, buffer: Value) -> (Value, Value) {
    let first = site.address(b, site.region.records());
    let place = b.add_const(buffer, record::PARAMS.wrapping_neg());
    let offset = b.sub(place, first);
    let size = u64::from(site.region.capacity) * u64::from(site.region.record_bytes);
    let inside = b.compare_const(Compare::LessUnsigned, offset, size);
    let rest = b.rem_unsigned_const(offset, site.region.record_bytes.into());
    let inside = b.and(inside, b.is_zero(rest));
    let place = b.select(inside, place, first);
    let order = b.load_one(OWN, b.add_const(place, record::ORDER));
    (place, b.and(inside, b.is_zero(order)))
}

fn is_stream(b: &Builder<'_>, stream: Value) -> Value {
    b.compare_const(Compare::LessUnsigned, stream, GRAPH_STREAMS)
}

/// `cudaLaunchDeviceV2`
pub fn launch(b: &Builder<'_>, site: &Site, buffer: Value, stream: Value) -> Value {
    let (place, ready) = record_of(b, site, buffer);
    let known = is_stream(b, stream);
    let error = site.first_error(b, &[(ready, error::INVALID_VALUE), (known, error::INVALID_VALUE)]);
    b.if_(b.is_zero(error), |b| ask(b, site, place, Kind::Kernel, stream));
    error
}

/// `cudaLaunchDevice`: without a buffer for a kernel without parameters.
pub fn launch_kernel(
    b: &Builder<'_>,
    site: &Site,
    kernel: Value,
    (buffer, stream): (Value, Value),
    shape: &Shape,
) -> Value {
    let function = function(b, site, kernel);
    let error = launch_error(b, site, function, shape);
    let fine = b.is_zero(error);
    b.choose(
        fine,
        |b| {
            let given = b.is_nonzero(buffer);
            let own = |b: &Builder<'_>| {
                let place = take(b, site);
                let params = b.add_const(place, record::PARAMS);
                b.select(b.is_nonzero(place), params, place)
            };
            let buffer = b.choose(given, |_| buffer, own);
            let there = b.is_nonzero(buffer);
            b.choose(
                there,
                |b| {
                    let (place, ready) = record_of(b, site, buffer);
                    b.if_(ready, |b| describe(b, place, function.0, shape));
                    launch(b, site, buffer, stream)
                },
                |b| b.i32(error::TOO_MANY_LAUNCHES),
            )
        },
        |_| error,
    )
}

/// `cudaStreamCreateWithFlags`
pub fn new_stream(b: &Builder<'_>, site: &Site, place: Value, flags: Value) -> Value {
    // `cudaStreamDefault` and `cudaStreamNonBlocking` are the same here.
    new_handle(b, site, place, b.compare_const(Compare::LessEqualUnsigned, flags, 1))
}

/// `cudaEventCreateWithFlags`
pub fn new_event(b: &Builder<'_>, site: &Site, place: Value, flags: Value) -> Value {
    // `cudaEventDisableTiming`
    new_handle(b, site, place, b.compare_const(Compare::Equal, flags, 2))
}

/// Writes a new handle, if the flags for it are known.
fn new_handle(b: &Builder<'_>, site: &Site, place: Value, known: Value) -> Value {
    let given = b.is_nonzero(place);
    let error = site.first_error(b, &[(given, error::INVALID_VALUE), (known, error::INVALID_VALUE)]);
    b.if_(b.is_zero(error), |b| {
        let before = fetch_add(b, site.address(b, launches::HANDLES), b.i32(1));
        let handle = b.add_const(b.shl(b.zero_extend(before), 4), launches::FIRST_HANDLE);
        store_long(b, place, handle);
    });
    error
}

/// `cudaStreamDestroy`, `cudaEventDestroy`: streams and events that kernels create need no cleanup.
pub fn check_handle(b: &Builder<'_>, handle: Value) -> Value {
    let made = b.compare_const(Compare::LessUnsigned, handle, launches::FIRST_HANDLE);
    let [none, wrong] = [error::SUCCESS, error::INVALID_VALUE].map(|code| b.i32(code));
    b.select(made, wrong, none)
}

/// `cudaEventRecord`, `cudaStreamWaitEvent`: requests run one after the other anyway, in the order of the calls.
pub fn check_event(b: &Builder<'_>, event: Value, stream: Value) -> Value {
    let error = check_handle(b, event);
    // Tail launches and fire-and-forget launches have no order.
    let tail = b.compare_const(Compare::Equal, stream, launches::TAIL_STREAM);
    let forgotten = b.compare_const(Compare::Equal, stream, launches::TAIL_STREAM + 1);
    b.select(b.or(tail, forgotten), b.i32(error::INVALID_VALUE), error)
}

/// The error that keeps memory from being copied or set.
pub(super) fn memory_error(b: &Builder<'_>, site: &Site, addresses: &[Value], stream: Value) -> Value {
    let mut global = b.bool(true);
    for address in addresses {
        let given = is_global(b, *address);
        global = b.and(global, given);
    }
    let known = is_stream(b, stream);
    site.first_error(b, &[(global, error::INVALID_VALUE), (known, error::INVALID_VALUE)])
}
