//! Arithmetic on f16 and bf16 and pairs of them (PTX section 9.7.4). Arithmetic on f16 is an operation of its own, except with `.ftz` and
//! `.oob`. Everything else is done in f32, where both formats are exact.

use crate::decode::program::Instruction;
use crate::diagnostic::Result;
use crate::ir::{Arithmetic, Halves, Rounding, Value};
use crate::isa::modifiers::Limit;
use crate::isa::types::ScalarType;
use crate::isa::word::Word;
use crate::lower::float::{each_lane_of, finished, floats, format, is_pair, operands};
use crate::lower::integer::packed::{join, part};
use crate::lower::lowering::Lowering;
use crate::soft::{self, Format, HALF};

/// An operation on one number or a pair.
pub(crate) fn arithmetic<const N: usize>(
    l: &mut Lowering<'_, '_>,
    i: &Instruction,
    operation: fn([Value; N]) -> Arithmetic,
) -> Result {
    let operands = operands(l, i)?;
    arithmetic_of(l, i, operands, operation)
}

/// A sum without a rounding modifier that is fused with a product: `fma` of three operands by their bits.
pub(crate) fn fused(l: &mut Lowering<'_, '_>, i: &Instruction, operands: [Value; 3]) -> Result {
    arithmetic_of(l, i, operands, |[a, b, c]| Arithmetic::Fma(a, b, c))
}

/// The bits of a number or of a pair with the other sign.
pub(crate) fn negative(l: &mut Lowering<'_, '_>, ty: ScalarType, bits: Value) -> Result<Value> {
    let sign = format(ty)?.sign();
    Ok(l.b.xor_const(bits, if is_pair(ty) { sign << 16 | sign } else { sign }))
}

/// As [`arithmetic`] with operands by their bits.
fn arithmetic_of<const N: usize>(
    l: &mut Lowering<'_, '_>,
    i: &Instruction,
    operands: [Value; N],
    operation: fn([Value; N]) -> Arithmetic,
) -> Result {
    if format(i.ty(0)?)? == HALF && !i.modifiers.has(Word::Ftz) && !i.modifiers.has(Word::Oob) {
        return whole(l, i, operands, operation);
    }
    each_lane_of(l, i, operands, |l, format, bits| {
        let operands = floats(l, i, format, bits);
        let mut result = in_single(l, format, operation(operands));
        if i.modifiers.has(Word::Ftz) {
            result = soft::flush_tiny(&l.b, format, Rounding::NearestEven, result);
        }
        let result = finished(l, i, format, result);
        if i.modifiers.has(Word::Oob) { zero_if_out_of_bounds(l, &bits, result) } else { result }
    })
}

/// An operation on one f16, or on a pair at once.
fn whole<const N: usize>(
    l: &mut Lowering<'_, '_>,
    i: &Instruction,
    operands: [Value; N],
    operation: fn([Value; N]) -> Arithmetic,
) -> Result {
    let ty = i.ty(0)?;
    let (halves, places) = if is_pair(ty) { (Halves::Both, &[0, 16][..]) } else { (Halves::Low, &[0][..]) };
    let mut result = l.b.half(halves, operation(operands));
    let clamp = match i.modifiers.limit() {
        Some(Limit::Sat) => Some(soft::saturate as fn(&_, _, _) -> _),
        Some(Limit::Relu) => Some(soft::relu as fn(&_, _, _) -> _),
        None => None,
    };
    if let Some(clamp) = clamp {
        let clamped = places.iter().map(|place| {
            let bits = part(l, result, *place, 16, false);
            clamp(&l.b, HALF, bits)
        });
        let clamped: Vec<Value> = clamped.collect();
        result = join(l, &clamped, 16);
    }
    l.set(i, 0, ty, result)
}

/// A result in f32 that rounds to the right result in the format.
fn in_single(l: &Lowering<'_, '_>, format: Format, arithmetic: Arithmetic) -> Value {
    match arithmetic {
        Arithmetic::Add(a, b) => l.b.fadd(a, b),
        Arithmetic::Sub(a, b) => l.b.fsub(a, b),
        Arithmetic::Mul(..)
        | Arithmetic::Div(..)
        | Arithmetic::Fma(..)
        | Arithmetic::Sqrt(_)
        | Arithmetic::Narrow(_) => {
            // May be subnormal in f32.
            if format == HALF { soft::half(&l.b, arithmetic) } else { l.b.rounded(Rounding::Odd, arithmetic) }
        }
    }
}

/// The bits of a result: +0.0 if a factor is the NaN that stands for an element out of bounds. Hardware recognises the same pattern in all
/// formats, with either sign, but not in the addend.
fn zero_if_out_of_bounds(l: &mut Lowering<'_, '_>, operands: &[Value], result: Value) -> Value {
    let zero = l.b.i32(0);
    operands.iter().take(2).fold(result, |result, factor| {
        let is_out = l.b.eq(l.b.and_const(*factor, 0x7fff), l.b.i32(0x7ff7));
        l.b.select(is_out, zero, result)
    })
}
