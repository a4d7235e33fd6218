//! Products of matrices where the device's matrix units don't compute them as NVIDIA's do: each lane takes the words of its rows and columns from
//! the lanes that hold them. Units that have two products at once get such side by side.

use std::collections::VecDeque;
use std::iter;

use super::matrix::fraction;
use super::ordinary_products::{Kind, ordinary_sums};
use super::runs::{Run, Runs};
use super::turns::{Holders, Lines, Means, Taken, Turns, variables};
use crate::ir::{
    Accumulator, Binary, Builder, Factors, Fragments, Function, MatrixStep, Op, Rewritten, Stmt, Type, Unary, Value,
    Warp, WarpOp, rewrite,
};
use crate::soft;
use ptx2spv_target::MatrixTypes;

/// Replaces the products whose types the device's units don't have. Units with signed bytes also compute products in
/// which the bytes of one matrix are unsigned. Where a unit has two products at once, products change places.
pub fn expand_matrix_products(function: &mut Function, means: Means, has_unit: impl Fn(MatrixTypes) -> bool) {
    let is_plain = |types| !has_unit(types) && !has_unit(types.with_signed_bytes()) && means.is_plain(types);
    let are_paired = |types: MatrixTypes| has_unit(types) && types.tiles_of_unit() > 1;
    let mut runs = Runs::of(function, |types| is_plain(types) || are_paired(types));
    rewrite(function, |b, stmt| match stmt {
        Stmt::Warp(Warp { results, op: WarpOp::MatrixProduct(types, _), members }) if are_paired(*types) => {
            if let Some(run) = runs.take(results) {
                pairs(b, *types, *members, run);
            }
            Rewritten::Replaced
        }
        Stmt::Warp(Warp { results, op: WarpOp::MatrixProduct(types, fragments), members }) if !has_unit(*types) => {
            if let Some(run) = runs.take(results) {
                plain_run(b, Sums::of(*types), &run);
            } else if has_unit(types.with_signed_bytes()) {
                by_signed_bytes(b, *types, *fragments, *members, results);
            } else {
                expand(b, *types, means, fragments, results);
            }
            Rewritten::Replaced
        }
        Stmt::Let(value, _) if runs.has_moved(*value) => Rewritten::Replaced,
        _ => Rewritten::Kept,
    });
}

/// A product of bytes of which one matrix' are unsigned, by two of signed bytes: an unsigned byte is the signed byte of
/// the same bits, plus 256 times its highest bit.
fn by_signed_bytes(
    b: &Builder<'_>,
    types: MatrixTypes,
    fragments: Fragments,
    members: Option<Value>,
    results: &[Value],
) {
    let product = |fragments| {
        let results = [(); 4].map(|()| b.value(Type::I32));
        let op = WarpOp::MatrixProduct(types.with_signed_bytes(), fragments);
        b.push(Stmt::Warp(Warp { results: results.to_vec(), op, members }));
        results
    };
    let highest = |word| b.and_const(b.shr(word, 7), 0x0101_0101);
    let zero = b.i32(0);
    let upper = match types {
        MatrixTypes::U8S8 => Fragments { a: fragments.a.map(highest), b: fragments.b, c: [zero; 4] },
        _ => Fragments { a: fragments.a, b: fragments.b.map(highest), c: [zero; 4] },
    };
    let [lower, upper] = [fragments, upper].map(product);
    for ((lower, upper), &result) in lower.into_iter().zip(upper).zip(results) {
        let upper = b.shl(upper, 8);
        b.push(Stmt::Let(result, Op::Binary(Binary::Add, lower, upper)));
    }
}

/// The types of a product's factors and sums.
#[derive(Clone, Copy)]
enum Sums {
    Floats(Factors, Accumulator),
    /// Of bytes, of which A's and B's may be signed.
    Bytes([bool; 2]),
}

