//! Arithmetic on f32 and f64 (PTX section 9.7.3).
//!
//! Signs, flushing, NaN rules and saturation work on bits; only sums, products, quotients and roots are the device's,
//! and legalisation replaces those that the target doesn't do exactly.

use super::{Lowering, Result, carrier, float_type};
use crate::decode::program::Instruction;
use crate::decode::types::ScalarType;
use crate::diagnostic::Diagnostic;
use crate::ir::{Arithmetic, Binary, Compare, Rounding, Type, Unary, Value};

/// The NaN that NVIDIA hardware produces in single precision.
const CANONICAL_NAN_F32: u64 = 0x7fff_ffff;
/// The bit that makes a NaN of double precision quiet.
const QUIET_F64: u64 = 1 << 51;

fn exponent_mask(ty: Type) -> u64 {
    if ty == Type::I64 { 0x7ff0_0000_0000_0000 } else { 0x7f80_0000 }
}

fn sign_mask(ty: Type) -> u64 {
    if ty == Type::I64 { 1 << 63 } else { 1 << 31 }
}

/// Replaces a denormal by zero of its sign, on bits, if asked to.
pub fn flush_if(l: &mut Lowering<'_, '_>, flush: bool, bits: Value) -> Value {
    if !flush {
        return bits;
    }
    let ty = l.b.type_of(bits);
    let exponent = l.b.and_const(bits, exponent_mask(ty));
    let tiny = l.b.is_zero(exponent);
    let zero = l.b.and_const(bits, sign_mask(ty));
    l.b.select(tiny, zero, bits)
}

/// Source operand number `index` as a float, flushed if asked to.
pub fn operand(l: &mut Lowering<'_, '_>, i: &Instruction, index: usize, ty: ScalarType, flush: bool) -> Result<Value> {
    let bits = l.int(i, index, ty)?;
    let bits = flush_if(l, flush, bits);
    Ok(l.b.bitcast(bits, float_type(ty)))
}

/// Whether a float is NaN.
pub fn is_nan(l: &mut Lowering<'_, '_>, value: Value) -> Value {
    let magnitude = l.b.magnitude(value);
    let infinity = exponent_mask(l.b.type_of(magnitude));
    let infinity = l.b.constant_like(magnitude, infinity);
    l.b.ult(infinity, magnitude)
}

/// Clamps the bits of an f32 or f64 to [0.0, 1.0]; NaN becomes +0.0.
pub fn saturate(l: &mut Lowering<'_, '_>, bits: Value) -> Value {
    let ty = l.b.type_of(bits);
    let one = if ty == Type::I64 { 1f64.to_bits() } else { u64::from(1f32.to_bits()) };
    // Non-negative floats order as their bits; anything above +infinity is negative or NaN.
    let zero = l.b.constant(ty, 0);
    let one_value = l.b.constant(ty, one);
    let infinity = l.b.constant(ty, exponent_mask(ty));
    let large = l.b.ult(one_value, bits);
    let clamped = l.b.select(large, one_value, bits);
    let outside = l.b.ult(infinity, bits);
    l.b.select(outside, zero, clamped)
}

/// Writes a float result with the flushing and saturation that the modifiers ask for.
fn finish(l: &mut Lowering<'_, '_>, i: &Instruction, ty: ScalarType, result: Value) -> Result {
    let bits = l.b.bits(result);
    let bits = flush_if(l, i.modifiers.has("ftz"), bits);
    let bits = if i.modifiers.has("sat") { saturate(l, bits) } else { bits };
    l.set(i, 0, ty, bits)
}

/// The rounding that the modifiers ask for.
pub fn rounding(i: &Instruction) -> Rounding {
    match i.modifiers.one_of(&["rz", "rm", "rp"]) {
        Some("rz") => Rounding::TowardZero,
        Some("rm") => Rounding::Down,
        Some(_) => Rounding::Up,
        None => Rounding::NearestEven,
    }
}

/// An operation on operands that are all of the first type, rounded as the modifiers say.
fn arithmetic<const N: usize>(
    l: &mut Lowering<'_, '_>,
    i: &Instruction,
    operation: impl FnOnce(&mut Lowering<'_, '_>, [Value; N]) -> Arithmetic,
) -> Result {
    let ty = i.modifiers.ty(0);
    let operands = operands(l, i, ty)?;
    let operation = operation(l, operands);
    let result = l.b.rounded(rounding(i), operation);
    finish(l, i, ty, result)
}

