//! `F32` arithmetic with `.ftz`: by the device's own operation or `Fma` where they flush as PTX does, else by flushing the bits of operands
//! and results.
//!
//! A sum that could be tiny is exact, and a root is never tiny, so flushing their bits suffices. PTX also flushes a product or quotient
//! that is tiny before it rounds up to the least normal number. To detect that, the result is rounded to full precision, in `F64` or scaled
//! far away from subnormal numbers.

use crate::ir::{Arithmetic, Builder, Op, Rounding, Type, Value};
use crate::legalize::arithmetic::convert::{narrow, widen};
use crate::legalize::arithmetic::fma::wide_sum;
use crate::policy::{Floats, Policy};
use crate::soft::{self, SINGLE};

/// Every `Flushed` that [`take_flushing`] can't do. If `floats.flush` is off, plain operations take their place.
pub fn expand_flushed(b: &Builder<'_>, policy: &Policy, _: Type, op: Op) -> Option<Value> {
    let Op::Flushed(rounding, arithmetic) = op else { return None };
    let floats = &policy.floats;
    if !floats.flush {
        return Some(b.rounded(rounding, arithmetic));
    }
    let flushes =
        floats.trusted.fma_f32_flushes && is_fma(arithmetic) || floats.trusted.add_f32_flushes && is_sum(arithmetic);
    let is_taken = rounding == Rounding::NearestEven && flushes;
    (!is_taken).then(|| expand(b, floats, rounding, arithmetic))
}

/// The remaining `Flushed` by the device's operations that flush: sums and products, or `Fma`.
pub fn take_flushing(b: &Builder<'_>, policy: &Policy, _: Type, op: Op) -> Option<Value> {
    match op {
        Op::Flushed(rounding, arithmetic) if !policy.floats.trusted.fma_f32_flushes && is_sum(arithmetic) => {
            Some(b.rounded(rounding, arithmetic))
        }
        Op::Flushed(_, arithmetic) => as_fma(b, arithmetic),
        _ => None,
    }
}

/// Whether an operation is a sum, a difference or a product.
fn is_sum(arithmetic: Arithmetic) -> bool {
    matches!(arithmetic, Arithmetic::Add(..) | Arithmetic::Sub(..) | Arithmetic::Mul(..))
}

/// Whether an `Fma` can do the operation.
fn is_fma(arithmetic: Arithmetic) -> bool {
    is_sum(arithmetic) || matches!(arithmetic, Arithmetic::Fma(..))
}

fn expand(b: &Builder<'_>, floats: &Floats, rounding: Rounding, arithmetic: Arithmetic) -> Value {
    let facts = &floats.trusted;
    let to_nearest = rounding == Rounding::NearestEven;
    let arithmetic = arithmetic.map(|operand| flush(b, operand));
    let is_own = match arithmetic {
        Arithmetic::Mul(..) => to_nearest,
        Arithmetic::Fma(..) => to_nearest && facts.fma_f32_fused,
        // Except with rounding down or up, quotients do not round up to the least normal number: significands of 24 bits differ by at least
        // one last place, so quotients are at least as far from that number.
        Arithmetic::Div(..) if matches!(rounding, Rounding::Down | Rounding::Up) => {
            return scaled_if_least(b, rounding, arithmetic);
        }
        other => {
            return flush(b, b.rounded(rounding, other));
        }
    };
    if is_own {
        return scaled(b, floats, arithmetic);
    }
    if !floats.doubles {
        return scaled_if_least(b, rounding, arithmetic);
    }
    let exact = match arithmetic {
        Arithmetic::Fma(x, y, z) => wide_sum(b, facts, rounding, [x, y, z]),
        other => {
            let wide = other.map(|factor| widen(b, facts, factor));
            // A product of 24 bits by 24.
            b.rounded(Rounding::NearestEven, wide)
        }
    };
    narrow(b, facts, rounding, soft::flush_tiny(b, SINGLE, rounding, exact))
}

