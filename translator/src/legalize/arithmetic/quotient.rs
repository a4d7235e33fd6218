//! Division of `F64` by `Fma`, for drivers that compile the device's division wrong in some places. It needs an `Fma` that rounds once, and an
//! `InverseSqrt` of `F32` with some 20 bits.

use crate::ir::{Builder, Rounding, Type, Unary, Value};
use crate::soft::{self, DOUBLE, Parts, leading, product_sign, round, with_extremes};

/// Place of the exponent in the upper half of an `F64`.
const HIGH_EXPONENT: u32 = DOUBLE.precision - 1 - 32;
/// Mask of an exponent of `F64`.
const EXPONENTS: u64 = 0x7ff;

/// A quotient of `F64` by `Fma`, without the device's division: Newton's iteration for the reciprocal of the divisor's significand, then
/// Markstein's correction, which rounds the quotient of the significands correctly.
pub fn by_fma(b: &mut Builder<'_>, x: Value, y: Value) -> Value {
    let [x, y] = [x, y].map(|value| b.bits(value));
    let [(x_low, x_high), (y_low, y_high)] = [x, y].map(|bits| b.halves(bits));
    let [x_exponent, y_exponent] = [x_high, y_high].map(|high| {
        let exponent = b.shr(high, HIGH_EXPONENT);
        b.and_const(exponent, EXPONENTS)
    });
    let [x_significand, y_significand] = [(x_low, x_high), (y_low, y_high)].map(|(low, high)| {
        let fraction = b.and_const(high, (1 << HIGH_EXPONENT) - 1);
        let high = b.or_const(fraction, DOUBLE.one() >> 32);
        let bits = b.join(low, high);
        b.bitcast(bits, Type::F64)
    });
    let (quotient, _) = significands_by_fma(b, x_significand, y_significand);
    let bits = b.bits(quotient);
    let (low, high) = b.halves(bits);
    let difference = b.sub(x_exponent, y_exponent);
    let own = b.shr(high, HIGH_EXPONENT);
    let exponent = b.add(own, difference);
    let are_normal = [x_exponent, y_exponent, exponent].map(|exponent| {
        let above = b.sub_const(exponent, 1);
        let normals = b.i32(EXPONENTS as u32 - 1);
        b.ult(above, normals)
    });
    let is_normal = b.and(are_normal[0], are_normal[1]);
    let is_normal = b.and(is_normal, are_normal[2]);
    b.choose(
        is_normal,
        |b| {
            let sign = b.xor(x_high, y_high);
            let sign = b.and_const(sign, 1 << 31);
            let raised = b.shl(difference, HIGH_EXPONENT);
            let high = b.add(high, raised);
            let high = b.or(high, sign);
            let bits = b.join(low, high);
            b.bitcast(bits, Type::F64)
        },
        |b| {
            let [x, y] = [x, y].map(|bits| {
                let float = b.bitcast(bits, Type::F64);
                Parts::of(b, float).normalised(b)
            });
            any_by_fma(b, &x, &y)
        },
    )
}

/// The same for all operands.
fn any_by_fma(b: &mut Builder<'_>, x: &Parts, y: &Parts) -> Value {
    let [x_significand, y_significand] = [x, y].map(|parts| {
        let fraction = b.and_const(parts.significand, DOUBLE.hidden() - 1);
        let bits = b.or_const(fraction, DOUBLE.one());
        b.bitcast(bits, Type::F64)
    });
    let (quotient, rest) = significands_by_fma(b, x_significand, y_significand);
    let bits = b.bits(quotient);
    let own = b.shr(bits, DOUBLE.precision - 1);
    let own = b.truncate(own);
    let exponent = b.sub(x.exponent, y.exponent);
    let exponent = b.add(exponent, own);
    // A subnormal quotient must be rounded once: it has all its bits, and the lowest stands for the others.
    let zero = b.f64(0.0);
    let is_above = b.flt(rest, zero);
    let below = b.sub_const(bits, 1);
    let cut = b.select(is_above, below, bits);
    let least = b.i32(1);
    let is_subnormal = b.slt(exponent, least);
    let kept = b.select(is_subnormal, cut, bits);
    let fraction = b.and_const(kept, DOUBLE.hidden() - 1);
    let significand = b.or_const(fraction, DOUBLE.hidden());
    let significand = b.shl(significand, leading(Type::I64) + 1 - DOUBLE.precision);
    let is_inexact = b.fne(rest, zero);
    let is_cut = b.and(is_inexact, is_subnormal);
    let lost = b.bool_to(Type::I64, is_cut);
    let significand = b.or(significand, lost);
    // The bits below the quotient may have another exponent.
    let own_of_kept = b.shr(kept, DOUBLE.precision - 1);
    let own_of_kept = b.truncate(own_of_kept);
    let exponent = b.sub(exponent, own);
    let exponent = b.add(exponent, own_of_kept);
    let sign = product_sign(b, x, y);
    let negative = b.is_nonzero(sign);
    let magnitude = round(b, DOUBLE, Rounding::NearestEven, negative, exponent, significand);
    let [x_zero, y_zero] = [x, y].map(|parts| parts.is_zero(b));
    let [x_infinite, y_infinite] = [x, y].map(|parts| parts.is_infinite(b));
    let is_zero = b.or(x_zero, y_infinite);
    let is_infinite = b.or(x_infinite, y_zero);
    let quotient = with_extremes(b, [x, y], magnitude, is_zero, is_infinite);
    // The device's NaN, which other passes may rely on: an operand's, the first's before the second's.
    let mut bits = b.bits(quotient);
    for parts in [y, x] {
        let is_nan = parts.is_nan(b);
        let quieted = soft::quiet(b, DOUBLE, parts.bits);
        bits = b.select(is_nan, quieted, bits);
    }
    b.bitcast(bits, Type::F64)
}

/// The rounded quotient of two numbers from 1 to 2, and the exact rest of the division, which has the sign of the rounding error's opposite.
fn significands_by_fma(b: &mut Builder<'_>, x: Value, y: Value) -> (Value, Value) {
    let negative = b.bits(y);
    let negative = b.xor_const(negative, DOUBLE.sign());
    let negative = b.bitcast(negative, Type::F64);
    let one = b.f64(1.0);
    let single = b.narrow(y);
    let root = b.unary(Unary::InverseSqrtApprox, single);
    let seed = b.fmul(root, root);
    let mut reciprocal = b.widen(seed);
    // From 21 bits to 42, and to 53. The last step rounds, and does so correctly for all divisors if it comes from above: from below, it
    // ends at a tie for the greatest.
    for is_last in [false, false, true] {
        if is_last {
            let bits = b.bits(reciprocal);
            let above = b.add_const(bits, 1);
            reciprocal = b.bitcast(above, Type::F64);
        }
        let error = b.fma(negative, reciprocal, one);
        reciprocal = b.fma(error, reciprocal, reciprocal);
    }
    let estimate = b.fmul(x, reciprocal);
    let rest = b.fma(negative, estimate, x);
    let quotient = b.fma(rest, reciprocal, estimate);
    let rest = b.fma(negative, quotient, x);
    (quotient, rest)
}
