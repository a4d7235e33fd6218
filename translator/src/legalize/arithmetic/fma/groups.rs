//! Tests several multiply-adds of `F32` at once for cases that rounding errors can't decide ([`Estimate`]), where
//! branches are cheap. The rare case computes them through `F64`, if the device has it, else on integers.

use rustc_hash::FxHashSet;

use super::multiply_add::{CLEAR, DIVISIBLE, Estimate, decided, multiply_add};
use crate::ir::{Binary, Builder, Constants, Function, Op, Rounding, Type, Value, map_op_operands};
use crate::legalize::arithmetic::groups::{Again, Rare, group, reaches};
use crate::policy::Floats;
use crate::soft::SINGLE;

/// Groups the multiply-adds of a function on a device that rounds products, or flushes.
pub fn group_fma(function: &mut Function, floats: &Floats) {
    if !floats.trusted.fma_f32_fused && !floats.dot_fma && floats.trusted.are_normals_exact() {
        let constants = function.constants();
        let [factors, sums] = [(); 2].map(|()| Vec::new());
        group(function, &mut Sums { floats, constants, factors, sums, agree: None });
    }
}

struct Sums<'f> {
    floats: &'f Floats,
    constants: Constants,
    /// The operands to test.
    factors: Vec<Value>,
    sums: Vec<Value>,
    /// A condition that holds where the errors decide about all results.
    agree: Option<Value>,
}

impl Rare for Sums<'_> {
    fn has(&self, function: &Function, result: Value, op: Op) -> bool {
        matches!(op, Op::Fma(..)) && function.values.at(result) == Some(&Type::F32)
    }

    fn usual(&mut self, b: &Builder<'_>, op: Op) -> Value {
        let Op::Fma(x, y, z) = op else { return b.op(Type::F32, op) };
        let Estimate { result, sum, agrees } = Estimate::of(b, [x, y, z]);
        for factor in [x, y] {
            let magnitude = self.constants.of(factor).map(|bits| bits & (SINGLE.sign() - 1));
            let is_divisible = magnitude.is_some_and(|bits| bits == 0 || bits >= DIVISIBLE.to_bits().into());
            if !is_divisible && !self.factors.contains(&factor) {
                self.factors.push(factor);
            }
        }
        self.sums.push(sum);
        self.agree = Some(self.agree.map_or(agrees, |all| b.and(all, agrees)));
        result
    }

    fn is_rare(&mut self, b: &Builder<'_>) -> Value {
        let agree = self.agree.take().unwrap_or_else(|| b.bool(true));
        let sums = self.sums.drain(..).map(|sum| b.sub_const(b.magnitude(sum), CLEAR.to_bits().into()));
        let are_clear = b.not(reaches(b, SINGLE.infinity() - u64::from(CLEAR.to_bits()), sums));
        // A zero is above all others.
        let factors = self.factors.drain(..).map(|factor| b.sub_const(b.magnitude(factor), 1));
        let least = factors.reduce(|least, factor| b.binary(Binary::MinUnsigned, least, factor));
        let is_small = least.map_or_else(|| b.bool(false), |least| b.ult(least, b.i32(DIVISIBLE.to_bits() - 1)));
        b.or(b.not(b.and(agree, are_clear)), is_small)
    }

    /// The results are near a sum that is finite.
    fn numbers(&self, operations: &[(Value, Op, bool)]) -> FxHashSet<Value> {
        operations.iter().filter(|(.., is_tested)| *is_tested).map(|(result, ..)| *result).collect()
    }

    fn always(&self, b: &Builder<'_>, op: Op, again: &mut Again<'_>) -> Value {
        match map_op_operands(op, |value| again.of(value)) {
            Op::Fma(x, y, z) if self.floats.doubles => multiply_add(b, self.floats, Rounding::NearestEven, [x, y, z]),
            Op::Fma(x, y, z) => decided(b, [x, y, z]),
            op => b.op(Type::F32, op),
        }
    }
}