impl Sums {
    fn of(types: MatrixTypes) -> Self {
        match types {
            MatrixTypes::F16 => Self::Floats(Factors::F16, Accumulator::F32),
            MatrixTypes::F16Alone => Self::Floats(Factors::F16, Accumulator::F16),
            MatrixTypes::Bf16 => Self::Floats(Factors::Bf16, Accumulator::F32),
            MatrixTypes::Tf32 => Self::Floats(Factors::Tf32, Accumulator::F32),
            MatrixTypes::E4m3 => Self::Floats(Factors::E4m3, Accumulator::ShortF32),
            MatrixTypes::E4m3E5m2 => Self::Floats(Factors::E4m3E5m2, Accumulator::ShortF32),
            MatrixTypes::E5m2E4m3 => Self::Floats(Factors::E5m2E4m3, Accumulator::ShortF32),
            MatrixTypes::E5m2 => Self::Floats(Factors::E5m2, Accumulator::ShortF32),
            MatrixTypes::E4m3Alone => Self::Floats(Factors::E4m3, Accumulator::ShortF16),
            MatrixTypes::E4m3E5m2Alone => Self::Floats(Factors::E4m3E5m2, Accumulator::ShortF16),
            MatrixTypes::E5m2E4m3Alone => Self::Floats(Factors::E5m2E4m3, Accumulator::ShortF16),
            MatrixTypes::E5m2Alone => Self::Floats(Factors::E5m2, Accumulator::ShortF16),
            MatrixTypes::S8 => Self::Bytes([true, true]),
            MatrixTypes::S8U8 => Self::Bytes([true, false]),
            MatrixTypes::U8S8 => Self::Bytes([false, true]),
            MatrixTypes::U8 => Self::Bytes([false, false]),
        }
    }

    /// The value that the products are added to: variables have the bits of floats.
    fn first(self, b: &Builder<'_>, addend: Value) -> Value {
        match self {
            Self::Floats(_, accumulator) => b.bits(soft::plain_addend(b, accumulator, addend)),
            Self::Bytes(_) => addend,
        }
    }

    /// The sums with a turn's products, one after another: floats by fused multiply-adds.
    fn add(self, b: &Builder<'_>, lines: &Lines, mut sums: [Value; 4]) -> [Value; 4] {
        match self {
            Self::Floats(factors, _) => {
                let [of_rows, of_columns] = soft::formats(factors);
                let numbers =
                    lines.map(|word| soft::numbers(b, of_rows, word), |word| soft::numbers(b, of_columns, word));
                for ([row, column], sum) in numbers.places().into_iter().zip(&mut sums) {
                    *sum = b.bits(soft::add_products(b, row, column, b.bitcast(*sum, Type::F32)));
                }
                sums
            }
            Self::Bytes(are_signed) => {
                let add = |b: &Builder<'_>, [x, y]: [Value; 2], _, sum| b.add(sum, b.dot_of_bytes(x, y, are_signed));
                by_words(add)(b, lines, sums)
            }
        }
    }

    /// The result.
    fn last(self, b: &Builder<'_>, sum: Value) -> Value {
        match self {
            Self::Floats(_, accumulator) => soft::plain_sum(b, accumulator, b.bitcast(sum, Type::F32)),
            Self::Bytes(_) => sum,
        }
    }
}

fn expand(b: &Builder<'_>, types: MatrixTypes, means: Means, fragments: &Fragments, results: &[Value]) {
    let sums = Sums::of(types);
    let (Sums::Floats(factors, accumulator), Some(generation)) = (sums, means.generation) else {
        let turns = Turns::in_loop(b, fragments);
        let addends = fragments.c.map(|addend| sums.first(b, addend));
        let totals = turns.fold(b, addends, |b, lines, totals| sums.add(b, lines, totals));
        return give(b, totals.map(|total| sums.last(b, total)), results);
    };
    let fused = (factors, accumulator);
    if !means.serve(factors) {
        let sums = fused_sums(b, fused, fragments);
        return give(b, sums, results);
    }
    let kind = Kind { factors, accumulator, kept: fraction(generation) };
    let sums = ordinary_sums(b, kind, means, fragments, |b| fused_sums(b, fused, fragments));
    give(b, sums, results);
}

