//! Approximate functions of `F32` where the device's own functions are not known to be as accurate as PTX requires.
//! They use polynomials and only exact arithmetic on normal numbers, so that all devices give the same results, as do all on which `Fma`
//! rounds once.
//!
//! The coefficients come from `tests/instructions/generator/polynomials.py`. `translator/tests/passes/approximate.rs`
//! measures the remaining errors.

use crate::ir::{Binary, Builder, Compare, Function, Op, Rounding, Type, Unary, Value, rewrite_ops};
use crate::legalize::arithmetic::bits::negative;
use crate::legalize::arithmetic::bounded::{Bounded, Range};
use crate::legalize::arithmetic::division::{corrected, divide, unless_extreme};
use crate::policy::Floats;
use crate::soft::{self, SINGLE};
use ptx2spv_target::Facts;

/// `(2^x - 1) / x` for |x| <= 1/2. The coefficients leave an error of 1.3e-08.
const EXP2: [u32; 6] = [0x3f317218, 0x3e75fdf0, 0x3d6357b6, 0x3c1d952a, 0x3aaf8448, 0x392209c5];
/// `log2(1 + x) / x` for 1 + x from 1/sqrt(2) to sqrt(2). The coefficients leave an error of 3.0e-08.
const LOG2: [u32; 10] = [
    0x3fb8aa3b, 0xbf38aa38, 0x3ef63855, 0xbeb8ad39, 0x3e93bd2e, 0xbe755b87, 0x3e51c52a, 0xbe43fceb, 0x3e3d39f3,
    0xbddc34cb,
];
/// `sin(x pi/2) / x` as a polynomial in `x^2`, for |x| <= 1/2. The coefficients leave an error of 5.3e-08.
const SINE: [u32; 4] = [0x3fc90fdb, 0xbf255ddd, 0x3da32f62, 0xbb96cda0];
/// `(cos(x pi/2) - 1) / x^2` as a polynomial in `x^2`, for |x| <= 1/2. The coefficients leave an error of 3.6e-08.
const COSINE: [u32; 4] = [0xbf9de9e6, 0x3e81e0f5, 0xbcaae5cc, 0x3a6db249];
/// `(tanh(x) / x - 1) / x^2` as a polynomial in `x^2`, for |x| <= 5/8. The coefficients leave an error of 4.7e-08.
const TANH: [u32; 5] = [0xbeaaaaa9, 0x3e08870e, 0xbd5c92c5, 0x3cac0247, 0xbbc7c6f2];

/// Numbers in whose binade there are only integers. Adding one rounds to an integer, which is in the last bits of the sum.
const INTEGERS: [f32; 2] = [8388608.0, 1.5 * 8388608.0];

/// Replaces the approximate functions whose accuracy on the device is not established by a fact.
pub fn expand_approximate(function: &mut Function, floats: &Floats) {
    let facts = &floats.trusted;
    let fused = floats.fma_f32_fused && facts.fma_f32_denormals;
    let mut bounded = Bounded::default();
    rewrite_ops(function, |b, result, op| match op {
        Op::Unary(Unary::Exp2Approx, x) => Some(full_exp2(b, facts, fused, x)),
        Op::Unary(Unary::Exp2Flushed, x) => Some(flushed_exp2(b, facts, fused, x)),
        Op::Unary(Unary::Log2Approx, x) => {
            let is_normal = bounded.of(b, x).is_some_and(Range::is_normal);
            Some(if is_normal { own_log2(b, facts, fused, x) } else { full_log2(b, floats, fused, x) })
        }
        Op::Unary(op @ (Unary::SinApprox | Unary::CosApprox), x) if !facts.sin_cos_f32_close => {
            let of = if op == Unary::SinApprox { sine } else { cosine };
            let range = bounded.of(b, x);
            let result = of(b, facts, fused, x, range);
            Some(if range.is_some() { result } else { unless_finite(b, x, result) })
        }
        Op::Unary(Unary::TanhApprox, x) => Some(tanh(b, facts, fused, x)),
        Op::Binary(Binary::FDivApprox, x, y) if !facts.div_f32_rounded => Some(quotient(b, floats, x, y)),
        _ => {
            bounded.note(b, result, op);
            None
        }
    });
}

