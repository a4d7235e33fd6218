//! Copying and setting memory in the order of streams.

use super::launch;
use super::site::{GENERIC, Site, error, load_long, store_words};
use crate::ir::{Builder, Compare, Value};
use ptx2spv_interface::launches::{Kind, record};

/// `cudaMemcpyDeviceToDevice` and `cudaMemcpyDefault`: all other kinds involve the host's memory.
const KINDS: [u64; 2] = [3, 4];

/// Offsets in `cudaMemcpy3DParms`: for source and destination an array, a position, and a pointer with pitch, width and height; then the
/// extent and the kind.
mod parameters {
    pub const SOURCE: u64 = 0;
    pub const DESTINATION: u64 = 64;
    pub const POSITION: u64 = 8;
    pub const POINTER: u64 = 32;
    pub const PITCH: u64 = 40;
    pub const ROWS: u64 = 56;
    pub const EXTENT: u64 = 128;
    pub const KIND: u64 = 152;
}

/// One side: address, row pitch, slice pitch.
type Side = [Value; 3];

/// Makes the host copy or set bytes. To set them, `from` begins with the byte.
fn record(
    b: &Builder<'_>,
    site: &Site,
    kind: Kind,
    (to, from): (Side, Side),
    extent: [Value; 3],
    stream: Value,
) -> Value {
    let mut empty = b.bool(false);
    for size in extent {
        empty = b.or(empty, b.is_zero(size));
    }
    let addresses = if kind == Kind::Copy { vec![to[0], from[0]] } else { vec![to[0]] };
    let error = launch::memory_error(b, site, &addresses, stream);
    let asks = b.and(b.is_zero(error), b.not(empty));
    b.choose(
        asks,
        |b| {
            let place = launch::take(b, site);
            let taken = b.is_nonzero(place);
            b.if_(taken, |b| {
                let numbers = to.into_iter().chain(from).chain(extent);
                let mut words = Vec::new();
                for (offset, number) in (record::PARAMS..).step_by(8).zip(numbers) {
                    let (low, high) = b.halves(number);
                    words.extend([(offset, low), (offset + 4, high)]);
                }
                store_words(b, place, &words);
                launch::ask(b, site, place, kind, stream);
            });
            site.first_error(b, &[(taken, error::TOO_MANY_LAUNCHES)])
        },
        |_| error,
    )
}

/// The same for copies, which must be within the device's memory.
fn record_copy(
    b: &Builder<'_>,
    site: &Site,
    kind: Value,
    sides: (Side, Side),
    extent: [Value; 3],
    stream: Value,
) -> Value {
    let [device, any] = KINDS.map(|known| b.compare_const(Compare::Equal, kind, known));
    let known = b.or(device, any);
    b.choose(known, |b| record(b, site, Kind::Copy, sides, extent, stream), |b| b.i32(error::INVALID_COPY_DIRECTION))
}

/// `cudaMemcpyAsync`
pub fn copy(
    b: &Builder<'_>,
    site: &Site,
    (to, from): (Value, Value),
    bytes: Value,
    kind: Value,
    stream: Value,
) -> Value {
    let (zero, one) = (b.i64(0), b.i64(1));
    record_copy(b, site, kind, ([to, zero, zero], [from, zero, zero]), [bytes, one, one], stream)
}

/// `cudaMemcpy2DAsync`
pub fn copy_rows(
    b: &Builder<'_>,
    site: &Site,
    [(to, to_pitch), (from, from_pitch)]: [(Value, Value); 2],
    (width, height): (Value, Value),
    kind: Value,
    stream: Value,
) -> Value {
    let fits = pitches_fit(b, &[to_pitch, from_pitch], width);
    let (zero, one) = (b.i64(0), b.i64(1));
    b.choose(
        fits,
        |b| {
            let sides = ([to, to_pitch, zero], [from, from_pitch, zero]);
            record_copy(b, site, kind, sides, [width, height, one], stream)
        },
        |b| b.i32(error::INVALID_PITCH),
    )
}

/// `cudaMemcpy3DAsync`, of linear memory.
pub fn copy_slices(b: &Builder<'_>, site: &Site, place: Value, stream: Value) -> Value {
    let long = |b: &Builder<'_>, offset: u64| load_long(b, b.add_const(place, offset));
    let mut linear = b.bool(true);
    let mut pitches = Vec::new();
    let [to, from] = [parameters::DESTINATION, parameters::SOURCE].map(|side| {
        let array = long(b, side);
        linear = b.and(linear, b.is_zero(array));
        let [x, y, z] = [0, 8, 16].map(|part| long(b, side + parameters::POSITION + part));
        let [pointer, pitch, rows] =
            [parameters::POINTER, parameters::PITCH, parameters::ROWS].map(|part| long(b, side + part));
        let slice = b.mul(pitch, rows);
        let start = b.add(pointer, x);
        let down = b.mul(y, pitch);
        let start = b.add(start, down);
        let deep = b.mul(z, slice);
        let start = b.add(start, deep);
        pitches.push(pitch);
        [start, pitch, slice]
    });
    let extent = [0, 8, 16].map(|part| long(b, parameters::EXTENT + part));
    let kind = b.load_one(GENERIC, b.add_const(place, parameters::KIND));
    let fits = pitches_fit(b, &pitches, extent[0]);
    let error = site.first_error(b, &[(linear, error::INVALID_VALUE), (fits, error::INVALID_PITCH)]);
    b.choose(b.is_zero(error), |b| record_copy(b, site, kind, (to, from), extent, stream), |_| error)
}

/// `cudaMemsetAsync`
pub fn set(b: &Builder<'_>, site: &Site, to: Value, value: Value, bytes: Value, stream: Value) -> Value {
    let (zero, one) = (b.i64(0), b.i64(1));
    let value = b.zero_extend(value);
    record(b, site, Kind::Fill, ([to, zero, zero], [value, zero, zero]), [bytes, one, one], stream)
}

/// `cudaMemset2DAsync`
pub fn set_rows(
    b: &Builder<'_>,
    site: &Site,
    (to, pitch): (Value, Value),
    value: Value,
    (width, height): (Value, Value),
    stream: Value,
) -> Value {
    set_slices(b, site, (to, pitch, height), value, [width, height, b.i64(1)], stream)
}

/// `cudaMemset3DAsync`
pub fn set_slices(
    b: &Builder<'_>,
    site: &Site,
    (to, pitch, rows): (Value, Value, Value),
    value: Value,
    extent: [Value; 3],
    stream: Value,
) -> Value {
    let fits = pitches_fit(b, &[pitch], extent[0]);
    let zero = b.i64(0);
    let slice = b.mul(pitch, rows);
    let value = b.zero_extend(value);
    b.choose(
        fits,
        |b| record(b, site, Kind::Fill, ([to, pitch, slice], [value, zero, zero]), extent, stream),
        |b| b.i32(error::INVALID_VALUE),
    )
}

/// Whether rows fit into all pitches.
fn pitches_fit(b: &Builder<'_>, pitches: &[Value], width: Value) -> Value {
    let mut fit = b.bool(true);
    for pitch in pitches {
        let fits = b.ule(width, *pitch);
        fit = b.and(fit, fits);
    }
    fit
}
