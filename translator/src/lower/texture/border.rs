//! The border's colour, converted to the texture's format.

use super::fraction::Fractions;
use super::is_among;
use super::source::Source;
use super::texel::decode_srgb;
use crate::ir::{Builder, Compare, Rounding, Type, Unary, Value, Var};
use crate::lower::lowering::Lowering;
use crate::soft::{self, HALF, Overflow};
use ptx2spv_interface::texture::{Texel, field};

/// The border's colour as a texel for filters.
pub(super) fn load(l: &mut Lowering<'_, '_>, source: &Source, into: [Var; 4]) {
    let Source { sampler, image, arithmetic, .. } = source;
    let colour = sampler.words(l, field::BORDER);
    let whole = is_among(l, image.texel, 1 << Texel::F32.code() | 1 << Texel::B32.code());
    let halves = l.b.compare_const(Compare::Equal, image.texel, Texel::F16.code().into());
    let is_signed = is_among(l, image.texel, 1 << Texel::S8.code() | 1 << Texel::S16.code());
    let format = Fractions::of(&l.b, arithmetic.byte, arithmetic.signed);
    for (channel, (var, bits)) in (0..).zip(into.into_iter().zip(colour)) {
        let b = &l.b;
        let fractions = b.or(arithmetic.fractions, arithmetic.srgb);
        let integer = low_bits(b, bits, arithmetic.byte, is_signed);
        let fraction = b.bits(format.float(b, format.number(b, bits)));
        let half = cut_half(b, bits);
        let value = b.select(whole, bits, b.select(halves, half, b.select(fractions, fraction, integer)));
        let has = b.ult(b.i32(channel), image.channels);
        b.set(var, b.select(has, value, b.i32(0)));
    }
    // The host gives the colour as fractions that stand for sRGB bytes.
    let [red, green, blue, _] = into;
    let is_srgb_all = l.b.and(arithmetic.srgb, source.format.encodes_all(&l.b));
    for (is_encoded, channels) in [(arithmetic.srgb, &[red][..]), (is_srgb_all, &[green, blue])] {
        l.b.if_(is_encoded, |b| channels.iter().for_each(|var| decode_fraction(b, source.srgb_table, *var)));
    }
}

/// The intensity for a fraction that stands for an sRGB byte.
fn decode_fraction(b: &Builder<'_>, table: u64, channel: Var) {
    let fraction = b.bitcast(b.get(channel), Type::F32);
    let largest = b.f32(255.0);
    let half = b.f32(0.5);
    let scaled = b.fadd(b.fmul(fraction, largest), half);
    b.set(channel, b.unary(Unary::FloatToSigned(Type::I32), scaled));
    decode_srgb(b, table, channel);
}

/// The integer that the low bits stand for.
fn low_bits(b: &Builder<'_>, bits: Value, is_byte: Value, is_signed: Value) -> Value {
    let [twenty_four, sixteen] = [b.i32(24), b.i32(16)];
    let above = b.select(is_byte, twenty_four, sixteen);
    let high = b.shl_by(bits, above);
    b.select(is_signed, b.sar_by(high, above), b.shr_by(high, above))
}

/// A float truncated to the precision of a half.
fn cut_half(b: &Builder<'_>, bits: Value) -> Value {
    let half = soft::narrow(b, HALF, Rounding::TowardZero, Overflow::Rounded, b.bitcast(bits, Type::F32));
    b.bits(soft::widen_bits(b, HALF, half))
}
