//! Products of cooperative matrices, as NVIDIA's matrix units of sm_90 compute them, with the elements in the same lanes.
//!
//! A sum of products of f16 is computed at once: each number is cut off below 2^-25 of the power of two that the largest has, the sum is exact,
//! and is cut off to f32, or rounded to f16.

use crate::arithmetic;
use crate::code::{Conversion, FloatControls, MatrixKind, MatrixProduct};
use crate::config::Plain;

/// Size of the subgroups that have such matrices.
pub(super) const SIZE: u32 = 32;
/// Rows of the first factor.
const ROWS: usize = 16;
/// Bits below the largest power of two that count.
const FRACTION: i32 = 25;
/// The least power of two that numbers are aligned to, in sums that are f32 and f16.
const LEAST: [i32; 2] = [-133, -21];

/// Computes the elements that each invocation has of the result, from those that it has of the first factor, the second one, and what is added: `element`
/// gives one by the invocation, which of the three it is of, and its number there. Invocation `lane ^ moved` has the elements that NVIDIA's `lane` has.
pub(super) fn product(product: MatrixProduct, moved: u32, element: impl Fn(u32, usize, u32) -> u64) -> Vec<Vec<u64>> {
    let in_word = product.kind.elements_of_word();
    let depth = 8 * in_word;
    let mut rows = vec![vec![0; depth as usize]; ROWS];
    let blocks = product.kind.columns() / 8;
    let mut columns = vec![vec![0; depth as usize]; 8 * blocks as usize];
    for lane in 0..SIZE {
        let line = lane / 4;
        // The place in the sum of an element of a lane's word, by the word's number among two.
        let place = |number: u32, word: u32| (number % in_word + lane % 4 * in_word + word * 4 * in_word) as usize;
        // Two words of a row or a column, then two of the one eight further.
        for (part, lines) in [&mut rows, &mut columns].into_iter().enumerate() {
            for number in 0..lines.len() as u32 / 4 * in_word {
                let word = number / in_word;
                lines[(line + 8 * (word / 2)) as usize][place(number, word % 2)] = element(lane ^ moved, part, number);
            }
        }
    }
    let result = |lane: u32| {
        let place = lane ^ moved;
        let one = |number: u32| {
            let pair = number / 2;
            let row = place / 4 + 8 * (pair / blocks);
            let column = place % 4 * 2 + number % 2 + 8 * (pair % blocks);
            sum(product.kind, &rows[row as usize], &columns[column as usize], element(lane, 2, number))
        };
        (0..4 * blocks).map(one).collect()
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
            floats(pairs.map(|(x, y)| half(x).times(half(y))), addend, sums_are_halves)
        }
        MatrixKind::Bfloats => floats(pairs.map(|(x, y)| bfloat(x).times(bfloat(y))), addend, false),
    }
}

/// The sum of products and an addend, which are f16 or f32.
fn floats(products: impl Iterator<Item = Number>, addend: u64, sums_are_halves: bool) -> u64 {
    let mut numbers: Vec<Number> = products.collect();
    numbers.push(if sums_are_halves { half(addend) } else { single(addend) });
    let total = total(&numbers, LEAST[usize::from(sums_are_halves)]);
    match sums_are_halves {
        true if total.is_nan() => 0x7fff,
        false if total.is_nan() => 0x7fff_ffff,
        true => rounded(total),
        false => cut_off(total),
    }
}

/// A float or a product of two, which is exact, and the power of two of its exponents, which zeros and denormals have too.
#[derive(Clone, Copy)]
struct Number {
    value: f64,
    exponent: i32,
}

impl Number {
    fn times(self, other: Self) -> Self {
        Self { value: self.value * other.value, exponent: self.exponent + other.exponent }
    }
}

/// A float of another width.
fn converted(from: u8, to: u8, bits: u64) -> u64 {
    arithmetic::convert(Conversion::FConvert, from, to, bits, &FloatControls::default(), &mut Plain)
}

fn half(bits: u64) -> Number {
    Number { value: f64::from_bits(converted(16, 64, bits)), exponent: (bits as i32 >> 10 & 0x1f).max(1) - 15 }
}

fn single(bits: u64) -> Number {
    Number { value: f64::from_bits(converted(32, 64, bits)), exponent: (bits as i32 >> 23 & 0xff).max(1) - 127 }
}

/// The upper half of an f32.
fn bfloat(bits: u64) -> Number {
    single(bits << 16)
}

/// The sum of numbers cut off below 2^-25 of the largest one's power of two, or the least one. Specials are summed as IEEE 754 defines.
fn total(numbers: &[Number], least: i32) -> f64 {
    let sum: f64 = numbers.iter().map(|number| number.value).sum();
    if !sum.is_finite() {
        return sum;
    }
    // Zeros have no power of two.
    let exponents = numbers.iter().filter(|number| number.value != 0.0).map(|number| number.exponent);
    let unit = f64::powi(2.0, exponents.fold(least, i32::max) - FRACTION);
    // Exact: the sum of whole numbers has less than 53 bits. No zero is negative.
    numbers.iter().map(|number| (number.value / unit).trunc()).sum::<f64>() * unit + 0.0
}

/// To f32, toward zero, but infinite beyond its range; a zero has no sign.
fn cut_off(value: f64) -> u64 {
    let nearest = value as f32;
    if value.abs() < f64::powi(2.0, -149) {
        return 0;
    }
    if value.abs() >= f64::powi(2.0, 128) || f64::from(nearest).abs() <= value.abs() {
        return nearest.to_bits().into();
    }
    u64::from(nearest.to_bits() - 1)
}

/// To f16, to nearest even; a zero has no sign.
fn rounded(value: f64) -> u64 {
    let half = converted(64, 16, value.to_bits());
    if half == 0x8000 { 0 } else { half }
}
