//! `ex2.approx` where the device's own is worse than PTX allows: by a polynomial in `F64`, which is within half an ulp and a
//! little of the exact result. Without `F64` the device's own stays.

use crate::ir::{Binary, Builder, Compare, Function, Op, Stmt, Type, Unary, Value};
use crate::passes::{Rewritten, rewrite};
use crate::target::{Feature, Target};

/// Coefficients of `2^f` for |f| <= 1/2: the Taylor series, whose first term left out is below 2^-37.
const TERMS: usize = 10;

/// Replaces `Exp2Approx` where the target's is too far off.
pub fn expand_exp2(function: &mut Function, target: &Target) {
    if target.facts.exp2_f32_close || !target.has(Feature::ShaderFloat64) {
        return;
    }
    rewrite(function, |b, stmt| match *stmt {
        Stmt::Let(_, Op::Unary(Unary::Exp2Approx, x)) => Rewritten::By(exp2(b, x)),
        _ => Rewritten::Kept,
    });
}

fn exp2(b: &mut Builder<'_>, x: Value) -> Value {
    // Beyond these the result is zero or infinity all the same, and NaN takes the lower one until the end.
    let (low, high) = (b.f32(-200.0), b.f32(200.0));
    let above_low = b.compare(Compare::FLess, low, x);
    let clamped = b.select(above_low, x, low);
    let above_high = b.compare(Compare::FLess, high, clamped);
    let clamped = b.select(above_high, high, clamped);

    let whole = b.unary(Unary::RoundEven, clamped);
    let fraction = b.binary(Binary::FSub, clamped, whole);
    let fraction = b.widen(fraction);
    let mut sum = b.f64(coefficient(TERMS - 1));
    for term in (0..TERMS - 1).rev() {
        let product = b.binary(Binary::FMul, sum, fraction);
        let constant = b.f64(coefficient(term));
        sum = b.binary(Binary::FAdd, product, constant);
    }
    // 2^whole is a normal `F64` for every whole number between the bounds.
    let exponent = b.unary(Unary::FloatToSigned(Type::I32), whole);
    let exponent = b.add_const(exponent, 1023);
    let exponent = b.zero_extend(exponent);
    let scale = b.shl(exponent, 52);
    let scale = b.bitcast(scale, Type::F64);
    let result = b.binary(Binary::FMul, sum, scale);
    let result = b.narrow(result);

    let is_number = b.feq(x, x);
    let nan = b.constant(Type::F32, 0x7fff_ffff);
    b.select(is_number, result, nan)
}

/// `ln(2)^n / n!`
fn coefficient(n: usize) -> f64 {
    (1..=n).fold(1.0, |product, factor| product * std::f64::consts::LN_2 / factor as f64)
}
