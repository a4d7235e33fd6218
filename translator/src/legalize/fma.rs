//! Fused multiply-add where the device rounds the product, or flushes `F32` denormals.
//!
//! On `F32` as a dot product where that is known to be fused. Else with the help of `F64` where that exists; else from the errors of products and sums where those tell; else on
//! integers. A device that only flushes does it itself where
//! that can't have mattered. Exact in all cases; NaNs are NVIDIA's where the device doesn't round once.

use super::convert::{narrow, widen};
use super::fma_runs::expand_runs;
use crate::ir::{Builder, Function, Op, Rounding, Stmt, Type, Value};
use crate::opt::{Rewritten, rewrite};
use crate::soft::{
    DOUBLE, Format, Parts, SINGLE, leading_zeros, odd_sum, product_sign, round, stick, two_product, two_sum,
    unless_nan, width,
};
use crate::target::{Facts, Target};

/// Replaces `Fma` on types where the target doesn't do it right.
pub fn expand_fma(function: &mut Function, target: &Target) {
    let facts = &target.facts;
    let f32_exact = facts.fma_f32_fused && facts.fma_f32_denormals;
    if f32_exact && facts.fma_f64_fused {
        return;
    }
    let by_dot = !f32_exact && target.fuses_dot();
    if facts.fma_f32_fused && !f32_exact && !by_dot {
        expand_runs(function, target);
    }
    rewrite(function, |b, stmt| match *stmt {
        Stmt::Let(result, Op::Fma(x, y, z)) => match b.type_of(result) {
            Type::F32 if by_dot => Rewritten::By(b.op(Type::F32, Op::DotFma(x, y, z))),
            // Exact, or made so above.
            Type::F32 if facts.fma_f32_fused => Rewritten::Kept,
            Type::F64 if facts.fma_f64_fused => Rewritten::Kept,
            _ => Rewritten::By(multiply_add(b, target, Rounding::NearestEven, [x, y, z])),
        },
        _ => Rewritten::Kept,
    });
}

/// The first two's product and the third's sum without the device's `Fma`.
pub fn multiply_add(b: &mut Builder<'_>, target: &Target, rounding: Rounding, operands: [Value; 3]) -> Value {
    match b.type_of(operands[0]) {
        Type::F32 if target.computes_doubles() => through_double(b, &target.facts, rounding, operands),
        Type::F32 if rounding == Rounding::NearestEven && target.facts.are_normals_exact() => by_errors(b, operands),
        _ => fused_on_integers(b, rounding, operands),
    }
}

/// Sums of at least this magnitude can be told from products that underflow; see [`by_errors`].
const CLEAR: f32 = f32::from_bits((127 - 60) << 23);

/// Factors of at least this magnitude have no place below the least normal number.
const DIVISIBLE: f32 = f32::from_bits((127 - 102) << 23);

/// `F32`'s to nearest from rounded products and sums, and their errors.
///
/// Product, addend and what the former two lose when they are rounded make `sum + rest`, of which only `rest` is rounded, by
/// less than 2^-23 of itself. If it is taken for 2^-22 of itself more or less and the result is the same, that is right:
/// rounding is monotonous.
///
/// Where the sum is at least 2^-60 and no factor is below 2^-102, what underflows doesn't matter, be it flushed or not. Every
/// such error is below 2^-126 and there are few. They change a rest of 2^-87 or more by far less than 2^-23 of itself. A smaller one
/// is below half the distance from the sum to its neighbours, 2^-85 at least, with those errors and without. An infinite or
/// undefined sum isn't taken for the result: the product may have overflown by itself.
fn by_errors(b: &mut Builder<'_>, operands: [Value; 3]) -> Value {
    let [x, y, z] = operands;
    let (product, product_error) = two_product(b, x, y);
    let (sum, sum_error) = two_sum(b, product, z);
    let rest = b.fadd(product_error, sum_error);
    let [result, other] = [1.0 - f32::EPSILON * 2.0, 1.0 + f32::EPSILON * 2.0].map(|factor| {
        let factor = b.f32(factor);
        let rest = b.fmul(rest, factor);
        b.fadd(sum, rest)
    });
    let agrees = b.feq(result, other);
    // Differences of magnitudes are negative where one is too small or too large.
    let [x_magnitude, y_magnitude, magnitude] = [x, y, sum].map(|float| b.magnitude(float));
    let [x_above, y_above] = [x_magnitude, y_magnitude].map(|bits| b.sub_const(bits, DIVISIBLE.to_bits().into()));
    let sum_above = b.sub_const(magnitude, CLEAR.to_bits().into());
    let largest = b.i32(SINGLE.largest() as u32);
    let sum_below = b.sub(largest, magnitude);
    let factors = b.or(x_above, y_above);
    let sums = b.or(sum_above, sum_below);
    let all = b.or(factors, sums);
    let zero = b.i32(0);
    let is_clear = b.sle(zero, all);
    let is_right = b.and(is_clear, agrees);
    b.choose(
        is_right,
        |_| result,
        |b| {
            // A factor that is zero makes the product zero or NaN, and the device's sum right unless the addend is subnormal.
            let [x_zero, y_zero] = [x_magnitude, y_magnitude].map(|magnitude| b.is_zero(magnitude));
            let is_zero = b.or(x_zero, y_zero);
            let is_subnormal = is_subnormal(b, z);
            let is_whole = b.not(is_subnormal);
            let is_plain = b.and(is_zero, is_whole);
            b.choose(is_plain, |_| sum, |b| fused_on_integers(b, Rounding::NearestEven, operands))
        },
    )
}

