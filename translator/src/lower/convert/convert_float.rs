//! `cvt` from and to f16, bf16, f32, f64 and tf32 (PTX section 9.7.9.21). Packed formats are in
//! [`crate::lower::convert::convert_packed`].

use crate::decode::program::Instruction;
use crate::diagnostic::Result;
use crate::ir::{Arithmetic, Rounding, Type, Unary, Value};
use crate::isa::modifiers::{IntegralRounding, Limit};
use crate::isa::types::ScalarType;
use crate::isa::word::Word;
use crate::lower::convert::range;
use crate::lower::float::{float_of, flush_if, format, operand, or_nan, rounding, saturate};
use crate::lower::lowering::{Lowering, carrier, float_type};
use crate::soft::{self, DOUBLE, Format, HALF, Overflow, SINGLE, TENSOR};

/// `cvt` from integers to floats.
pub fn int_to_float(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let (to, from) = (i.ty(0)?, i.ty(1)?);
    let format = format(to)?;
    let a = l.signed(i, 1, from)?;
    let fits = from.bits() < format.precision;
    let bits = if to.bits() >= 32 && (fits || rounding(i) == Rounding::NearestEven) {
        let ty = float_type(to);
        let float = l.b.unary(if from.is_signed() { Unary::SignedToFloat(ty) } else { Unary::UnsignedToFloat(ty) }, a);
        l.b.bits(float)
    } else {
        soft::from_integer(&l.b, format, rounding(i), from.is_signed(), a)
    };
    finish(l, i, bits)
}

/// `cvt` from floats to integers: rounded as the modifier says, clamped to the type's range.
pub fn float_to_int(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let (to, from) = (i.ty(0)?, i.ty(1)?);
    let value = operand(l, i, 1, from, i.modifiers.has(Word::Ftz))?;
    if l.b.type_of(value) == Type::F32 && to.bits() == 32 {
        // The conversion itself rounds towards zero.
        let rounded = if i.modifiers.has(Word::Rzi) { value } else { round_integral(l, i, value) };
        let convert = if to.is_signed() { Unary::SaturateToSigned } else { Unary::SaturateToUnsigned };
        return l.set(i, 0, to, l.b.unary(convert, rounded));
    }
    let rounded = round_integral(l, i, value);
    let (low, high) = range(to);
    let bits_type = carrier(to);
    // The bounds as floats: `low` is exact; the first value too large is 2^n, exact too.
    #[allow(clippy::cast_precision_loss)] // powers of two (and zero) convert exactly
    let (low_float, beyond) = (low as f64, high as f64 + if to.bits() < 53 { 1.0 } else { 0.0 });
    let constant = |l: &mut Lowering<'_, '_>, value: f64| {
        if from.bits() == 64 {
            return l.b.f64(value);
        }
        #[allow(clippy::cast_possible_truncation)] // powers of two within f32's range
        l.b.f32(value as f32)
    };
    let low_bound = constant(l, low_float);
    let high_bound = constant(l, beyond);
    let too_low = l.b.flt(rounded, low_bound);
    let too_high = l.b.fle(high_bound, rounded);
    let is_nan = is_nan(l, value);
    let outside = l.b.or(l.b.or(too_low, too_high), is_nan);
    let zero = constant(l, 0.0);
    let safe_bits = l.b.bits(rounded);
    let safe = l.b.bitcast(l.b.select(outside, l.b.bits(zero), safe_bits), float_type(from));
    let convert = if to.is_signed() { Unary::FloatToSigned(bits_type) } else { Unary::FloatToUnsigned(bits_type) };
    let mut result = l.b.unary(convert, safe);
    result = l.b.select(too_low, l.b.constant(bits_type, low.cast_unsigned()), result);
    result = l.b.select(too_high, l.b.constant(bits_type, high), result);
    // Hardware gives only the top bit for NaN in the wide conversions, zero in the others; the manual says zero.
    let for_nan = if to.bits() == 64 || from.bits() == 64 { 1u64 << (to.bits() - 1) } else { 0 };
    result = l.b.select(is_nan, l.b.constant(bits_type, for_nan), result);
    l.set(i, 0, to, result)
}

