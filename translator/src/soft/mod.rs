//! Float formats, and arithmetic on the bits of floats by integer operations.
//!
//! This code relies on no fact about a device, so lowering and legalization share it. It has rounding, unpacking and packing of floats,
//! conversions between formats, sums with their rounding errors, and sums of products of matrices that may be rounded anyhow.

mod bits;
mod conversions;
mod formats;
mod integers;
mod parts;
mod plain_products;
mod product;
mod rounding;
mod sum;

pub use bits::{compared_with_itself, extremum, flush, flush_tiny, is_nan, magnitude, negated, quiet, relu, saturate};
pub use conversions::{narrow, narrow_bits, narrow_stochastic, widen, widen_bits};
pub use formats::{BFLOAT, DOUBLE, E2M1, E2M3, E3M2, E4M3, E5M2, Format, HALF, SINGLE, TENSOR};
pub use integers::from_integer;
pub use parts::{Parts, leading, leading_zeros, round, round_normal, stick, unless_nan, width};
pub use plain_products::{add_plain_products, add_products, formats, numbers, plain_addend, plain_sum};
pub use product::{product, product_sign, with_extremes};
pub use rounding::{Overflow, increment, overflowed, overflows_to_infinity, round_truncated};
pub use sum::{half, odd_sum, two_product, two_sum};
