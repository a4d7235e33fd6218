//! Sums and products with their rounding errors, by float arithmetic rounded to nearest.

use crate::ir::{Arithmetic, Builder, Rounding, Type, Value};

/// The sum of two floats and its error: their sum is exact (Knuth's TwoSum). The error is NaN if the sum isn't finite.
pub fn two_sum(b: &Builder<'_>, x: Value, y: Value) -> (Value, Value) {
    let sum = b.fadd(x, y);
    let y_part = b.fsub(sum, x);
    let x_part = b.fsub(sum, y_part);
    let x_error = b.fsub(x, x_part);
    let y_error = b.fsub(y, y_part);
    (sum, b.fadd(x_error, y_error))
}

/// The product of two `F32` and its error: their sum is exact if nothing underflows or overflows (after Dekker).
///
/// Each factor is cut into its upper 12 bits and the rest, of at most 12, so the four products are exact. So is the rest of the rounded
/// product after each subtraction. In units of both factors' last places the first rest is below 2^38 and a multiple of 2^23; the second at
/// most `low * y` and half a last place of the product, `(2^12 - 1) 2^24 + 2^23`, and a multiple of 2^12; the third is below 2^25 and such
/// a multiple; the last one is the error.
pub fn two_product(b: &Builder<'_>, x: Value, y: Value) -> (Value, Value) {
    let product = b.fmul(x, y);
    let [(x_high, x_low), (y_high, y_low)] = [x, y].map(|factor| {
        let high = b.bitcast(b.and_const(b.bits(factor), 0xffff_f000), Type::F32);
        (high, b.fsub(factor, high))
    });
    let rest = b.fsub(b.fmul(x_high, y_high), product);
    let parts = [(x_high, y_low), (x_low, y_high), (x_low, y_low)];
    let error = parts.into_iter().fold(rest, |rest, (x, y)| b.fadd(rest, b.fmul(x, y)));
    (product, error)
}

/// The sum of two floats rounded to odd, by additions to nearest (see [`Rounding::Odd`](crate::ir::Rounding::Odd)).
///
/// Only the sum itself may overflow, to infinity. The sum's error, and the product of the error with the sum, must not be subnormal. A sum
/// that cancels is plus zero.
pub fn odd_sum(b: &Builder<'_>, x: Value, y: Value) -> Value {
    let (sum, error) = two_sum(b, x, y);
    // Positive if the exact sum is farther from zero.
    let outward = b.fmul(error, sum);
    let zero = b.constant_like(outward, 0);
    let is_farther = b.flt(zero, outward);
    let is_nearer = b.flt(outward, zero);
    // Rounded towards zero, then the lowest bit set if inexact.
    let bits = b.bits(sum);
    let farther = b.or_const(bits, 1);
    let nearer = b.or_const(b.sub_const(bits, 1), 1);
    let odd = b.select(is_farther, farther, b.select(is_nearer, nearer, bits));
    b.bitcast(odd, b.type_of(sum))
}

/// Arithmetic on f16s that `F32` holds; rounding its result to f16 gives the same as rounding the exact result.
pub fn half(b: &Builder<'_>, arithmetic: Arithmetic) -> Value {
    match arithmetic {
        Arithmetic::Add(x, y) => b.fadd(x, y),
        Arithmetic::Sub(x, y) => b.fsub(x, y),
        Arithmetic::Mul(x, y) => b.fmul(x, y),
        Arithmetic::Fma(x, y, z) => {
            // Exact: a multiple of 2^-48 below 2^32, of 22 bits. So is the error of the sum but for its bits.
            odd_sum(b, b.fmul(x, y), z)
        }
        _ => b.rounded(Rounding::Odd, arithmetic),
    }
}
