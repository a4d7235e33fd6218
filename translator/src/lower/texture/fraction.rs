//! Floats as the numbers of normalised formats, which `sust.p` stores and which borders have.

use super::clamp_fraction;
use crate::ir::{Builder, Type, Unary, Value};

/// A normalised format.
pub(super) struct Fractions {
    /// The number that stands for 1.
    most: Value,
    /// The least float.
    least: Value,
    /// The number of fraction bits that a float keeps, and that power of two as a float.
    places: Value,
    scale: Value,
    /// The addend before a number is rounded.
    half: Value,
}

impl Fractions {
    /// The format with numbers of 8 or 16 bits, signed or not.
    pub(super) fn of(b: &Builder<'_>, is_byte: Value, is_signed: Value) -> Fractions {
        let [zero, minus_one] = [0.0, -1.0].map(|number| b.f32(number));
        let [eight, sixteen] = [b.i32(8), b.i32(16)];
        let width = b.select(is_byte, eight, sixteen);
        let bits = b.sub(width, b.bool_to(Type::I32, is_signed));
        let unit = b.i32(1);
        let most = b.sub_const(b.shl_by(unit, bits), 1);
        let places = b.add_const(bits, 4);
        let scale = b.shl_by(unit, places);
        let half = b.zero_extend(b.sub_const(b.shr(scale, 1), 1));
        let scale = b.unary(Unary::UnsignedToFloat(Type::F32), scale);
        let least = b.select(is_signed, minus_one, zero);
        Fractions { most, least, places, scale, half }
    }

    /// The number for a float's bits: truncated to four bits more than the format has, then rounded to nearest with ties down.
    pub(super) fn number(&self, b: &Builder<'_>, bits: Value) -> Value {
        let value = clamp_fraction(b, b.bitcast(bits, Type::F32), self.least);
        let is_negative = b.flt(value, b.f32(0.0));
        let scaled = b.fmul(b.bitcast(b.magnitude(value), Type::F32), self.scale);
        let fixed = b.unary(Unary::FloatToSigned(Type::I32), scaled);
        let product = b.join(b.mul(fixed, self.most), b.mul_high_unsigned(fixed, self.most));
        let number = b.truncate(b.shr_by(b.add(product, self.half), self.places));
        b.select(is_negative, b.neg(number), number)
    }

    /// The float that a number stands for.
    pub(super) fn float(&self, b: &Builder<'_>, number: Value) -> Value {
        let [number, most] = [number, self.most].map(|number| b.unary(Unary::SignedToFloat(Type::F32), number));
        b.fdiv(number, most)
    }
}
