//! `cvt` between integers and f32/f64 (PTX section 9.7.9.21), and `cvta`, `isspacep`.

use super::float::{flush_if, is_nan, saturate};
use super::integer::clamp_signed;
use super::{Lowering, Result, carrier, float_type};
use crate::decode::program::Instruction;
use crate::decode::types::ScalarType;
use crate::diagnostic::Diagnostic;
use crate::ir::{Compare, GENERIC_LOCAL, GENERIC_SHARED, GENERIC_TAG_SHIFT, Type, Unary, Value};

/// `cvt` between integers.
pub fn int_to_int(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let (to, from) = (i.modifiers.ty(0), i.modifiers.ty(1));
    let a = l.signed(i, 1, from)?;
    let mut value = if to.bits() == 64 && from.bits() < 64 {
        l.b.unary(if from.is_signed() { Unary::SignExtend } else { Unary::ZeroExtend }, a)
    } else {
        a
    };
    if i.modifiers.has("sat") {
        value = saturate_int(l, value, from, to);
    }
    if to.bits() < 64 {
        value = l.narrow(value);
    }
    l.set(i, 0, to, value)
}

/// Clamps a value of type `from` to what `to` can hold.
fn saturate_int(l: &mut Lowering<'_, '_>, value: Value, from: ScalarType, to: ScalarType) -> Value {
    let (low, high) = range(to);
    if from.is_signed() {
        // Every signed value fits i64, where all bounds but u64's do too.
        let high = i64::try_from(high).unwrap_or(i64::MAX);
        let width = if l.b.type_of(value) == Type::I64 { 64 } else { 32 };
        let bound = |value: i64| value.clamp(-1 << (width - 1), i64::MAX >> (64 - width));
        return clamp_signed(l, value, bound(low), bound(high));
    }
    let most = if l.b.type_of(value) == Type::I64 { high } else { high.min(u64::from(u32::MAX)) };
    let most = l.b.constant_like(value, most);
    let less = l.b.ult(value, most);
    l.b.select(less, value, most)
}

/// Smallest and largest value of an integer type.
fn range(ty: ScalarType) -> (i64, u64) {
    let bits = ty.bits();
    if ty.is_signed() { (-1 << (bits - 1), u64::MAX >> (65 - bits)) } else { (0, u64::MAX >> (64 - bits)) }
}

/// `cvt.rn` from integers to floats.
pub fn int_to_float(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let (to, from) = (i.modifiers.ty(0), i.modifiers.ty(1));
    let a = l.signed(i, 1, from)?;
    let ty = float_type(to);
    let value = l.b.unary(if from.is_signed() { Unary::SignedToFloat(ty) } else { Unary::UnsignedToFloat(ty) }, a);
    let bits = l.b.bits(value);
    let bits = if i.modifiers.has("sat") { saturate(l, bits) } else { bits };
    l.set(i, 0, to, bits)
}

/// `cvt` from floats to integers: rounded as the modifier says, clamped to the type's range.
pub fn float_to_int(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let (to, from) = (i.modifiers.ty(0), i.modifiers.ty(1));
    let bits = l.int(i, 1, from)?;
    let bits = flush_if(l, i.modifiers.has("ftz"), bits);
    let value = l.b.bitcast(bits, float_type(from));
    let rounded = round(l, i, value);
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
    let nan = is_nan(l, value);
    let outside = l.b.or(too_low, too_high);
    let outside = l.b.or(outside, nan);
    let zero = constant(l, 0.0);
    let safe_bits = l.b.bits(rounded);
    let zero_bits = l.b.bits(zero);
    let safe_bits = l.b.select(outside, zero_bits, safe_bits);
    let safe = l.b.bitcast(safe_bits, float_type(from));
    let convert = if to.is_signed() { Unary::FloatToSigned(bits_type) } else { Unary::FloatToUnsigned(bits_type) };
    let mut result = l.b.unary(convert, safe);
    let lowest = l.b.constant(bits_type, low.cast_unsigned());
    result = l.b.select(too_low, lowest, result);
    let highest = l.b.constant(bits_type, high);
    result = l.b.select(too_high, highest, result);
    // Hardware gives only the top bit for NaN in the wide conversions, zero in the others; the manual says zero.
    let for_nan = if to.bits() == 64 || from.bits() == 64 { 1u64 << (to.bits() - 1) } else { 0 };
    let for_nan = l.b.constant(bits_type, for_nan);
    result = l.b.select(nan, for_nan, result);
    l.set(i, 0, to, result)
}

