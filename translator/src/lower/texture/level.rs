//! The levels of a mipmap that a fetch reads: two neighbours with a filter between levels, else the nearest.

use super::record::{Levels, Record};
use super::{clamp_float, footprint};
use crate::ir::{Compare, Type, Unary, Value};
use crate::lower::lowering::Lowering;
use ptx2spv_interface::texture::field;

/// A level below every other, in 256ths, for a fetch without a level.
const BELOW: u32 = (-32i32 * 256) as u32;

/// Levels and their weights.
pub(super) struct Chosen {
    /// The only level, or the lower of two.
    pub(super) lower: Value,
    /// Weight of the next level, in 256ths.
    pub(super) upper_weight: Value,
    /// Whether the sampler filters between levels, whatever the weight.
    pub(super) filtered: Value,
}

/// The level for an instruction that names none.
pub(super) fn none(l: &mut Lowering<'_, '_>) -> Value {
    l.b.i32(BELOW)
}

/// A level in 256ths from a float's bits, truncated.
pub(super) fn of_float(l: &mut Lowering<'_, '_>, bits: Value) -> Value {
    fixed(l, bits, [-128.0, 127.0])
}

/// A float in 256ths, clamped to bounds and truncated.
fn fixed(l: &mut Lowering<'_, '_>, bits: Value, [least, most]: [f32; 2]) -> Value {
    let b = &l.b;
    let [least, most, scale] = [least, most, 256.0].map(|number| b.f32(number));
    let value = clamp_float(b, footprint::coordinate(b, b.bitcast(bits, Type::F32)), [least, most]);
    b.unary(Unary::FloatToSigned(Type::I32), b.fmul(value, scale))
}

/// The levels for `level`, in 256ths, after the sampler's bias and clamping.
pub(super) fn chosen(l: &mut Lowering<'_, '_>, sampler: Record, levels: &Levels, level: Value) -> Chosen {
    let [mip_filter, bias, least, most] = sampler.words(l, field::MIP_FILTER);
    let bias = fixed(l, bias, [-15.0, 15.0]);
    let [least, most] = [least, most].map(|clamp| fixed(l, clamp, [0.0, 100.0]));
    let count = levels.at_least_one(l);
    let b = &l.b;
    let level = b.add(level, bias);
    let level = b.maximum(Compare::LessSigned, b.minimum(Compare::LessSigned, most, level), least);
    let level = b.minimum(Compare::LessSigned, b.shl(b.sub_const(count, 1), 8), level);
    let filtered = b.and(b.is_nonzero(mip_filter), b.is_nonzero(levels.count));
    let level = b.select(filtered, level, b.add_const(level, 128));
    let lower = b.shr(level, 8);
    let upper_weight = b.select(filtered, b.and_const(level, 255), b.i32(0));
    Chosen { lower, upper_weight, filtered }
}
