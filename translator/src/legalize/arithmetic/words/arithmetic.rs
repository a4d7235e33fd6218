//! Sums, differences, bits and comparisons of two words.

use super::halves::Words;
use crate::ir::{Binary, Builder, Compare, Type, Value};

/// Sum modulo 2^64.
pub(crate) fn add(b: &Builder<'_>, x: Words, y: Words) -> Words {
    let low = b.add(x.low, y.low);
    // A sum that has wrapped is less than either addend. With a constant addend, the comparison uses the other addend,
    // so that it folds for zero.
    let part = if b.known(x.low).is_some() { y.low } else { x.low };
    let carries = b.ult(low, part);
    let carry = b.bool_to(Type::I32, carries);
    Words::new(low, b.add(b.add(x.high, y.high), carry))
}

/// Difference modulo 2^64.
pub(crate) fn sub(b: &Builder<'_>, x: Words, y: Words) -> Words {
    let low = b.sub(x.low, y.low);
    let borrows = b.ult(x.low, y.low);
    let borrow = b.bool_to(Type::I32, borrows);
    Words::new(low, b.sub(b.sub(x.high, y.high), borrow))
}

pub(crate) fn bitwise(b: &Builder<'_>, op: Binary, x: Words, y: Words) -> Words {
    let (low, high) = (b.binary(op, x.low, y.low), b.binary(op, x.high, y.high));
    Words { low, high, signed: x.signed && y.signed }
}

/// An integer comparison. Other comparisons stay as they are.
pub(crate) fn compare(b: &Builder<'_>, op: Compare, x: Words, y: Words) -> Value {
    let (above, below) = match op {
        Compare::NotEqual => {
            let (low, high) = (b.ne(x.low, y.low), b.ne(x.high, y.high));
            return b.or(low, high);
        }
        Compare::LessUnsigned => (Compare::LessUnsigned, Compare::LessUnsigned),
        Compare::LessEqualUnsigned => (Compare::LessUnsigned, Compare::LessEqualUnsigned),
        Compare::LessSigned => (Compare::LessSigned, Compare::LessUnsigned),
        Compare::LessEqualSigned => (Compare::LessSigned, Compare::LessEqualUnsigned),
        _ => {
            let (low, high) = (b.compare(op, x.low, y.low), b.compare(op, x.high, y.high));
            return b.and(low, high);
        }
    };
    // The upper halves decide unless they are equal.
    let less = b.compare(above, x.high, y.high);
    let equal = b.eq(x.high, y.high);
    b.or(less, b.and(equal, b.compare(below, x.low, y.low)))
}
