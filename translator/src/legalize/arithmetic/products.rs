//! Products of matrices where the device's matrix units don't compute them as NVIDIA's do: each lane takes the words of its rows and columns from
//! the lanes that hold them.

use crate::ir::{
    Accumulator, Binary, Builder, Builtin, Compare, Factors, Fragments, Function, MatrixStep, Op, Rewritten, Stmt,
    Type, Unary, Value, Var, Warp, WarpOp, rewrite,
};
use crate::soft;
use ptx2spv_target::MatrixTypes;

/// Replaces the products whose types the device's units don't have. Where they have signed bytes, they compute products of which one matrix' are unsigned too.
/// Sums of floats that `are_plain` are those of `F32` arithmetic.
pub fn expand_matrix_products(function: &mut Function, are_plain: bool, has_unit: impl Fn(MatrixTypes) -> bool) {
    rewrite(function, |b, stmt| match stmt {
        Stmt::Warp(Warp { results, op: WarpOp::MatrixProduct(types, fragments), members }) if !has_unit(*types) => {
            if has_unit(types.with_signed_bytes()) {
                by_signed_bytes(b, *types, *fragments, *members, results);
            } else {
                expand(b, *types, are_plain, fragments, results);
            }
            Rewritten::Replaced
        }
        _ => Rewritten::Kept,
    });
}

/// A product of bytes of which one matrix' are unsigned, by two of signed bytes: an unsigned byte is what its bits are as a signed one, and 256 times
/// its highest bit.
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

fn expand(b: &Builder<'_>, types: MatrixTypes, are_plain: bool, fragments: &Fragments, results: &[Value]) {
    let fused = match types {
        MatrixTypes::F16 => (Factors::F16, Accumulator::F32),
        MatrixTypes::F16Alone => (Factors::F16, Accumulator::F16),
        MatrixTypes::Bf16 => (Factors::Bf16, Accumulator::F32),
        MatrixTypes::Tf32 => (Factors::Tf32, Accumulator::F32),
        MatrixTypes::E4m3 => (Factors::E4m3, Accumulator::ShortF32),
        MatrixTypes::E4m3E5m2 => (Factors::E4m3E5m2, Accumulator::ShortF32),
        MatrixTypes::E5m2E4m3 => (Factors::E5m2E4m3, Accumulator::ShortF32),
        MatrixTypes::E5m2 => (Factors::E5m2, Accumulator::ShortF32),
        MatrixTypes::E4m3Alone => (Factors::E4m3, Accumulator::ShortF16),
        MatrixTypes::E4m3E5m2Alone => (Factors::E4m3E5m2, Accumulator::ShortF16),
        MatrixTypes::E5m2E4m3Alone => (Factors::E5m2E4m3, Accumulator::ShortF16),
        MatrixTypes::E5m2Alone => (Factors::E5m2, Accumulator::ShortF16),
        MatrixTypes::S8 => return bytes(b, [true, true], fragments, results),
        MatrixTypes::S8U8 => return bytes(b, [true, false], fragments, results),
        MatrixTypes::U8S8 => return bytes(b, [false, true], fragments, results),
        MatrixTypes::U8 => return bytes(b, [false, false], fragments, results),
    };
    if are_plain {
        plain_sums(b, fused, fragments, results);
    } else {
        fused_sums(b, fused, fragments, results);
    }
}

