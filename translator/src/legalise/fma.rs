//! Fused multiply-add where the device rounds the product, or flushes `F32` denormals.
//!
//! On `F32` with the help of `F64` where that exists; else on integers. A device that only flushes does it itself where
//! that can't have mattered. Exact in all cases; NaNs are NVIDIA's where the device doesn't round once.

use super::convert::{narrow, widen};
use crate::ir::{Builder, Function, Op, Rounding, Stmt, Type, Value};
use crate::passes::{Rewritten, rewrite};
use crate::soft::{DOUBLE, Format, Parts, SINGLE, leading_zeros, odd_sum, product_sign, round, stick, unless_nan};
use crate::target::{Facts, Feature, Target};

/// Replaces `Fma` on types where the target doesn't do it right.
pub fn expand_fma(function: &mut Function, target: &Target) {
    let facts = &target.facts;
    let f32_exact = facts.fma_f32_fused && facts.fma_f32_denormals;
    if f32_exact && facts.fma_f64_fused {
        return;
    }
    rewrite(function, |b, stmt| match *stmt {
        Stmt::Let(result, Op::Fma(x, y, z)) => match b.type_of(result) {
            Type::F32 if f32_exact => Rewritten::Kept,
            Type::F64 if facts.fma_f64_fused => Rewritten::Kept,
            Type::F32 if facts.fma_f32_fused => Rewritten::By(guarded(b, target, [x, y, z])),
            _ => Rewritten::By(multiply_add(b, target, Rounding::NearestEven, [x, y, z])),
        },
        _ => Rewritten::Kept,
    });
}