/// Whether a number is subnormal.
fn is_subnormal(b: &mut Builder<'_>, float: Value) -> Value {
    let bits = b.bits(float);
    // A subnormal's magnitude twice is below this. Less one, zero is above it.
    let twice = b.shl(bits, 1);
    let twice = b.sub_const(twice, 1);
    let limit = b.i32(2 * SINGLE.hidden() as u32 - 1);
    b.ult(twice, limit)
}

/// Addends of at least this magnitude leave no sum that is subnormal, unless the product vanishes: see [`guarded`].
const AMPLE: f32 = f32::from_bits((127 - 76) << 23);

/// `F32`'s by a device that rounds once but takes denormals for zeros, in operands and results.
///
/// The common case costs one test: the addend is ample and the result compares less or greater than it. A flushed factor
/// would have left the addend, or NaN if the other is infinite; so neither was flushed, and the addend isn't subnormal.
/// Nor is the sum, unless it is zero: if the product is less than half the addend, the sum is more than half of it; else
/// product and addend are multiples of 2^-49 of the addend's magnitude (significands have 24 bits, their products 48),
/// and so is the sum.
///
/// What fails that test (zeros above all) is looked at closely, and emulated if a denormal is or may be involved.
pub fn guarded(b: &mut Builder<'_>, target: &Target, operands: [Value; 3]) -> Value {
    let [x, y, z] = operands;
    let fused = b.fma(x, y, z);
    let addend = b.magnitude(z);
    let below_ample = b.i32(AMPLE.to_bits() - 1);
    let is_ample = b.ult(below_ample, addend);
    let is_less = b.flt(fused, z);
    let is_greater = b.flt(z, fused);
    let differs = b.or(is_less, is_greater);
    let is_safe = b.and(is_ample, differs);
    b.choose(
        is_safe,
        |_| fused,
        |b| {
            let is_flushed = is_flushed(b, operands, fused);
            b.choose(is_flushed, |b| multiply_add(b, target, Rounding::NearestEven, operands), |_| fused)
        },
    )
}

/// Whether an operand is subnormal, or the result may have been: it is a zero, though no factor is.
fn is_flushed(b: &mut Builder<'_>, operands: [Value; 3], fused: Value) -> Value {
    let [x, y, z] = operands.map(|operand| is_subnormal(b, operand));
    let factors = b.or(x, y);
    let any = b.or(factors, z);
    let zero = b.f32(0.0);
    let [x_nonzero, y_nonzero] = [operands[0], operands[1]].map(|factor| b.fne(factor, zero));
    let has_product = b.and(x_nonzero, y_nonzero);
    let is_zero = b.feq(fused, zero);
    let vanished = b.and(is_zero, has_product);
    b.or(any, vanished)
}

/// `F32`'s on `F64`: the product is exact there; the sum is rounded to odd, after which rounding to `F32` is as if it
/// were the only one.
fn through_double(b: &mut Builder<'_>, facts: &Facts, rounding: Rounding, operands: [Value; 3]) -> Value {
    let sum = wide_sum(b, facts, rounding, operands);
    narrow(b, facts, rounding, sum)
}

/// An `F64` that stands for the first two `F32`s' product and the third's sum: rounding it to `F32` or less is as if it were
/// exact.
pub fn wide_sum(b: &mut Builder<'_>, facts: &Facts, rounding: Rounding, operands: [Value; 3]) -> Value {
    let [x, y, z] = operands.map(|operand| widen(b, facts, operand));
    let product = b.fmul(x, y);
    sum_to_narrow(b, rounding, product, z)
}

/// An `F64` that rounds to `F32` as the sum of two `F64`s. No error underflows, if both are products of two `F32`s: they
/// are multiples of 2^-298.
pub fn sum_to_narrow(b: &mut Builder<'_>, rounding: Rounding, x: Value, y: Value) -> Value {
    let sum = odd_sum(b, x, y);
    if rounding == Rounding::Down { signed_zero_down(b, sum, x, y) } else { sum }
}

