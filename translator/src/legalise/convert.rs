//! `F32` to `F64` and back, exact with denormals on devices that flush them in their own conversions.

use crate::ir::{Builder, Type, Unary, Value};
use crate::target::Facts;

use super::soft::{DOUBLE, SINGLE};

/// Difference of the exponents' biases, at the place of `F64`'s exponent.
const REBIAS: u64 = ((DOUBLE.bias - SINGLE.bias) as u64) << (DOUBLE.precision - 1);
/// Bits that `F64`'s fraction has more.
const MORE: u32 = DOUBLE.precision - SINGLE.precision;

/// `F32` to `F64`.
pub fn widen(b: &mut Builder<'_>, facts: &Facts, value: Value) -> Value {
    if facts.denormals_f32_kept {
        return b.widen(value);
    }
    let bits = b.bits(value);
    let sign = b.and_const(bits, SINGLE.sign());
    let magnitude = b.xor(bits, sign);

    let wide = b.zero_extend(magnitude);
    let wide = b.shl(wide, MORE);
    let infinity = b.i32(SINGLE.infinity() as u32);
    let is_finite = b.ult(magnitude, infinity);
    let [rebias, twice] = [b.i64(REBIAS), b.i64(2 * REBIAS)];
    let rebias = b.select(is_finite, rebias, twice);
    let normal = b.add(wide, rebias);

    let units = b.unary(Unary::UnsignedToFloat(Type::F64), magnitude);
    let unit = b.f64(f64::from(f32::from_bits(1)));
    let subnormal = b.fmul(units, unit);
    let subnormal = b.bits(subnormal);

    let least_normal = b.i32(SINGLE.hidden() as u32);
    let is_subnormal = b.ult(magnitude, least_normal);
    let wide = b.select(is_subnormal, subnormal, normal);
    let sign = b.zero_extend(sign);
    let sign = b.shl(sign, 32);
    let wide = b.or(wide, sign);
    b.bitcast(wide, Type::F64)
}

/// `F64` to `F32`, to nearest even. NaN becomes NVIDIA's.
pub fn narrow(b: &mut Builder<'_>, facts: &Facts, value: Value) -> Value {
    let narrow = if facts.denormals_f32_kept { b.narrow(value) } else { narrow_on_bits(b, value) };
    let is_number = b.feq(value, value);
    let nan = b.constant(Type::F32, SINGLE.nan);
    b.select(is_number, narrow, nan)
}

/// What it makes of NaN doesn't matter.
fn narrow_on_bits(b: &mut Builder<'_>, value: Value) -> Value {
    let bits = b.bits(value);
    let magnitude = b.and_const(bits, DOUBLE.sign() - 1);

    let odd = b.shr(magnitude, MORE);
    let odd = b.and_const(odd, 1);
    let normal = b.sub_const(magnitude, REBIAS);
    let normal = b.add(normal, odd);
    let normal = b.add_const(normal, (1 << (MORE - 1)) - 1);
    let normal = b.shr(normal, MORE);
    let infinity = b.i64(SINGLE.infinity());
    let is_finite = b.ult(normal, infinity);
    let normal = b.select(is_finite, normal, infinity);

    // Where one unit of the sum's fraction is `F32`'s least subnormal, the sum is rounded as that is.
    let unit_place = f64::from_bits(u64::from(DOUBLE.bias - SINGLE.bias + 1 + MORE) << (DOUBLE.precision - 1));
    let place = b.f64(unit_place);
    let positive = b.bitcast(magnitude, Type::F64);
    let sum = b.fadd(positive, place);
    let sum = b.bits(sum);
    let subnormal = b.sub_const(sum, unit_place.to_bits());

    let least_normal = b.i64(REBIAS + DOUBLE.hidden());
    let is_subnormal = b.ult(magnitude, least_normal);
    let narrow = b.select(is_subnormal, subnormal, normal);
    let narrow = b.truncate(narrow);
    let sign = b.shr(bits, 32);
    let sign = b.truncate(sign);
    let sign = b.and_const(sign, SINGLE.sign());
    let narrow = b.or(narrow, sign);
    b.bitcast(narrow, Type::F32)
}