/// A polynomial by Horner's scheme, its coefficients given lowest first.
fn polynomial(b: &Builder<'_>, fused: bool, coefficients: &[u32], x: Value) -> Value {
    let mut rest = coefficients.iter().rev().map(|bits| f32::from_bits(*bits));
    let highest = rest.next().unwrap_or_default();
    let highest = b.f32(highest);
    rest.fold(highest, |sum, coefficient| multiply_add(b, fused, sum, x, b.f32(coefficient)))
}

/// A product and a sum, together where `Fma` rounds once.
fn multiply_add(b: &Builder<'_>, fused: bool, x: Value, y: Value, z: Value) -> Value {
    if fused { b.fma(x, y, z) } else { b.fadd(b.fmul(x, y), z) }
}

/// The result if the operand is a number, else NVIDIA's NaN.
fn unless_nan(b: &Builder<'_>, operand: Value, result: Value) -> Value {
    b.select(soft::is_nan(b, SINGLE, b.bits(operand)), b.constant(Type::F32, SINGLE.nan), result)
}

/// `2^x` by the device's own function as far as facts establish its accuracy.
fn full_exp2(b: &Builder<'_>, facts: &Facts, fused: bool, x: Value) -> Value {
    match facts.exp2_f32_close {
        true if facts.exp2_f32_denormals => b.unary(Unary::Exp2Approx, x),
        true if facts.denormals_f32_kept => raised_exp2(b, x),
        _ if facts.denormals_f32_kept => lowered_exp2(b, fused, x),
        _ => exp2_by_bits(b, fused, x),
    }
}

/// `2^x` with zero for subnormal results. Subnormal operands give one as zeros do.
fn flushed_exp2(b: &Builder<'_>, facts: &Facts, fused: bool, x: Value) -> Value {
    let power = if facts.exp2_f32_close {
        b.unary(Unary::Exp2Approx, x)
    } else {
        unless_beyond(b, x, finite_exp2(b, fused, x, None))
    };
    if facts.exp2_f32_close && facts.exp2_f32_flushes {
        return power;
    }
    b.select(is_low(b, x), b.f32(0.0), power)
}

/// Whether `2^x` is below the least normal number.
fn is_low(b: &Builder<'_>, x: Value) -> Value {
    b.flt(x, b.f32(-126.0))
}

/// `2^x` by the device's own function; subnormal results are made from normal ones.
fn raised_exp2(b: &Builder<'_>, x: Value) -> Value {
    let [shift, zero, factor, one] = [24.0, 0.0, 2f32.powi(-24), 1.0].map(|number| b.f32(number));
    let is_low = is_low(b, x);
    // Where the sum's error could change the result, the sum is exact: its last place is no larger than the operand's.
    let raised = b.fadd(x, b.select(is_low, shift, zero));
    b.fmul(b.unary(Unary::Exp2Approx, raised), b.select(is_low, factor, one))
}

/// Below `2^LEAST` every power is zero.
const LEAST: f32 = -160.0;

/// `2^x`. A subnormal result is made from a normal one, which is 2^64 times as large.
fn lowered_exp2(b: &Builder<'_>, fused: bool, x: Value) -> Value {
    let is_low = is_low(b, x);
    let [places, none] = [64 << 23, 0].map(|places| b.i32(places));
    let [factor, one] = [2f32.powi(-64), 1.0].map(|number| b.f32(number));
    let clamped = b.maximum(Compare::FLess, b.f32(LEAST), x);
    let raised = finite_exp2(b, fused, clamped, Some(b.select(is_low, places, none)));
    unless_beyond(b, x, b.fmul(raised, b.select(is_low, factor, one)))
}

/// `2^x` from -126 to below 128: the power of the fraction, to whose exponent the whole part is added. Something more may be added to the bits,
/// for lower operands.
fn finite_exp2(b: &Builder<'_>, fused: bool, x: Value, more: Option<Value>) -> Value {
    let integers = b.f32(INTEGERS[1]);
    let sum = b.fadd(x, integers);
    let power = power_of_fraction(b, fused, b.fsub(x, b.fsub(sum, integers)));
    // The last bits of the sum are the whole part's.
    let bits = b.add(b.bits(power), b.shl(b.bits(sum), 23));
    b.bitcast(more.map_or(bits, |more| b.add(bits, more)), Type::F32)
}

