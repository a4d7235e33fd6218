//! Division where the device doesn't round it correctly: `F32` through `F64` where that divides correctly, else long
//! division on integers. NaNs are NVIDIA's.

use super::convert::{narrow, widen};
use crate::ir::{Binary, Builder, Function, Op, Rounding, Stmt, Type, Value};
use crate::passes::{Rewritten, rewrite};
use crate::soft::{LEADING, Parts, product_sign, round, stick, unless_nan};
use crate::target::{Facts, Feature, Target};

/// Replaces `FDiv` on types where the target doesn't do it right.
pub fn expand_division(function: &mut Function, target: &Target) {
    let facts = &target.facts;
    if facts.div_f32_rounded && facts.div_f64_rounded {
        return;
    }
    rewrite(function, |b, stmt| match *stmt {
        Stmt::Let(result, Op::Binary(Binary::FDiv, x, y)) => match b.type_of(result) {
            Type::F32 if facts.div_f32_rounded => Rewritten::Kept,
            Type::F64 if facts.div_f64_rounded => Rewritten::Kept,
            _ => Rewritten::By(divide(b, target, Rounding::NearestEven, x, y)),
        },
        _ => Rewritten::Kept,
    });
}

/// A quotient without the device's division on its type.
pub fn divide(b: &mut Builder<'_>, target: &Target, rounding: Rounding, x: Value, y: Value) -> Value {
    let has_double = target.has(Feature::ShaderFloat64) && target.facts.div_f64_rounded;
    match b.type_of(x) {
        Type::F32 if has_double => through_double(b, &target.facts, rounding, x, y),
        _ => on_integers(b, rounding, x, y),
    }
}

/// A quotient of 24-bit significands that is neither a number of at most 24 bits nor halfway between two is farther from
/// there than `F64`'s rounding moves it (53 bits are more than twice 24), subnormal results included.
fn through_double(b: &mut Builder<'_>, facts: &Facts, rounding: Rounding, x: Value, y: Value) -> Value {
    let x = widen(b, facts, x);
    let y = widen(b, facts, y);
    let quotient = b.fdiv(x, y);
    narrow(b, facts, rounding, quotient)
}

fn on_integers(b: &mut Builder<'_>, rounding: Rounding, x: Value, y: Value) -> Value {
    let x = Parts::of(b, x).normalised(b);
    let y = Parts::of(b, y).normalised(b);
    let format = x.format;
    // Only a zero lacks this bit; its quotient is not used, but no division by zero may happen.
    let divisor = b.or_const(y.significand, format.hidden());

    // The first bit of the quotient is one.
    let is_less = b.ult(x.significand, divisor);
    let twice = b.shl(x.significand, 1);
    let dividend = b.select(is_less, twice, x.significand);
    let mut remainder = b.sub(dividend, divisor);
    let mut quotient = b.i64(1);
    // As many bits a step as the shifted remainder leaves room for, until there are two more than the precision.
    let bits = u64::BITS - format.precision;
    let steps = (format.precision + 1).div_ceil(bits);
    for _ in 0..steps {
        remainder = b.shl(remainder, bits);
        let digit = b.div_unsigned(remainder, divisor);
        let product = b.mul(digit, divisor);
        remainder = b.sub(remainder, product);
        quotient = b.shl(quotient, bits);
        quotient = b.or(quotient, digit);
    }
    let significand = b.shl(quotient, LEADING - bits * steps);
    let significand = stick(b, significand, remainder);
    let exponent = b.sub(x.exponent, y.exponent);
    let exponent = b.add_const(exponent, format.bias.into());
    let borrowed = b.bool_to(Type::I32, is_less);
    let exponent = b.sub(exponent, borrowed);
    let sign = product_sign(b, &x, &y);
    let negative = b.is_nonzero(sign);
    let magnitude = round(b, format, rounding, negative, exponent, significand);

    let [x_zero, y_zero] = [&x, &y].map(|parts| parts.is_zero(b));
    let [x_infinite, y_infinite] = [&x, &y].map(|parts| parts.is_infinite(b));
    let [zero, infinity] = [b.i64(0), b.i64(format.infinity())];
    let is_zero = b.or(x_zero, y_infinite);
    let magnitude = b.select(is_zero, zero, magnitude);
    let is_infinite = b.or(x_infinite, y_zero);
    let magnitude = b.select(is_infinite, infinity, magnitude);
    let result = b.or(magnitude, sign);

    // Zero by zero and infinity by infinity are those that look zero and infinite at once.
    let undefined = b.and(is_zero, is_infinite);
    let [x_nan, y_nan] = [&x, &y].map(|parts| parts.is_nan(b));
    let is_nan = b.or(x_nan, y_nan);
    let is_nan = b.or(is_nan, undefined);
    unless_nan(b, format, is_nan, result)
}
