//! Signs, tests, minimum and maximum of floats of all formats (PTX sections 9.7.3 and 9.7.4), on their bits, so that a driver's treatment
//! of denormals or NaNs doesn't matter.

use crate::decode::program::{Instruction, Operand};
use crate::diagnostic::Result;
use crate::ir::{Binary, Type, Unary, Value};
use crate::isa::modifiers::FloatClass;
use crate::isa::types::ScalarType;
use crate::isa::word::Word;
use crate::lower::float::{each_lane, flush_if, format, or_nan};
use crate::lower::lowering::{Lowering, carrier};
use crate::soft::{self, Format, SINGLE};

pub fn abs(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    changed_sign(l, i, |l, format, bits| {
        let magnitude = soft::magnitude(&l.b, format, bits);
        if format == SINGLE { l.b.bitcast(magnitude, Type::F32) } else { magnitude }
    })
}

pub fn neg(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    changed_sign(l, i, |l, format, bits| {
        if format == SINGLE {
            return l.b.unary(Unary::FNeg, l.b.bitcast(bits, Type::F32));
        }
        l.b.xor_const(bits, format.sign())
    })
}

/// Changes only the sign, of an `F32` or of the bits of other formats; NaNs are made quiet instead.
fn changed_sign(
    l: &mut Lowering<'_, '_>,
    i: &Instruction,
    change: fn(&mut Lowering<'_, '_>, Format, Value) -> Value,
) -> Result {
    each_lane(l, i, |l, format, [a]| {
        let flushed = flush_if(l, i.modifiers.has(Word::Ftz), format, a);
        let changed = change(l, format, flushed);
        if l.b.type_of(changed) == Type::F32 {
            return l.b.bits(or_nan(l, changed, &[]));
        }
        l.b.select(soft::is_nan(&l.b, format, a), soft::quiet(&l.b, format, a), changed)
    })
}

/// `copysign`: the sign of `a` on the magnitude of `b`.
pub fn copysign(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    each_lane(l, i, |l, format, [a, b]| l.b.or(l.b.and_const(a, format.sign()), soft::magnitude(&l.b, format, b)))
}

pub fn testp(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let ty = i.ty(0)?;
    let format = format(ty)?;
    let bits = l.int(i, 1, ty)?;
    let magnitude = l.b.magnitude(bits);
    let infinity = l.b.constant(carrier(ty), format.infinity());
    let result = match i.required(i.modifiers.float_class())? {
        FloatClass::Finite => l.b.ult(magnitude, infinity),
        FloatClass::Infinite => l.b.eq(magnitude, infinity),
        FloatClass::Number => l.b.ule(magnitude, infinity),
        FloatClass::Notanumber => l.b.ult(infinity, magnitude),
        FloatClass::Normal => {
            let finite = l.b.ult(magnitude, infinity);
            l.b.and(finite, l.b.not(is_subnormal(l, format, magnitude)))
        }
        FloatClass::Subnormal => is_subnormal(l, format, magnitude),
    };
    l.set(i, 0, ScalarType::Pred, result)
}

/// Zero counts as a normal number (PTX section 9.7.3.1).
fn is_subnormal(l: &Lowering<'_, '_>, format: Format, magnitude: Value) -> Value {
    let small = l.b.ult(magnitude, l.b.constant_like(magnitude, format.hidden()));
    l.b.and(small, l.b.is_nonzero(magnitude))
}

/// A NaN loses against a number unless `.NaN` is given. `.xorsign.abs` compares magnitudes, and the result's sign is the exclusive or of
/// both signs.
pub(crate) fn extremum(l: &mut Lowering<'_, '_>, i: &Instruction, largest: bool) -> Result {
    let nan_wins = i.modifiers.has(Word::NaN);
    if *l.operand(i, 3) != Operand::Sink {
        return extremum_of_three(l, i, largest);
    }
    each_lane(l, i, |l, format, operands| {
        let flush = i.modifiers.has(Word::Ftz);
        let [a, b] = operands.map(|bits| flush_if(l, flush, format, bits));
        if !i.modifiers.has(Word::Xorsign) {
            return extreme(l, format, largest, nan_wins, a, b);
        }
        let signs = l.b.xor(a, b);
        let sign = l.b.and_const(signs, format.sign());
        let [a, b] = [a, b].map(|bits| soft::magnitude(&l.b, format, bits));
        let result = extreme(l, format, largest, nan_wins, a, b);
        l.b.select(soft::is_nan(&l.b, format, result), result, l.b.or(result, sign))
    })
}

/// Minimum or maximum of three operands; `.abs` takes their magnitudes.
fn extremum_of_three(l: &mut Lowering<'_, '_>, i: &Instruction, largest: bool) -> Result {
    let nan_wins = i.modifiers.has(Word::NaN);
    each_lane(l, i, |l, format, operands| {
        let [a, b, c] = operands.map(|bits| {
            let bits = flush_if(l, i.modifiers.has(Word::Ftz), format, bits);
            if i.modifiers.has(Word::Abs) { soft::magnitude(&l.b, format, bits) } else { bits }
        });
        let first = extreme(l, format, largest, nan_wins, a, b);
        extreme(l, format, largest, nan_wins, first, c)
    })
}

/// The larger of two floats by their bits, or the smaller one.
fn extreme(l: &Lowering<'_, '_>, format: Format, largest: bool, nan_wins: bool, a: Value, b: Value) -> Value {
    if format != SINGLE || nan_wins {
        return soft::extremum(&l.b, format, largest, nan_wins, a, b);
    }
    let [a, b] = [a, b].map(|bits| l.b.bitcast(bits, Type::F32));
    let result = l.b.binary(if largest { Binary::FMax } else { Binary::FMin }, a, b);
    l.b.bits(or_nan(l, result, &[]))
}