/// The first two's product and the third's sum without the device's `Fma`.
pub fn multiply_add(b: &mut Builder<'_>, target: &Target, rounding: Rounding, operands: [Value; 3]) -> Value {
    match b.type_of(operands[0]) {
        Type::F32 if target.has(Feature::ShaderFloat64) => through_double(b, &target.facts, rounding, operands),
        _ => on_integers(b, rounding, operands),
    }
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
fn guarded(b: &mut Builder<'_>, target: &Target, operands: [Value; 3]) -> Value {
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
    let [x, y, z] = operands.map(|operand| {
        let bits = b.bits(operand);
        // A subnormal's magnitude twice is below this. Less one, zero is above it.
        let twice = b.shl(bits, 1);
        let twice = b.sub_const(twice, 1);
        let limit = b.i32(2 * SINGLE.hidden() as u32 - 1);
        b.ult(twice, limit)
    });
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

/// Any format's on integers.
///
/// Product and addend are placed in a fixed-point number whose upper bits hold either significand without loss; the one
/// of the lower exponent is shifted right, what is lost staying in the lowest bit. Subnormals need no normalisation:
/// whatever cancellation brings forth below them is far below the result's last place, or was not lost.
fn on_integers(b: &mut Builder<'_>, rounding: Rounding, operands: [Value; 3]) -> Value {
    let [x, y, z] = operands.map(|operand| Parts::of(b, operand));
    let format = x.format;
    let is_zero_product = {
        let (x, y) = (x.is_zero(b), y.is_zero(b));
        b.or(x, y)
    };

    // Exponents of bit 60 of the upper half. A zero product must not shift the addend.
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
    let infinity = b.i64(format.infinity());
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

/// An unsigned fixed-point number of 64 bits, or 128 for formats whose products need them.
struct Fixed {
    high: Value,
    low: Option<Value>,
}

/// Bit of the upper half at which significands have their leading one; products may have it one higher.
const TOP: u32 = 60;

impl Fixed {
    fn product(b: &mut Builder<'_>, format: Format, x: Value, y: Value) -> Fixed {
        if format == SINGLE {
            let x = b.shl(x, TOP - 2 * (SINGLE.precision - 1));
            return Fixed { high: b.mul(x, y), low: None };
        }
        let shift = (64 + TOP - 2 * (DOUBLE.precision - 1)) / 2;
        let [x, y] = [x, y].map(|factor| b.shl(factor, shift));
        Fixed { high: b.mul_high_unsigned(x, y), low: Some(b.mul(x, y)) }
    }

    fn addend(b: &mut Builder<'_>, format: Format, significand: Value) -> Fixed {
        let high = b.shl(significand, TOP + 1 - format.precision);
        Fixed { high, low: (format != SINGLE).then(|| b.i64(0)) }
    }

    /// `condition ? self : other`.
    fn select(&self, b: &mut Builder<'_>, condition: Value, other: &Fixed) -> Fixed {
        let high = b.select(condition, self.high, other.high);
        let low = self.low.zip(other.low).map(|(low, other)| b.select(condition, low, other));
        Fixed { high, low }
    }

    /// Shifts right by any amount that isn't negative; the lowest bit stands for all that is lost.
    fn shift_right_sticking(&self, b: &mut Builder<'_>, amount: Value) -> Fixed {
        let limit = b.i32(if self.low.is_some() { 127 } else { 63 });
        let is_below = b.ult(amount, limit);
        let amount = b.select(is_below, amount, limit);
        let Some(low) = self.low else {
            let shifted = b.shr_by(self.high, amount);
            let back = b.shl_by(shifted, amount);
            let lost = b.sub(self.high, back);
            return Fixed { high: stick(b, shifted, lost), low: None };
        };
        // First by a whole half if it is that far, then by the rest.
        let half = b.i32(64);
        let zero = b.i64(0);
        let is_near = b.ult(amount, half);
        let high = b.select(is_near, self.high, zero);
        let middle = b.select(is_near, low, self.high);
        let lost_half = b.select(is_near, zero, low);
        let amount = b.and_const(amount, 63);
        let shifted = b.shr_by(middle, amount);
        let back = b.shl_by(shifted, amount);
        let lost = b.sub(middle, back);
        let lost = b.or(lost, lost_half);
        let from_high = shift_across(b, high, amount, true);
        let low = b.or(shifted, from_high);
        Fixed { high: b.shr_by(high, amount), low: Some(stick(b, low, lost)) }
    }

    /// The sum, or the difference in two's complement.
    fn add_or_subtract(&self, b: &mut Builder<'_>, other: &Fixed, subtract: Value) -> Fixed {
        let [ones, zero] = [b.i64(u64::MAX), b.i64(0)];
        let flip = b.select(subtract, ones, zero);
        let one = b.and_const(flip, 1);
        let high = b.xor(other.high, flip);
        let high = b.add(self.high, high);
        let Some((low, other_low)) = self.low.zip(other.low) else {
            return Fixed { high: b.add(high, one), low: None };
        };
        let flipped = b.xor(other_low, flip);
        let partial = b.add(low, flipped);
        let sum = b.add(partial, one);
        // Both additions together carry at most once.
        let carries = [b.ult(partial, low), b.ult(sum, one)];
        let carry = b.or(carries[0], carries[1]);
        let carry = b.bool_to(Type::I64, carry);
        Fixed { high: b.add(high, carry), low: Some(sum) }
    }

    /// The absolute value of two's complement, and all ones if it was negative, else zero.
    fn absolute(&self, b: &mut Builder<'_>) -> (Fixed, Value) {
        let negative = b.sar(self.high, 63);
        let high = b.xor(self.high, negative);
        let Some(low) = self.low else {
            return (Fixed { high: b.sub(high, negative), low: None }, negative);
        };
        let low = b.xor(low, negative);
        let low = b.sub(low, negative);
        let is_low_zero = b.is_zero(low);
        let zero = b.i64(0);
        let carry = b.select(is_low_zero, negative, zero);
        (Fixed { high: b.sub(high, carry), low: Some(low) }, negative)
    }

    /// The upper half (the lower one in its lowest bit) after a shift to the left that brings the leading one to bit 62,
    /// and by how much; zero stays zero.
    fn normalised(&self, b: &mut Builder<'_>) -> (Value, Value) {
        let Some(low) = self.low else {
            let zeros = leading_zeros(b, self.high);
            let shift = b.sub_const(zeros, 1);
            return (b.shl_by(self.high, shift), shift);
        };
        let is_high_zero = b.is_zero(self.high);
        let first = b.select(is_high_zero, low, self.high);
        let zeros = leading_zeros(b, first);
        let [half, none] = [b.i32(64), b.i32(0)];
        let skipped = b.select(is_high_zero, half, none);
        let zeros = b.add(zeros, skipped);
        let shift = b.sub_const(zeros, 1);
        let is_near = b.ult(shift, half);
        let zero = b.i64(0);
        let high = b.select(is_near, self.high, low);
        let low = b.select(is_near, low, zero);
        let amount = b.and_const(shift, 63);
        let high = b.shl_by(high, amount);
        let from_low = shift_across(b, low, amount, false);
        let high = b.or(high, from_low);
        let lost = b.shl_by(low, amount);
        (stick(b, high, lost), shift)
    }
}

/// The bits that a shift to the right (or left) by up to 63 moves out of a half into the other one.
fn shift_across(b: &mut Builder<'_>, half: Value, amount: Value, right: bool) -> Value {
    let limit = b.i32(63);
    let rest = b.sub(limit, amount);
    if right {
        let once = b.shl(half, 1);
        b.shl_by(once, rest)
    } else {
        let once = b.shr(half, 1);
        b.shr_by(once, rest)
    }
}
