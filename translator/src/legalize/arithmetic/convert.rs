//! `F32` to `F64` and back, exact with denormals on devices that flush them in their own conversions.

use crate::ir::{Builder, Rounding, Type, Unary, Value};
use crate::soft::{self, DOUBLE, Overflow, SINGLE};
use ptx2spv_target::Facts;

/// Difference of the exponents' biases, shifted to the place of `F64`'s exponent.
const REBIAS: u64 = ((DOUBLE.bias - SINGLE.bias) as u64) << (DOUBLE.precision - 1);
/// The bits of `F64`'s fraction beyond those of `F32`'s.
const MORE: u32 = DOUBLE.precision - SINGLE.precision;

/// `F32` to `F64`.
pub fn widen(b: &Builder<'_>, facts: &Facts, value: Value) -> Value {
    if facts.denormals_f32_kept {
        return b.widen(value);
    }
    let bits = b.bits(value);
    let sign = b.and_const(bits, SINGLE.sign());
    let magnitude = b.xor(bits, sign);

    let wide = b.shl(b.zero_extend(magnitude), MORE);
    let is_finite = b.ult(magnitude, b.i32(SINGLE.infinity() as u32));
    let [rebias, twice] = [b.i64(REBIAS), b.i64(2 * REBIAS)];
    let normal = b.add(wide, b.select(is_finite, rebias, twice));

    let units = b.unary(Unary::UnsignedToFloat(Type::F64), magnitude);
    let subnormal = b.bits(b.fmul(units, b.f64(f64::from(f32::from_bits(1)))));

    let is_subnormal = b.ult(magnitude, b.i32(SINGLE.hidden() as u32));
    let wide = b.select(is_subnormal, subnormal, normal);
    let sign = b.shl(b.zero_extend(sign), 32);
    b.bitcast(b.or(wide, sign), Type::F64)
}

/// `F64` to `F32`. NaN becomes NVIDIA's.
pub fn narrow(b: &Builder<'_>, facts: &Facts, rounding: Rounding, value: Value) -> Value {
    if !facts.denormals_f32_kept {
        return b.bitcast(soft::narrow(b, SINGLE, rounding, Overflow::Rounded, value), Type::F32);
    }
    let nearest = b.narrow(value);
    let narrow = if rounding == Rounding::NearestEven { nearest } else { neighbour(b, rounding, value, nearest) };
    let is_number = b.feq(value, value);
    b.select(is_number, narrow, b.constant(Type::F32, SINGLE.nan))
}

/// The `F32` that an `F64` is rounded to, given the one nearest to it. Its result for NaN doesn't matter.
fn neighbour(b: &Builder<'_>, rounding: Rounding, value: Value, nearest: Value) -> Value {
    let exactly = b.widen(nearest);
    let inexact = b.fne(exactly, value);
    let [found, wanted] = [exactly, value].map(|float| b.magnitude(float));
    let is_beyond = b.bool_to(Type::I32, b.ult(wanted, found));
    let bits = b.bits(nearest);
    let toward_zero = b.sub(bits, is_beyond);
    // The sign is right even for zero, and the bit pattern after the largest number is infinity.
    let added = match rounding {
        Rounding::NearestEven => return nearest,
        Rounding::TowardZero => return b.bitcast(toward_zero, Type::F32),
        Rounding::Odd => {
            let odd = b.or(toward_zero, b.bool_to(Type::I32, inexact));
            return b.bitcast(odd, Type::F32);
        }
        Rounding::Down | Rounding::Up => {
            let negative = b.slt(bits, b.i32(0));
            let away = if rounding == Rounding::Down { negative } else { b.not(negative) };
            b.and(inexact, away)
        }
    };
    b.bitcast(b.add(toward_zero, b.bool_to(Type::I32, added)), Type::F32)
}
