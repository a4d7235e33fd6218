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
    let [x_nan, y_nan] = [x, y].map(|bits| {
        let bits = Pair::of(b, bits);
        is_nan(b, bits)
    });
    let either = b.or(x_nan, y_nan);
    let ordered = b.not(either);
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
