//! Arithmetic on f32 and f64 (PTX section 9.7.3), and code shared with arithmetic on other floats.
//!
//! Flushing and saturation work on bits; only sums, products, quotients and roots use the device's operations, and
//! legalization replaces those that the target doesn't do exactly.

pub mod approximate;
pub(in crate::lower) mod contraction;
pub mod float_bits;
pub mod half;

use crate::decode::program::Instruction;
use crate::diagnostic::{Diagnostic, Result};
use crate::ir::{Arithmetic, Rounding, Type, Unary, Value};
use crate::isa::modifiers::{self, Limit};
use crate::isa::types::ScalarType;
use crate::isa::word::Word;
use crate::lower::integer::packed::{join, part};
use crate::lower::lowering::Lowering;
use crate::soft::{self, BFLOAT, DOUBLE, E2M1, E2M3, E3M2, E4M3, E5M2, Format, HALF, Overflow, SINGLE, TENSOR};

/// The format of a float type; for a packed type, of each half.
pub fn format(ty: ScalarType) -> Result<Format> {
    Ok(match ty {
        ScalarType::F16 | ScalarType::F16x2 => HALF,
        ScalarType::Bf16 | ScalarType::Bf16x2 => BFLOAT,
        ScalarType::E4m3 | ScalarType::E4m3x2 | ScalarType::E4m3x4 => E4M3,
        ScalarType::E5m2 | ScalarType::E5m2x2 | ScalarType::E5m2x4 => E5M2,
        ScalarType::E2m1x2 | ScalarType::E2m1x4 => E2M1,
        ScalarType::E2m3x2 | ScalarType::E2m3x4 => E2M3,
        ScalarType::E3m2x2 | ScalarType::E3m2x4 => E3M2,
        ScalarType::Tf32 => TENSOR,
        ScalarType::F32 | ScalarType::F32x2 => SINGLE,
        ScalarType::F64 => DOUBLE,
        ScalarType::U8
        | ScalarType::U16
        | ScalarType::U32
        | ScalarType::U64
        | ScalarType::S8
        | ScalarType::S16
        | ScalarType::S32
        | ScalarType::S64
        | ScalarType::B8
        | ScalarType::B16
        | ScalarType::B32
        | ScalarType::B64
        | ScalarType::B128
        | ScalarType::U16x2
        | ScalarType::S16x2
        | ScalarType::B1
        | ScalarType::U4
        | ScalarType::S4
        | ScalarType::U8x4
        | ScalarType::S8x4
        // Numbers with a fixed point, and exponents alone, which are converted by themselves.
        | ScalarType::S2f6x2
        | ScalarType::Ue8m0x2
        | ScalarType::Pred
        | ScalarType::TexRef
        | ScalarType::SamplerRef
        | ScalarType::SurfRef => return Err(Diagnostic::internal(format!("{ty} as a format of floats"), None)),
    })
}

pub fn is_pair(ty: ScalarType) -> bool {
    matches!(ty, ScalarType::F16x2 | ScalarType::Bf16x2)
}

/// A float from its bits, exactly; 16-bit formats become `F32`.
pub fn float_of(l: &Lowering<'_, '_>, format: Format, bits: Value) -> Value {
    match format {
        SINGLE => l.b.bitcast(bits, Type::F32),
        DOUBLE => l.b.bitcast(bits, Type::F64),
        narrow => soft::widen(&l.b, narrow, bits),
    }
}

/// Replaces a denormal by zero of its sign if asked to.
pub fn flush_if(l: &Lowering<'_, '_>, flush: bool, format: Format, bits: Value) -> Value {
    if flush { soft::flush(&l.b, format, bits) } else { bits }
}

/// Source operand number `index` as a float, flushed if asked to.
pub fn operand(l: &mut Lowering<'_, '_>, i: &Instruction, index: usize, ty: ScalarType, flush: bool) -> Result<Value> {
    let bits = l.int(i, index, ty)?;
    let format = format(ty)?;
    Ok(float_of(l, format, flush_if(l, flush, format, bits)))
}

/// Applies an operation on bits to the first operands, which all have the first type, or to each half of packed
/// operands.
pub fn each_lane<const N: usize>(
    l: &mut Lowering<'_, '_>,
    i: &Instruction,
    operation: impl FnMut(&mut Lowering<'_, '_>, Format, [Value; N]) -> Value,
) -> Result {
    let operands = operands(l, i)?;
    each_lane_of(l, i, operands, operation)
}

