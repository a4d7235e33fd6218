//! `sust.p`: stores of a surface's elements, which are converted to its format. Integers are clamped to the format's range, floats round
//! towards zero, NaNs keep their upper bits, and floats stored as fractions round approximately to nearest. Channels without a source become zero.

use super::fraction::Fractions;
use super::is_among;
use super::surface::{SurfaceAccess, within_rows};
use super::texel::Format;
use crate::decode::program::{Instruction, Operand};
use crate::diagnostic::{Diagnostic, Result};
use crate::ir::{Access, Builder, Compare, MemoryOrder, Rounding, Space, Type, Value, Var};
use crate::isa::types::ScalarType;
use crate::lower::lowering::Lowering;
use crate::soft::{self, HALF, Overflow};
use ptx2spv_interface::texture::{Texel, field};

/// `sust.p`
pub fn store(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let Operand::Vector(sources) = l.operand(i, 1) else {
        return Err(Diagnostic::internal("a store without sources", i.span));
    };
    let mut values = sources.iter().map(|source| l.source(source, ScalarType::B32)).collect::<Result<Vec<_>>>()?;
    while values.len() < 4 {
        values.push(l.b.i32(0));
    }
    let Some(Operand::List(place)) = i.operands.first() else {
        return Err(Diagnostic::internal("a store without a surface", i.span));
    };
    let Some(handle) = place.first() else {
        return Err(Diagnostic::internal("a store without a surface", i.span));
    };
    let record = super::record::Record::of(l, handle)?;
    let texel = record.word(l, field::TEXEL);
    let channels = record.word(l, field::CHANNELS);
    let format = Format::of(l, texel, channels);
    let size = format.bytes(l, l.b.i32(1));
    let place = SurfaceAccess::of(l, i, 0, size, |l, first| format.bytes(l, within_rows(l, first)))?;
    let vars: Vec<Var> = values.iter().map(|_| l.b.var(Type::I32)).collect();
    for (var, value) in vars.iter().zip(values) {
        l.b.set(*var, value);
    }
    convert(l, texel, &vars);
    let channels: Vec<Value> = vars.iter().map(|var| l.b.get(*var)).collect();
    let words = words(l, format, &channels);
    place.then(l, |l, address| {
        put(&l.b, format.shift, address, &words);
        Ok(())
    })
}

/// Converts words to the content of channels.
fn convert(l: &mut Lowering<'_, '_>, texel: Value, channels: &[Var]) {
    let b = &l.b;
    let is_half = b.compare_const(Compare::Equal, texel, Texel::F16.code().into());
    b.if_(is_half, |b| {
        for var in channels {
            b.set(*var, half(b, b.get(*var)));
        }
    });
    store_fractions(l, texel, channels);
    let bytes = 1 << Texel::U8.code() | 1 << Texel::S8.code();
    let narrow = bytes | 1 << Texel::U16.code() | 1 << Texel::S16.code();
    let signed = 1 << Texel::S8.code() | 1 << Texel::S16.code();
    let is_narrow = is_among(l, texel, narrow);
    let is_byte = is_among(l, texel, bytes);
    let is_signed = is_among(l, texel, signed);
    l.b.if_(is_narrow, |b| {
        let [byte, short] = [b.i32(0xff), b.i32(0xffff)];
        let mask = b.select(is_byte, byte, short);
        let half = b.shr(mask, 1);
        let lowest = b.not(half);
        for var in channels {
            let value = b.get(*var);
            let signed = b.maximum(Compare::LessSigned, value, lowest);
            let signed = b.minimum(Compare::LessSigned, half, signed);
            let unsigned = b.minimum(Compare::LessUnsigned, mask, value);
            b.set(*var, b.and(b.select(is_signed, signed, unsigned), mask));
        }
    });
}

/// The half for a float's bits. A NaN keeps its sign and the upper bits of its fraction, of which the lowest is set if all are zero.
fn half(b: &Builder<'_>, bits: Value) -> Value {
    let float = b.bitcast(bits, Type::F32);
    let number = soft::narrow(b, HALF, Rounding::TowardZero, Overflow::Rounded, float);
    let fraction = b.and_const(b.shr(bits, 13), 0x3ff);
    let one = b.i32(1);
    let fraction = b.select(b.is_zero(fraction), one, fraction);
    let sign = b.and_const(b.shr(bits, 16), 0x8000);
    let nan = b.or(b.or_const(sign, 0x7c00), fraction);
    let is_number = b.feq(float, float);
    b.select(is_number, number, nan)
}

/// Converts floats to the integers of normalised formats.
fn store_fractions(l: &mut Lowering<'_, '_>, texel: Value, channels: &[Var]) {
    let bytes = 1 << Texel::Unorm8.code() | 1 << Texel::Snorm8.code();
    let signed = 1 << Texel::Snorm8.code() | 1 << Texel::Snorm16.code();
    let all = bytes | signed | 1 << Texel::Unorm16.code();
    let is_fraction = is_among(l, texel, all);
    let is_byte = is_among(l, texel, bytes);
    let is_signed = is_among(l, texel, signed);
    l.b.if_(is_fraction, |b| {
        let format = Fractions::of(b, is_byte, is_signed);
        let [byte, short] = [b.i32(0xff), b.i32(0xffff)];
        let mask = b.select(is_byte, byte, short);
        for var in channels {
            let bits = b.get(*var);
            b.set(*var, b.and(format.number(b, bits), mask));
        }
    });
}

/// The words that a texel's channels lie in.
fn words(l: &mut Lowering<'_, '_>, format: Format, channels: &[Value]) -> Vec<Value> {
    let [Some(red), Some(green), Some(blue), Some(alpha)] = [0, 1, 2, 3].map(|at| channels.get(at).copied()) else {
        return Vec::new();
    };
    let b = &l.b;
    let pair = |low: Value, high: Value, by: u32| b.or(low, b.shl(high, by));
    let (bytes, more) = (pair(red, green, 8), pair(blue, alpha, 8));
    let bytes = pair(bytes, more, 16);
    let (shorts, more) = (pair(red, green, 16), pair(blue, alpha, 16));
    let is_byte = format.is_channel(l, 0);
    let is_short = format.is_channel(l, 1);
    let first = l.b.select(is_byte, bytes, l.b.select(is_short, shorts, red));
    let second = l.b.select(is_short, more, green);
    vec![first, second, blue, alpha]
}

/// Stores as many words as the texel has.
fn put(b: &Builder<'_>, shift: Value, address: Value, words: &[Value]) {
    let sizes = [(0, 1, 1), (1, 2, 1), (2, 4, 1), (3, 4, 2), (4, 4, 4)];
    for (size, bytes, count) in sizes {
        let is_size = b.compare_const(Compare::Equal, shift, size);
        let values: Vec<Value> = words.iter().copied().take(count).collect();
        b.if_(is_size, |b| {
            let access = Access { space: Space::Global, bytes, order: MemoryOrder::Weak, read_only: false };
            b.store(access, address, values);
        });
    }
}