/// A sum that is zero has a sign, when rounding down, if an addend has one.
fn signed_zero_down(b: &mut Builder<'_>, sum: Value, x: Value, y: Value) -> Value {
    let [bits, x, y] = [sum, x, y].map(|float| b.bits(float));
    let signs = b.or(x, y);
    let zero = b.and_const(signs, DOUBLE.sign());
    let magnitude = b.magnitude(sum);
    let is_zero = b.is_zero(magnitude);
    let bits = b.select(is_zero, zero, bits);
    b.bitcast(bits, Type::F64)
}

/// Any format's by nothing but integers.
///
/// Product and addend are placed in a fixed-point number of twice the format's width, whose upper bits hold either significand without loss; the one
/// of the lower exponent is shifted right, what is lost staying in the lowest bit. Subnormals need no normalisation:
/// whatever cancellation brings forth below them is far below the result's last place, or was not lost.
pub fn fused_on_integers(b: &mut Builder<'_>, rounding: Rounding, operands: [Value; 3]) -> Value {
    let [x, y, z] = operands.map(|operand| Parts::of(b, operand));
    let format = x.format;
    let is_zero_product = {
        let (x, y) = (x.is_zero(b), y.is_zero(b));
        b.or(x, y)
    };

    // Exponents of the upper half's bit `top`. A zero product must not shift the addend.
    let exponent = b.add(x.exponent, y.exponent);
    let exponent = b.sub_const(exponent, format.bias.into());
    let zero = b.i32(0);
    let product_exponent = b.select(is_zero_product, zero, exponent);
    let product = Fixed::product(b, format, x.significand, y.significand);
    let addend = Fixed::addend(b, format, z.significand);
    let is_product_lower = b.sle(product_exponent, z.exponent);
    let upper = addend.select(b, is_product_lower, &product);
    let lower = product.select(b, is_product_lower, &addend);
    let exponent = b.select(is_product_lower, z.exponent, product_exponent);
    let lower_exponent = b.select(is_product_lower, product_exponent, z.exponent);
    let distance = b.sub(exponent, lower_exponent);
    let lower = lower.shift_right_sticking(b, distance);

    let product_sign = product_sign(b, &x, &y);
    let addend_sign = b.and_const(z.bits, format.sign());
    let differ = b.ne(product_sign, addend_sign);
    let sum = upper.add_or_subtract(b, &lower, differ);
    let (sum, was_negative) = sum.absolute(b);
    let sign = b.select(is_product_lower, addend_sign, product_sign);
    let flipped = b.and_const(was_negative, format.sign());
    let sign = b.xor(sign, flipped);

    let (significand, shift) = sum.normalised(b);
    let exponent = b.sub(exponent, shift);
    let exponent = b.add_const(exponent, 2);
    let is_zero = b.is_zero(significand);
    let exponent = b.select(is_zero, zero, exponent);
    // Zeros cancel to plus zero, but to minus zero when rounding down; equal ones keep their sign.
    let zero_sign = match rounding {
        Rounding::Down => b.or(product_sign, addend_sign),
        _ => b.and(product_sign, addend_sign),
    };
    let sign = b.select(is_zero, zero_sign, sign);
    let negative = b.is_nonzero(sign);
    let magnitude = round(b, format, rounding, negative, exponent, significand);
    let finite = b.or(magnitude, sign);

    let [x_infinite, y_infinite, z_infinite] = [&x, &y, &z].map(|parts| parts.is_infinite(b));
    let is_infinite_product = b.or(x_infinite, y_infinite);
    let infinity = b.constant_like(finite, format.infinity());
    let infinite_product = b.or(product_sign, infinity);
    let result = b.select(is_infinite_product, infinite_product, finite);
    let result = b.select(z_infinite, z.bits, result);
    let undefined_product = b.and(is_infinite_product, is_zero_product);
    let undefined_sum = b.and(is_infinite_product, z_infinite);
    let undefined_sum = b.and(undefined_sum, differ);
    let undefined = b.or(undefined_product, undefined_sum);
    let is_nan = [&x, &y, &z].into_iter().fold(undefined, |any, parts| {
        let is_nan = parts.is_nan(b);
        b.or(any, is_nan)
    });
    unless_nan(b, format, is_nan, result)
}

/// An unsigned fixed-point number in two integers.
struct Fixed {
    high: Value,
    low: Value,
}

/// Bit of the upper half at which significands have their leading one; products may have it one higher.
fn top(format: Format) -> u32 {
    format.bits - 4
}

impl Fixed {
    fn product(b: &mut Builder<'_>, format: Format, x: Value, y: Value) -> Fixed {
        let shift = (format.bits + top(format) - 2 * (format.precision - 1)) / 2;
        let [x, y] = [x, y].map(|factor| b.shl(factor, shift));
        Fixed { high: b.mul_high_unsigned(x, y), low: b.mul(x, y) }
    }

