//! Negation, minimum, maximum and conversion to integers of `F32` by integer operations on the bits, where the device's own operations
//! are not known to treat denormals, zeros and NaNs as PTX does.

use rustc_hash::FxHashSet;

use crate::ir::{Binary, Builder, Function, Op, Type, Unary, Value, rewrite_ops};
use crate::policy::Policy;
use crate::soft::{self, SINGLE};
use ptx2spv_target::Facts;

/// Replaces `FNeg`, `SaturateToSigned` and `SaturateToUnsigned` where the target's own are not correct, and `FMin` and `FMax` where its
/// comparisons aren't either.
pub fn expand_bits(function: &mut Function, facts: &Facts) {
    if facts.negate_f32_exact && facts.min_max_f32_exact && facts.to_integer_f32_saturates {
        return;
    }
    // Minima and maxima that have NVIDIA's NaN already.
    let mut whole = FxHashSet::default();
    rewrite_ops(function, |b, _, op| match op {
        Op::Unary(Unary::FNeg, x) if !facts.negate_f32_exact => Some(soft::negated(b, x)),
        Op::Binary(op @ (Binary::FMin | Binary::FMax), x, y) if !facts.min_max_f32_exact && !compares(facts) => {
            let [x, y] = [x, y].map(|operand| b.bits(operand));
            let result = b.bitcast(soft::extremum(b, SINGLE, op == Binary::FMax, false, x, y), Type::F32);
            whole.insert(result);
            Some(result)
        }
        Op::Binary(Binary::OrNan, value, _) if whole.contains(&value) => Some(value),
        Op::Unary(op @ (Unary::SaturateToSigned | Unary::SaturateToUnsigned), x) if !facts.to_integer_f32_saturates => {
            Some(saturate(b, op == Unary::SaturateToSigned, x))
        }
        _ => None,
    });
}

/// Whether the device's comparisons decide between the operands of a minimum or a maximum.
fn compares(facts: &Facts) -> bool {
    !facts.min_max_f32_exact && facts.denormals_f32_kept
}

/// Replaces `FMin` and `FMax` by the device's comparisons, where these are right.
pub fn expand_extrema(function: &mut Function, facts: &Facts) {
    if !compares(facts) {
        return;
    }
    // Values that are no NaN.
    let mut numbers = FxHashSet::default();
    rewrite_ops(function, |b, _, op| match op {
        Op::Binary(op @ (Binary::FMin | Binary::FMax), x, y) => {
            let is_number = |value| match b.known(value) {
                Some(bits) => !f32::from_bits(bits as u32).is_nan(),
                None => numbers.contains(&value),
            };
            let (x, y) = if is_number(x) { (y, x) } else { (x, y) };
            let has_number = is_number(y);
            let result = extremum(b, op == Binary::FMax, has_number, x, y);
            if has_number {
                numbers.insert(result);
            }
            Some(result)
        }
        _ => None,
    });
}

/// The larger of two floats or the smaller one. A NaN loses against a number; two give any.
fn extremum(b: &Builder<'_>, largest: bool, is_y_number: bool, x: Value, y: Value) -> Value {
    let is_beyond = if largest { b.flt(y, x) } else { b.flt(x, y) };
    // The second one if either is NaN.
    let result = b.select(is_beyond, x, y);
    let result = if is_y_number { result } else { b.select(b.feq(y, y), result, x) };
    // Equal are numbers of the same bits, and zeros, of which that of the other operand may be the wrong one.
    let zero = if largest { 0 } else { SINGLE.sign() };
    if b.known(y).is_some_and(|bits| bits & (SINGLE.sign() - 1) != 0 || bits == zero) {
        return result;
    }
    let [x_bits, y_bits] = [x, y].map(|operand| b.bits(operand));
    let of_equals = if largest { b.and(x_bits, y_bits) } else { b.or(x_bits, y_bits) };
    b.select(b.feq(x, y), b.bitcast(of_equals, Type::F32), result)
}

/// `Saturate`. No device is known that keeps subnormals in `NClamp`.
pub fn expand_saturate(b: &Builder<'_>, policy: &Policy, ty: Type, op: Op) -> Option<Value> {
    let Op::Unary(Unary::Saturate, x) = op else { return None };
    let bits = if policy.floats.trusted.min_max_f32_exact {
        // Numbers go before NaNs. Then floats have the same order as their bits, by which no driver knows the two for a clamp.
        let positive = b.binary(Binary::FMax, x, b.f32(0.0));
        b.binary(Binary::MinSigned, b.bits(positive), b.i32(SINGLE.one() as u32))
    } else {
        soft::saturate(b, SINGLE, b.bits(x))
    };
    Some(b.bitcast(bits, ty))
}

/// The negative of a number that is no NaN, by the device's own operation where that is right: it is often part of the
/// next instruction.
pub fn negative(b: &Builder<'_>, facts: &Facts, float: Value) -> Value {
    if facts.negate_f32_exact && b.type_of(float) == Type::F32 {
        return b.unary(Unary::FNeg, float);
    }
    soft::negated(b, float)
}

/// Converts numbers in range; other numbers give the nearer bound.
fn saturate(b: &Builder<'_>, signed: bool, x: Value) -> Value {
    let (low, beyond) = if signed { (i32::MIN as f32, -(i32::MIN as f32)) } else { (0.0, -2.0 * i32::MIN as f32) };
    let (low, beyond) = (b.f32(low), b.f32(beyond));
    let is_low = b.flt(x, low);
    let is_high = b.fle(beyond, x);
    let is_nan = b.fne(x, x);
    let is_outside = b.or(b.or(is_low, is_high), is_nan);
    let bits = b.bits(x);
    let safe = b.bitcast(b.select(is_outside, b.i32(0), bits), Type::F32);
    let convert = if signed { Unary::FloatToSigned(Type::I32) } else { Unary::FloatToUnsigned(Type::I32) };
    let result = b.unary(convert, safe);
    let [lowest, highest] = if signed { [1 << 31, i32::MAX as u32] } else { [0, u32::MAX] };
    let [lowest, highest] = [lowest, highest].map(|bound| b.i32(bound));
    b.select(is_high, highest, b.select(is_low, lowest, result))
}