fn is_nan(l: &Lowering<'_, '_>, float: Value) -> Value {
    let format = Format::of(l.b.type_of(float));
    soft::is_nan(&l.b, format, l.b.bits(float))
}

/// Rounds to an integral value as `.rni`, `.rmi`, `.rpi` or `.rzi` says.
fn round_integral(l: &Lowering<'_, '_>, i: &Instruction, value: Value) -> Value {
    match i.modifiers.integral_rounding() {
        Some(IntegralRounding::Rni) => l.b.unary(Unary::RoundEven, value),
        Some(IntegralRounding::Rmi) => l.b.unary(Unary::Floor, value),
        Some(IntegralRounding::Rpi) => l.b.unary(Unary::Ceil, value),
        Some(IntegralRounding::Rzi) => l.b.unary(Unary::Trunc, value),
        None => value,
    }
}

/// `cvt` between floats, to another format or to an integral value.
pub fn float_to_float(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let (to, from) = (i.ty(0)?, i.ty(1)?);
    let ftz = i.modifiers.has(Word::Ftz);
    let value = if (to, from) == (ScalarType::F64, ScalarType::F16) {
        // An f64 keeps a NaN's fraction, which a device's conversion may lose.
        let bits = l.int(i, 1, from)?;
        soft::widen_bits(&l.b, HALF, bits)
    } else {
        operand(l, i, 1, from, ftz && flushes(to, from))?
    };
    // Hardware flushes by arithmetic on f32, which gives this NaN. The conversion from f16 gives the same NaN.
    let by_arithmetic = match from {
        ScalarType::F32 => ftz && matches!(to, ScalarType::F32 | ScalarType::F64),
        ScalarType::F16 => to == ScalarType::F32,
        _ => false,
    };
    let value = if by_arithmetic { or_nan(l, value, &[]) } else { value };
    let integral = round_integral(l, i, value);
    // A conversion that changes nothing keeps NaNs as they are.
    let value = if integral == value { value } else { or_nan(l, integral, &[value]) };
    let bits = bits_in(l, i, to, value)?;
    finish(l, i, bits)
}

/// Whether `.ftz` flushes operands: in conversions to f16, hardware doesn't flush them.
fn flushes(to: ScalarType, from: ScalarType) -> bool {
    to != ScalarType::F16 && matches!(from, ScalarType::F32 | ScalarType::Bf16)
}

/// The bits of a number in a type, rounded as the modifiers say. Conversions to a narrower format give NVIDIA's NaNs.
pub(crate) fn bits_in(l: &mut Lowering<'_, '_>, i: &Instruction, to: ScalarType, value: Value) -> Result<Value> {
    let rounding = rounding(i);
    Ok(match (l.b.type_of(value), to) {
        (Type::F32, ScalarType::F64) => {
            let wide = l.b.widen(value);
            let nan = wide_nan(l, value);
            l.b.bits(l.b.or_nan(wide, nan))
        }
        (Type::F64, ScalarType::F32) => {
            let value =
                if i.modifiers.has(Word::Ftz) { soft::flush_tiny(&l.b, SINGLE, rounding, value) } else { value };
            let narrow = l.b.rounded(rounding, Arithmetic::Narrow(value));
            let nan = narrow_nan(l, SINGLE, value);
            l.b.bits(l.b.or_nan(narrow, l.b.bitcast(nan, Type::F32)))
        }
        (_, ScalarType::F32 | ScalarType::F64) => l.b.bits(value),
        _ => {
            let overflow = if i.modifiers.has(Word::Satfinite) { Overflow::Largest } else { Overflow::Rounded };
            let format = format(to)?;
            let narrow = soft::narrow(&l.b, format, rounding, overflow, value);
            if l.b.type_of(value) == Type::F64 { or_narrow_nan(l, format, value, narrow) } else { narrow }
        }
    })
}

