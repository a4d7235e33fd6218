//! `mma.m8n8k4` on f16: four products at once, one of each four lanes with a number and the four that are 16 lanes further.
//!
//! Lane `16 h + 4 q + r` belongs to product `q`. Where neighbours in the direction of the sum lie together in memory, it holds line `4 h + r` of a
//! factor, else place `r` in the direction of the sum of the lines from `4 h` on. Of D and C in f16 it has row `4 h + r`; in f32 two rows, and of
//! these two pairs of columns.

use super::matrix::{from_lane, joined, own_lane, set, words};
use super::sums::fused;
use crate::decode::program::Instruction;
use crate::diagnostic::{Diagnostic, Result};
use crate::ir::{Accumulator, Arithmetic, Factors, Rounding, Value};
use crate::isa::fragments::{Matrix, Product};
use crate::isa::types::ScalarType;
use crate::isa::word::Word;
use crate::lower::float;
use crate::lower::lowering::Lowering;
use crate::soft::{self, HALF, Overflow};
use ptx2spv_target::Generation;

pub fn multiply(l: &mut Lowering<'_, '_>, i: &Instruction, product: &Product) -> Result {
    let lane = own_lane(l);
    let first = l.b.and_const(lane, 12);
    let upper = l.b.shl(l.b.shr(lane, 4), 2);
    let is_half = product.ty(Matrix::D) == ScalarType::F16;
    // The elements of D are in each row all columns, but of f32 the first two, then those of the other row, then likewise the last two.
    let (rows, columns) = if is_half {
        let own = l.b.and_const(lane, 3);
        let columns: Vec<Value> = (0..8).map(|column| l.b.i32(column)).collect();
        (vec![l.b.or(own, upper)], columns)
    } else {
        let own = l.b.or(l.b.and_const(lane, 1), upper);
        let pair = l.b.and_const(lane, 2);
        (vec![own, l.b.or_const(own, 2)], [0, 1, 4, 5].map(|column| l.b.or_const(pair, column)).to_vec())
    };
    let layouts = i.modifiers.words.iter().filter(|word| matches!(word, Word::Row | Word::Col));
    let [a, b] = *layouts.copied().collect::<Vec<_>>() else {
        return Err(Diagnostic::internal("a product without the layouts of its factors", i.span));
    };
    let [a_words, b_words] = [words(l, i, Matrix::A)?, words(l, i, Matrix::B)?];
    let factors = |l: &mut Lowering<'_, '_>, words: &[Value], lines: &[Value], has_lines| -> Vec<[Value; 4]> {
        lines.iter().map(|&line| line_of(l, words, first, line, has_lines)).collect()
    };
    let rows_of_a = factors(l, &a_words, &rows, a == Word::Row);
    let columns_of_b = factors(l, &b_words, &columns, b == Word::Col);
    let addends = addends(l, i, product, first, &rows, lane)?;
    let mut results = Vec::new();
    for (element, addend) in addends.into_iter().enumerate() {
        let (row, column) = if is_half { (0, element) } else { (element >> 1 & 1, element >> 2 << 1 | element & 1) };
        // There are eight elements.
        let [row, column] = [rows_of_a[row], columns_of_b[column]];
        results.push(if has_own_unit(l) {
            unit_sum(l, is_half, row, column, addend)
        } else {
            sum(l, is_half, row, column, addend)
        });
    }
    set(l, i, product, &results)
}

/// Whether the generation has units for such products. Later generations compute them by other instructions.
fn has_own_unit(l: &Lowering<'_, '_>) -> bool {
    matches!(l.layout.generation, Some(Generation::Volta | Generation::Turing))
}

