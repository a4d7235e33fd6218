//! Rounding of truncated magnitudes.

use super::Format;
use crate::ir::{Builder, Rounding, Value};

/// The result for a number beyond a format's largest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overflow {
    /// Infinity, or the largest number where the rounding says so.
    Rounded,
    /// The largest number, for infinity too.
    Largest,
}

/// Rounds a truncated magnitude. `lost` is the part cut off, as a fraction of the last place: an integer of the same type whose top bit
/// stands for one half. `negative` is the sign, a `Bool`.
pub fn round_truncated(b: &Builder<'_>, rounding: Rounding, negative: Value, magnitude: Value, lost: Value) -> Value {
    match increment(b, rounding, negative, magnitude, lost) {
        Some(increment) => b.add(magnitude, increment),
        None => magnitude,
    }
}

/// The increment by which [`round_truncated`] rounds a magnitude (or its lower part): 0 or 1; `None` where the rounding
/// never increments.
pub fn increment(b: &Builder<'_>, rounding: Rounding, negative: Value, magnitude: Value, lost: Value) -> Option<Value> {
    let ty = b.type_of(magnitude);
    let increment = match rounding {
        Rounding::TowardZero => return None,
        Rounding::Odd => {
            let inexact = b.bool_to(ty, b.is_nonzero(lost));
            return Some(b.and(inexact, b.not(magnitude)));
        }
        Rounding::NearestEven => {
            // A tie counts as more than half if the last place is odd.
            let lost = b.or(lost, b.and_const(magnitude, 1));
            b.ult(b.constant(ty, crate::ir::mask(ty) / 2 + 1), lost)
        }
        Rounding::Down | Rounding::Up => {
            let inexact = b.is_nonzero(lost);
            let away = if rounding == Rounding::Down { negative } else { b.not(negative) };
            b.and(inexact, away)
        }
    };
    Some(b.bool_to(ty, increment))
}

/// The magnitude that replaces one beyond the largest, as a constant of `like`'s type.
pub fn overflowed(
    b: &Builder<'_>,
    format: Format,
    rounding: Rounding,
    overflow: Overflow,
    negative: Value,
    like: Value,
) -> Value {
    let to_infinity = overflows_to_infinity(b, rounding, overflow, negative);
    let [infinity, largest] = [format.infinity(), format.largest()].map(|bits| b.constant_like(like, bits));
    b.select(to_infinity, infinity, largest)
}

/// Whether a magnitude beyond the largest becomes infinity, else the largest number.
pub fn overflows_to_infinity(b: &Builder<'_>, rounding: Rounding, overflow: Overflow, negative: Value) -> Value {
    match rounding {
        _ if overflow == Overflow::Largest => b.bool(false),
        Rounding::NearestEven => b.bool(true),
        Rounding::TowardZero | Rounding::Odd => b.bool(false),
        Rounding::Down => negative,
        Rounding::Up => b.not(negative),
    }
}
