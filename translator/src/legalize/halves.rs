//! Arithmetic on f16 in `F32`, on devices whose own isn't known to be PTX's; and the NaN of NVIDIA's hardware, where the device's own
//! arithmetic gives another.
//!
//! f16 is exact in f32, and a result that f32 rounds first comes out as if it were rounded once. For sums, the reason is that 24 >= 2 * 11
//! + 2 (Figueroa, "When is double rounding innocuous?", 1995). Products are exact in f32. `Fma` is rounded to odd there.

use crate::ir::{Arithmetic, Builder, Function, Halves, Op, Rounding, Stmt, Value};
use crate::opt::{Rewritten, rewrite};
use crate::soft::{self, HALF, Overflow};

/// Replaces `Half`.
pub fn expand_halves(function: &mut Function) {
    rewrite(function, |b, stmt| match *stmt {
        Stmt::Let(_, Op::Half(Halves::Low, arithmetic)) => Rewritten::By(one(b, arithmetic, |_, bits| bits)),
        Stmt::Let(_, Op::Half(Halves::Both, arithmetic)) => {
            let low = one(b, arithmetic, |b, bits| b.and_const(bits, 0xffff));
            let high = one(b, arithmetic, |b, bits| b.shr(bits, 16));
            let high = b.shl(high, 16);
            Rewritten::By(b.or(low, high))
        }
        _ => Rewritten::Kept,
    });
}

/// Replaces NaNs of the device by NVIDIA's.
pub fn expand_half_nans(function: &mut Function) {
    rewrite(function, |b, stmt| match *stmt {
        Stmt::Let(result, op @ Op::Half(halves, _)) => {
            let ty = b.type_of(result);
            let own = b.op(ty, op);
            let nan_above = |b: &mut Builder<'_>, place: u32| {
                let magnitude = b.and_const(own, (HALF.sign() - 1) << place);
                let infinity = b.i32(((HALF.infinity() << place) | ((1 << place) - 1)) as u32);
                let is_nan = b.ult(infinity, magnitude);
                let [nan, all] = [HALF.nan << place, 0xffff << place].map(|bits| b.i32(bits as u32));
                let zero = b.i32(0);
                [b.select(is_nan, nan, zero), b.select(is_nan, all, zero)]
            };
            let places: &[u32] = if halves == Halves::Both { &[0, 16] } else { &[0] };
            Rewritten::By(places.iter().fold(own, |result, &place| {
                let [nan, taken] = nan_above(b, place);
                let kept = b.not(taken);
                let kept = b.and(result, kept);
                b.or(kept, nan)
            }))
        }
        _ => Rewritten::Kept,
    });
}

/// The bits of a result, from the half of each operand that `half` takes.
fn one(b: &mut Builder<'_>, arithmetic: Arithmetic, half: fn(&mut Builder<'_>, Value) -> Value) -> Value {
    let arithmetic = arithmetic.map(|bits| {
        let bits = half(b, bits);
        soft::widen(b, HALF, bits)
    });
    let result = soft::half(b, arithmetic);
    soft::narrow(b, HALF, Rounding::NearestEven, Overflow::Rounded, result)
}
