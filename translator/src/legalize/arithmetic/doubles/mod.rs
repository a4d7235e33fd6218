//! Emulates 64-bit floats where the device has none, or may flush their denormals. A value becomes its bits in an `I64`; an operation
//! becomes integer operations on 32-bit words.
//!
//! Everything is exact, whatever the facts say. A NaN result is the NaN of an invalid operation on NVIDIA's hardware. Where PTX gives
//! another NaN, an `OrNan` around the operation says so. Later passes create no 64-bit floats for such targets.
//!
//! Operations are written out where they stand, but for those that `outline` has moved into helpers.

mod compare;
mod convert;
mod integral;
mod parts;
mod product;
mod quotient;
mod root;
mod sum;
mod words;

use words::Pair;

use crate::ir::{
    Arithmetic, Atomic, AtomicOp, Binary, Builder, Compare, Function, Op, Rewritten, Rounding, Stmt, Type, Unary,
    Value, rewrite,
};
use crate::legalize::memory::narrow_memory::swap_loop;

/// Replaces all operations on `F64`.
pub fn expand_doubles(function: &mut Function) {
    rewrite(function, |b, stmt| match *stmt {
        Stmt::Let(result, op) => expand(b, b.type_of(result), op).map_or(Rewritten::Kept, Rewritten::By),
        Stmt::Atomic(atomic) if atomic.op == AtomicOp::FAdd && atomic.access.bytes == 8 => {
            expand_atomic(b, atomic);
            Rewritten::Replaced
        }
        _ => Rewritten::Kept,
    });
}

/// The bits of an operation's result, if the result or an operand is `F64`. Such operands are already replaced by
/// `I64`.
fn expand(b: &Builder<'_>, ty: Type, op: Op) -> Option<Value> {
    let is_double = ty == Type::F64;
    let takes_double = |b: &Builder<'_>, operand| b.type_of(operand) == Type::I64;
    let result = match op {
        Op::Const(bits) if is_double => return Some(b.i64(bits)),
        Op::Select(condition, x, y) if is_double => return Some(b.select(condition, x, y)),
        Op::Unary(Unary::Bitcast(_), x) if is_double || ty == b.type_of(x) => return Some(x),
        Op::Compare(op, x, y) if is_float(op) && takes_double(b, x) => return Some(compare::compare(b, op, x, y)),
        Op::Unary(Unary::Narrow, x) | Op::Rounded(_, Arithmetic::Narrow(x)) => {
            let rounding = if let Op::Rounded(rounding, _) = op { rounding } else { Rounding::NearestEven };
            let x = Pair::of(b, x);
            return Some(b.bitcast(convert::narrow(b, rounding, x), Type::F32));
        }
        Op::Unary(op @ (Unary::FloatToSigned(_) | Unary::FloatToUnsigned(_)), x) if takes_double(b, x) => {
            let x = Pair::of(b, x);
            let signed = matches!(op, Unary::FloatToSigned(_));
            if ty == Type::I32 {
                return Some(integral::to_word(b, signed, x));
            }
            integral::to_pair(b, signed, x)
        }
        Op::Unary(op, x) if is_double => unary(b, op, x)?,
        Op::Binary(op, x, y) if is_double => {
            let arithmetic = match op {
                Binary::FAdd => Arithmetic::Add(x, y),
                Binary::FSub => Arithmetic::Sub(x, y),
                Binary::FMul => Arithmetic::Mul(x, y),
                Binary::FDiv => Arithmetic::Div(x, y),
                _ => return None,
            };
            rounded(b, Rounding::NearestEven, arithmetic)
        }
        Op::Fma(x, y, z) if is_double => rounded(b, Rounding::NearestEven, Arithmetic::Fma(x, y, z)),
        Op::Rounded(rounding, arithmetic) if is_double => rounded(b, rounding, arithmetic),
        _ => return None,
    };
    Some(result.joined(b))
}

fn is_float(op: Compare) -> bool {
    matches!(op, Compare::FEqual | Compare::FNotEqual | Compare::FLess | Compare::FLessEqual)
}

fn unary(b: &Builder<'_>, op: Unary, x: Value) -> Option<Pair> {
    Some(match op {
        Unary::SignedToFloat(_) => convert::from_integer(b, true, x),
        Unary::UnsignedToFloat(_) => convert::from_integer(b, false, x),
        Unary::Widen => convert::widen(b, b.bits(x)),
        Unary::Trunc | Unary::RoundEven | Unary::Floor | Unary::Ceil => integral::round_integral(b, op, Pair::of(b, x)),
        Unary::Sqrt | Unary::SqrtApprox => rounded(b, Rounding::NearestEven, Arithmetic::Sqrt(x)),
        _ => return None,
    })
}

fn rounded(b: &Builder<'_>, rounding: Rounding, arithmetic: Arithmetic) -> Pair {
    let pair = |value| Pair::of(b, value);
    match arithmetic {
        Arithmetic::Add(x, y) => {
            let [x, y] = [x, y].map(pair);
            sum::add(b, rounding, x, y)
        }
        Arithmetic::Sub(x, y) => {
            let [x, y] = [x, y].map(pair);
            sum::subtract(b, rounding, x, y)
        }
        Arithmetic::Mul(x, y) => {
            let [x, y] = [x, y].map(pair);
            product::multiply(b, rounding, x, y)
        }
        Arithmetic::Div(x, y) => {
            let [x, y] = [x, y].map(pair);
            quotient::divide(b, rounding, x, y)
        }
        Arithmetic::Fma(x, y, z) => {
            let operands = [x, y, z].map(pair);
            product::multiply_add(b, rounding, operands)
        }
        Arithmetic::Sqrt(x) | Arithmetic::Narrow(x) => {
            let x = pair(x);
            root::root(b, rounding, x)
        }
    }
}

/// The bits of an `F64`'s square root, from its bits.
pub(crate) fn root_of_bits(b: &Builder<'_>, rounding: Rounding, x: Value) -> Value {
    root::root(b, rounding, Pair::of(b, x)).joined(b)
}

/// `atom.add.f64` as a loop around compare-and-swap.
fn expand_atomic(b: &Builder<'_>, atomic: Atomic) {
    let found = swap_loop(b, atomic.access, atomic.address, |b, old| {
        rounded(b, Rounding::NearestEven, Arithmetic::Add(old, atomic.operand)).joined(b)
    });
    if let Some(result) = atomic.result {
        b.push(Stmt::Let(result, Op::Get(found)));
    }
}