/// `2^x` where it is finite, else infinity or NaN.
fn unless_beyond(b: &Builder<'_>, x: Value, power: Value) -> Value {
    let beyond = b.fadd(x, b.f32(f32::INFINITY));
    b.select(b.flt(x, b.f32(128.0)), power, beyond)
}

/// `2^x` for |x| <= 1/2.
fn power_of_fraction(b: &Builder<'_>, fused: bool, x: Value) -> Value {
    multiply_add(b, fused, polynomial(b, fused, &EXP2, x), x, b.f32(1.0))
}

/// `2^x` where a device may flush subnormal results: they are put together on bits.
fn exp2_by_bits(b: &Builder<'_>, fused: bool, x: Value) -> Value {
    // Beyond these bounds the result is zero or infinity anyway. A NaN is replaced by the lower bound until the end.
    let (low, high) = (b.f32(LEAST), b.f32(130.0));
    let clamped = b.minimum(Compare::FLess, high, b.maximum(Compare::FLess, low, x));

    let whole = b.unary(Unary::RoundEven, clamped);
    let power = b.bits(power_of_fraction(b, fused, b.fsub(clamped, whole)));

    let whole = b.unary(Unary::FloatToSigned(Type::I32), whole);
    let normal = b.add(power, b.shl(whole, 23));
    let exponent = b.add(b.shr(power, 23), whole);
    // The significand is shifted right by one place for each step below the least exponent, and rounded.
    let [one, most] = [b.i32(1), b.i32(25)];
    let missing = b.sub(one, exponent);
    let is_subnormal = b.slt(exponent, one);
    let missing = b.minimum(Compare::LessSigned, most, b.select(is_subnormal, missing, one));
    let significand = b.or_const(b.and_const(power, SINGLE.hidden() - 1), SINGLE.hidden());
    let significand = b.add_const(b.shr_by(significand, b.sub_const(missing, 1)), 1);
    let result = b.select(is_subnormal, b.shr(significand, 1), normal);
    let overflows = b.sle(b.i32(SINGLE.top_exponent()), exponent);
    let result = b.bitcast(b.select(overflows, b.i32(SINGLE.infinity() as u32), result), Type::F32);
    unless_nan(b, x, result)
}

/// The binary logarithm, of subnormals by that of a normal number: a device may flush them, and Mesa's compiler for AMD (22.3) scales them and
/// takes the scale for a factor of the result.
fn full_log2(b: &Builder<'_>, floats: &Floats, fused: bool, x: Value) -> Value {
    let facts = &floats.trusted;
    if facts.log2_f32_close && !floats.flush {
        return own_log2(b, facts, fused, x);
    }
    let magnitude = b.magnitude(x);
    let is_tiny = b.ult(magnitude, b.i32(SINGLE.hidden() as u32));
    // Through the integer, since a device may flush subnormals.
    let units = b.unary(Unary::UnsignedToFloat(Type::F32), magnitude);
    let raised = b.bits(b.fmul(units, b.f32(2f32.powi(24 - 149))));
    let raised = b.bitcast(b.or(raised, b.and_const(b.bits(x), SINGLE.sign())), Type::F32);
    let logarithm = own_log2(b, facts, fused, b.select(is_tiny, raised, x));
    let less = b.fsub(logarithm, b.f32(24.0));
    b.select(is_tiny, less, logarithm)
}

/// The same of normal numbers, by the device's own function as far as a fact establishes its accuracy.
fn own_log2(b: &Builder<'_>, facts: &Facts, fused: bool, x: Value) -> Value {
    if facts.log2_f32_close { b.unary(Unary::Log2Approx, x) } else { log2(b, fused, x) }
}

