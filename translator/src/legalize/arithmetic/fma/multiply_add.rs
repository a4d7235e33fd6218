//! One multiply-add without the device's, exact in all cases.

use super::integers::fused_on_integers;
use crate::ir::{Builder, Rounding, Type, Value};
use crate::legalize::arithmetic::convert::{narrow, widen};
use crate::policy::Floats;
use crate::soft::{DOUBLE, SINGLE, odd_sum, two_product, two_sum};
use ptx2spv_target::Facts;

/// The product of the first two operands plus the third, without the device's `Fma`.
pub fn multiply_add(b: &Builder<'_>, floats: &Floats, rounding: Rounding, operands: [Value; 3]) -> Value {
    match b.type_of(operands[0]) {
        Type::F32 if floats.doubles => through_double(b, &floats.trusted, rounding, operands),
        Type::F32 if rounding == Rounding::NearestEven && floats.trusted.are_normals_exact() => by_errors(b, operands),
        _ => fused_on_integers(b, rounding, operands),
    }
}

/// Sums of at least this magnitude can be told from products that underflow; see [`Estimate`].
pub const CLEAR: f32 = f32::from_bits((127 - 60) << 23);

/// Factors of at least this magnitude have no place below the least normal number.
pub const DIVISIBLE: f32 = f32::from_bits((127 - 102) << 23);

/// The multiply-add of `F32`, rounded to nearest, from rounded products and sums and their errors.
///
/// Product, addend and the rounding errors of product and sum add up to `sum + rest`. Only `rest` is rounded, with a relative error below
/// 2^-23. If a `rest` larger or smaller by 2^-22 of itself gives the same result, that result is right, since rounding is monotonic.
///
/// Where the sum is at least 2^-60 and no factor is below 2^-102 but for zeros, underflow doesn't matter, flushed or not. Every error from
/// underflow is below 2^-126, and there are few. They change a rest of 2^-87 or more by far less than 2^-23 of itself. A smaller rest is below
/// half the distance from the sum to its neighbours (2^-85 at least) with or without those errors. An infinite or NaN sum isn't taken as the
/// result, since the product alone may have overflowed.
pub struct Estimate {
    pub result: Value,
    pub sum: Value,
    /// Whether both rests give this result.
    pub agrees: Value,
}

impl Estimate {
    pub fn of(b: &Builder<'_>, [x, y, z]: [Value; 3]) -> Self {
        let (product, product_error) = two_product(b, x, y);
        let (sum, sum_error) = two_sum(b, product, z);
        let rest = b.fadd(product_error, sum_error);
        let [result, other] =
            [1.0 - f32::EPSILON * 2.0, 1.0 + f32::EPSILON * 2.0].map(|factor| b.fadd(sum, b.fmul(rest, b.f32(factor))));
        Self { result, sum, agrees: b.feq(result, other) }
    }
}

fn by_errors(b: &Builder<'_>, operands: [Value; 3]) -> Value {
    let Estimate { result, sum, agrees } = Estimate::of(b, operands);
    // The difference of two magnitudes is negative where one is too small or too large.
    let [x_magnitude, y_magnitude, magnitude] = [operands[0], operands[1], sum].map(|float| b.magnitude(float));
    let [x_above, y_above] = [x_magnitude, y_magnitude].map(|bits| b.sub_const(bits, DIVISIBLE.to_bits().into()));
    let sum_above = b.sub_const(magnitude, CLEAR.to_bits().into());
    let sum_below = b.sub(b.i32(SINGLE.largest() as u32), magnitude);
    let factors = b.or(x_above, y_above);
    let sums = b.or(sum_above, sum_below);
    let all = b.or(factors, sums);
    let is_clear = b.sle(b.i32(0), all);
    let is_right = b.and(is_clear, agrees);
    b.choose(is_right, |_| result, |b| decided(b, operands))
}

/// The multiply-add of `F32` where errors may not decide.
pub fn decided(b: &Builder<'_>, operands: [Value; 3]) -> Value {
    let [x, y, z] = operands;
    // A factor that is zero makes the product zero or NaN, and the device's sum right unless the addend is subnormal.
    let [x_zero, y_zero] = [x, y].map(|factor| b.is_zero(b.magnitude(factor)));
    let is_zero = b.or(x_zero, y_zero);
    let is_plain = b.and(is_zero, b.not(is_subnormal(b, z)));
    b.choose(is_plain, |b| b.fadd(b.fmul(x, y), z), |b| fused_on_integers(b, Rounding::NearestEven, operands))
}

