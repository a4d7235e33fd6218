//! `tld4`: one channel of the four texels that a linear filter would blend, in level 0. Beyond a cube's corner, the fourth texel is a blend
//! of the other three.

use super::blend::{Arithmetic, Channel};
use super::fetch::{finish, no_channels};
use super::filter::{Corner, add, arithmetics, as_fraction, tap};
use super::source::{Source, Where};
use super::texel::at_least_minus_one;
use crate::decode::program::Instruction;
use crate::diagnostic::{Diagnostic, Result};
use crate::ir::{Builder, Compare, Stmt, Type, Value, Var};
use crate::isa::modifiers;
use crate::lower::lowering::Lowering;
use crate::lower::texture::is_among;
use ptx2spv_interface::texture::{Texel, field};

const OFFSET_BITS: u32 = 6;
/// The texels in the order of results: whether to the right and whether below.
const ORDER: [(bool, bool); 4] = [(false, true), (true, true), (true, false), (false, false)];
/// CUDA's number for signed 32-bit integers.
const SIGNED: u64 = 0x0a;

/// `tld4`
pub fn gather(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let results = no_channels(l);
    by_loads(l, i, results)?;
    finish(l, i, results)
}

/// The bits of the four texels' channel. Variables are zero before.
pub(super) fn by_loads(l: &mut Lowering<'_, '_>, i: &Instruction, results: [Var; 4]) -> Result {
    let channel = match i.required(i.modifiers.channel())? {
        modifiers::Channel::R => 0,
        modifiers::Channel::G => 1,
        modifiers::Channel::B => 2,
        modifiers::Channel::A => 3,
    };
    let source = Source::of(l, i, OFFSET_BITS)?;
    let outer = l.b.take_block();
    let level = source.image.level;
    let (plane, _) = source.positions(l, &level, l.b.bool(true));
    let [x, y] = *plane.as_slice() else {
        return Err(Diagnostic::internal("four texels of a texture of other than two dimensions", i.span));
    };
    let loaded = [Type::I32; 4].map(|ty| l.b.var(ty));
    let step = l.b.var(Type::I32);
    l.b.set(step, l.b.i32(0));
    let before = l.b.take_block();
    let number = l.b.get(step);
    let [right, below] = [[1, 2], [0, 1]].map(|numbers| {
        let [first, second] = numbers.map(|other| l.b.compare_const(Compare::Equal, number, other));
        l.b.or(first, second)
    });
    let tap = tap(&l.b, [(x, right), (y, below)], None);
    source.load(l, &level, &tap, loaded)?;
    let b = &l.b;
    let bits = b.get(loaded.get(channel).copied().unwrap_or(step));
    for (place, var) in (0..).zip(results) {
        let is_place = b.compare_const(Compare::Equal, number, place);
        b.if_(is_place, |b| b.set(var, bits));
    }
    let next = b.add_const(number, 1);
    b.set(step, next);
    let is_end = b.compare_const(Compare::Equal, next, 4);
    b.if_(is_end, Builder::break_);
    b.push(Stmt::Loop(b.replace_block(before)));
    let arithmetic =
        arithmetics(&l.b, source.arithmetic, source.format).get(channel).copied().unwrap_or(source.arithmetic);
    let corner = match &source.point {
        Where::Cube { is_seamless, .. } => {
            let corner = Corner::of(&l.b, [x, y], level.width, *is_seamless);
            Some((corner, of_corner(l, &source, arithmetic, corner, results)))
        }
        Where::Flat { .. } => None,
    };
    let is_float = is_among(l, source.image.texel, 1 << Texel::F16.code() | 1 << Texel::F32.code());
    for (var, place) in results.into_iter().zip(ORDER) {
        let b = &l.b;
        let bits = b.get(var);
        let number = alone(b, arithmetic, bits);
        b.set(var, b.select(is_float, plain_float(b, arithmetic, bits), number));
        if let Some((corner, value)) = corner {
            let tap = u64::from(place.0) | u64::from(place.1) << 1;
            let is_missing = b.and(b.compare_const(Compare::Equal, corner.missing, tap), corner.exists);
            b.if_(is_missing, |b| b.set(var, value));
        }
    }
    let then = l.b.replace_block(outer);
    l.b.push(Stmt::If { condition: source.exists, then, otherwise: Vec::new() });
    Ok(())
}

