//! Arithmetic on doubles *rounded to odd*: an inexact result becomes the neighbor whose last bit is 1.
//!
//! A result rounded to odd at 53 bits can be rounded again to any format of at most 51 bits, in any direction, and then
//! equals the infinitely precise result rounded once (Boldo and Melquiond 2008, "Emulation of a FMA and correctly
//! rounded sums: proved algorithms using rounding to odd"). The odd last bit keeps it away from ties and representable
//! values of the narrower format. Operands are values of half or single precision, whose sums and products neither
//! overflow nor underflow as doubles.
//!
//! Only sums need it. Products are exact. Quotients and roots of values of at most 24 bits either have at most 25 bits,
//! or differ from all such values by a relative 2^-51 or more, which exceeds the error of a double: they can be rounded
//! twice.

/// Rounds to odd, given the exact value rounded to nearest, and the error of that.
#[inline]
fn odd(nearest: f64, error: f64) -> f64 {
    let bits = nearest.to_bits();
    // If infinities make the error a NaN, the result is exact.
    if error == 0.0 || error.is_nan() || bits & 1 == 1 {
        nearest
    } else if (error > 0.0) == (nearest > 0.0) {
        f64::from_bits(bits + 1)
    } else {
        f64::from_bits(bits - 1)
    }
}

/// `a + b`.
#[inline]
pub fn add(a: f64, b: f64) -> f64 {
    // Knuth's two-sum: the error of a rounded sum is itself a double.
    let sum = a + b;
    let from_b = sum - a;
    let from_a = sum - from_b;
    odd(sum, (a - from_a) + (b - from_b))
}

/// `a * b + c`. The product of two singles is exact.
#[inline]
pub fn fma(a: f64, b: f64, c: f64) -> f64 {
    add(a * b, c)
}
