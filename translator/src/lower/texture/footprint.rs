//! The number of texels that a pixel spans, from the gradients of its coordinates. It gives the mipmap level.
//!
//! The texture unit computes with numbers of ten significant bits. Here these are floats whose other bits are zero, so that everything but
//! the truncations is exact (`docs/numerics.md`).

use super::clamp_float;
use crate::diagnostic::{Diagnostic, Result, Span};
use crate::ir::{Access, Builder, Compare, MemoryOrder, Space, Type, Unary, Value};
use crate::lower::lowering::Lowering;
use ptx2spv_interface::push_constant;

/// The bits of a float beyond ten of its significand.
const CUT: u64 = 0x3fff;
const EXPONENT: u64 = 0x7f80_0000;
/// Limits of the sizes of steps.
const LEAST: f32 = 1.0 / (1u64 << 60) as f32;
const MOST: f32 = (1u64 << 60) as f32;
/// Differences from this coordinate on are large.
const HUGE: f32 = (1u128 << 97) as f32;

/// The effective value of a coordinate or step: 0 for NaN and for sizes below [`LEAST`]; sizes above [`MOST`] are clamped.
pub(super) fn step(b: &Builder<'_>, value: Value) -> Value {
    let [zero, least, most, lowest] = [0.0, LEAST, MOST, -MOST].map(|number| b.f32(number));
    let size = size(b, value);
    clamp_float(b, b.select(b.fle(least, size), value, zero), [lowest, most])
}

/// The difference between neighbouring coordinates. From and to huge coordinates, the step counts as large.
pub(super) fn difference(b: &Builder<'_>, to: Value, from: Value) -> Value {
    let [one, other] = [to, from].map(|value| size(b, value));
    let greater = larger(b, one, other);
    let is_huge = b.fle(b.f32(HUGE), greater);
    let difference = sum(b, to, b.unary(Unary::FNeg, from), 24);
    step(b, b.select(is_huge, b.f32(MOST), difference))
}

/// A coordinate as the unit reads it: NaN and subnormals are 0.
pub(super) fn coordinate(b: &Builder<'_>, value: Value) -> Value {
    let is_tiny = b.ult(b.magnitude(value), b.i32(0x80_0000));
    let zero = b.f32(0.0);
    let value = b.select(is_tiny, zero, value);
    let is_number = b.feq(value, value);
    b.select(is_number, value, zero)
}

/// A number truncated to ten significant bits.
fn truncated(b: &Builder<'_>, value: Value) -> Value {
    b.bitcast(b.and_const(b.bits(value), !CUT & 0xffff_ffff), Type::F32)
}

/// A number's power of two.
fn power(b: &Builder<'_>, value: Value) -> Value {
    b.bitcast(b.and_const(b.bits(value), EXPONENT), Type::F32)
}

/// A float without its sign.
pub(super) fn size(b: &Builder<'_>, value: Value) -> Value {
    b.bitcast(b.magnitude(value), Type::F32)
}

fn larger(b: &Builder<'_>, first: Value, second: Value) -> Value {
    b.maximum(Compare::FLess, first, second)
}

fn smaller(b: &Builder<'_>, first: Value, second: Value) -> Value {
    b.minimum(Compare::FLess, first, second)
}

/// A sum of numbers of ten significant bits.
pub(super) fn plus(b: &Builder<'_>, first: Value, second: Value) -> Value {
    sum(b, first, second, 10)
}

/// A sum of numbers of up to `bits` significant bits, truncated to ten. Both addends are truncated to one more bit than the greater has.
fn sum(b: &Builder<'_>, first: Value, second: Value, bits: u32) -> Value {
    let [one, other] = [first, second].map(|value| size(b, value));
    let greater = larger(b, one, other);
    let power = power(b, larger(b, greater, b.f32(LEAST / 1024.0)));
    let exponent = b.bits(power);
    // The power's reciprocal has the negated exponent.
    let reciprocal = b.bitcast(b.sub(b.i32(0x7f00_0000), exponent), Type::F32);
    let units = (1u32 << bits) as f32;
    let [units, unit] = [units, 1.0 / units].map(|number| b.f32(number));
    let scale = b.fmul(reciprocal, units);
    let [one, other] = [first, second].map(|value| b.unary(Unary::FloatToSigned(Type::I32), b.fmul(value, scale)));
    let sum = b.add(one, other);
    let zero = b.i32(0);
    let negated = b.neg(sum);
    let is_negative = b.slt(sum, zero);
    let size = b.select(is_negative, negated, sum);
    // Numbers that a float would round lose their lowest bits before.
    let size = b.select(b.is_zero(b.shr(size, 24)), size, b.and_const(size, 0xffff_fffc));
    let size = b.unary(Unary::UnsignedToFloat(Type::F32), size);
    let size = truncated(b, b.fmul(size, b.fmul(power, unit)));
    b.select(is_negative, b.unary(Unary::FNeg, size), size)
}

