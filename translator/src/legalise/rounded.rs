//! Float arithmetic that doesn't round to nearest even, which no device has: `F32`'s through `F64` where that exists, else
//! on integers. Exact in all cases; NaNs are NVIDIA's.

use super::convert::{narrow, widen};
use super::division::divide;
use super::fma::{multiply_add, sum_to_narrow};
use super::sqrt::root;
use crate::ir::{Arithmetic, Builder, Function, Op, Rounding, Stmt, Type, Value};
use crate::passes::{Rewritten, rewrite};
use crate::soft::Format;
use crate::target::{Feature, Target};

/// Replaces every `Rounded`.
pub fn expand_rounded(function: &mut Function, target: &Target) {
    rewrite(function, |b, stmt| match *stmt {
        Stmt::Let(_, Op::Rounded(rounding, arithmetic)) => Rewritten::By(expand(b, target, rounding, arithmetic)),
        _ => Rewritten::Kept,
    });
}

fn expand(b: &mut Builder<'_>, target: &Target, rounding: Rounding, arithmetic: Arithmetic) -> Value {
    let facts = &target.facts;
    let is_single = |b: &Builder<'_>, value| b.type_of(value) == Type::F32 && target.has(Feature::ShaderFloat64);
    match arithmetic {
        Arithmetic::Narrow(value) => narrow(b, facts, rounding, value),
        Arithmetic::Sub(x, y) => {
            let ty = b.type_of(y);
            let bits = b.bits(y);
            let bits = b.xor_const(bits, Format::of(ty).sign());
            let negated = b.bitcast(bits, ty);
            expand(b, target, rounding, Arithmetic::Add(x, negated))
        }
        Arithmetic::Add(x, y) if is_single(b, x) => {
            let [x, y] = [x, y].map(|addend| widen(b, facts, addend));
            let sum = sum_to_narrow(b, rounding, x, y);
            narrow(b, facts, rounding, sum)
        }
        Arithmetic::Add(x, y) => {
            let format = Format::of(b.type_of(x));
            let one = b.constant_like(x, format.hidden() * u64::from(format.bias));
            multiply_add(b, target, rounding, [x, one, y])
        }
        Arithmetic::Mul(x, y) if is_single(b, x) => {
            let [x, y] = [x, y].map(|factor| widen(b, facts, factor));
            let product = b.fmul(x, y);
            narrow(b, facts, rounding, product)
        }
        Arithmetic::Mul(x, y) => {
            // The zero that leaves a product that is zero its sign.
            let format = Format::of(b.type_of(x));
            let zero = b.constant_like(x, if rounding == Rounding::Down { 0 } else { format.sign() });
            multiply_add(b, target, rounding, [x, y, zero])
        }
        Arithmetic::Fma(x, y, z) => multiply_add(b, target, rounding, [x, y, z]),
        Arithmetic::Div(x, y) => divide(b, target, rounding, x, y),
        Arithmetic::Sqrt(x) => root(b, target, rounding, x),
    }
}