/// A float by itself, as a filter gives it: zero for a subnormal number, and one NaN for all.
fn plain_float(b: &Builder<'_>, arithmetic: Arithmetic, bits: Value) -> Value {
    let [half_nan, nan] = [0x7fff_e000, 0x7fff_ffff].map(|bits| b.i32(bits));
    let nan = b.select(arithmetic.half, half_nan, nan);
    let infinity = b.i32(0x7f80_0000);
    let exponent = b.and(bits, infinity);
    let sign = b.and_const(bits, 0x8000_0000);
    let number = b.select(b.is_zero(exponent), sign, bits);
    let is_nan = b.ult(infinity, b.and_const(bits, 0x7fff_ffff));
    b.select(is_nan, nan, number)
}

/// A texel by itself. Signed bytes go through the filter, which converts them to fractions of 16 bits.
fn alone(b: &Builder<'_>, arithmetic: Arithmetic, bits: Value) -> Value {
    let is_signed_byte = b.and(arithmetic.signed, arithmetic.byte);
    let filtered = b.choose(
        is_signed_byte,
        |b| {
            let sum = Channel::new(b);
            sum.add_product(b, as_fraction(b, arithmetic, bits), b.i32(256));
            sum.end_slice(b, arithmetic);
            sum.result(b, arithmetic)
        },
        |_| bits,
    );
    at_least_minus_one(b, arithmetic.signed, filtered)
}

/// The blend of three of four texels: the neighbours of the missing texel have weight 85/256, the other 86/256.
fn of_corner(
    l: &mut Lowering<'_, '_>,
    source: &Source,
    arithmetic: Arithmetic,
    corner: Corner,
    texels: [Var; 4],
) -> Value {
    let integers = [Texel::U8, Texel::S8, Texel::U16, Texel::S16, Texel::B32];
    let is_integer = is_among(l, source.image.texel, integers.iter().map(|texel| 1 << texel.code()).sum());
    let format = source.texture.word(l, field::FORMAT);
    let b = &l.b;
    let [none, third, most] = [0, 85, 86].map(|weight| b.i32(weight));
    let parts = texels.into_iter().zip(ORDER).map(|(var, place)| {
        let tap = u64::from(place.0) | u64::from(place.1) << 1;
        let is_missing = b.compare_const(Compare::Equal, corner.missing, tap);
        let is_opposite = b.compare_const(Compare::Equal, corner.missing, 3 - tap);
        let weight = b.select(is_opposite, most, third);
        (b.get(var), b.select(is_missing, none, weight))
    });
    let parts: Vec<(Value, Value)> = parts.collect();
    b.choose(
        is_integer,
        |b| {
            let is_word = b.compare_const(Compare::Equal, source.image.texel, Texel::B32.code().into());
            let is_signed = b.compare_const(Compare::Equal, format, SIGNED);
            let is_unsigned = b.and(is_word, b.not(is_signed));
            let [half, nothing] = [b.i64(128), b.i64(0)];
            let mut sum = b.select(is_word, nothing, half);
            for (bits, weight) in &parts {
                let low = b.mul(*bits, *weight);
                let [unsigned, signed] = [b.mul_high_unsigned(*bits, *weight), b.mul_high_signed(*bits, *weight)];
                sum = b.add(sum, b.join(low, b.select(is_unsigned, unsigned, signed)));
            }
            b.truncate(b.sar(sum, 8))
        },
        |b| {
            let sum = Channel::new(b);
            for (bits, weight) in &parts {
                sum.look(b, arithmetic, *bits, *weight);
            }
            for (bits, weight) in &parts {
                add(b, &sum, arithmetic, *bits, *weight);
            }
            sum.end_slice(b, arithmetic);
            sum.result(b, arithmetic)
        },
    )
}
