//! Arithmetic on f16 and bf16 and pairs of them (PTX section 9.7.4), by arithmetic on f32.
//!
//! Both formats are exact in f32, and a result that f32 rounds too comes out as if it was rounded once: sums, since 24 bits
//! are at least twice as many as either precision and two more (Figueroa, "When is double rounding innocuous?", 1995);
//! products of f16, since they are exact in f32; the others, since they are rounded to odd there.

use super::float::{each_lane, finished, floats};
use super::{Lowering, Result};
use crate::decode::program::Instruction;
use crate::ir::{Arithmetic, Rounding, Value};
use crate::soft::{self, Format, HALF, odd_sum};

/// `add`
pub fn add(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    arithmetic(l, i, |l, _, [a, b]| l.b.fadd(a, b))
}

/// `sub`
pub fn sub(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    arithmetic(l, i, |l, _, [a, b]| l.b.fsub(a, b))
}

/// `mul`
pub fn mul(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    arithmetic(l, i, |l, format, [a, b]| match format {
        HALF => l.b.fmul(a, b),
        // May be subnormal in f32.
        _ => l.b.rounded(Rounding::Odd, Arithmetic::Mul(a, b)),
    })
}

/// `fma`
pub fn fma(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    arithmetic(l, i, |l, format, [a, b, c]| match format {
        HALF => {
            // Exact: a multiple of 2^-48 below 2^32, of 22 bits. So is the error of the sum but for its bits.
            let product = l.b.fmul(a, b);
            odd_sum(&mut l.b, product, c)
        }
        _ => l.b.rounded(Rounding::Odd, Arithmetic::Fma(a, b, c)),
    })
}

fn arithmetic<const N: usize>(
    l: &mut Lowering<'_, '_>,
    i: &Instruction,
    operation: fn(&mut Lowering<'_, '_>, Format, [Value; N]) -> Value,
) -> Result {
    each_lane(l, i, |l, format, bits| {
        let result = rounded_arithmetic(l, i, format, bits, operation);
        if i.modifiers.has("oob") { zero_if_out_of_bounds(l, &bits, result) } else { result }
    })
}

/// The bits of a result: +0.0 if a factor is the NaN that stands for what is out of bounds. Hardware takes that pattern in all
/// formats, of either sign, and not in the addend.
fn zero_if_out_of_bounds(l: &mut Lowering<'_, '_>, operands: &[Value], result: Value) -> Value {
    let zero = l.b.i32(0);
    operands.iter().take(2).fold(result, |result, factor| {
        let magnitude = l.b.and_const(*factor, 0x7fff);
        let out_of_bounds = l.b.i32(0x7ff7);
        let is_out = l.b.eq(magnitude, out_of_bounds);
        l.b.select(is_out, zero, result)
    })
}

fn rounded_arithmetic<const N: usize>(
    l: &mut Lowering<'_, '_>,
    i: &Instruction,
    format: Format,
    bits: [Value; N],
    operation: fn(&mut Lowering<'_, '_>, Format, [Value; N]) -> Value,
) -> Value {
    let operands = floats(l, i, format, bits);
    let mut result = operation(l, format, operands);
    if i.modifiers.has("ftz") {
        result = soft::flush_tiny(&mut l.b, format, Rounding::NearestEven, result);
    }
    finished(l, i, format, result)
}
