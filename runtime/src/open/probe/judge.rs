//! Expected results. Exact operations use Rust's own arithmetic, which is IEEE 754's; approximate ones use the error
//! bounds of the PTX manual, against f64. All NaNs are equivalent here.

use super::operands::{Operands, narrowed, odd_sum, widened};

fn f32s(operands: Operands) -> [f32; 3] {
    operands.map(|bits| f32::from_bits(bits as u32))
}

fn f64s(operands: Operands) -> [f64; 3] {
    operands.map(f64::from_bits)
}

fn same_f32(expected: f32, result: u64) -> bool {
    let result = f32::from_bits(result as u32);
    expected.to_bits() == result.to_bits() || expected.is_nan() && result.is_nan()
}

fn same_f64(expected: f64, result: u64) -> bool {
    expected.to_bits() == result || expected.is_nan() && f64::from_bits(result).is_nan()
}

/// The result is a function of the first operand.
pub fn f32_like(operands: Operands, result: u64, function: fn(f32) -> f32) -> bool {
    same_f32(function(f32s(operands)[0]), result)
}

/// The result is a function of the first operand.
pub fn f64_like(operands: Operands, result: u64, function: fn(f64) -> f64) -> bool {
    same_f64(function(f64s(operands)[0]), result)
}

fn exact_f32(operands: Operands, result: u64, exact: fn([f32; 3]) -> f32) -> bool {
    same_f32(exact(f32s(operands)), result)
}

fn exact_f64(operands: Operands, result: u64, exact: fn([f64; 3]) -> f64) -> bool {
    same_f64(exact(f64s(operands)), result)
}

fn of_first(operands: Operands, result: u64, right: fn(f32, u64) -> bool) -> bool {
    right(f32s(operands)[0], result)
}