/// The product of a size with a factor whose power of two is known.
fn times(b: &Builder<'_>, value: Value, (factor, factor_power): (f32, f32)) -> Value {
    let power = power(b, value);
    let [factor, half] = [factor, factor_power / 1024.0].map(|number| b.f32(number));
    truncated(b, b.fadd(b.fmul(value, factor), b.fmul(power, half)))
}

/// The ten significant bits of a float as an integer.
fn digits(b: &Builder<'_>, value: Value) -> Value {
    let bits = b.or_const(b.and_const(b.bits(value), 0x7f_ffff), 0x80_0000);
    b.shr(bits, 14)
}

/// A step in texels. The unit leaves out the six lowest columns of the product's bits, and adds 7/8.
pub(super) fn stretched(b: &Builder<'_>, step: Value, extent: Value) -> Value {
    let extent = b.unary(Unary::UnsignedToFloat(Type::F32), extent);
    let (ours, theirs) = (digits(b, step), digits(b, extent));
    let mut product = b.mul(ours, theirs);
    for place in 0..6 {
        let lost = b.and_const(b.shl(ours, place), 63);
        let bit = b.and_const(b.shr(theirs, place), 1);
        product = b.sub(product, b.mul(lost, bit));
    }
    let number = b.unary(Unary::UnsignedToFloat(Type::F32), b.shr(b.add_const(product, 448), 9));
    let powers = [step, extent].map(|value| power(b, value));
    let scale = b.fmul(b.fmul(powers[0], b.f32(1.0 / 512.0)), powers[1]);
    let value = truncated(b, b.fmul(number, scale));
    let sign = b.and_const(b.bits(step), 0x8000_0000);
    b.bitcast(b.or(b.bits(value), sign), Type::F32)
}

/// Factors of the longest, the next and the shortest side of a step, with their powers of two.
type Factors = [(f32, f32); 3];
const SIDES: Factors = [(1.0, 1.0), (11.0 / 32.0, 0.25), (0.25, 0.25)];
/// The diagonals of two steps count 11/16 of that.
const DIAGONALS: Factors = [(11.0 / 16.0, 0.5), (121.0 / 512.0, 0.125), (11.0 / 64.0, 0.125)];

/// The approximate length of a vector.
fn length(b: &Builder<'_>, step: &[Value; 3], [first, second, third]: Factors) -> Value {
    let [x, y, z] = step.map(|value| size(b, value));
    let (high, low) = (larger(b, x, y), smaller(b, x, y));
    let longest = larger(b, high, z);
    let rest = smaller(b, high, z);
    let middle = larger(b, low, rest);
    let shortest = smaller(b, low, rest);
    let longest = if first.0 < 1.0 { times(b, longest, first) } else { longest };
    let others = plus(b, times(b, middle, second), times(b, shortest, third));
    plus(b, longest, others)
}

/// The size of a pixel's footprint from its two steps and, unless they lie on several faces, their diagonals.
pub(super) fn footprint(b: &Builder<'_>, across: [Value; 3], down: [Value; 3], is_apart: Option<Value>) -> Value {
    let [one, other] = [&across, &down].map(|step| length(b, step, SIDES));
    let sides = larger(b, one, other);
    let diagonals = [false, true].map(|is_difference| {
        let step = std::array::from_fn(|axis| {
            let [first, second] = [across, down].map(|step| step.get(axis).copied().unwrap_or(one));
            let second = if is_difference { b.unary(Unary::FNeg, second) } else { second };
            plus(b, first, second)
        });
        length(b, &step, DIAGONALS)
    });
    let size = larger(b, sides, larger(b, diagonals[0], diagonals[1]));
    is_apart.map_or(size, |is_apart| b.select(is_apart, sides, size))
}

/// The level for a size, in 256ths.
pub(super) fn level(l: &Lowering<'_, '_>, size: Value, span: Span) -> Result<Value> {
    let Some(table) = l.layout.logarithm_table() else {
        return Err(Diagnostic::internal("a gradient without the table of logarithms", span));
    };
    let b = &l.b;
    let bits = b.bits(size);
    let exponent = b.sub_const(b.shr(bits, 23), 127);
    let place = b.and_const(b.shr(bits, 15), 255);
    let base = b.add_const(b.push_constant(Type::I64, push_constant::VARIABLES_ADDRESS), table);
    let address = b.add(base, b.zero_extend(place));
    let access = Access { space: Space::Global, bytes: 1, order: MemoryOrder::Weak, read_only: true };
    let fraction = b.load_one(access, address);
    Ok(b.add(b.shl(exponent, 8), fraction))
}
