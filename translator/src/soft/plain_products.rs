//! Sums of products of matrices by `F32` arithmetic: the fastest way of a device where its matrix units don't serve.

use super::{BFLOAT, E4M3, E5M2, Format, HALF, Overflow, SINGLE, TENSOR, narrow, widen};
use crate::ir::{Accumulator, Arithmetic, Builder, Factors, MatrixStep, Minifloat, Op, Rounding, Type, Value};

/// The addend of products, as `F32`.
pub fn plain_addend(b: &Builder<'_>, accumulator: Accumulator, bits: Value) -> Value {
    match accumulator {
        Accumulator::F32 | Accumulator::ShortF32 => b.bitcast(bits, Type::F32),
        Accumulator::F16 | Accumulator::ShortF16 => widen(b, HALF, bits),
    }
}

/// Adds the products of two words of factors, one after another.
pub fn add_plain_products(b: &Builder<'_>, factors: Factors, x: Value, y: Value, sum: Value) -> Value {
    let [first, second] = formats(factors);
    add_products(b, &numbers(b, first, x), &numbers(b, second, y), sum)
}

/// Adds products of `F32`, one after another.
pub fn add_products(b: &Builder<'_>, x: &[Value], y: &[Value], mut sum: Value) -> Value {
    for (&x, &y) in x.iter().zip(y) {
        sum = b.rounded(Rounding::NearestEven, Arithmetic::Fma(x, y, sum));
    }
    sum
}

/// The bits of a sum.
pub fn plain_sum(b: &Builder<'_>, accumulator: Accumulator, sum: Value) -> Value {
    match accumulator {
        Accumulator::F32 | Accumulator::ShortF32 => b.bits(sum),
        Accumulator::F16 | Accumulator::ShortF16 => narrow(b, HALF, Rounding::NearestEven, Overflow::Rounded, sum),
    }
}

/// The numbers of a format in a word, as `F32`.
pub fn numbers(b: &Builder<'_>, format: Format, word: Value) -> Vec<Value> {
    let half = |minifloat, word| b.op(Type::I32, Op::Matrix(MatrixStep::Halves(minifloat), word, word, word));
    let minifloats = |minifloat| [word, b.shr(word, 16)].map(|pair| half(minifloat, pair)).to_vec();
    let (format, words) = match format {
        E4M3 => (HALF, minifloats(Minifloat::E4m3)),
        E5M2 => (HALF, minifloats(Minifloat::E5m2)),
        TENSOR => (SINGLE, vec![word]),
        other => (other, vec![word]),
    };
    let parts = |word| match format {
        SINGLE => vec![b.bitcast(word, Type::F32)],
        _ => [0, 16].map(|position| widen(b, format, b.and_const(b.shr(word, position), 0xffff))).to_vec(),
    };
    words.into_iter().flat_map(parts).collect()
}

/// The formats of factors.
pub fn formats(factors: Factors) -> [Format; 2] {
    match factors {
        Factors::F16 => [HALF; 2],
        Factors::Bf16 => [BFLOAT; 2],
        Factors::Tf32 => [TENSOR; 2],
        Factors::E4m3 => [E4M3; 2],
        Factors::E4m3E5m2 => [E4M3, E5M2],
        Factors::E5m2E4m3 => [E5M2, E4M3],
        Factors::E5m2 => [E5M2; 2],
    }
}