fn is_subnormal(b: &Builder<'_>, float: Value) -> Value {
    let bits = b.bits(float);
    // Twice a subnormal's magnitude is below this bound. Subtracting one first puts zero above the bound.
    b.ult(b.sub_const(b.shl(bits, 1), 1), b.i32(2 * SINGLE.hidden() as u32 - 1))
}

/// Addends of at least this magnitude leave no sum that is subnormal, unless the product vanishes: see [`guarded`].
const AMPLE: f32 = f32::from_bits((127 - 76) << 23);

/// The multiply-add of `F32` by a device that rounds once but flushes denormal operands and results.
///
/// The common case costs one test: the addend is ample and the result compares less or greater than the addend. With a flushed factor the
/// result would be the addend, or NaN if the other factor is infinite. So no factor was flushed, and the addend isn't subnormal. Nor is the
/// sum, unless it is zero: if the product is less than half the addend, the sum is more than half of the addend; else product and addend
/// are multiples of 2^-49 of the addend's magnitude (significands have 24 bits, their products 48), and so is the sum.
///
/// Operands that fail that test (mostly zeros) are examined further, and emulated if a denormal is or may be involved.
pub fn guarded(b: &Builder<'_>, floats: &Floats, operands: [Value; 3]) -> Value {
    let [x, y, z] = operands;
    let fused = b.fma(x, y, z);
    let addend = b.magnitude(z);
    let is_ample = b.ult(b.i32(AMPLE.to_bits() - 1), addend);
    let is_less = b.flt(fused, z);
    let is_greater = b.flt(z, fused);
    let differs = b.or(is_less, is_greater);
    let is_safe = b.and(is_ample, differs);
    b.choose(
        is_safe,
        |_| fused,
        |b| {
            let is_flushed = is_flushed(b, operands, fused);
            b.choose(is_flushed, |b| multiply_add(b, floats, Rounding::NearestEven, operands), |_| fused)
        },
    )
}

/// Whether an operand is subnormal, or the result may have been subnormal, since it is a zero, though no factor is.
fn is_flushed(b: &Builder<'_>, operands: [Value; 3], fused: Value) -> Value {
    let [x, y, z] = operands.map(|operand| is_subnormal(b, operand));
    let factors = b.or(x, y);
    let any = b.or(factors, z);
    let zero = b.f32(0.0);
    let [x_nonzero, y_nonzero] = [operands[0], operands[1]].map(|factor| b.fne(factor, zero));
    let has_product = b.and(x_nonzero, y_nonzero);
    let is_zero = b.feq(fused, zero);
    b.or(any, b.and(is_zero, has_product))
}

/// The multiply-add of `F32` through `F64`, where the product is exact. The sum is rounded to odd, so that the rounding
/// to `F32` gives the correctly rounded result.
fn through_double(b: &Builder<'_>, facts: &Facts, rounding: Rounding, operands: [Value; 3]) -> Value {
    narrow(b, facts, rounding, wide_sum(b, facts, rounding, operands))
}

/// An `F64` for the product of the first two `F32` operands plus the third. Rounding it to `F32` or a narrower format gives the same as
/// rounding the exact result.
pub fn wide_sum(b: &Builder<'_>, facts: &Facts, rounding: Rounding, operands: [Value; 3]) -> Value {
    let [x, y, z] = operands.map(|operand| widen(b, facts, operand));
    sum_to_narrow(b, rounding, b.fmul(x, y), z)
}

/// An `F64` that rounds to `F32` as the sum of two `F64`s. No error underflows, if both are products of two `F32`s: they
/// are multiples of 2^-298.
pub fn sum_to_narrow(b: &Builder<'_>, rounding: Rounding, x: Value, y: Value) -> Value {
    let sum = odd_sum(b, x, y);
    if rounding == Rounding::Down { signed_zero_down(b, sum, x, y) } else { sum }
}

/// A sum that is zero has a sign, when rounding down, if an addend has one.
fn signed_zero_down(b: &Builder<'_>, sum: Value, x: Value, y: Value) -> Value {
    let [bits, x, y] = [sum, x, y].map(|float| b.bits(float));
    let signs = b.or(x, y);
    let zero = b.and_const(signs, DOUBLE.sign());
    let is_zero = b.is_zero(b.magnitude(sum));
    b.bitcast(b.select(is_zero, zero, bits), Type::F64)
}