/// Rounds to an integral value as `.rni`, `.rmi`, `.rpi` or `.rzi` says.
fn round(l: &mut Lowering<'_, '_>, i: &Instruction, value: Value) -> Value {
    match i.modifiers.one_of(&["rni", "rzi", "rmi", "rpi"]) {
        Some("rni") => l.b.unary(Unary::RoundEven, value),
        Some("rmi") => l.b.unary(Unary::Floor, value),
        Some("rpi") => l.b.unary(Unary::Ceil, value),
        Some(_) => l.b.unary(Unary::Trunc, value),
        None => value,
    }
}

/// `cvt` between f32 and f64, to nearest or to an integral value.
pub fn float_to_float(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let (to, from) = (i.modifiers.ty(0), i.modifiers.ty(1));
    let flush = i.modifiers.has("ftz");
    let bits = l.int(i, 1, from)?;
    let bits = flush_if(l, flush && from == ScalarType::F32, bits);
    let value = l.b.bitcast(bits, float_type(from));
    let value = round(l, i, value);
    let value = match (from.bits(), to.bits()) {
        (32, 64) => l.b.widen(value),
        (64, 32) if flush => {
            // Flushed is what is below the least normal number once rounded to 24 bits of any exponent.
            let bits = l.b.bits(value);
            let magnitude = l.b.magnitude(bits);
            let least = f64::from(f32::MIN_POSITIVE) * (1.0 - f64::from(f32::EPSILON) / 4.0);
            let least = l.b.i64(least.to_bits());
            let tiny = l.b.ult(magnitude, least);
            let zero = l.b.and_const(bits, 1 << 63);
            let bits = l.b.select(tiny, zero, bits);
            let value = l.b.bitcast(bits, float_type(from));
            l.b.narrow(value)
        }
        (64, 32) => l.b.narrow(value),
        _ => value,
    };
    let bits = l.b.bits(value);
    let bits = flush_if(l, flush && to == ScalarType::F32, bits);
    let bits = if i.modifiers.has("sat") { saturate(l, bits) } else { bits };
    l.set(i, 0, to, bits)
}

fn tag(space: Option<&str>) -> Option<u64> {
    match space {
        Some("shared" | "shared::cta") => Some(GENERIC_SHARED),
        Some("local") => Some(GENERIC_LOCAL),
        _ => None,
    }
}

const SPACES: &[&str] = &["global", "shared", "shared::cta", "local", "const", "param"];

/// `cvta`: to a generic address, or with `.to` back from one.
pub fn cvta(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let ty = i.modifiers.ty(0);
    let a = l.int(i, 1, ty)?;
    let tag = tag(i.modifiers.one_of(SPACES));
    let result = match (tag, i.modifiers.has("to")) {
        // Global, const and parameter addresses are device addresses in either form.
        (None, _) => a,
        (Some(_), _) if ty.bits() == 32 => return Err(no_narrow_generic(i)),
        (Some(tag), false) => {
            let offset = l.b.and_const(a, u64::from(u32::MAX));
            l.b.or_const(offset, tag << GENERIC_TAG_SHIFT)
        }
        (Some(_), true) => l.b.and_const(a, u64::from(u32::MAX)),
    };
    l.set(i, 0, ty, result)
}

fn no_narrow_generic(i: &Instruction) -> Diagnostic {
    Diagnostic::unsupported("generic addresses in modules with 32-bit addresses", i.span)
}

/// `isspacep`
pub fn isspacep(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let a = l.int(i, 1, ScalarType::B64)?;
    let found = l.b.shr(a, GENERIC_TAG_SHIFT);
    let result = match (tag(i.modifiers.one_of(SPACES)), i.modifiers.one_of(SPACES)) {
        (Some(tag), _) => l.b.compare_const(Compare::Equal, found, tag),
        (None, Some("global")) => {
            // Tags 0 and 3 are global.
            let next = l.b.add_const(found, 1);
            let low = l.b.and_const(next, 3);
            l.b.compare_const(Compare::LessUnsigned, low, 2)
        }
        _ => {
            return Err(Diagnostic::unsupported(
                "`isspacep` for const and parameters, which live in global memory here",
                i.span,
            ));
        }
    };
    l.set(i, 0, ScalarType::Pred, result)
}
