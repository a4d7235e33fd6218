//! Tests of scalar operations against `rustc_apfloat` and wide integers, and of undefined bits against all assignments.

/// Tests of functions for all formats.
macro_rules! for_all_formats {
    ($($test:ident: $function:ident;)*) => {
        $(
            #[test]
            fn $test() {
                $function::<Half>();
                $function::<Single>();
                $function::<Double>();
            }
        )*
    };
}

mod exact;
mod functions;
mod integers;
mod open;
mod tolerance;
mod undefined;

use rustc_apfloat::ieee::{Double, Half, Single};
use rustc_apfloat::{Float, Round};

use super::*;
use crate::code::FloatControl;
use crate::config::{Plain, Seeded};

fn unary<C: Choice>(op: Unary, bits: u8, a: u64, floats: &FloatControls, choice: &mut C) -> u64 {
    op.apply(bits, [a], floats, choice)
}

fn binary<C: Choice>(op: Binary, bits: u8, a: u64, b: u64, floats: &FloatControls, choice: &mut C) -> u64 {
    op.apply(bits, [a, b], floats, choice)
}

fn ternary<C: Choice>(op: Ternary, bits: u8, operands: [u64; 3], floats: &FloatControls, choice: &mut C) -> u64 {
    op.apply(bits, operands, floats, choice)
}

/// No requirements.
const FREE: FloatControls =
    FloatControls([FloatControl { denormals_kept: false, nearest_even: false, signed_zero_inf_nan: false }; 3]);

/// All requirements.
const BOUND: FloatControls =
    FloatControls([FloatControl { denormals_kept: true, nearest_even: true, signed_zero_inf_nan: true }; 3]);

/// A format of `rustc_apfloat` that the interpreter has too.
trait Reference: Float {
    const WIDTH: u8;
    const FRACTION: u32;

    fn of(bits: u64) -> Self {
        Self::from_bits(bits.into())
    }

    fn bits(self) -> u64 {
        self.to_bits() as u64
    }
}

impl Reference for Half {
    const WIDTH: u8 = 16;
    const FRACTION: u32 = 10;
}

impl Reference for Single {
    const WIDTH: u8 = 32;
    const FRACTION: u32 = 23;
}

impl Reference for Double {
    const WIDTH: u8 = 64;
    const FRACTION: u32 = 52;
}

/// Edge cases of a format: zeros, denormals, powers of two and their neighbors, the greatest values, infinities, NaNs.
fn edges<R: Reference>() -> Vec<u64> {
    let one = 1_u64 << R::FRACTION;
    let infinity = R::INFINITY.bits();
    let bias = infinity / one / 2;
    let mut edges =
        vec![0, 1, 2, 3, one / 2, one - 1, one, one + 1, infinity - 2, infinity - 1, infinity, infinity + 1];
    edges.push(infinity + one / 2 + 5);
    let exponents =
        [bias - R::FRACTION as u64 - 1, bias - 2, bias - 1, bias, bias + 1, bias + R::FRACTION as u64, 2 * bias];
    for power in exponents.map(|exponent| exponent * one) {
        edges.extend([power - 1, power, power + 1, power + one / 2, power + one / 3]);
    }
    let sign = 1 << (R::WIDTH - 1);
    edges.iter().flat_map(|edge| [*edge, edge | sign]).collect()
}

/// Edge cases and random values in random order, endlessly. Half of the random ones have exponents close to each other,
/// so that sums cancel and products don't overflow.
fn samples<R: Reference>(seed: u64) -> impl FnMut() -> u64 {
    let edges = edges::<R>();
    let mut random = Seeded::new(seed);
    move || {
        let bits = random.bits() & mask(R::WIDTH);
        match random.pick(4) {
            0 => edges[random.pick(edges.len() as u32) as usize],
            1 => bits,
            _ => {
                let near = R::INFINITY.bits() / 2 + (u64::from(random.pick(8)) << R::FRACTION) - (4 << R::FRACTION);
                (bits & (1 << (R::WIDTH - 1) | ((1 << R::FRACTION) - 1))) + (near & !((1 << R::FRACTION) - 1))
            }
        }
    }
}

/// Whether the result is as expected. All NaNs are equal.
fn same<R: Reference>(expected: R, bits: u64) -> bool {
    if expected.is_nan() { R::of(bits).is_nan() } else { expected.bits() == bits }
}
