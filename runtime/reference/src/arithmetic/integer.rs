//! Integer arithmetic that needs more than one machine instruction. Division by zero and the like have an arbitrary
//! result, which [`super::domain`] marks as undefined.

use super::bits::{mask, signed};

#[inline]
pub fn negate(bits: u8, a: u64) -> u64 {
    a.wrapping_neg() & mask(bits)
}

/// Rounded toward zero.
#[inline]
pub fn divide(bits: u8, a: u64, b: u64) -> u64 {
    match signed(b, bits) {
        0 => 0,
        b => signed(a, bits).wrapping_div(b) as u64 & mask(bits),
    }
}

/// The remainder with the sign of `b`.
#[inline]
pub fn modulo(bits: u8, a: u64, b: u64) -> u64 {
    match signed(b, bits) {
        0 => 0,
        b => {
            let remainder = signed(a, bits).wrapping_rem(b);
            let modulo = if remainder != 0 && (remainder < 0) != (b < 0) { remainder + b } else { remainder };
            modulo as u64 & mask(bits)
        }
    }
}

#[inline]
pub fn min(bits: u8, a: u64, b: u64) -> u64 {
    if signed(b, bits) < signed(a, bits) { b } else { a }
}

#[inline]
pub fn max(bits: u8, a: u64, b: u64) -> u64 {
    if signed(a, bits) < signed(b, bits) { b } else { a }
}

/// Low and high half of the product.
#[inline]
pub fn multiply_unsigned(bits: u8, a: u64, b: u64) -> [u64; 2] {
    let product = u128::from(a) * u128::from(b);
    [product as u64 & mask(bits), (product >> bits) as u64 & mask(bits)]
}

/// Low and high half of the product.
#[inline]
pub fn multiply_signed(bits: u8, a: u64, b: u64) -> [u64; 2] {
    let product = i128::from(signed(a, bits)) * i128::from(signed(b, bits));
    [product as u64 & mask(bits), (product >> bits) as u64 & mask(bits)]
}
