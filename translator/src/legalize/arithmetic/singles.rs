//! `F32` sums, products, comparisons and conversions where the device may flush denormals: by the device's operations where no denormal can
//! have mattered, which costs a short test for each, else with scaled operands or on integers.
//!
//! A device that is right about normal numbers ([`Facts::normal_f32_exact`](ptx2spv_target::Facts)) may treat denormals in any way, and
//! differently each time. The code that later expansions make avoids denormals and uses the device's operations directly, so this pass must
//! run before them. A device that isn't known to be right about normal numbers is not trusted anywhere: [`expand_untrusted`] must run last.

use crate::ir::{Binary, Builder, Compare, Op, Rounding, Type, Unary, Value};
use crate::legalize::arithmetic::convert::{narrow, widen};
use crate::legalize::arithmetic::fma::sum_on_integers;
use crate::policy::Policy;
use crate::soft::{self, SINGLE};
use ptx2spv_target::Facts;

/// Operations that flushing would make wrong, on devices that are right about normal numbers.
pub fn expand_single(b: &Builder<'_>, policy: &Policy, ty: Type, op: Op) -> Option<Value> {
    let floats = &policy.floats;
    match op {
        Op::Unary(Unary::Widen, x) if floats.doubles => Some(widen(b, &floats.trusted, x)),
        Op::Unary(Unary::Narrow, x) if floats.doubles => Some(narrow(b, &floats.trusted, Rounding::NearestEven, x)),
        _ if !floats.trusted.normal_f32_exact => None,
        Op::Binary(op @ (Binary::FAdd | Binary::FSub), x, y) if ty == Type::F32 => Some(sum(b, op, x, y)),
        Op::Binary(Binary::FMul, x, y) if ty == Type::F32 => Some(product(b, x, y)),
        Op::Compare(op, x, y) if b.type_of(x) == Type::F32 => compare(b, op, x, y),
        _ => None,
    }
}

/// Whether a device's float arithmetic on normal numbers and its conversions from integers are right.
pub fn trusts(facts: &Facts) -> bool {
    facts.are_normals_exact() && facts.convert_f32_exact
}

/// All float arithmetic on devices that may be wrong about normal numbers, and conversions from integers on devices that may round
/// them wrong.
pub fn expand_untrusted(b: &Builder<'_>, policy: &Policy, ty: Type, op: Op) -> Option<Value> {
    let facts = &policy.floats.trusted;
    let is_exact = facts.are_normals_exact();
    let nearest = Rounding::NearestEven;
    match op {
        op if ty == Type::F32 => match op {
            Op::Binary(Binary::FAdd, x, y) if !is_exact => Some(sum_on_integers(b, nearest, x, y)),
            Op::Binary(Binary::FSub, x, y) if !is_exact => Some(sum_on_integers(b, nearest, x, soft::negated(b, y))),
            Op::Binary(Binary::FMul, x, y) if !is_exact => Some(soft::product(b, nearest, x, y)),
            Op::Unary(op @ (Unary::SignedToFloat(_) | Unary::UnsignedToFloat(_)), x) if !facts.convert_f32_exact => {
                let is_signed = matches!(op, Unary::SignedToFloat(_));
                Some(b.bitcast(soft::from_integer(b, SINGLE, nearest, is_signed, x), Type::F32))
            }
            _ => None,
        },
        Op::Compare(op, x, y) if !is_exact && b.type_of(x) == Type::F32 => Some(compare_bits(b, op, x, y)),
        _ => None,
    }
}

/// Sums of at least this magnitude are right even if an operand was flushed; see [`sum`].
const AMPLE: f32 = f32::from_bits((127 - 100) << 23);

/// A sum or difference.
///
/// The device's own sum is right where it is ample. Such a sum is no denormal. If an operand is denormal, it is below 2^-126, and the sum
/// is the other operand whether the denormal was flushed or not, since half the distance to the other operand's neighbours is 2^-125 at
/// least.
fn sum(b: &Builder<'_>, op: Binary, x: Value, y: Value) -> Value {
    let sum = b.binary(op, x, y);
    // With an ample addend, a sum that isn't ample has cancelled to zero or a multiple of 2^-123.
    let is_ample = |value| b.known(value).is_some_and(|bits| bits & (SINGLE.sign() - 1) >= AMPLE.to_bits().into());
    if is_ample(x) || is_ample(y) {
        return sum;
    }
    let magnitude = b.magnitude(sum);
    let is_ample = b.ult(b.i32(AMPLE.to_bits() - 1), magnitude);
    b.choose(is_ample, |_| sum, |b| small_sum(b, op, [x, y], sum))
}

/// A sum or difference that is not ample.
///
/// If the first operand is 2^-98 or more, the second one is half of that at least, both are multiples of 2^-122, and so
/// is their difference, which the device has got right. Else both are below 2^-97 and don't overflow when scaled.
fn small_sum(b: &Builder<'_>, op: Binary, operands: [Value; 2], sum: Value) -> Value {
    let raised = operands.map(|operand| raise(b, operand).0);
    let lowered = lower(b, b.binary(op, raised[0], raised[1]));
    let is_small = b.ult(b.magnitude(operands[0]), b.i32((4.0 * AMPLE).to_bits()));
    b.select(is_small, lowered, sum)
}

/// The power of two by which numbers are scaled to make subnormals normal. Even, and no less than the precision.
pub const RAISE: u32 = 32;