/// Judges by one of the functions here, each with what is expected of the operands.
macro_rules! judges {
    ($judge:ident: $($(#[$doc:meta])* $name:ident = $expected:expr;)*) => {
        $($(#[$doc])* pub fn $name(operands: Operands, result: u64) -> bool {
            $judge(operands, result, $expected)
        })*
    };
}

judges! {
    exact_f32:
    fma_f32 = |[a, b, c]| a.mul_add(b, c);
    /// `fma` of all three operands, times the third, plus the first.
    fused_in_a_row = |[a, b, c]| a.mul_add(b, c) * c + a;
    /// `fma` if the first operand is less than the third, else rounded product plus third operand.
    fused_if_less = |[a, b, c]| if a < c { a.mul_add(b, c) } else { a * b + c };
    /// The product of the first two operands, added four times to the third by `fma`.
    fused_in_rounds = |[a, b, c]| (0..4).fold(c, |sum, _| a.mul_add(b, sum));
    div_f32 = |[a, b, _]| a / b;
    add_f32 = |[a, b, _]| a + b;
    mul_f32 = |[a, b, _]| a * b;
}

judges! {
    exact_f64:
    fma_f64 = |[a, b, c]| a.mul_add(b, c);
    div_f64 = |[a, b, _]| a / b;
    add_f64 = |[a, b, _]| a + b;
    sub_f64 = |[a, b, _]| a - b;
    mul_f64 = |[a, b, _]| a * b;
}

judges! {
    f32_like:
    sqrt_f32 = f32::sqrt;
    twice_f32 = |a| a + a;
}

judges! {
    f64_like:
    sqrt_f64 = f64::sqrt;
}

judges! {
    halves:
    add_f16 = |[a, b, _]| a + b;
    sub_f16 = |[a, b, _]| a - b;
    mul_f16 = |[a, b, _]| a * b;
    fma_f16 = |[a, b, c]| odd_sum(a * b, c);
    product_and_sum_f16 = |[a, b, c]| widened(narrowed(a * b)) + c;
}

judges! {
    of_first:
    /// The square root is close for positive, normal operands.
    sqrt_f32_close = |x, result| !(x.is_normal() && x > 0.0) || is_root_close(x, result);
    /// The inverse square root is close for positive, normal operands.
    rsqrt_f32_close = |x, result| !(x.is_normal() && x > 0.0) || is_inverse_root_close(x, result);
    /// The square root is exact for zeros, negative numbers, infinity and NaN.
    sqrt_f32_ends = |x, result| x.is_subnormal() || same_f32(x.sqrt(), result) || x > 0.0 && x.is_finite();
    /// The inverse square root is exact for zeros, negative numbers, infinity and NaN.
    rsqrt_f32_ends = |x, result| x.is_subnormal() || same_f32(x.sqrt().recip(), result) || x > 0.0 && x.is_finite();
    /// The square root is close for subnormal operands.
    sqrt_f32_subnormal = |x, result| !x.is_subnormal() || is_root_close(x, result);
    /// The inverse square root is close for subnormal operands.
    rsqrt_f32_subnormal = |x, result| !x.is_subnormal() || is_inverse_root_close(x, result);
    /// The square root of a subnormal number is the zero of its sign.
    sqrt_f32_flushing = |x, result| !x.is_subnormal() || same_f32(flush(x), result);
    /// The inverse square root of a subnormal number is the infinity of its sign.
    rsqrt_f32_flushing = |x, result| !x.is_subnormal() || same_f32(flush(x).recip(), result);
}

judges! {
    circular:
    sin_f32 = f64::sin;
    cos_f32 = f64::cos;
}

judges! {
    extreme_f32:
    /// The minimum: NaN only if both operands are, and −0 is less than +0.
    min_f32 = |a, b| a.total_cmp(&b).is_lt();
    /// The maximum: NaN only if both operands are, and −0 is less than +0.
    max_f32 = |a, b| a.total_cmp(&b).is_gt();
}

/// The bits of the rounded product of two numbers.
pub fn product_f32(a: u64, b: u64) -> u64 {
    let [a, b, _] = f32s([a, b, 0]);
    (a * b).to_bits().into()
}

/// A product minus its rounded value.
pub fn product_error_f32([a, b, _]: Operands, result: u64) -> bool {
    fma_f32([a, b, product_f32(a, b) ^ 0x8000_0000], result)
}

/// Right wherever neither operands nor the result are subnormal.
pub fn fma_f32_normal(operands: Operands, result: u64) -> bool {
    let [a, b, c] = f32s(operands);
    let exact = a.mul_add(b, c);
    // A sum that rounds up to the least normal number may have been flushed before rounding.
    let flushed = |x: f32| x.is_subnormal() || x.abs() == f32::MIN_POSITIVE;
    [a, b, c, exact].into_iter().any(flushed) || same_f32(exact, result)
}

/// A bit each for less, less or equal, equal, and unequal or unordered.
pub fn compares_f64(operands: Operands, result: u64) -> bool {
    let [a, b, _] = f64s(operands);
    let holds = [a < b, a <= b, a == b, a != b];
    result == holds.into_iter().rev().fold(0, |bits, holds| bits << 1 | u64::from(holds))
}

/// The result is the expected number.
pub fn converted_f64(expected: f64, result: u64) -> bool {
    same_f64(expected, result)
}

/// The lower half of the first operand, an f32, as f64. The f32 may be flushed first.
pub fn widened_f32([a, ..]: Operands, result: u64) -> bool {
    let narrow = f32::from_bits(a as u32);
    narrow.is_subnormal() || same_f64(narrow.into(), result)
}

/// The first operand as f32, which may be flushed.
pub fn narrowed_f64(operands: Operands, result: u64) -> bool {
    let narrow = f64s(operands)[0] as f32;
    involves_denormals(&[], narrow) || same_f32(narrow, result)
}

/// Replaces a subnormal number by zero of the same sign.
fn flush(x: f32) -> f32 {
    if x.is_subnormal() { 0f32.copysign(x) } else { x }
}

/// The sum, with subnormal operands and results flushed to zero of their sign.
pub fn add_f32_flushing(operands: Operands, result: u64) -> bool {
    let [a, b, _] = f32s(operands).map(flush);
    same_f32(flush(a + b), result)
}

/// The difference, with the same flushing.
pub fn sub_f32_flushing(operands: Operands, result: u64) -> bool {
    let [a, b, _] = f32s(operands).map(flush);
    same_f32(flush(a - b), result)
}

/// The product, with the same flushing. It is also zero if it is below the least normal number when rounded with
/// unlimited exponent range.
pub fn mul_f32_flushing([a, b, _]: Operands, result: u64) -> bool {
    fma_f32_flushing([a, b, u64::from((-0f32).to_bits())], result)
}

/// The fused product and sum, with the same flushing.
pub fn fma_f32_flushing(operands: Operands, result: u64) -> bool {
    let [a, b, c] = f32s(operands).map(flush);
    // Scaled up, where exponents don't underflow, to see whether the rounded result is tiny.
    let up = 2f32.powi(32);
    let scaled = (a * up).mul_add(b, c * up);
    let is_tiny = scaled.abs() < f32::MIN_POSITIVE * up;
    same_f32(if is_tiny { 0f32.copysign(scaled) } else { a.mul_add(b, c) }, result)
}

/// A NaN has NVIDIA's bits.
pub fn nan_f32(_: Operands, result: u64) -> bool {
    !f32::from_bits(result as u32).is_nan() || result == 0x7fff_ffff
}

/// A NaN is the first operand, made quiet.
pub fn nan_f32_kept(operands: Operands, result: u64) -> bool {
    !f32s(operands)[0].is_nan() || result == operands[0] | 0x40_0000
}

/// A NaN is the first operand, in this order, that is NaN, made quiet; or else the device's own NaN.
pub fn nan_f64(operands: Operands, result: u64, order: &[usize]) -> bool {
    let given = order.iter().map(|index| operands[*index]).find(|bits| f64::from_bits(*bits).is_nan());
    let expected = given.map_or(0xfff8_0000_0000_0000, |bits| bits | 1 << 51);
    !f64::from_bits(result).is_nan() || result == expected
}

fn extreme_f32(operands: Operands, result: u64, wins: fn(f32, f32) -> bool) -> bool {
    let [a, b, _] = f32s(operands);
    same_f32(if b.is_nan() || !a.is_nan() && wins(a, b) { a } else { b }, result)
}

/// The integer that an f32 converts to.
pub fn saturated(operands: Operands, result: u64, integer: fn(f32) -> u32) -> bool {
    result == u64::from(integer(f32s(operands)[0]))
}

pub fn less_f32(operands: Operands, result: u64) -> bool {
    let [a, b, _] = f32s(operands);
    result == u64::from(a < b)
}

pub fn equal_f32(operands: Operands, result: u64) -> bool {
    let [a, b, _] = f32s(operands);
    result == u64::from(a == b)
}

/// Whether flushing may affect the exact result: an operand or the result is subnormal, or the result was below the
/// least normal number before rounding.
fn involves_denormals(operands: &[f32], exact: f32) -> bool {
    let denormal = |x: &f32| x.is_subnormal();
    operands.iter().any(denormal) || exact.is_subnormal() || exact.abs() == f32::MIN_POSITIVE
}

/// The sum is right, or denormals are involved and the result is too small to be trusted.
fn sum_f32_normal(operands: [f32; 2], exact: f32, result: u64) -> bool {
    let is_small = f32::from_bits(result as u32).abs() < 2f32.powi(-100);
    same_f32(exact, result) || is_small && involves_denormals(&operands, exact)
}

pub fn add_f32_normal(operands: Operands, result: u64) -> bool {
    let [a, b, _] = f32s(operands);
    sum_f32_normal([a, b], a + b, result)
}

pub fn sub_f32_normal(operands: Operands, result: u64) -> bool {
    let [a, b, _] = f32s(operands);
    sum_f32_normal([a, b], a - b, result)
}

/// The product is right, or denormals are involved, no operand is zero, and the result is neither normal nor infinite.
pub fn mul_f32_normal(operands: Operands, result: u64) -> bool {
    let [a, b, _] = f32s(operands);
    let found = f32::from_bits(result as u32);
    let is_trusted = found.is_normal() || found.is_infinite() || a == 0.0 || b == 0.0;
    same_f32(a * b, result) || !is_trusted && involves_denormals(&[a, b], a * b)
}

/// The quotient is right, or denormals are involved and the result isn't normal.
pub fn div_f32_normal(operands: Operands, result: u64) -> bool {
    let [a, b, _] = f32s(operands);
    let is_trusted = f32::from_bits(result as u32).is_normal();
    same_f32(a / b, result) || !is_trusted && involves_denormals(&[a, b], a / b)
}

/// The square root is right unless the operand is subnormal.
pub fn sqrt_f32_normal(operands: Operands, result: u64) -> bool {
    f32s(operands)[0].is_subnormal() || sqrt_f32(operands, result)
}

/// The comparison is right, or both operands are below the normal numbers and one is subnormal.
pub fn compares_f32_normal(operands: Operands, result: u64, holds: fn(f32, f32) -> bool) -> bool {
    let [a, b, _] = f32s(operands);
    let is_tiny = a.abs() < f32::MIN_POSITIVE && b.abs() < f32::MIN_POSITIVE;
    result == u64::from(holds(a, b)) || is_tiny && involves_denormals(&[a, b], 0.0)
}

/// The result is the expected number.
pub fn converted_f32(expected: f32, result: u64) -> bool {
    same_f32(expected, result)
}

/// Whether a result is within a relative error. Zero, infinity and NaN have to be exact.
fn within(exact: f64, result: u64, relative: f64) -> bool {
    let found = f32::from_bits(result as u32);
    let nearest = exact as f32;
    if exact == 0.0 || !exact.is_finite() {
        return same_f32(nearest, result);
    }
    (f64::from(found) - exact).abs() <= relative * exact.abs()
}

/// The rounding error of a result between 1 and 2, which hardware's own functions add to the manual's bounds.
const ROUNDING: f64 = 1.0 / (1 << 24) as f64;

/// Like [`exp2_f32`], wherever the result is a normal number.
pub fn exp2_f32_normal(operands: Operands, result: u64) -> bool {
    f32s(operands)[0] < -126.0 || exp2_f32(operands, result)
}

/// Within 2^-22.5 of the mantissa, and rounding. The unit is at least that of subnormal numbers.
pub fn exp2_f32(operands: Operands, result: u64) -> bool {
    let x = f64::from(f32s(operands)[0]);
    let exact = x.exp2();
    let found = f64::from(f32::from_bits(result as u32));
    if !exact.is_finite() || exact == 0.0 || exact > f64::from(f32::MAX) * (1.0 + 2f64.powi(-23)) {
        return same_f32(exact as f32, result);
    }
    if exact > f64::from(f32::MAX) {
        return true;
    }
    let unit = 2f64.powi(exact.log2().floor().max(-126.0) as i32);
    (found - exact).abs() <= (2f64.powf(-22.5) + ROUNDING) * unit
}

/// Like [`exp2_f32`], with subnormal operands and results flushed to zero.
pub fn exp2_f32_flushing([a, ..]: Operands, result: u64) -> bool {
    let x = flush(f32::from_bits(a as u32));
    if x < -126.0 { result == 0 } else { exp2_f32([x.to_bits().into(), 0, 0], result) }
}

/// From 0.5 to 2 within 2^-22.6 and rounding, elsewhere within a relative error of 2^-22.
pub fn log2_f32(operands: Operands, result: u64) -> bool {
    let x = f32s(operands)[0];
    let exact = f64::from(x).log2();
    if (0.5..2.0).contains(&x) {
        let found = f64::from(f32::from_bits(result as u32));
        return (found - exact).abs() <= 2f64.powf(-22.6) + ROUNDING;
    }
    within(exact, result, 2f64.powi(-22))
}

/// An angle in turns, as NVIDIA's hardware computes it: multiplied by a constant and rounded towards zero.
fn turns(x: f32) -> f64 {
    let product = f64::from(x) * f64::from(f32::from_bits(0x3e22_f983));
    let nearest = product as f32;
    let beyond = f64::from(nearest).abs() > product.abs();
    f64::from(f32::from_bits(nearest.to_bits() - u32::from(beyond)))
}

/// Within 2^-20.9 of the function of the angle in hardware's turns.
fn circular(operands: Operands, result: u64, exact: fn(f64) -> f64) -> bool {
    let x = f32s(operands)[0];
    let found = f64::from(f32::from_bits(result as u32));
    if !x.is_finite() {
        return found.is_nan();
    }
    (found - exact(turns(x).fract() * std::f64::consts::TAU)).abs() <= 2f64.powf(-20.9)
}

fn is_root_close(x: f32, result: u64) -> bool {
    within(f64::from(x).sqrt(), result, 2f64.powi(-23))
}

fn is_inverse_root_close(x: f32, result: u64) -> bool {
    within(f64::from(x).sqrt().recip(), result, 2f64.powf(-22.9))
}

/// 252 times the operand clamped to [0, 1], rounded down, in the low bits of a float. NaN counts as zero.
pub fn floor_of_saturated([a, ..]: Operands, result: u64) -> bool {
    let a = f32::from_bits(a as u32);
    let clamped = if a > 0.0 { a.min(1.0) } else { 0.0 };
    result == 0x4b40_0001 + (252.0 * f64::from(clamped)).floor() as u64
}

/// The bits of the rounded sum of two numbers.
pub fn sum_f32(a: u64, b: u64) -> u64 {
    u64::from((f32::from_bits(a as u32) + f32::from_bits(b as u32)).to_bits())
}

/// Whether both f16 of a pair are the rounded values of `exact`, which may itself be rounded to odd. One NaN is as good as another.
fn halves(operands: Operands, result: u64, exact: fn([f64; 3]) -> f64) -> bool {
    [0, 16].into_iter().all(|place| {
        let numbers = operands.map(|bits| widened(bits >> place & 0xffff));
        let (exact, result) = (exact(numbers), result >> place & 0xffff);
        if exact.is_nan() { widened(result).is_nan() } else { result == narrowed(exact) }
    })
}

/// Whether those of a pair that are NaN are NVIDIA's.
pub fn nan_f16(_: Operands, result: u64) -> bool {
    [result & 0xffff, result >> 16 & 0xffff]
        .into_iter()
        .all(|half| !widened(half).is_nan() || half == narrowed(f64::NAN))
}

/// One, if the lower half of the first operand is NaN.
pub fn positive_nan_f16(operands: Operands, result: u64) -> bool {
    !widened(operands[0] & 0xffff).is_nan() || result == 1
}

/// An f16, the upper half of whose word is zero. One NaN is as good as another.
fn is_f16(exact: f64, result: u64) -> bool {
    if exact.is_nan() { result <= 0xffff && widened(result).is_nan() } else { result == narrowed(exact) }
}

/// The first operand, an f32, as f16.
pub fn narrowed_f16(operands: Operands, result: u64) -> bool {
    is_f16(f32s(operands)[0].into(), result)
}

/// The f16 in the lower half of the first operand.
pub fn same_f16([a, ..]: Operands, result: u64) -> bool {
    is_f16(widened(a & 0xffff), result)
}

/// The same as f32.
pub fn widened_f16([a, ..]: Operands, result: u64) -> bool {
    same_f32(widened(a & 0xffff) as f32, result)
}

/// The first operand, an f32, rounded to f16 and as f32 again.
pub fn rounded_f16(operands: Operands, result: u64) -> bool {
    same_f32(widened(narrowed(f32s(operands)[0].into())) as f32, result)
}