/// The binary logarithm, of normal numbers; and of zeros, infinities and NaNs.
fn log2(b: &Builder<'_>, fused: bool, x: Value) -> Value {
    let bits = b.bits(x);
    // Choose the exponent so that the remaining factor is between the square roots of one half and of two.
    let above = b.sub(bits, b.i32(std::f32::consts::FRAC_1_SQRT_2.to_bits()));
    let exponent = b.sar(above, 23);
    let number = b.bitcast(b.sub(bits, b.shl(exponent, 23)), Type::F32);
    let rest = b.fsub(number, b.f32(1.0));
    let logarithm = polynomial(b, fused, &LOG2, rest);
    let logarithm = b.fmul(logarithm, rest);
    let exponent = b.unary(Unary::SignedToFloat(Type::F32), exponent);
    let result = b.fadd(exponent, logarithm);

    let first_normal = b.sub_const(bits, SINGLE.hidden());
    let is_normal = b.ult(first_normal, b.i32((SINGLE.infinity() - SINGLE.hidden()) as u32));
    let is_zero = b.is_zero(b.magnitude(bits));
    let is_infinity = b.eq(bits, b.i32(SINGLE.infinity() as u32));
    let nan = b.constant(Type::F32, SINGLE.nan);
    let [minus, plus] = [b.f32(f32::NEG_INFINITY), b.f32(f32::INFINITY)];
    let special = b.select(is_zero, minus, b.select(is_infinity, plus, nan));
    b.select(is_normal, result, special)
}

/// The sine of a finite number as hardware computes it: `x` times hardware's constant, rounded towards zero, is the angle in revolutions.
fn sine(b: &Builder<'_>, facts: &Facts, fused: bool, x: Value, range: Option<Range>) -> Value {
    let result = sine_of_magnitude(b, facts, fused, x, range, 0);
    if range.is_some_and(Range::is_normal) {
        return result;
    }
    let sign = b.and_const(b.bits(x), SINGLE.sign());
    b.bitcast(b.xor(b.bits(result), sign), Type::F32)
}

/// The cosine, in the same way.
fn cosine(b: &Builder<'_>, facts: &Facts, fused: bool, x: Value, range: Option<Range>) -> Value {
    sine_of_magnitude(b, facts, fused, x, range, 1)
}

fn unless_finite(b: &Builder<'_>, operand: Value, result: Value) -> Value {
    let is_finite = b.ult(b.magnitude(operand), b.i32(SINGLE.infinity() as u32));
    b.select(is_finite, result, b.constant(Type::F32, SINGLE.nan))
}

/// Angles whose quarters are far below the integers.
const SMALL: f64 = 1024.0;

/// Sine of `x`'s magnitude plus no quarter revolution or one.
fn sine_of_magnitude(
    b: &Builder<'_>,
    facts: &Facts,
    fused: bool,
    x: Value,
    range: Option<Range>,
    quarters: u64,
) -> Value {
    let is_positive = range.is_some_and(Range::is_normal);
    let angle = revolutions(b, facts, fused, x, is_positive);
    let [integers, signed_integers] = INTEGERS.map(|number| b.f32(number));
    let part = if range.is_some_and(|range| range.most() <= SMALL) {
        angle
    } else {
        // At most half a revolution; of an angle above the integers, which is one itself, some revolutions, one or two times a power of two.
        b.fsub(angle, b.fsub(b.fadd(angle, integers), integers))
    };
    let part = b.fmul(part, b.f32(4.0));
    let quarter = b.fadd(part, signed_integers);
    let angle = b.fsub(part, b.fsub(quarter, signed_integers));
    let quarter = b.bits(quarter);

    let square = b.fmul(angle, angle);
    let sine = polynomial(b, fused, &SINE, square);
    let sine = b.fmul(sine, angle);
    let cosine = polynomial(b, fused, &COSINE, square);
    let cosine = multiply_add(b, fused, cosine, square, b.f32(1.0));
    // The sine and the cosine of one angle share the test.
    let is_odd = b.is_nonzero(b.and_const(quarter, 1));
    // A quarter more changes the sign where the number of quarters is odd.
    let [odd, even] = if quarters == 0 { [cosine, sine] } else { [negative(b, facts, sine), cosine] };
    let result = b.select(is_odd, odd, even);
    let sign = b.and_const(b.shl(quarter, 30), SINGLE.sign());
    let bits = b.xor(b.bits(result), sign);
    b.bitcast(bits, Type::F32)
}

/// 1 / 2 pi as hardware has it, in halves of at most 12 bits.
const RECIPROCAL_TWO_PI: [u32; 2] = [0x3e22_f000, 0x3818_3000];