/// The f64 NaN for an f32 NaN: made quiet, with its sign and fraction.
fn wide_nan(l: &mut Lowering<'_, '_>, value: Value) -> Value {
    let bits = l.b.bits(value);
    let sign = l.b.shl(l.b.zero_extend(l.b.and_const(bits, SINGLE.sign())), DOUBLE.bits - SINGLE.bits);
    let fraction = l.b.zero_extend(l.b.and_const(bits, SINGLE.hidden() - 1));
    let nan = l.b.or(sign, l.b.shl(fraction, DOUBLE.precision - SINGLE.precision));
    let nan = l.b.or_const(nan, DOUBLE.infinity() | DOUBLE.hidden() >> 1);
    l.b.bitcast(nan, Type::F64)
}

/// Bits of the narrower NaN for an f64 NaN: made quiet, with its sign and the upper part of its fraction.
fn narrow_nan(l: &mut Lowering<'_, '_>, to: Format, value: Value) -> Value {
    let bits = l.b.bits(value);
    let sign = l.b.and_const(l.b.truncate(l.b.shr(bits, DOUBLE.bits - to.bits)), to.sign());
    let fraction = l.b.truncate(l.b.shr(bits, DOUBLE.precision - to.precision));
    let nan = l.b.or(sign, l.b.and_const(fraction, to.hidden() - 1));
    l.b.or_const(nan, to.infinity() | to.hidden() >> 1)
}

/// The bits of a narrowed f64, or of its NaN.
fn or_narrow_nan(l: &mut Lowering<'_, '_>, to: Format, value: Value, narrow: Value) -> Value {
    let nan = narrow_nan(l, to, value);
    let is_number = l.b.feq(value, value);
    l.b.select(is_number, narrow, nan)
}

/// Writes the bits of a float result with the flushing and saturation that the modifiers ask for.
fn finish(l: &mut Lowering<'_, '_>, i: &Instruction, bits: Value) -> Result {
    let to = i.ty(0)?;
    let format = format(to)?;
    let bits = flush_if(l, i.modifiers.has(Word::Ftz) && to == ScalarType::F32, format, bits);
    let bits = match i.modifiers.limit() {
        Some(Limit::Sat) => saturate(l, format, bits),
        Some(Limit::Relu) => soft::relu(&l.b, format, bits),
        None => bits,
    };
    l.set(i, 0, to, bits)
}

/// `cvt` to tf32, whose lowest 13 bits are zeros.
pub fn to_tf32(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let bits = l.int(i, 1, ScalarType::F32)?;
    let result = if i.modifiers.has(Word::Rna) {
        to_nearest_away(l, bits, i.modifiers.has(Word::Satfinite))
    } else {
        let narrow = bits_in(l, i, ScalarType::Tf32, float_of(l, SINGLE, bits))?;
        let narrow = if i.modifiers.has(Word::Relu) { soft::relu(&l.b, TENSOR, narrow) } else { narrow };
        l.b.shl(narrow, 13)
    };
    l.set(i, 0, ScalarType::Tf32, result)
}

/// `cvt.rna.tf32`, for which hardware has no instruction. The result is a sum and a mask, so that a NaN keeps its
/// remaining bits, or becomes infinity if none remain.
fn to_nearest_away(l: &mut Lowering<'_, '_>, bits: Value, finite: bool) -> Value {
    let infinity = l.b.i32(SINGLE.infinity() as u32);
    let is_finite = l.b.ult(l.b.magnitude(bits), infinity);
    let sum = l.b.select(is_finite, l.b.add_const(bits, 1 << 12), bits);
    let result = l.b.and_const(sum, !0x1fff & u64::from(u32::MAX));
    if !finite {
        return result;
    }
    let is_finite = l.b.ult(l.b.magnitude(result), infinity);
    l.b.select(is_finite, result, l.b.sub_const(result, 1 << 13))
}