/// The scaled least normal number.
const RAISED_LEAST: f32 = f32::from_bits((RAISE + 1) << 23);

/// A number scaled up by [`RAISE`], and whether it is zero or subnormal; any number if that overflows.
pub fn raise(b: &Builder<'_>, x: Value) -> (Value, Value) {
    let bits = b.bits(x);
    let magnitude = b.magnitude(bits);
    let is_subnormal = b.ult(magnitude, b.i32(SINGLE.hidden() as u32));
    // A subnormal has the exponent of the least normal number, without the implied bit. So set that bit and subtract it again.
    let [of_subnormals, of_normals] = [RAISE + 1, RAISE].map(|exponent| b.i32(exponent << 23));
    let up = b.select(is_subnormal, of_subnormals, of_normals);
    let raised = b.bitcast(b.add(magnitude, up), Type::F32);
    let [implied, none] = [RAISED_LEAST, 0.0].map(|number| b.f32(number));
    let implied = b.select(is_subnormal, implied, none);
    let raised = b.or(b.bits(b.fsub(raised, implied)), b.and_const(bits, SINGLE.sign()));
    (b.bitcast(raised, Type::F32), is_subnormal)
}

/// A number scaled down by [`RAISE`], which must be exact.
fn lower(b: &Builder<'_>, raised: Value) -> Value {
    let magnitude = b.magnitude(raised);
    let normal = b.sub_const(magnitude, u64::from(RAISE << 23));
    // The implied bit of normal numbers, put above a subnormal's bits.
    let least = b.f32(RAISED_LEAST);
    let subnormal = b.bits(b.fadd(b.bitcast(magnitude, Type::F32), least));
    let subnormal = b.sub_const(subnormal, RAISED_LEAST.to_bits().into());
    let is_subnormal = b.ult(magnitude, b.i32(RAISED_LEAST.to_bits()));
    let result = b.select(is_subnormal, subnormal, normal);
    let sign = b.and_const(b.bits(raised), SINGLE.sign());
    b.bitcast(b.or(result, sign), Type::F32)
}

/// A product.
///
/// The device's own product is right where it is normal or infinite: a flushed factor gives zero, or NaN if the other factor is infinite.
/// It is also right where a factor is zero. All other products are computed on integers.
fn product(b: &Builder<'_>, x: Value, y: Value) -> Value {
    let product = b.fmul(x, y);
    let above = b.sub_const(b.magnitude(product), SINGLE.hidden());
    let is_normal = b.ule(above, b.i32((SINGLE.infinity() - SINGLE.hidden()) as u32));
    b.choose(
        is_normal,
        |_| product,
        |b| {
            let [x_zero, y_zero] = [x, y].map(|factor| b.is_zero(b.magnitude(factor)));
            let is_zero = b.or(x_zero, y_zero);
            b.choose(is_zero, |_| product, |b| soft::product(b, Rounding::NearestEven, x, y))
        },
    )
}

/// The replacement of a comparison, if flushing could make it wrong. Flushing matters only where both operands are below the least normal
/// number; there the bits are compared.
fn compare(b: &Builder<'_>, op: Compare, x: Value, y: Value) -> Option<Value> {
    let is_normal = |value| {
        let magnitude = b.known(value).map(|bits| bits & (SINGLE.sign() - 1));
        magnitude.is_some_and(|magnitude| magnitude >= SINGLE.hidden())
    };
    if is_normal(x) || is_normal(y) {
        return None;
    }
    // Comparing a number with itself is a test for NaN. The device may flush one operand and not the other.
    if x == y && matches!(op, Compare::FEqual | Compare::FNotEqual) {
        return Some(soft::compared_with_itself(b, op, x));
    }
    let own = b.compare(op, x, y);
    let [x, y] = [x, y].map(|float| b.bits(float));
    let both = b.and_const(b.or(x, y), SINGLE.sign() - 1);
    let is_tiny = b.ult(both, b.i32(SINGLE.hidden() as u32));
    Some(b.choose(
        is_tiny,
        |b| {
            let [x, y] = [x, y].map(|bits| key(b, bits));
            b.compare(on_keys(op), x, y)
        },
        |_| own,
    ))
}

/// A comparison by bits alone.
fn compare_bits(b: &Builder<'_>, op: Compare, x: Value, y: Value) -> Value {
    let keys = [x, y].map(|float| {
        let bits = b.bits(float);
        (key(b, bits), soft::is_nan(b, SINGLE, bits))
    });
    let holds = b.compare(on_keys(op), keys[0].0, keys[1].0);
    let is_nan = b.or(keys[0].1, keys[1].1);
    if op == Compare::FNotEqual {
        return b.or(holds, is_nan);
    }
    b.and(holds, b.not(is_nan))
}

/// A signed integer with the same order as the number of these bits; both zeros give the same integer.
fn key(b: &Builder<'_>, bits: Value) -> Value {
    let sign = b.sar(bits, 31);
    let flipped = b.xor(b.magnitude(bits), sign);
    b.sub(flipped, sign)
}

/// The comparison of keys for a comparison of floats.
fn on_keys(op: Compare) -> Compare {
    match op {
        Compare::FEqual => Compare::Equal,
        Compare::FNotEqual => Compare::NotEqual,
        Compare::FLess => Compare::LessSigned,
        Compare::FLessEqual => Compare::LessEqualSigned,
        other => other,
    }
}
