//! Float arithmetic that doesn't round to nearest even, which no device has: `F32`'s through `F64` where that exists, else
//! on integers. Exact in all cases; NaNs are NVIDIA's.

use super::convert::{narrow, widen};
use super::division::divide;
use super::fma::{fused_on_integers, multiply_add, sum_to_narrow};
use super::sqrt::root;
use crate::ir::{Arithmetic, Builder, Function, Op, Rounding, Stmt, Type, Value};
use crate::opt::{Rewritten, rewrite};
use crate::soft::{self, Format};
use crate::target::Target;

/// Replaces every `Rounded`.
pub fn expand_rounded(function: &mut Function, target: &Target) {
    rewrite(function, |b, stmt| match *stmt {
        Stmt::Let(_, Op::Rounded(rounding, arithmetic)) => Rewritten::By(expand(b, target, rounding, arithmetic)),
        _ => Rewritten::Kept,
    });
}

fn expand(b: &mut Builder<'_>, target: &Target, rounding: Rounding, arithmetic: Arithmetic) -> Value {
    let facts = &target.facts;
    let is_single = |b: &Builder<'_>, value| b.type_of(value) == Type::F32 && target.computes_doubles();
    match arithmetic {
        Arithmetic::Narrow(value) => narrow(b, facts, rounding, value),
        Arithmetic::Sub(x, y) => {
            let y = negated(b, y);
            expand(b, target, rounding, Arithmetic::Add(x, y))
        }
        Arithmetic::Add(x, y) if is_single(b, x) => {
            let [x, y] = [x, y].map(|addend| widen(b, facts, addend));
            let sum = sum_to_narrow(b, rounding, x, y);
            narrow(b, facts, rounding, sum)
        }
        Arithmetic::Mul(x, y) if is_single(b, x) => {
            let [x, y] = [x, y].map(|factor| widen(b, facts, factor));
            let product = b.fmul(x, y);
            narrow(b, facts, rounding, product)
        }
        Arithmetic::Add(x, y) => sum_on_integers(b, rounding, x, y),
        Arithmetic::Mul(x, y) => soft::product(b, rounding, x, y),
        Arithmetic::Fma(x, y, z) => multiply_add(b, target, rounding, [x, y, z]),
        Arithmetic::Div(x, y) => divide(b, target, rounding, x, y),
        Arithmetic::Sqrt(x) => root(b, target, rounding, x),
    }
}

/// A float of the opposite sign.
pub fn negated(b: &mut Builder<'_>, float: Value) -> Value {
    let ty = b.type_of(float);
    let bits = b.bits(float);
    let bits = b.xor_const(bits, Format::of(ty).sign());
    b.bitcast(bits, ty)
}

/// A sum of any format by nothing but integers.
pub fn sum_on_integers(b: &mut Builder<'_>, rounding: Rounding, x: Value, y: Value) -> Value {
    let one = b.constant_like(x, Format::of(b.type_of(x)).one());
    fused_on_integers(b, rounding, [x, one, y])
}