/// A line of a factor.
fn line_of(l: &mut Lowering<'_, '_>, words: &[Value], first: Value, line: Value, has_lines: bool) -> [Value; 4] {
    let base = l.b.or(first, l.b.shl(l.b.shr(line, 2), 4));
    let near = l.b.and_const(line, 3);
    let shift = l.b.shl(l.b.and_const(line, 1), 4);
    let is_second = l.b.is_nonzero(l.b.and_const(line, 2));
    let lane = l.b.or(base, near);
    [0, 1, 2, 3].map(|place: u32| {
        let half = if has_lines {
            let word = from_lane(l, words[place as usize / 2], lane); // there are two
            l.b.shr(word, place % 2 * 16)
        } else {
            let lane = l.b.add_const(base, place.into());
            let [low, high] = [0, 1].map(|word: usize| from_lane(l, words[word], lane));
            l.b.shr_by(l.b.select(is_second, high, low), shift)
        };
        l.b.and_const(half, 0xffff)
    })
}

/// The elements of C where D has them, as f32.
fn addends(
    l: &mut Lowering<'_, '_>,
    i: &Instruction,
    product: &Product,
    first: Value,
    rows: &[Value],
    lane: Value,
) -> Result<Vec<Value>> {
    let words = words(l, i, Matrix::C)?;
    let of = |l: &mut Lowering<'_, '_>, word, next: u32| {
        soft::widen(&l.b, HALF, l.b.and_const(l.b.shr(word, 16 * next), 0xffff))
    };
    match (product.ty(Matrix::D), product.ty(Matrix::C)) {
        (ScalarType::F16, _) => Ok(words.iter().flat_map(|&word| [0, 1].map(|next| of(l, word, next))).collect()),
        (_, ScalarType::F16) => {
            let is_second = l.b.is_nonzero(l.b.and_const(lane, 2));
            let mut addends = Vec::new();
            for pair in words.chunks_exact(2) {
                for &row in rows {
                    let far = l.b.shl(l.b.and_const(row, 4), 2);
                    let near = l.b.and_const(row, 3);
                    let lane = l.b.or(l.b.or(first, far), near);
                    let [low, high] = [0, 1].map(|word: usize| from_lane(l, pair[word], lane));
                    let word = l.b.select(is_second, high, low);
                    addends.extend([0, 1].map(|next| of(l, word, next)));
                }
            }
            Ok(addends)
        }
        _ => Ok(words.iter().map(|&word| float::float_of(l, soft::SINGLE, word)).collect()),
    }
}

/// A sum of four products, which are exact, and an addend.
fn sum(l: &mut Lowering<'_, '_>, is_half: bool, row: [Value; 4], column: [Value; 4], addend: Value) -> Value {
    let rounded = |l: &mut Lowering<'_, '_>, operation| l.b.rounded(Rounding::NearestEven, operation);
    let mut products = [addend; 4];
    for (product, (a, b)) in products.iter_mut().zip(row.into_iter().zip(column)) {
        let [a, b] = [a, b].map(|half| soft::widen(&l.b, HALF, half));
        *product = rounded(l, Arithmetic::Mul(a, b));
    }
    let mut add = |a, b| rounded(l, Arithmetic::Add(a, b));
    if is_half {
        let [low, high] = [add(products[0], products[1]), add(products[2], products[3])];
        let low = add(low, addend);
        let sum = add(low, high);
        return soft::narrow(&l.b, HALF, Rounding::NearestEven, Overflow::Rounded, sum);
    }
    let mut sum = l.b.f32(0.0);
    for term in products.into_iter().chain([addend]) {
        sum = rounded(l, Arithmetic::Add(sum, term));
    }
    l.b.bits(float::or_nan(l, sum, &[]))
}

/// The same as units compute it, at once.
fn unit_sum(l: &mut Lowering<'_, '_>, is_half: bool, row: [Value; 4], column: [Value; 4], addend: Value) -> Value {
    let words = |[x, y, z, w]: [Value; 4]| [joined(l, x, y), joined(l, z, w)];
    let pairs: Vec<_> = words(row).into_iter().zip(words(column)).collect();
    let (accumulator, addend) = if is_half {
        (Accumulator::F16, soft::narrow(&l.b, HALF, Rounding::NearestEven, Overflow::Rounded, addend))
    } else {
        (Accumulator::F32, l.b.bits(addend))
    };
    fused(&l.b, l.layout.generation, (Factors::F16, accumulator), &pairs, addend)
}
