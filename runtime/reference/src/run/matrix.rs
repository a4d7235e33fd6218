//! Products of cooperative matrices, as NVIDIA's matrix units of sm_90 compute them, with the elements where those have them.
//!
//! A sum of products of f16 is computed at once: each number is cut off below 2^-25 of the power of two that the largest has, the sum is exact,
//! and is cut off to f32, or rounded to f16.

use rustc_apfloat::ieee::{Double, Half};
use rustc_apfloat::{Float as _, FloatConvert as _, Round, StatusAnd};

use crate::code::{MatrixKind, MatrixProduct};

/// Invocations of a subgroup that has such matrices.
pub(super) const SIZE: u32 = 32;
/// Rows of the first factor and columns of the second.
const ROWS: usize = 16;
const COLUMNS: usize = 8;
/// Bits below the largest power of two that count.
const FRACTION: i32 = 25;

/// Computes the elements that each invocation has of the result, from those that it has of the first factor, the second one, and what is added.
/// Invocation `lane ^ moved` has the elements that NVIDIA's `lane` has.
pub(super) fn product(
    product: MatrixProduct,
    moved: u32,
    element: impl Fn(u32, [u32; 3]) -> [u64; 3],
) -> Vec<[u64; 4]> {
    let in_word = product.kind.elements_of_word();
    let depth = 8 * in_word;
    let mut rows = vec![vec![0; depth as usize]; ROWS];
    let mut columns = vec![vec![0; depth as usize]; COLUMNS];
    for lane in 0..SIZE {
        let own = lane % 4 * in_word;
        let line = (lane / 4) as usize;
        for number in 0..4 * in_word {
            // Two words of a row, then two of the one eight further.
            let place = number % in_word + own + number / in_word % 2 * 4 * in_word;
            let [a, b, _] = element(lane ^ moved, [number, number % (2 * in_word), 0]);
            rows[line + 8 * (number / (2 * in_word)) as usize][place as usize] = a;
            columns[line][place as usize] = b;
        }
    }
    let result = |lane: u32| {
        let place = lane ^ moved;
        std::array::from_fn(|number| {
            let row = (place / 4) as usize + 8 * (number / 2);
            let column = (place % 4 * 2) as usize + number % 2;
            let [.., addend] = element(lane, [0, 0, number as u32]);
            sum(product.kind, &rows[row], &columns[column], addend)
        })
    };
    (0..SIZE).map(result).collect()
}

fn sum(kind: MatrixKind, row: &[u64], column: &[u64], addend: u64) -> u64 {
    let pairs = row.iter().copied().zip(column.iter().copied());
    match kind {
        MatrixKind::Bytes { are_signed } => {
            let [a, b] = are_signed.map(|is_signed| {
                move |bits: u64| if is_signed { i64::from(bits as u8 as i8) } else { i64::from(bits as u8) }
            });
            let products: i64 = pairs.map(|(x, y)| a(x) * b(y)).sum();
            u64::from((products as u32).wrapping_add(addend as u32))
        }
        MatrixKind::Halves { sums_are_halves } => {
            let mut numbers: Vec<Number> = pairs.map(|(x, y)| half(x).times(half(y))).collect();
            numbers.push(if sums_are_halves { half(addend) } else { single(addend) });
            let result = total(&numbers);
            match (result, sums_are_halves) {
                (Number::Nan, true) => 0x7fff,
                (Number::Nan, false) => 0x7fff_ffff,
                (Number::Infinite { negative }, true) => 0x7c00 | u64::from(negative) << 15,
                (Number::Infinite { negative }, false) => 0x7f80_0000 | u64::from(negative) << 31,
                (Number::Finite { significand: 0, .. }, _) => 0,
                (Number::Finite { significand, exponent }, true) => rounded(value(significand, exponent)),
                (Number::Finite { significand, exponent }, false) => cut_off(value(significand, exponent)),
            }
        }
    }
}

/// A float: a significand in units of 2^-23, and a power of two.
#[derive(Clone, Copy)]
enum Number {
    Nan,
    Infinite { negative: bool },
    Finite { significand: i64, exponent: i32 },
}

