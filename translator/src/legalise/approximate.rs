//! Approximate instructions where the device's functions are not known to be as close as PTX demands, or give something else
//! where Vulkan leaves the result undefined: in `F64`, whose sums and products are exact enough. Results are within half an
//! ulp and a little. Without `F64` the device's own stay.

use std::f64::consts::{LN_2, PI, SQRT_2};

use super::convert::{narrow, widen};
use super::soft::{DOUBLE, Format};
use crate::ir::{Binary, Builder, Compare, Function, Op, Stmt, Type, Unary, Value};
use crate::passes::{Rewritten, rewrite};
use crate::target::{Facts, Feature, Target};

/// Terms of the series of the logarithm, for arguments up to 0.172: the first one left out is below 2^-33.
const LOGARITHM_TERMS: u32 = 6;
/// Terms of the series of the sine, for up to a quarter turn: the first one left out is below 2^-30.
const SINE_TERMS: u32 = 7;

/// Replaces `SqrtApprox`, `InverseSqrtApprox`, `Log2Approx`, `SinApprox`, `CosApprox` and `FDivApprox`. Other expansions use
/// these too, within narrower bounds: this one must come before them.
pub fn expand_approximate(function: &mut Function, target: &Target) {
    if target.facts.approximations_close || !target.has(Feature::ShaderFloat64) {
        return;
    }
    let facts = &target.facts;
    rewrite(function, |b, stmt| match *stmt {
        Stmt::Let(result, Op::Unary(op, x)) => match (op, b.type_of(result)) {
            (Unary::InverseSqrtApprox, Type::F64) => {
                let result = b.unary(Unary::InverseSqrtApprox, x);
                Rewritten::By(inverse_root_specials(b, x, result))
            }
            (Unary::InverseSqrtApprox, _) => {
                let wide = widen(b, facts, x);
                let root = inverse_root(b, wide);
                let result = narrow(b, facts, root);
                Rewritten::By(inverse_root_specials(b, x, result))
            }
            (Unary::SqrtApprox, Type::F32) => Rewritten::By(root(b, facts, x)),
            (Unary::Log2Approx, _) => Rewritten::By(logarithm(b, facts, x)),
            (Unary::SinApprox, _) => Rewritten::By(sine(b, facts, x, 0.0)),
            (Unary::CosApprox, _) => Rewritten::By(sine(b, facts, x, 0.5)),
            _ => Rewritten::Kept,
        },
        Stmt::Let(result, Op::Binary(Binary::FDivApprox, x, y)) if b.type_of(result) == Type::F32 => {
            let [x, y] = [x, y].map(|operand| widen(b, facts, operand));
            let quotient = b.binary(Binary::FDivApprox, x, y);
            Rewritten::By(narrow(b, facts, quotient))
        }
        _ => Rewritten::Kept,
    });
}

/// One over the root of a positive number in `F64`: the device's, which need not be closer than that of an `F32`, and a step
/// of Newton's method.
fn inverse_root(b: &mut Builder<'_>, x: Value) -> Value {
    let guess = b.unary(Unary::InverseSqrtApprox, x);
    let [half, three_halves] = [0.5, 1.5].map(|number| b.f64(number));
    let square = b.fmul(guess, guess);
    let error = b.fmul(x, square);
    let error = b.fmul(error, half);
    let factor = b.fsub(three_halves, error);
    b.fmul(guess, factor)
}

/// Puts right what `result` is where the operand isn't positive and finite.
fn inverse_root_specials(b: &mut Builder<'_>, x: Value, result: Value) -> Value {
    let format = Format::of(b.type_of(x));
    let bits = b.bits(x);
    let sign = b.and_const(bits, format.sign());
    let magnitude = b.xor(bits, sign);
    let result = b.bits(result);

    let [zero, infinity, nan] = [0, format.infinity(), format.nan].map(|number| b.constant_like(bits, number));
    let is_infinite = b.eq(magnitude, infinity);
    let result = b.select(is_infinite, zero, result);
    // Below zero, and NaN of either sign: they have more bits than plus infinity.
    let is_nan = b.ult(infinity, bits);
    let result = b.select(is_nan, nan, result);
    let is_zero = b.eq(magnitude, zero);
    let infinity = b.or(infinity, sign);
    let result = b.select(is_zero, infinity, result);
    b.bitcast(result, format.ty)
}