/// The bits of the first operands, which all have the first type.
pub(crate) fn operands<const N: usize>(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result<[Value; N]> {
    let mut operands = [Value(0); N];
    for (operand, index) in operands.iter_mut().zip(1..) {
        *operand = l.int(i, index, i.ty(0)?)?;
    }
    Ok(operands)
}

/// As [`each_lane`] with operands by their bits.
pub(crate) fn each_lane_of<const N: usize>(
    l: &mut Lowering<'_, '_>,
    i: &Instruction,
    operands: [Value; N],
    mut operation: impl FnMut(&mut Lowering<'_, '_>, Format, [Value; N]) -> Value,
) -> Result {
    let ty = i.ty(0)?;
    let format = format(ty)?;
    if ty == ScalarType::F32x2 {
        let halves = operands.map(|operand| l.b.halves(operand));
        let low = operation(l, format, halves.map(|(low, _)| low));
        let high = operation(l, format, halves.map(|(_, high)| high));
        return l.set(i, 0, ty, l.b.join(low, high));
    }
    if !is_pair(ty) {
        let result = operation(l, format, operands);
        return l.set(i, 0, ty, result);
    }
    let lanes = [0, 16].map(|position| {
        let operands = operands.map(|operand| part(l, operand, position, 16, false));
        operation(l, format, operands)
    });
    let result = join(l, &lanes, 16);
    l.set(i, 0, ty, result)
}

/// The bits of a float result in a format, flushed and saturated as the modifiers say. Results in 16-bit formats are given as `F32`.
pub(crate) fn finished(l: &mut Lowering<'_, '_>, i: &Instruction, format: Format, result: Value) -> Value {
    let bits = match format {
        SINGLE | DOUBLE => l.b.bits(result),
        narrow => soft::narrow(&l.b, narrow, Rounding::NearestEven, Overflow::Rounded, result),
    };
    let bits = flush_if(l, i.modifiers.has(Word::Ftz), format, bits);
    match i.modifiers.limit() {
        Some(Limit::Sat) => saturate(l, format, bits),
        Some(Limit::Relu) => soft::relu(&l.b, format, bits),
        None => bits,
    }
}

/// The bits of a float clamped to [0.0, 1.0].
pub(crate) fn saturate(l: &mut Lowering<'_, '_>, format: Format, bits: Value) -> Value {
    if format != SINGLE {
        return soft::saturate(&l.b, format, bits);
    }
    let clamped = l.b.unary(Unary::Saturate, l.b.bitcast(bits, Type::F32));
    l.b.bits(clamped)
}

/// A result, or NVIDIA's NaN if it is NaN: see [`nan_of`].
pub(crate) fn or_nan(l: &Lowering<'_, '_>, result: Value, operands: &[Value]) -> Value {
    l.b.or_nan(result, nan_of(l, result, operands))
}

/// NVIDIA's NaN of a result's type: one constant for f32; for f64 the first operand that is NaN determines it.
pub(crate) fn nan_of(l: &Lowering<'_, '_>, result: Value, operands: &[Value]) -> Value {
    let format = Format::of(l.b.type_of(result));
    let mut nan = l.b.constant_like(result, format.nan);
    if format == DOUBLE {
        for &operand in operands.iter().rev() {
            let quiet = l.b.bitcast(soft::quiet(&l.b, format, l.b.bits(operand)), Type::F64);
            let is_nan = l.b.fne(operand, operand);
            nan = l.b.select(is_nan, quiet, nan);
        }
    }
    nan
}

/// The result of an operation, rounded and possibly flushed as the modifiers say, with NVIDIA's NaN.
fn computed(l: &Lowering<'_, '_>, i: &Instruction, operation: Arithmetic) -> Value {
    use Arithmetic::{Add, Div, Fma, Mul, Narrow, Sqrt, Sub};
    let result = rounded(l, i, operation);
    match operation {
        Add(a, b) | Sub(a, b) | Mul(a, b) => or_nan(l, result, &[b, a]),
        // Hardware has no instruction for division.
        Div(a, b) => or_nan(l, result, &[a, b]),
        Fma(a, b, c) => or_nan(l, result, &[b, c, a]),
        Sqrt(a) | Narrow(a) => or_nan(l, result, &[a]),
    }
}

/// The result of an operation, rounded and possibly flushed as the modifiers say.
fn rounded(l: &Lowering<'_, '_>, i: &Instruction, operation: Arithmetic) -> Value {
    if i.modifiers.has(Word::Ftz) { l.b.flushed(rounding(i), operation) } else { l.b.rounded(rounding(i), operation) }
}

/// The rounding that the modifiers ask for.
pub fn rounding(i: &Instruction) -> Rounding {
    match i.modifiers.rounding() {
        Some(modifiers::Rounding::Rz) => Rounding::TowardZero,
        Some(modifiers::Rounding::Rm) => Rounding::Down,
        Some(modifiers::Rounding::Rp) => Rounding::Up,
        None | Some(modifiers::Rounding::Rn) => Rounding::NearestEven,
    }
}

/// The operands' bits as floats, flushed if the modifiers ask for it.
pub(crate) fn floats<const N: usize>(
    l: &mut Lowering<'_, '_>,
    i: &Instruction,
    format: Format,
    operands: [Value; N],
) -> [Value; N] {
    let flush = i.modifiers.has(Word::Ftz);
    operands.map(|bits| float_of(l, format, flush_if(l, flush, format, bits)))
}

/// An operation on f32 or f64, as the modifiers say.
pub(super) fn arithmetic<const N: usize>(
    l: &mut Lowering<'_, '_>,
    i: &Instruction,
    operation: fn(&mut Lowering<'_, '_>, [Value; N]) -> Arithmetic,
) -> Result {
    each_lane(l, i, |l, format, operands| {
        let operands = operands.map(|bits| float_of(l, format, bits));
        let operation = operation(l, operands);
        let bits = l.b.bits(computed(l, i, operation));
        if i.modifiers.has(Word::Sat) { saturate(l, format, bits) } else { bits }
    })
}

pub fn fma(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    arithmetic(l, i, |_, [a, b, c]| Arithmetic::Fma(a, b, c))
}

/// The operands that a fused multiply-add negates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Signs {
    pub(crate) product: bool,
    pub(crate) addend: bool,
}

