//! Comparisons.

use super::parts::is_nan;
use super::words::Pair;
use crate::ir::{Builder, Compare, Value};
use crate::soft::DOUBLE;

/// A float comparison of two numbers, given by their bits in `I64`.
pub(crate) fn compare(b: &Builder<'_>, op: Compare, x: Value, y: Value) -> Value {
    if op == Compare::FNotEqual {
        let equal = compare(b, Compare::FEqual, x, y);
        return b.not(equal);
    }
    let [x_nan, y_nan] = [x, y].map(|bits| is_nan(b, Pair::of(b, bits)));
    let ordered = b.not(b.or(x_nan, y_nan));
    let [x, y] = [x, y].map(|bits| order_key(b, bits));
    let holds = match op {
        Compare::FLess => b.slt(x, y),
        Compare::FLessEqual => b.sle(x, y),
        _ => b.eq(x, y),
    };
    b.and(ordered, holds)
}

/// A signed integer with the same order as the number; both zeros give the same integer.
fn order_key(b: &Builder<'_>, bits: Value) -> Value {
    let sign = b.sar(bits, 63);
    let flipped = b.xor(b.and_const(bits, DOUBLE.sign() - 1), sign);
    b.sub(flipped, sign)
}
