//! Conversions between 64-bit integers and floats, correctly rounded, through conversions of 32-bit integers or on
//! bits.

use crate::ir::{Builder, Function, Op, Rounding, Type, Unary, Value, rewrite_ops};
use crate::soft::{self, SINGLE};

/// 2^32 and its reciprocal.
const DIGIT: f64 = 4_294_967_296.0;

/// Replaces conversions between `I64` and floats.
pub(crate) fn expand_conversions(function: &mut Function) {
    rewrite_ops(function, |b, result, op| {
        let Op::Unary(op, a) = op else { return None };
        let is_long = b.type_of(a) == Type::I64;
        Some(match (op, b.type_of(result)) {
            (Unary::SignedToFloat(Type::F32), _) if is_long => to_single(b, true, a),
            (Unary::UnsignedToFloat(Type::F32), _) if is_long => to_single(b, false, a),
            (Unary::SignedToFloat(_), _) if is_long => to_double(b, true, a),
            (Unary::UnsignedToFloat(_), _) if is_long => to_double(b, false, a),
            (Unary::FloatToSigned(_), Type::I64) => to_signed(b, a),
            (Unary::FloatToUnsigned(_), Type::I64) => to_unsigned(b, a),
            _ => return None,
        })
    });
}

fn to_single(b: &Builder<'_>, signed: bool, integer: Value) -> Value {
    b.bitcast(soft::from_integer(b, SINGLE, Rounding::NearestEven, signed, integer), Type::F32)
}

/// Both halves fit into a double, and only their sum is rounded.
fn to_double(b: &Builder<'_>, signed: bool, integer: Value) -> Value {
    let (low, high) = b.halves(integer);
    let low = b.unary(Unary::UnsignedToFloat(Type::F64), low);
    let to_float = if signed { Unary::SignedToFloat(Type::F64) } else { Unary::UnsignedToFloat(Type::F64) };
    b.fadd(b.fmul(b.unary(to_float, high), b.f64(DIGIT)), low)
}

/// Splits off the upper half, then the lower half; all steps are exact.
fn to_unsigned(b: &Builder<'_>, float: Value) -> Value {
    let ty = b.type_of(float);
    let [digit, part] = [DIGIT, DIGIT.recip()].map(|number| match ty {
        Type::F32 => b.f32(number as f32),
        _ => b.f64(number),
    });
    let magnitude = b.bitcast(b.magnitude(float), ty);
    let high = b.unary(Unary::FloatToUnsigned(Type::I32), b.fmul(magnitude, part));
    let above = b.fmul(b.unary(Unary::UnsignedToFloat(ty), high), digit);
    b.join(b.unary(Unary::FloatToUnsigned(Type::I32), b.fsub(magnitude, above)), high)
}

fn to_signed(b: &Builder<'_>, float: Value) -> Value {
    let magnitude = to_unsigned(b, float);
    let opposite = b.neg(magnitude);
    let is_negative = b.flt(float, b.constant_like(float, 0));
    b.select(is_negative, opposite, magnitude)
}
