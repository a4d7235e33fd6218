//! Rounding to integral values where the device's own operations may lose a NaN, the sign of a zero, or the rounding up of a denormal: adds
//! and subtracts a number whose last place is 1.

use crate::ir::{Builder, Compare, Op, Type, Unary, Value};
use crate::policy::Policy;
use crate::soft::Format;

/// `Trunc`, `RoundEven`, `Floor` and `Ceil`.
pub fn expand_round(b: &Builder<'_>, _: &Policy, ty: Type, op: Op) -> Option<Value> {
    let Op::Unary(op @ (Unary::Trunc | Unary::RoundEven | Unary::Floor | Unary::Ceil), x) = op else { return None };
    let format = Format::of(ty);
    let bits = b.bits(x);
    let sign = b.and_const(bits, format.sign());
    let magnitude = b.xor(bits, sign);
    let positive = b.bitcast(magnitude, ty);

    // From here on a float has no fraction.
    let number = |value: f64| if ty == Type::F32 { u64::from((value as f32).to_bits()) } else { value.to_bits() };
    let whole = number((format.hidden()) as f64);
    let [unit, one, zero] = [whole, number(1.0), 0].map(|bits| b.constant(ty, bits));
    let nearest = b.fsub(b.fadd(positive, unit), unit);

    // Correct by one where the rounding went the wrong way. Bits are compared, since a float comparison may flush small
    // numbers.
    let nearest_bits = b.bits(nearest);
    let is_above = b.ult(magnitude, nearest_bits);
    let is_below = b.ult(nearest_bits, magnitude);
    let is_negative = b.is_nonzero(sign);
    let less = b.select(is_above, one, zero);
    let more = b.select(is_below, one, zero);
    let down = b.fsub(nearest, less);
    let up = b.fadd(nearest, more);
    let result = match op {
        Unary::Trunc => down,
        Unary::Floor => b.select(is_negative, up, down),
        Unary::Ceil => b.select(is_negative, down, up),
        _ => nearest,
    };
    let result = b.bits(result);
    let is_fractional = b.compare_const(Compare::LessUnsigned, magnitude, whole);
    Some(b.bitcast(b.or(b.select(is_fractional, result, magnitude), sign), ty))
}
