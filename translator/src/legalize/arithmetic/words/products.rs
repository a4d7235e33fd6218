//! Products of two words by two words.

use super::arithmetic::{add, bitwise, sub};
use super::halves::Words;
use super::shifts::by_constant;
use crate::ir::{Binary, Builder, Type, Value};

/// The whole 64-bit product of two words.
fn wide(b: &Builder<'_>, x: Value, y: Value) -> Words {
    Words::new(b.mul(x, y), b.mul_high_unsigned(x, y))
}

/// The lower half.
pub(crate) fn low(b: &Builder<'_>, x: Words, y: Words) -> Words {
    for (factor, other) in [(x, y), (y, x)] {
        if let Some(bits) = factor.known(b).filter(|bits| bits.is_power_of_two()) {
            return by_constant(b, Binary::Shl, other, bits.trailing_zeros());
        }
    }
    if x.signed && y.signed {
        return Words::new(b.mul(x.low, y.low), b.mul_high_signed(x.low, y.low));
    }
    let product = wide(b, x.low, y.low);
    let (cross, other) = (b.mul(x.low, y.high), b.mul(x.high, y.low));
    Words::new(product.low, b.add(product.high, b.add(cross, other)))
}

/// The upper half of the unsigned product: schoolbook multiplication.
pub(crate) fn high_unsigned(b: &Builder<'_>, x: Words, y: Words) -> Words {
    let lowest = b.mul_high_unsigned(x.low, y.low);
    let (cross, other) = (wide(b, x.low, y.high), wide(b, x.high, y.low));
    let mut product = wide(b, x.high, y.high);
    let mut second = lowest;
    for cross in [cross, other] {
        let sum = b.add(second, cross.low);
        let carries = b.ult(sum, cross.low);
        let carry = b.bool_to(Type::I32, carries);
        second = sum;
        for part in [cross.high, carry] {
            product = add(b, product, Words::zero_extended(b, part));
        }
    }
    product
}

/// The upper half of the signed product. In the unsigned product, a negative factor counts 2^64 too much.
pub(crate) fn high_signed(b: &Builder<'_>, x: Words, y: Words) -> Words {
    let mut product = high_unsigned(b, x, y);
    for (factor, other) in [(x, y), (y, x)] {
        let sign = b.sar(factor.high, 31);
        let excess = bitwise(b, Binary::And, other, Words::new(sign, sign));
        product = sub(b, product, excess);
    }
    product
}