fn root(b: &mut Builder<'_>, facts: &Facts, x: Value) -> Value {
    let wide = widen(b, facts, x);
    let inverse = inverse_root(b, wide);
    let root = b.fmul(wide, inverse);
    let result = narrow(b, facts, root);

    let format = Format::of(Type::F32);
    let bits = b.bits(x);
    let magnitude = b.and_const(bits, format.sign() - 1);
    let result = b.bits(result);
    let [zero, infinity, nan] = [0, format.infinity(), format.nan].map(|number| b.constant_like(bits, number));
    let is_nan = b.ult(infinity, bits);
    let result = b.select(is_nan, nan, result);
    // Both zeros and plus infinity are their own roots.
    let is_zero = b.eq(magnitude, zero);
    let is_infinite = b.eq(bits, infinity);
    let is_own_root = b.or(is_zero, is_infinite);
    let result = b.select(is_own_root, bits, result);
    b.bitcast(result, Type::F32)
}

fn logarithm(b: &mut Builder<'_>, facts: &Facts, x: Value) -> Value {
    let wide = widen(b, facts, x);
    // x = 2^exponent * significand, the latter between the root of a half and the root of two.
    let bits = b.bits(wide);
    let least = (SQRT_2 / 2.0).to_bits();
    let exponent = b.sub_const(bits, least);
    let exponent = b.sar(exponent, DOUBLE.precision - 1);
    let scale = b.shl(exponent, DOUBLE.precision - 1);
    let significand = b.sub(bits, scale);
    let significand = b.bitcast(significand, Type::F64);

    // ln(s) = 2 artanh((s - 1) / (s + 1)), an odd series. It keeps its relative precision around 1.
    let one = b.f64(1.0);
    let below = b.fsub(significand, one);
    let above = b.fadd(significand, one);
    let ratio = b.binary(Binary::FDivApprox, below, above);
    let sum = odd_series(b, ratio, LOGARITHM_TERMS, |n| 2.0 / LN_2 / f64::from(2 * n + 1));
    let exponent = b.unary(Unary::SignedToFloat(Type::F64), exponent);
    let result = b.fadd(exponent, sum);
    let result = narrow(b, facts, result);

    let format = Format::of(Type::F32);
    let bits = b.bits(x);
    let magnitude = b.and_const(bits, format.sign() - 1);
    let result = b.bits(result);
    let [zero, infinity, nan] = [0, format.infinity(), format.nan].map(|number| b.constant_like(bits, number));
    let is_infinite = b.eq(bits, infinity);
    let result = b.select(is_infinite, infinity, result);
    let is_nan = b.ult(infinity, bits);
    let result = b.select(is_nan, nan, result);
    let is_zero = b.eq(magnitude, zero);
    let minus_infinity = b.or_const(infinity, format.sign());
    let result = b.select(is_zero, minus_infinity, result);
    b.bitcast(result, Type::F32)
}

/// The sine of an angle and so many half turns.
fn sine(b: &mut Builder<'_>, facts: &Facts, x: Value, half_turns: f64) -> Value {
    let wide = widen(b, facts, x);
    let [per_radian, offset, half] = [1.0 / PI, half_turns, 0.5].map(|number| b.f64(number));
    let turns = b.fmul(wide, per_radian);
    let turns = b.fadd(turns, offset);
    let whole = b.unary(Unary::RoundEven, turns);
    let rest = b.fsub(turns, whole);
    let sum = odd_series(b, rest, SINE_TERMS, |n| {
        let power = 2 * n + 1;
        let factorial: f64 = (1..=power).map(f64::from).product();
        (if n % 2 == 0 { 1.0 } else { -1.0 }) * PI.powi(power as i32) / factorial
    });
    // After an odd number of half turns it has the other sign.
    let pairs = b.fmul(whole, half);
    let even = b.unary(Unary::RoundEven, pairs);
    let is_even = b.feq(pairs, even);
    let bits = b.bits(sum);
    let opposite = b.constant_like(bits, DOUBLE.sign());
    let opposite = b.xor(bits, opposite);
    let result = b.select(is_even, bits, opposite);
    let result = b.bitcast(result, Type::F64);
    let result = narrow(b, facts, result);

    let format = Format::of(Type::F32);
    let bits = b.bits(x);
    let magnitude = b.and_const(bits, format.sign() - 1);
    let is_finite = b.compare_const(Compare::LessUnsigned, magnitude, format.infinity());
    let nan = b.constant(Type::F32, format.nan);
    b.select(is_finite, result, nan)
}

/// `x` times a polynomial in the square of `x`, given by its coefficients.
fn odd_series(b: &mut Builder<'_>, x: Value, terms: u32, coefficient: impl Fn(u32) -> f64) -> Value {
    let square = b.fmul(x, x);
    let mut sum = b.f64(0.0);
    for term in (0..terms).rev() {
        let product = b.fmul(sum, square);
        let constant = b.f64(coefficient(term));
        sum = b.fadd(product, constant);
    }
    b.fmul(sum, x)
}