/// The first operands as floats, flushed if the modifiers ask for it.
fn operands<const N: usize>(l: &mut Lowering<'_, '_>, i: &Instruction, ty: ScalarType) -> Result<[Value; N]> {
    let flush = i.modifiers.has("ftz");
    let mut values = Vec::with_capacity(N);
    for index in 1..=N {
        values.push(operand(l, i, index, ty, flush)?);
    }
    values.try_into().map_err(|_| Diagnostic::internal("operands that are not as many as asked for", i.span))
}

/// `add`
pub fn add(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    arithmetic(l, i, |_, [a, b]| Arithmetic::Add(a, b))
}

/// `sub`
pub fn sub(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    arithmetic(l, i, |_, [a, b]| Arithmetic::Sub(a, b))
}

/// `mul`
pub fn mul(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    arithmetic(l, i, |_, [a, b]| Arithmetic::Mul(a, b))
}

/// `div` as IEEE 754 has it.
pub fn div(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    arithmetic(l, i, |_, [a, b]| Arithmetic::Div(a, b))
}

/// `div.full` and `div.approx` (2 ulp in the manual's range, Vulkan's bound is 2.5).
pub fn div_approx(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let ty = i.modifiers.ty(0);
    let [a, b] = operands(l, i, ty)?;
    let result = l.b.binary(Binary::FDivApprox, a, b);
    finish(l, i, ty, result)
}

/// `fma`, and `mad` on floats, which has been the same since sm_20.
pub fn fma(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    arithmetic(l, i, |_, [a, b, c]| Arithmetic::Fma(a, b, c))
}

/// 1.0 of a type.
fn one(l: &mut Lowering<'_, '_>, ty: ScalarType) -> Value {
    if ty.bits() == 64 { l.b.f64(1.0) } else { l.b.f32(1.0) }
}

/// `rcp` as IEEE 754 has it.
pub fn rcp(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    arithmetic(l, i, |l, [a]| Arithmetic::Div(one(l, i.modifiers.ty(0)), a))
}

/// `rcp.approx`
pub fn rcp_approx(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let ty = i.modifiers.ty(0);
    let a = operand(l, i, 1, ty, i.modifiers.has("ftz"))?;
    let one = one(l, ty);
    let result = l.b.binary(Binary::FDivApprox, one, a);
    finish(l, i, ty, result)
}

fn unary(l: &mut Lowering<'_, '_>, i: &Instruction, op: Unary) -> Result {
    let ty = i.modifiers.ty(0);
    let a = operand(l, i, 1, ty, i.modifiers.has("ftz"))?;
    let result = l.b.unary(op, a);
    finish(l, i, ty, result)
}

/// `sqrt` as IEEE 754 has it.
pub fn sqrt(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    arithmetic(l, i, |_, [a]| Arithmetic::Sqrt(a))
}

/// `sqrt.approx`
pub fn sqrt_approx(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    unary(l, i, Unary::SqrtApprox)
}

/// `rsqrt.approx`
pub fn rsqrt(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    unary(l, i, Unary::InverseSqrtApprox)
}

/// `ex2.approx`
pub fn ex2(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    unary(l, i, Unary::Exp2Approx)
}

/// `lg2.approx`
pub fn lg2(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    unary(l, i, Unary::Log2Approx)
}

/// `sin.approx`
pub fn sin(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    unary(l, i, Unary::SinApprox)
}

/// `cos.approx`
pub fn cos(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    unary(l, i, Unary::CosApprox)
}

/// `abs`
pub fn abs(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let ty = i.modifiers.ty(0);
    let a = l.int(i, 1, ty)?;
    let flushed = flush_if(l, i.modifiers.has("ftz"), a);
    let result = l.b.magnitude(flushed);
    let result = unless_nan(l, a, result);
    l.set(i, 0, ty, result)
}

/// What `abs` and `neg` make of a NaN is not a change of its sign: in single precision the one NaN of the hardware, in
/// double precision the operand made quiet.
fn unless_nan(l: &mut Lowering<'_, '_>, operand: Value, result: Value) -> Value {
    let nan = is_nan(l, operand);
    let replacement = match l.b.type_of(operand) {
        Type::I64 => l.b.or_const(operand, QUIET_F64),
        ty => l.b.constant(ty, CANONICAL_NAN_F32),
    };
    l.b.select(nan, replacement, result)
}