    fn addend(b: &mut Builder<'_>, format: Format, significand: Value) -> Fixed {
        let high = b.shl(significand, top(format) + 1 - format.precision);
        Fixed { high, low: b.constant_like(significand, 0) }
    }

    /// `condition ? self : other`.
    fn select(&self, b: &mut Builder<'_>, condition: Value, other: &Fixed) -> Fixed {
        let high = b.select(condition, self.high, other.high);
        Fixed { high, low: b.select(condition, self.low, other.low) }
    }

    /// Shifts right by any amount that isn't negative; the lowest bit stands for all that is lost.
    fn shift_right_sticking(&self, b: &mut Builder<'_>, amount: Value) -> Fixed {
        let width = width(b.type_of(self.high));
        let limit = b.i32(2 * width - 1);
        let is_below = b.ult(amount, limit);
        let amount = b.select(is_below, amount, limit);
        // First by a whole half if it is that far, then by the rest.
        let half = b.i32(width);
        let zero = b.constant_like(self.high, 0);
        let is_near = b.ult(amount, half);
        let high = b.select(is_near, self.high, zero);
        let middle = b.select(is_near, self.low, self.high);
        let lost_half = b.select(is_near, zero, self.low);
        let amount = b.and_const(amount, u64::from(width - 1));
        let shifted = b.shr_by(middle, amount);
        let back = b.shl_by(shifted, amount);
        let lost = b.sub(middle, back);
        let lost = b.or(lost, lost_half);
        let from_high = shift_across(b, high, amount, true);
        let low = b.or(shifted, from_high);
        Fixed { high: b.shr_by(high, amount), low: stick(b, low, lost) }
    }

    /// The sum, or the difference in two's complement.
    fn add_or_subtract(&self, b: &mut Builder<'_>, other: &Fixed, subtract: Value) -> Fixed {
        let ty = b.type_of(self.high);
        let [ones, zero] = [u64::MAX, 0].map(|bits| b.constant(ty, bits));
        let flip = b.select(subtract, ones, zero);
        let one = b.and_const(flip, 1);
        let high = b.xor(other.high, flip);
        let high = b.add(self.high, high);
        let flipped = b.xor(other.low, flip);
        let partial = b.add(self.low, flipped);
        let sum = b.add(partial, one);
        // Both additions together carry at most once.
        let carries = [b.ult(partial, self.low), b.ult(sum, one)];
        let carry = b.or(carries[0], carries[1]);
        let carry = b.bool_to(ty, carry);
        Fixed { high: b.add(high, carry), low: sum }
    }

    /// The absolute value of two's complement, and all ones if it was negative, else zero.
    fn absolute(&self, b: &mut Builder<'_>) -> (Fixed, Value) {
        let top = width(b.type_of(self.high)) - 1;
        let negative = b.sar(self.high, top);
        let high = b.xor(self.high, negative);
        let low = b.xor(self.low, negative);
        let low = b.sub(low, negative);
        let is_low_zero = b.is_zero(low);
        let zero = b.constant_like(low, 0);
        let carry = b.select(is_low_zero, negative, zero);
        (Fixed { high: b.sub(high, carry), low }, negative)
    }

    /// The upper half (the lower one in its lowest bit) after a shift to the left that brings the leading one to its place
    /// for rounding, and by how much; zero stays zero.
    fn normalised(&self, b: &mut Builder<'_>) -> (Value, Value) {
        let width = width(b.type_of(self.high));
        let is_high_zero = b.is_zero(self.high);
        let first = b.select(is_high_zero, self.low, self.high);
        let zeros = leading_zeros(b, first);
        let [half, none] = [b.i32(width), b.i32(0)];
        let skipped = b.select(is_high_zero, half, none);
        let zeros = b.add(zeros, skipped);
        let shift = b.sub_const(zeros, 1);
        let is_near = b.ult(shift, half);
        let zero = b.constant_like(self.high, 0);
        let high = b.select(is_near, self.high, self.low);
        let low = b.select(is_near, self.low, zero);
        let amount = b.and_const(shift, u64::from(width - 1));
        let high = b.shl_by(high, amount);
        let from_low = shift_across(b, low, amount, false);
        let high = b.or(high, from_low);
        let lost = b.shl_by(low, amount);
        (stick(b, high, lost), shift)
    }
}

/// The bits that a shift to the right (or left) by less than the width moves out of a half into the other one.
fn shift_across(b: &mut Builder<'_>, half: Value, amount: Value, right: bool) -> Value {
    let limit = width(b.type_of(half)) - 1;
    let limit = b.i32(limit);
    let rest = b.sub(limit, amount);
    if right {
        let once = b.shl(half, 1);
        b.shl_by(once, rest)
    } else {
        let once = b.shr(half, 1);
        b.shr_by(once, rest)
    }
}