/// `x`'s magnitude in revolutions, rounded towards zero.
fn revolutions(b: &Builder<'_>, facts: &Facts, fused: bool, x: Value, is_positive: bool) -> Value {
    let [high_factor, low_factor] = RECIPROCAL_TWO_PI.map(f32::from_bits);
    let magnitude = if is_positive { b.bits(x) } else { b.magnitude(x) };
    let x = b.bitcast(magnitude, Type::F32);
    let factor = b.f32(high_factor + low_factor);
    let product = b.fmul(x, factor);
    // The product's rounding error, exactly. A subnormal error doesn't matter.
    let rest = if fused {
        b.fma(x, factor, negative(b, facts, product))
    } else {
        // Products of halves are exact (Dekker).
        let high = b.bitcast(b.and_const(magnitude, 0x7fff_f000), Type::F32);
        let low = b.fsub(x, high);
        let [high_factor, low_factor] = [high_factor, low_factor].map(|half| b.f32(half));
        let rest = b.fsub(b.fmul(high, high_factor), product);
        [(high, low_factor), (low, high_factor), (low, low_factor)]
            .into_iter()
            .fold(rest, |rest, (half, factor)| b.fadd(rest, b.fmul(half, factor)))
    };
    let is_beyond = b.bool_to(Type::I32, b.flt(rest, b.f32(0.0)));
    b.bitcast(b.sub(b.bits(product), is_beyond), Type::F32)
}

/// The hyperbolic tangent: by a polynomial near zero, else from `2^(2x / ln 2)`.
fn tanh(b: &Builder<'_>, facts: &Facts, fused: bool, x: Value) -> Value {
    let sign = b.and_const(b.bits(x), SINGLE.sign());
    let magnitude = b.magnitude(x);
    let distance = b.bitcast(magnitude, Type::F32);

    let square = b.fmul(distance, distance);
    let near = polynomial(b, fused, &TANH, square);
    let near = multiply_add(b, fused, b.fmul(near, square), distance, distance);

    // From 10 on the result is 1.0.
    let clamped = b.minimum(Compare::FLess, distance, b.f32(10.0));
    let exponent = b.fmul(clamped, b.f32(2.0 * std::f32::consts::LOG2_E));
    let power =
        if facts.exp2_f32_close { b.unary(Unary::Exp2Approx, exponent) } else { finite_exp2(b, fused, exponent, None) };
    let [one, two] = [b.f32(1.0), b.f32(2.0)];
    let fraction = b.binary(Binary::FDivApprox, two, b.fadd(power, one));
    let far = b.fsub(one, fraction);

    let is_near = b.flt(distance, b.f32(0.625));
    let result = b.select(is_near, near, far);
    // Tiny numbers, subnormals included, are their own hyperbolic tangent.
    let is_tiny = b.ult(magnitude, b.i32(2f32.powi(-13).to_bits()));
    let result = b.or(b.select(is_tiny, magnitude, b.bits(result)), sign);
    unless_nan(b, x, b.bitcast(result, Type::F32))
}

/// A quotient within two units in the last place. Vulkan's division is within 2.5 units for ordinary numbers, and a step of Newton's method
/// corrects its result; other numbers are divided exactly.
fn quotient(b: &Builder<'_>, floats: &Floats, x: Value, y: Value) -> Value {
    let reciprocal = b.binary(Binary::FDivApprox, b.f32(1.0), y);
    let quotient = b.fmul(x, reciprocal);
    let quotient = if floats.fma_f32_fused {
        let negative = negative(b, &floats.trusted, y);
        corrected(b, x, negative, reciprocal, quotient)
    } else {
        let rest = remainder(b, quotient, x, y);
        b.fadd(quotient, b.fmul(rest, reciprocal))
    };
    unless_extreme(b, [x, y], quotient, |b| divide(b, floats, Rounding::NearestEven, x, y))
}

/// The remainder of a dividend, by products of halves of the quotient and the divisor, which are exact.
fn remainder(b: &Builder<'_>, quotient: Value, x: Value, y: Value) -> Value {
    let [(quotient_high, quotient_low), (high, low)] = [quotient, y].map(|float| {
        let high = b.bitcast(b.and_const(b.bits(float), 0xffff_f000), Type::F32);
        (high, b.fsub(float, high))
    });
    let products = [(quotient_high, high), (quotient_high, low), (quotient_low, high), (quotient_low, low)];
    products.into_iter().fold(x, |rest, (left, right)| b.fsub(rest, b.fmul(left, right)))
}