/// A subnormal replaced by zero of its sign.
pub(crate) fn flush(b: &Builder<'_>, value: Value) -> Value {
    b.bitcast(soft::flush(b, SINGLE, b.bits(value)), Type::F32)
}

/// The operation by an `Fma` that flushes. The addend -0.0 doesn't change any product.
fn as_fma(b: &Builder<'_>, arithmetic: Arithmetic) -> Option<Value> {
    let (x, y, z) = match arithmetic {
        Arithmetic::Add(x, y) => (x, b.f32(1.0), y),
        Arithmetic::Sub(x, y) => (y, b.f32(-1.0), x),
        Arithmetic::Mul(x, y) => (x, y, b.f32(-0.0)),
        Arithmetic::Fma(x, y, z) => (x, y, z),
        _ => return None,
    };
    Some(b.fma(x, y, z))
}

/// The factor by which operands are scaled to keep tiny results normal, as a power of two.
///
/// Scaling overflows nothing if the result is tiny and not zero. Such a result has bits below 2^-126, which only a product of 48 bits can
/// have. So the product is below 2^-78, and the addend about as small. As factors are at least 2^-126, neither is above 2^48. The dividend
/// of a tiny quotient is at most 4. Where something overflows, the scaled result is infinite or NaN, hence not tiny.
const SCALE: u32 = 32;

/// The same operation on scaled operands: its result is larger by 2 to the power of [`SCALE`].
fn scale(b: &Builder<'_>, arithmetic: Arithmetic) -> Arithmetic {
    let factor = b.constant(Type::F32, SINGLE.hidden() * u64::from(SINGLE.bias + SCALE));
    match arithmetic {
        Arithmetic::Mul(x, y) => Arithmetic::Mul(b.fmul(x, factor), y),
        Arithmetic::Div(x, y) => Arithmetic::Div(b.fmul(x, factor), y),
        Arithmetic::Fma(x, y, z) => Arithmetic::Fma(b.fmul(x, factor), y, b.fmul(z, factor)),
        other => other,
    }
}

/// Bits of the scaled least normal number.
const LEAST: u64 = SINGLE.hidden() * (1 + SCALE as u64);

/// Rounded to nearest by the device's own operation. A scaled result tells whether the result is tiny and, on a device that may flush,
/// gives the value of a small result.
fn scaled(b: &Builder<'_>, floats: &Floats, arithmetic: Arithmetic) -> Value {
    let facts = &floats.trusted;
    let up = b.bits(b.rounded(Rounding::NearestEven, scale(b, arithmetic)));
    let mut result = b.rounded(Rounding::NearestEven, arithmetic);
    let magnitude = b.magnitude(up);
    if !facts.denormals_f32_kept || matches!(arithmetic, Arithmetic::Fma(..)) && !facts.fma_f32_denormals {
        let is_small = b.ult(magnitude, b.i32(1f32.to_bits()));
        result = b.select(is_small, b.sub_const(up, SINGLE.hidden() * u64::from(SCALE)), b.bits(result));
    }
    b.bitcast(zero_if_tiny(b, up, b.bits(result)), Type::F32)
}

/// With any rounding, by an expensive operation, which is repeated on scaled operands only if the result is the least
/// normal number.
fn scaled_if_least(b: &Builder<'_>, rounding: Rounding, arithmetic: Arithmetic) -> Value {
    let result = b.rounded(rounding, arithmetic);
    let is_least = b.eq(b.magnitude(result), b.i32(SINGLE.hidden() as u32));
    b.choose(
        is_least,
        |b| {
            let up = scale(b, arithmetic);
            let bits = zero_if_tiny(b, b.bits(b.rounded(rounding, up)), b.bits(result));
            b.bitcast(bits, Type::F32)
        },
        |b| flush(b, result),
    )
}

/// A result's bits, or zero of its sign if the scaled result of bits `up` is tiny.
fn zero_if_tiny(b: &Builder<'_>, up: Value, bits: Value) -> Value {
    let is_tiny = b.ult(b.magnitude(up), b.i32(LEAST as u32));
    b.select(is_tiny, b.and_const(up, SINGLE.sign()), bits)
}