/// The products of a run, each followed by one of the same first factor, if there is one.
fn pairs(b: &Builder<'_>, types: MatrixTypes, members: Option<Value>, run: Run) {
    run.define_operands(b);
    let mut rest = VecDeque::from(run.products);
    while let Some((fragments, results)) = rest.pop_front() {
        let next = rest.iter().position(|(other, _)| other.a == fragments.a).and_then(|next| rest.remove(next));
        for (fragments, results) in iter::once((fragments, results)).chain(next) {
            b.push(Stmt::Warp(Warp { results, op: WarpOp::MatrixProduct(types, fragments), members }));
        }
    }
}

/// The products of a run. All of them take a turn before the next, in which they share the words that they take.
fn plain_run(b: &Builder<'_>, sums: Sums, run: &Run) {
    run.define_operands(b);
    let holders = Holders::of(b);
    let mut totals: Vec<[Value; 4]> =
        run.products.iter().map(|(fragments, _)| fragments.c.map(|addend| sums.first(b, addend))).collect();
    for number in 0..4 {
        let number = b.i32(number);
        let mut taken = Taken::default();
        for ((fragments, _), totals) in run.products.iter().zip(&mut totals) {
            *totals = sums.add(b, &holders.take(b, fragments, number, Some(&mut taken)), *totals);
        }
    }
    for ((_, results), totals) in run.products.iter().zip(totals) {
        give(b, totals.map(|total| sums.last(b, total)), results);
    }
}

/// Lets values be the results.
fn give(b: &Builder<'_>, values: [Value; 4], results: &[Value]) {
    for (var, &result) in variables(b, values).into_iter().zip(results) {
        b.push(Stmt::Let(result, Op::Get(var)));
    }
}

/// For each element of D, the value that `add` makes of a first value with each pair of words from the row and the
/// column.
fn by_words(
    add: impl Fn(&Builder<'_>, [Value; 2], usize, Value) -> Value,
) -> impl Fn(&Builder<'_>, &Lines, [Value; 4]) -> [Value; 4] {
    move |b, lines, mut sums| {
        for (element, ([row, column], sum)) in lines.places().into_iter().zip(&mut sums).enumerate() {
            for (&x, &y) in row.iter().zip(column) {
                *sum = add(b, [x, y], element, *sum);
            }
        }
        sums
    }
}

/// Sums of an element of C and products, as matrix units compute them.
fn fused_sums(b: &Builder<'_>, (factors, accumulator): (Factors, Accumulator), fragments: &Fragments) -> [Value; 4] {
    let turns = Turns::in_loop(b, fragments);
    let step = |b: &Builder<'_>, step, x, y, z| b.op(Type::I32, Op::Matrix(step, x, y, z));
    let starts = fragments.c.map(|addend| step(b, MatrixStep::Start(accumulator), addend, addend, addend));
    let scales =
        turns.fold(b, starts, by_words(|b, [x, y], _, scale| step(b, MatrixStep::Scale(factors), x, y, scale)));
    // Sixteen products are below 2^31; of thirty-two, fewer bits are kept.
    let sums = turns.fold(
        b,
        [b.i32(0); 4],
        by_words(|b, [x, y], element, sum| {
            // There are as many scales as elements.
            b.add(sum, step(b, MatrixStep::Sum(factors), x, y, scales[element]))
        }),
    );
    std::array::from_fn(|element| {
        // There are four of each.
        let sum = b.unary(Unary::SignExtend, sums[element]);
        step(b, MatrixStep::Round(accumulator), fragments.c[element], scales[element], sum)
    })
}
