//! Tests the operands of several quotients and square roots on `F32` at once for numbers so large or so small that what
//! [`division`](super::division) and [`sqrt`](super::sqrt) do with others is wrong, where branches are cheap.

use super::groups::{Again, Rare, group, reaches};
use super::{division, sqrt};
use crate::index::IndexVec;
use crate::ir::{
    Binary, Builder, Constants, Function, Op, Rounding, Type, Unary, Value, for_each_op_operand, map_op_operands,
};
use crate::policy::Floats;
use rustc_hash::FxHashSet;

/// Groups the quotients and roots of a function that the device doesn't round correctly.
pub fn group_extremes(function: &mut Function, floats: &Floats) {
    if division::is_refined(floats) || sqrt::is_refined(floats) {
        let (constants, definitions) = (function.constants(), function.definitions());
        let [of_quotients, of_roots] = [(); 2].map(|()| Vec::new());
        group(function, &mut Extremes { floats, constants, definitions, of_quotients, of_roots });
    }
}

struct Extremes<'f> {
    floats: &'f Floats,
    constants: Constants,
    definitions: IndexVec<Value, Option<Op>>,
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
        let of_quotients = std::mem::take(&mut self.of_quotients);
        // The range is as large below one as above, so that a number is ordinary if its square is.
        let is_square =
            |square: &Value, root: Value| self.definitions.of(*square) == Some(Op::Binary(Binary::FMul, root, root));
        let has_square = |root: Value| of_quotients.iter().any(|square| is_square(square, root));
        let of_quotients = of_quotients.iter().filter(|operand| !has_square(**operand));
        let of_quotients =
            of_quotients.filter_map(|operand| division::above_least(b, *operand, self.constants.of(*operand)));
        let of_quotients = reaches(b, division::RANGE, of_quotients);
        let of_roots = self.of_roots.drain(..).map(|operand| sqrt::above_least(b, operand));
        let of_roots = reaches(b, sqrt::RANGE.into(), of_roots);
        b.or(of_quotients, of_roots)
    }

    /// An infinity or a NaN makes one of each sum and product. So what a tested operand is made of is finite, as is a tested result.
    fn numbers(&self, operations: &[(Value, Op, bool)]) -> FxHashSet<Value> {
        use Binary::{FAdd, FMul, FSub};
        let mut finite = FxHashSet::default();
        for &(result, op, is_tested) in operations.iter().rev() {
            let is_made_of = matches!(op, Op::Binary(FAdd | FSub | FMul, ..) | Op::Fma(..) | Op::Unary(Unary::FNeg, _));
            if is_tested || is_made_of && finite.contains(&result) {
                for_each_op_operand(op, |operand| _ = finite.insert(operand));
            }
            if is_tested {
                finite.insert(result);
            }
        }
        let magnitude = |value: Value| {
            let bits = self.constants.of(value)?;
            Some(f32::from_bits(u32::try_from(bits).ok()?).abs())
        };
        let is_finite = |value: Value| finite.contains(&value) || magnitude(value).is_some_and(f32::is_finite);
        let mut numbers = finite.clone();
        for &(result, op, _) in operations {
            let is_number = |value: Value| numbers.contains(&value) || is_finite(value);
            // They may be infinite.
            let is_factor = |value: Value| magnitude(value).is_some_and(|factor| factor > 0.0 && factor.is_finite());
            let gives_number = match op {
                Op::Binary(FAdd | FSub, x, y) => is_finite(x) && is_number(y) || is_number(x) && is_finite(y),
                Op::Binary(FMul, x, y) => {
                    is_finite(x) && is_finite(y) || is_number(x) && is_factor(y) || is_factor(x) && is_number(y)
                }
                Op::Fma(x, y, z) => is_finite(x) && is_finite(y) && is_finite(z),
                Op::Unary(Unary::FNeg, x) => is_number(x),
                _ => false,
            };
            if gives_number {
                numbers.insert(result);
            }
        }
        numbers
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
