//! Arithmetic on f16 in `F32`, on devices whose own isn't known to be PTX's; and the NaN of NVIDIA's hardware, where the device's own
//! arithmetic gives another.
//!
//! f16 is exact in f32, and a result that f32 rounds first comes out as if it were rounded once. For sums, the reason is that 24 >= 2 * 11
//! + 2 (Figueroa, "When is double rounding innocuous?", 1995). Products are exact in f32. `Fma` is rounded to odd there.

use rustc_hash::FxHashSet;

use crate::ir::{
    Arithmetic, Builder, Function, Halves, Op, Rewritten, Rounding, Stmt, Value, for_each_operand, for_each_stmt,
    rewrite,
};
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

/// Replaces NaNs of the device by NVIDIA's, where anything but arithmetic on f16 sees them: there a NaN gives a NaN, whichever it is.
pub fn expand_half_nans(function: &mut Function) {
    let mut seen = FxHashSet::default();
    for_each_stmt(&function.body, |stmt| {
        if !matches!(stmt, Stmt::Let(_, Op::Half(..))) {
            for_each_operand(stmt, |value| {
                seen.insert(value);
            });
        }
    });
    rewrite(function, |b, stmt| match *stmt {
        Stmt::Let(result, op @ Op::Half(halves, _)) if seen.contains(&result) => {
            let ty = b.type_of(result);
            let own = b.op(ty, op);
            let places: &[u32] = if halves == Halves::Both { &[0, 16] } else { &[0] };
            let zero = b.i32(0);
            // All ones where there is a NaN. NVIDIA's has all bits but the sign.
            let nans = places.iter().fold(zero, |nans, &place| {
                let magnitude = b.and_const(own, (HALF.sign() - 1) << place);
                let infinity = b.i32(((HALF.infinity() << place) | ((1 << place) - 1)) as u32);
                let is_nan = b.ult(infinity, magnitude);
                let all = b.i32(0xffff << place);
                let here = b.select(is_nan, all, zero);
                b.or(nans, here)
            });
            let signs = places.iter().fold(0, |signs, place| signs | HALF.sign() << place);
            let signs = b.and_const(nans, signs);
            let filled = b.or(own, nans);
            Rewritten::By(b.xor(filled, signs))
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