/// A sum without a rounding modifier that is fused with a product, by the bits of factors and addend. NaNs stay as they
/// are: hardware gives an operand's NaN without its negation.
pub(crate) fn fused(l: &mut Lowering<'_, '_>, i: &Instruction, operands: [Value; 3], signs: Signs) -> Result {
    each_lane_of(l, i, operands, |l, format, operands| {
        let [a, b, c] = operands.map(|bits| float_of(l, format, bits));
        let factor = if signs.product { negative(l, a) } else { a };
        let addend = if signs.addend { negative(l, c) } else { c };
        let result = rounded(l, i, Arithmetic::Fma(factor, b, addend));
        let nan = nan_of(l, result, &[b, c, a]);
        let result = if format == DOUBLE && (signs.product || signs.addend) {
            // Not by `or_nan`, which the device's own NaN may replace: that of a negated operand.
            let is_nan = l.b.fne(result, result);
            l.b.select(is_nan, nan, result)
        } else {
            l.b.or_nan(result, nan)
        };
        let bits = l.b.bits(result);
        if i.modifiers.has(Word::Sat) { saturate(l, format, bits) } else { bits }
    })
}

/// A float with the other sign.
fn negative(l: &mut Lowering<'_, '_>, float: Value) -> Value {
    if l.b.type_of(float) == Type::F32 {
        return l.b.unary(Unary::FNeg, float);
    }
    l.b.bitcast(l.b.xor_const(l.b.bits(float), DOUBLE.sign()), Type::F64)
}

/// An operation on f32 whose first operands come from a type of 16 bits.
pub(super) fn mixed<const N: usize>(
    l: &mut Lowering<'_, '_>,
    i: &Instruction,
    narrow: usize,
    operation: fn([Value; N]) -> Arithmetic,
) -> Result {
    let mut operands = [Value(0); N];
    for (operand, index) in operands.iter_mut().zip(1..) {
        let ty = i.ty(usize::from(index <= narrow))?;
        *operand = self::operand(l, i, index, ty, false)?;
    }
    let bits = l.b.bits(computed(l, i, operation(operands)));
    let bits = if i.modifiers.has(Word::Sat) { saturate(l, SINGLE, bits) } else { bits };
    l.set(i, 0, ScalarType::F32, bits)
}

/// `mad` on floats, which is `fma` since sm_20. Without a rounding modifier, which only older chips allow (and PTX up to 3.1 on f32), it
/// rounds to nearest. Those chips compute the f32 form differently, and later chips don't reproduce that for old modules.
pub fn mad(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    fma(l, i)
}

/// 1.0 of a float's type.
fn one_like(l: &Lowering<'_, '_>, float: Value) -> Value {
    l.b.constant_like(float, Format::of(l.b.type_of(float)).one())
}

/// `rcp`, rounded as in IEEE 754.
pub fn rcp(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    arithmetic(l, i, |l, [a]| Arithmetic::Div(one_like(l, a), a))
}