/// For each element of D, what `add` makes of a first value with each pair of words from the row and the column. There are four turns, one for each
/// lane that holds words of a row: drivers take long to compile as much code four times.
fn in_turns(
    b: &Builder<'_>,
    fragments: &Fragments,
    first: [Value; 4],
    add: impl Fn(&Builder<'_>, [Value; 2], usize, Value) -> Value,
) -> [Var; 4] {
    let lane = b.and_const(b.builtin(Builtin::ThreadIndex), 31);
    let own = b.and_const(lane, 28);
    let quad = b.and_const(lane, 3);
    // Lanes 8 t to 8 t + 3 hold column 2 t, the next four column 2 t + 1.
    let even = b.shl(quad, 3);
    let odd = b.add_const(even, 4);
    let sums = first.map(|first| {
        let ty = b.type_of(first);
        let sum = b.var(ty);
        b.set(sum, first);
        sum
    });
    let turn = b.var(Type::I32);
    b.set(turn, b.i32(0));
    // Words that are zero everywhere have no part.
    let mut used = |word| (b.known(word) != Some(0)).then_some(word);
    let [low, high, low_next, high_next] = fragments.a.map(&mut used);
    let column = fragments.b.map(used);
    b.loop_(|b| {
        let number = b.get(turn);
        let line = |words: [Option<Value>; 2], first| {
            let lane = b.add(first, number);
            words.map(|word| word.map(|word| b.from_lane(word, lane)))
        };
        let rows = [[low, low_next], [high, high_next]].map(|words| line(words, own));
        let columns = [even, odd].map(|first| line(column, first));
        let places = rows.iter().flat_map(|row| columns.iter().map(move |column| (row, column)));
        for (element, ((row, column), sum)) in places.zip(sums).enumerate() {
            let mut value = b.get(sum);
            for (x, y) in row.iter().zip(column).filter_map(|(row, column)| row.zip(*column)) {
                value = add(b, [x, y], element, value);
            }
            b.set(sum, value);
        }
        let next = b.add_const(number, 1);
        b.set(turn, next);
        let is_last = b.compare_const(Compare::Equal, next, 4);
        b.if_(is_last, Builder::break_);
    });
    sums
}

/// Sums of an element of C and products, as matrix units compute them.
fn fused_sums(
    b: &Builder<'_>,
    (factors, accumulator): (Factors, Accumulator),
    fragments: &Fragments,
    results: &[Value],
) {
    let step = |b: &Builder<'_>, step, x, y, z| b.op(Type::I32, Op::Matrix(step, x, y, z));
    let starts = fragments.c.map(|addend| step(b, MatrixStep::Start(accumulator), addend, addend, addend));
    let scales = in_turns(b, fragments, starts, |b, [x, y], _, scale| step(b, MatrixStep::Scale(factors), x, y, scale));
    let scales = scales.map(|scale| b.get(scale));
    let zero = b.i32(0);
    // Sixteen products are below 2^31; of thirty-two, fewer bits are kept.
    let sums = in_turns(b, fragments, [zero; 4], |b, [x, y], element, sum| {
        // There are as many scales as elements.
        let term = step(b, MatrixStep::Sum(factors), x, y, scales[element]);
        b.add(sum, term)
    });
    for (((sum, scale), addend), &result) in sums.into_iter().zip(scales).zip(fragments.c).zip(results) {
        let sum = b.unary(Unary::SignExtend, b.get(sum));
        b.push(Stmt::Let(result, Op::Matrix(MatrixStep::Round(accumulator), addend, scale, sum)));
    }
}

/// Sums of an element of C and products, one after another in `F32`.
fn plain_sums(
    b: &Builder<'_>,
    (factors, accumulator): (Factors, Accumulator),
    fragments: &Fragments,
    results: &[Value],
) {
    // Variables have the bits of floats.
    let addends = fragments.c.map(|addend| b.bits(soft::plain_addend(b, accumulator, addend)));
    let sums = in_turns(b, fragments, addends, |b, [x, y], _, sum| {
        let sum = b.bitcast(sum, Type::F32);
        b.bits(soft::add_plain_products(b, factors, x, y, sum))
    });
    for (sum, &result) in sums.into_iter().zip(results) {
        let total = b.bitcast(b.get(sum), Type::F32);
        b.set(sum, soft::plain_sum(b, accumulator, total));
        b.push(Stmt::Let(result, Op::Get(sum)));
    }
}

fn bytes(b: &Builder<'_>, are_signed: [bool; 2], fragments: &Fragments, results: &[Value]) {
    let sums = in_turns(b, fragments, fragments.c, |b, [x, y], _, sum| b.add(sum, b.dot_of_bytes(x, y, are_signed)));
    for (sum, &result) in sums.into_iter().zip(results) {
        b.push(Stmt::Let(result, Op::Get(sum)));
    }
}
