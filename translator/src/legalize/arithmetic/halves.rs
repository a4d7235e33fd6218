//! Arithmetic on f16 in `F32`, on devices whose own isn't known to be PTX's, and conversions by integers there; and the NaN of NVIDIA's
//! hardware, where the device's own operations give another.
//!
//! f16 is exact in f32, and a result that f32 rounds first comes out as if it were rounded once. For sums, the reason is that 24 >= 2 * 11
//! + 2 (Figueroa, "When is double rounding innocuous?", 1995). Products are exact in f32. `Fma` is rounded to odd there.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ir::{
    Arithmetic, Binary, Builder, Function, Halves, Op, Rewritten, Rounding, Stmt, Type, Unary, Value, for_each_operand,
    for_each_stmt, rewrite, rewrite_ops,
};
use crate::soft::{self, HALF, Overflow};
use ptx2spv_target::Facts;

/// Replaces `Half`.
pub fn expand_halves(function: &mut Function) {
    rewrite_ops(function, |b, _, op| match op {
        Op::Half(Halves::Low, arithmetic) => Some(one(b, arithmetic, |_, bits| bits)),
        Op::Half(Halves::Both, arithmetic) => {
            let low = one(b, arithmetic, |b, bits| b.and_const(bits, 0xffff));
            let high = one(b, arithmetic, |b, bits| b.shr(bits, 16));
            Some(b.or(low, b.shl(high, 16)))
        }
        _ => None,
    });
}

/// Replaces NaNs of the device by NVIDIA's, where anything but operations on f16 sees them.
pub fn expand_half_nans(function: &mut Function) {
    let seen = seen(function);
    rewrite(function, |b, stmt| match *stmt {
        Stmt::Let(result, op @ Op::Half(halves, _)) if seen.contains(&result) => {
            let ty = b.type_of(result);
            let own = b.op(ty, op);
            Rewritten::By(if halves == Halves::Both { with_nans(b, own) } else { with_nan(b, own) })
        }
        _ => Rewritten::Kept,
    });
}

/// An f16 with NVIDIA's NaN.
fn with_nan(b: &Builder<'_>, half: Value) -> Value {
    let magnitude = b.and_const(half, HALF.sign() - 1);
    let is_nan = b.ult(b.constant(Type::I32, HALF.infinity()), magnitude);
    b.select(is_nan, b.constant(Type::I32, HALF.nan), half)
}

/// Two f16 with NVIDIA's NaN, which has all bits but the sign.
fn with_nans(b: &Builder<'_>, pair: Value) -> Value {
    let both = |half: u64| half << 16 | half;
    let magnitudes = b.and_const(pair, both(HALF.sign() - 1));
    // The sign becomes one where there is a NaN, and no sum is beyond its half.
    let sums = b.add_const(magnitudes, both(HALF.sign() - 1 - HALF.infinity()));
    let signs = b.and_const(sums, both(HALF.sign()));
    let fractions = b.sub(signs, b.shr(signs, HALF.bits - 1));
    b.and(b.or(pair, fractions), b.unary(Unary::Not, signs))
}

/// Replaces conversions between f16 and `F32`: by integer operations, or by the device's own and NVIDIA's NaN, as the facts have it.
pub fn expand_half_conversions(function: &mut Function, facts: &Facts) {
    if facts.nan_conversions_f16_nvidia {
        return;
    }
    let seen = if facts.convert_f16_exact { seen(function) } else { FxHashSet::default() };
    rewrite(function, |b, stmt| match *stmt {
        Stmt::Let(_, Op::Unary(Unary::WidenHalf, bits)) if !facts.convert_f16_exact => {
            Rewritten::By(soft::widen_bits(b, HALF, bits))
        }
        Stmt::Let(_, Op::Unary(Unary::NarrowHalf, number)) if !facts.convert_f16_exact => {
            Rewritten::By(soft::narrow_bits(b, HALF, Rounding::NearestEven, Overflow::Rounded, number))
        }
        Stmt::Let(result, Op::Unary(Unary::NarrowHalf, number)) if seen.contains(&result) => {
            let own = b.unary(Unary::NarrowHalf, number);
            let is_number = b.feq(number, number);
            Rewritten::By(b.select(is_number, own, b.constant(Type::I32, HALF.nan)))
        }
        _ => Rewritten::Kept,
    });
}

/// Values that anything but operations on f16 sees. To those it makes no difference which NaN an operand is.
fn seen(function: &Function) -> FxHashSet<Value> {
    let (mut seen, mut constants, mut moves) = (FxHashSet::default(), FxHashMap::default(), Vec::new());
    for_each_stmt(&function.body, |stmt| match *stmt {
        Stmt::Let(_, Op::Half(..) | Op::Unary(Unary::WidenHalf, _)) => {}
        Stmt::Let(result, Op::Const(bits)) => {
            constants.insert(result, bits);
        }
        Stmt::Let(result, Op::Binary(op, a, b)) if moves_halves(op, constants.get(&b).copied()) => {
            moves.push((result, [a, b]));
        }
        _ => for_each_operand(stmt, |value| {
            seen.insert(value);
        }),
    });
    // Uses come after definitions, also where they are nested.
    for (result, operands) in moves.into_iter().rev() {
        if seen.contains(&result) {
            seen.extend(operands);
        }
    }
    seen
}

/// Whether an operation with this constant moves whole halves of a word to their places. A NaN stays one with more
/// bits.
fn moves_halves(op: Binary, constant: Option<u64>) -> bool {
    match op {
        Binary::And => matches!(constant, Some(0xffff | 0xffff_0000)),
        Binary::Shl | Binary::Shr => constant == Some(HALF.bits.into()),
        Binary::Or => true,
        _ => false,
    }
}

/// The bits of a result, from the half of each operand that `half` takes.
fn one(b: &Builder<'_>, arithmetic: Arithmetic, half: fn(&Builder<'_>, Value) -> Value) -> Value {
    let arithmetic = arithmetic.map(|bits| soft::widen(b, HALF, half(b, bits)));
    soft::narrow(b, HALF, Rounding::NearestEven, Overflow::Rounded, soft::half(b, arithmetic))
}