/// `neg`
pub fn neg(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let ty = i.modifiers.ty(0);
    let a = l.int(i, 1, ty)?;
    let flushed = flush_if(l, i.modifiers.has("ftz"), a);
    let result = l.b.xor_const(flushed, sign_mask(carrier(ty)));
    let result = unless_nan(l, a, result);
    l.set(i, 0, ty, result)
}

/// `copysign`: the sign of `a` on the magnitude of `b`.
pub fn copysign(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let ty = i.modifiers.ty(0);
    let a = l.int(i, 1, ty)?;
    let b = l.int(i, 2, ty)?;
    let sign = l.b.and_const(a, sign_mask(carrier(ty)));
    let magnitude = l.b.magnitude(b);
    let result = l.b.or(sign, magnitude);
    l.set(i, 0, ty, result)
}

/// `testp`
pub fn testp(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let ty = i.modifiers.ty(0);
    let bits = l.int(i, 1, ty)?;
    let magnitude = l.b.magnitude(bits);
    let infinity = l.b.constant(carrier(ty), exponent_mask(carrier(ty)));
    let smallest_normal = if ty.bits() == 64 { 1 << 52 } else { 1 << 23 };
    let smallest_normal = l.b.constant(carrier(ty), smallest_normal);
    let result = match i.modifiers.one_of(&["finite", "infinite", "number", "notanumber", "normal"]) {
        Some("finite") => l.b.ult(magnitude, infinity),
        Some("infinite") => l.b.eq(magnitude, infinity),
        Some("number") => l.b.ule(magnitude, infinity),
        Some("notanumber") => l.b.ult(infinity, magnitude),
        Some("normal") => {
            let finite = l.b.ult(magnitude, infinity);
            let subnormal = is_subnormal(l, magnitude, smallest_normal);
            let other = l.b.not(subnormal);
            l.b.and(finite, other)
        }
        _ => is_subnormal(l, magnitude, smallest_normal),
    };
    l.set(i, 0, ScalarType::Pred, result)
}

/// Zero counts as a normal number (PTX section 9.7.3.1).
fn is_subnormal(l: &mut Lowering<'_, '_>, magnitude: Value, smallest_normal: Value) -> Value {
    let small = l.b.ult(magnitude, smallest_normal);
    let nonzero = l.b.is_nonzero(magnitude);
    l.b.and(small, nonzero)
}

/// `min`
pub fn min(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    extremum(l, i, false)
}

/// `max`
pub fn max(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    extremum(l, i, true)
}

/// Orders floats by their bits, so that -0.0 < +0.0; a NaN loses against a number unless `.NaN` is given.
fn extremum(l: &mut Lowering<'_, '_>, i: &Instruction, largest: bool) -> Result {
    let ty = i.modifiers.ty(0);
    let flush = i.modifiers.has("ftz");
    let a = l.int(i, 1, ty)?;
    let a = flush_if(l, flush, a);
    let b = l.int(i, 2, ty)?;
    let b = flush_if(l, flush, b);
    let key_a = order_key(l, a);
    let key_b = order_key(l, b);
    let less = l.b.compare(Compare::LessSigned, key_a, key_b);
    let result = if largest { l.b.select(less, b, a) } else { l.b.select(less, a, b) };
    let a_nan = is_nan(l, a);
    let b_nan = is_nan(l, b);
    // Of two NaNs, double precision gives the second.
    let nan = if ty.bits() == 64 { l.b.or_const(b, QUIET_F64) } else { l.b.constant(Type::I32, CANONICAL_NAN_F32) };
    let result = if i.modifiers.has("NaN") {
        let either = l.b.or(a_nan, b_nan);
        l.b.select(either, nan, result)
    } else {
        let result = l.b.select(a_nan, b, result);
        let result = l.b.select(b_nan, a, result);
        let both = l.b.and(a_nan, b_nan);
        l.b.select(both, nan, result)
    };
    l.set(i, 0, ty, result)
}

/// A signed integer that orders as the float of these bits does.
fn order_key(l: &mut Lowering<'_, '_>, bits: Value) -> Value {
    let top = if l.b.type_of(bits) == Type::I64 { 63 } else { 31 };
    let sign = l.b.sar(bits, top);
    let flip = l.b.shr(sign, 1);
    l.b.xor(bits, flip)
}
