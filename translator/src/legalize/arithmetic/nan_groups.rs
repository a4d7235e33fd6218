//! Tests several results on f64 for NaN at once, where branches are cheap.
//!
//! The NaN that a result must be ([`Binary::OrNan`]) depends on which operand is NaN. Each of these comparisons takes as long as the operation
//! itself on most devices, and NaNs are rare. So results that stand in one list are first what the device gives. The greatest of their upper
//! words tells whether one of them is infinite or NaN. Only then they are computed again, with `OrNan`.

use super::exposed::Exposed;
use super::groups::{Again, Rare, group, reaches};
use crate::ir::{Binary, Builder, Function, Op, Stmt, Type, Unary, Value, any_stmt};
use crate::soft::DOUBLE;

/// Groups the results of a function whose NaNs matter, and returns whether there are any.
pub fn group_nans(function: &mut Function) -> bool {
    let is_result = |stmt: &Stmt| matches!(*stmt, Stmt::Let(result, op) if is_result(function, result, op));
    let has_results = any_stmt(&function.body, &is_result);
    if has_results {
        let exposed = Exposed::of(function);
        group(function, &mut Nans { exposed, tests: Vec::new() });
    }
    has_results
}

/// Whether an operation gives a result on `F64` with the NaN that PTX wants.
fn is_result(function: &Function, result: Value, op: Op) -> bool {
    matches!(op, Op::Binary(Binary::OrNan, ..)) && function.values.at(result) == Some(&Type::F64)
}

struct Nans {
    exposed: Exposed,
    /// The results to test.
    tests: Vec<Value>,
}

impl Rare for Nans {
    fn has(&self, function: &Function, result: Value, op: Op) -> bool {
        is_result(function, result, op) && self.exposed.value(result)
    }

    fn usual(&mut self, b: &Builder<'_>, op: Op) -> Value {
        match op {
            Op::Binary(Binary::OrNan, value, _) => {
                if !self.tests.contains(&value) {
                    self.tests.push(value);
                }
                value
            }
            op => b.op(Type::F64, op),
        }
    }

    fn is_rare(&mut self, b: &Builder<'_>) -> Value {
        let magnitudes = self.tests.drain(..).map(|value| b.shl(b.unary(Unary::HighWord, value), 1));
        reaches(b, DOUBLE.infinity() >> 31, magnitudes)
    }

    fn always(&self, b: &Builder<'_>, op: Op, again: &mut Again<'_>) -> Value {
        match op {
            Op::Binary(Binary::OrNan, value, nan) => {
                let value = again.of(value);
                b.or_nan(value, again.repeat(b, nan))
            }
            op => b.op(Type::F64, op),
        }
    }
}