/// Bits of a significand that are a fraction.
const UNIT: i32 = 23;

impl Number {
    fn times(self, other: Self) -> Self {
        let is_zero = |number| matches!(number, Self::Finite { significand: 0, .. });
        let is_negative = |number| match number {
            Self::Nan => false,
            Self::Infinite { negative } => negative,
            Self::Finite { significand, .. } => significand < 0,
        };
        match (self, other) {
            (Self::Nan, _) | (_, Self::Nan) => Self::Nan,
            (Self::Infinite { .. }, zero) | (zero, Self::Infinite { .. }) if is_zero(zero) => Self::Nan,
            (Self::Infinite { .. }, _) | (_, Self::Infinite { .. }) => {
                Self::Infinite { negative: is_negative(self) != is_negative(other) }
            }
            (Self::Finite { significand: a, exponent: x }, Self::Finite { significand: b, exponent: y }) => {
                // The product of two fractions of 10 bits has 20.
                Self::Finite { significand: ((a >> (UNIT - 10)) * (b >> (UNIT - 10))) << (UNIT - 20), exponent: x + y }
            }
        }
    }
}

/// A number of a format by its fraction's bits and its bias.
fn number(bits: u64, fraction: i32, bias: i32) -> Number {
    let top = 2 * bias + 1;
    let field = (bits >> fraction) as i32 & top;
    let below = (bits & ((1 << fraction) - 1)) as i64;
    let negative = bits >> fraction & (top as u64 + 1) != 0;
    if field == top {
        return if below == 0 { Number::Infinite { negative } } else { Number::Nan };
    }
    let whole = (i64::from(field != 0) << fraction | below) << (UNIT - fraction);
    Number::Finite { significand: if negative { -whole } else { whole }, exponent: field.max(1) - bias }
}

fn half(bits: u64) -> Number {
    number(bits, 10, 15)
}

fn single(bits: u64) -> Number {
    number(bits, 23, 127)
}

/// The sum, whose significand is in units of 2^-25.
fn total(numbers: &[Number]) -> Number {
    let mut infinite = [false; 2];
    let mut largest = i32::MIN;
    for number in numbers {
        match *number {
            Number::Nan => return Number::Nan,
            Number::Infinite { negative } => infinite[usize::from(negative)] = true,
            // Zeros have no power of two.
            Number::Finite { significand, exponent } if significand != 0 => largest = largest.max(exponent),
            Number::Finite { .. } => {}
        }
    }
    match infinite {
        [true, true] => return Number::Nan,
        [false, false] => {}
        [_, negative] => return Number::Infinite { negative },
    }
    let aligned = |number: &Number| match *number {
        Number::Finite { significand, exponent } if significand != 0 => {
            let distance = (largest - exponent).min(63);
            let kept = (significand.abs() << (FRACTION - UNIT)) >> distance;
            kept * significand.signum()
        }
        _ => 0,
    };
    Number::Finite { significand: numbers.iter().map(aligned).sum(), exponent: largest }
}

/// Exact: the significand has less than 53 bits.
fn value(significand: i64, exponent: i32) -> f64 {
    significand as f64 * f64::powi(2.0, exponent) * f64::powi(2.0, -FRACTION)
}

/// To f32, toward zero, but infinite beyond its range.
fn cut_off(value: f64) -> u64 {
    let nearest = value as f32;
    if value.abs() >= f64::powi(2.0, 128) || f64::from(nearest).abs() <= value.abs() {
        return nearest.to_bits().into();
    }
    u64::from(nearest.to_bits() - 1)
}

/// To f16, to nearest even; a zero has no sign.
fn rounded(value: f64) -> u64 {
    let double = Double::from_bits(value.to_bits().into());
    let StatusAnd { value: half, .. }: StatusAnd<Half> = double.convert_r(Round::NearestTiesToEven, &mut false);
    if half.is_zero() { 0 } else { half.to_bits() as u64 }
}
