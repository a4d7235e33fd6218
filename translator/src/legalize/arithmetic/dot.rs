//! Dot products of bytes on devices without the instruction.

use crate::ir::{Binary, Builder, Op, Type, Value};
use crate::policy::Policy;

/// `DotSigned`, `DotUnsigned` and `DotMixed`.
pub fn expand_dot(b: &Builder<'_>, _: &Policy, _: Type, op: Op) -> Option<Value> {
    let Op::Binary(op, x, y) = op else { return None };
    let signs = match op {
        Binary::DotSigned => [true, true],
        Binary::DotUnsigned => [false, false],
        Binary::DotMixed => [true, false],
        _ => return None,
    };
    let products: [Value; 4] = std::array::from_fn(|number| {
        let x = byte(b, x, number as u32, signs[0]);
        let y = byte(b, y, number as u32, signs[1]);
        b.mul(x, y)
    });
    let [first, rest @ ..] = products;
    Some(rest.into_iter().fold(first, |sum, product| b.add(sum, product)))
}

/// A byte of a word by its number, extended to 32 bits by its sign or by zeros.
fn byte(b: &Builder<'_>, word: Value, number: u32, signed: bool) -> Value {
    let high = b.shl(word, 24 - 8 * number);
    if signed { b.sar(high, 24) } else { b.shr(high, 24) }
}
