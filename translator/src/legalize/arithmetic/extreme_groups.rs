//! Tests the operands of several quotients and square roots on `F32` at once for numbers so large or so small that what
//! [`division`](super::division) and [`sqrt`](super::sqrt) do with others is wrong, where branches are cheap.

use super::groups::{Again, Rare, group, reaches};
use super::{division, sqrt};
use crate::ir::{Binary, Builder, Constants, Function, Op, Rounding, Type, Unary, Value, map_op_operands};
use crate::policy::Floats;

/// Groups the quotients and roots of a function that the device doesn't round correctly.
pub fn group_extremes(function: &mut Function, floats: &Floats) {
    if division::is_refined(floats) || sqrt::is_refined(floats) {
        let constants = function.constants();
        group(function, &mut Extremes { floats, constants, of_quotients: Vec::new(), of_roots: Vec::new() });
    }
}

struct Extremes<'f> {
    floats: &'f Floats,
    constants: Constants,
    /// The operands to test, of quotients and of roots.
    of_quotients: Vec<Value>,
    of_roots: Vec<Value>,
}

impl Rare for Extremes<'_> {
    fn has(&self, function: &Function, result: Value, op: Op) -> bool {
        let is_refined = match op {
            Op::Binary(Binary::FDiv, ..) => division::is_refined(self.floats),
            Op::Unary(Unary::Sqrt, _) => sqrt::is_refined(self.floats),
            _ => false,
        };
        is_refined && function.values.at(result) == Some(&Type::F32)
    }

    fn usual(&mut self, b: &Builder<'_>, op: Op) -> Value {
        match op {
            Op::Binary(_, x, y) => {
                for operand in [x, y] {
                    note(&mut self.of_quotients, operand);
                }
                division::quotient_f32(b, &self.floats.trusted, x, y)
            }
            Op::Unary(_, x) => {
                note(&mut self.of_roots, x);
                sqrt::corrected(b, self.floats, x)
            }
            op => b.op(Type::F32, op),
        }
    }

    fn is_rare(&mut self, b: &Builder<'_>) -> Value {
        let known = |operand| self.constants.at(operand).copied().flatten();
        let of_quotients = self.of_quotients.drain(..);
        let of_quotients = of_quotients.filter_map(|operand| division::above_least(b, operand, known(operand)));
        let of_quotients = reaches(b, division::RANGE, of_quotients);
        let of_roots = self.of_roots.drain(..).map(|operand| sqrt::above_least(b, operand));
        let of_roots = reaches(b, sqrt::RANGE.into(), of_roots);
        b.or(of_quotients, of_roots)
    }

    fn always(&self, b: &Builder<'_>, op: Op, again: &mut Again<'_>) -> Value {
        match map_op_operands(op, |value| again.of(value)) {
            Op::Binary(_, x, y) => division::divide(b, self.floats, Rounding::NearestEven, x, y),
            Op::Unary(_, x) => sqrt::refined(b, self.floats, x),
            op => b.op(Type::F32, op),
        }
    }
}

/// Adds an operand that isn't there.
fn note(operands: &mut Vec<Value>, operand: Value) {
    if !operands.contains(&operand) {
        operands.push(operand);
    }
}
