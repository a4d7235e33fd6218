//! Sums rounded to odd by float arithmetic.

use crate::ir::{Builder, Value};

/// The sum of two floats rounded to odd, by additions to nearest (see [`Rounding::Odd`](crate::ir::Rounding::Odd)).
///
/// Nothing may overflow but to infinity in the sum itself, and the errors of the sum, and their products with it, must not
/// be subnormal. A sum that cancels is plus zero.
pub fn odd_sum(b: &mut Builder<'_>, x: Value, y: Value) -> Value {
    let sum = b.fadd(x, y);
    // Knuth's TwoSum: `sum + error` is `x + y`. The error is NaN if the sum isn't finite.
    let y_part = b.fsub(sum, x);
    let x_part = b.fsub(sum, y_part);
    let x_error = b.fsub(x, x_part);
    let y_error = b.fsub(y, y_part);
    let error = b.fadd(x_error, y_error);
    // Positive if the exact sum is farther from zero.
    let outward = b.fmul(error, sum);
    let zero = b.constant_like(outward, 0);
    let is_farther = b.flt(zero, outward);
    let is_nearer = b.flt(outward, zero);
    // Towards zero, then the lowest bit set if that isn't exact.
    let bits = b.bits(sum);
    let farther = b.or_const(bits, 1);
    let nearer = b.sub_const(bits, 1);
    let nearer = b.or_const(nearer, 1);
    let odd = b.select(is_nearer, nearer, bits);
    let odd = b.select(is_farther, farther, odd);
    let ty = b.type_of(sum);
    b.bitcast(odd, ty)
}
