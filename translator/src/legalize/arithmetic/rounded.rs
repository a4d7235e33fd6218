//! Float arithmetic with a rounding other than to nearest even, which no device has: for `F32` through `F64` if the device has it, else on
//! integers. Exact in all cases; NaNs are NVIDIA's.

use crate::ir::{Arithmetic, Builder, Op, Rounding, Type, Unary, Value};
use crate::legalize::arithmetic::convert::{narrow, widen};
use crate::legalize::arithmetic::division::divide;
use crate::legalize::arithmetic::fma::{multiply_add, sum_on_integers, sum_to_narrow};
use crate::legalize::arithmetic::sqrt::root;
use crate::policy::{Floats, Policy};
use crate::soft;
use ptx2spv_target::Facts;

/// Every `Rounded`.
pub fn expand_rounded(b: &Builder<'_>, policy: &Policy, _: Type, op: Op) -> Option<Value> {
    let Op::Rounded(rounding, arithmetic) = op else { return None };
    Some(expand(b, &policy.floats, rounding, arithmetic))
}

fn expand(b: &Builder<'_>, floats: &Floats, rounding: Rounding, arithmetic: Arithmetic) -> Value {
    let facts = &floats.trusted;
    let is_single = |b: &Builder<'_>, value| b.type_of(value) == Type::F32 && floats.doubles;
    match arithmetic {
        Arithmetic::Narrow(value) => narrow(b, facts, rounding, value),
        Arithmetic::Sub(x, y) => expand(b, floats, rounding, Arithmetic::Add(x, soft::negated(b, y))),
        Arithmetic::Add(x, y) if is_single(b, x) => {
            let [x, y] = [x, y].map(|addend| widen(b, facts, addend));
            narrow(b, facts, rounding, sum_to_narrow(b, rounding, x, y))
        }
        Arithmetic::Mul(x, y) if is_single(b, x) => {
            let [x, y] = [x, y].map(|factor| widen(b, facts, factor));
            narrow(b, facts, rounding, b.fmul(x, y))
        }
        Arithmetic::Add(x, y) => sum_on_integers(b, rounding, x, y),
        Arithmetic::Mul(x, y) => soft::product(b, rounding, x, y),
        Arithmetic::Fma(x, y, z) => match scale_of(b, y, z) {
            Some(scale) if rounding == Rounding::Down && floors(facts) => floored(b, floats, [x, y, z], scale),
            _ => multiply_add(b, floats, rounding, [x, y, z]),
        },
        Arithmetic::Div(x, y) => divide(b, floats, rounding, x, y),
        Arithmetic::Sqrt(x) => root(b, floats, rounding, x),
    }
}

/// The addend of an `Fma` on `F32` that is used to round to an integer: from 2^23 to 2^24, between which there are only integers, if the
/// second factor is a positive constant too.
fn scale_of(b: &Builder<'_>, factor: Value, addend: Value) -> Option<f32> {
    if b.type_of(addend) != Type::F32 {
        return None;
    }
    scale(b.known(factor)?, b.known(addend)?)
}

/// The same by the bits of both.
fn scale(factor: u64, addend: u64) -> Option<f32> {
    let [factor, addend] = [factor, addend].map(|bits| f32::from_bits(bits as u32));
    ((1.0..=4096.0).contains(&factor) && (8388608.0..16777216.0).contains(&addend)).then_some(addend)
}

/// Whether rounding down by such an addend uses the device's operations.
pub fn floors(facts: &Facts) -> bool {
    facts.fma_f32_fused && facts.denormals_f32_kept
}

/// The last addend with which no sum with a number clamped to [0, 1] leaves the range.
const LAST_BEHIND_CLAMP: f32 = 16777216.0 - 4096.0;

/// Whether a factor and an addend, given by their bits if they are constants, need no test if the other factor is
/// clamped.
pub fn is_floor_of_clamped(factor: Option<u64>, addend: Option<u64>) -> bool {
    let scale = factor.zip(addend).and_then(|(factor, addend)| scale(factor, addend));
    scale.is_some_and(|addend| addend <= LAST_BEHIND_CLAMP)
}

/// The sum of a product and such an addend, rounded down, as in libraries' `exp`. The sum rounded to nearest is an integer. It is one too
/// large if it added more than the product.
fn floored(b: &Builder<'_>, floats: &Floats, operands: [Value; 3], addend: f32) -> Value {
    let [mut x, y, z] = operands;
    let unsaturated = b.unsaturated(x).filter(|_| addend <= LAST_BEHIND_CLAMP);
    if let Some(number) = unsaturated
        && floats.trusted.clamp_f32_right
    {
        // Subnormals are too small to matter.
        x = b.unary(Unary::Clamp, number);
    }
    let nearest = b.fma(x, y, z);
    // The difference is exact, and +0.0 if nothing was added.
    let negative = b.fsub(z, nearest);
    let rest = b.fma(x, y, negative);
    if unsaturated.is_some() {
        // The sum is in the range where the last place of a float is one. The rest is not -0.0: a negative rest is -2^-60 at most.
        let [nearest, rest] = [nearest, rest].map(|float| b.bits(float));
        return b.bitcast(b.add(nearest, b.sar(rest, 31)), Type::F32);
    }
    let [zero, one] = [0.0, 1.0].map(|number| b.f32(number));
    let is_below = b.flt(rest, zero);
    // A rest of zero may have underflowed.
    let is_negative = b.flt(x, zero);
    let is_addend = b.feq(nearest, z);
    let is_tiny = b.and(is_negative, is_addend);
    let is_below = b.or(is_below, is_tiny);
    let below = b.fsub(nearest, one);
    let result = b.select(is_below, below, nearest);
    // Outside this range, floats are not exactly the integers.
    let bits = b.bits(nearest);
    let first = (addend.to_bits() & 0xff80_0000) + 1;
    let is_integer = b.ult(b.sub_const(bits, first.into()), b.i32(0x7f_ffff));
    b.choose(is_integer, |_| result, |b| multiply_add(b, floats, Rounding::Down, operands))
}
