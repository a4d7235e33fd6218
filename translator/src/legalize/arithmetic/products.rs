//! Products of matrices where the device's matrix units don't compute them as NVIDIA's do: each lane takes the words of its rows and columns from
//! the lanes that hold them.

use crate::ir::{
    Accumulator, Binary, Builder, Builtin, Factors, Fragments, Function, Op, Rewritten, Shuffle, Stmt, Type, Value,
    Warp, WarpOp, rewrite,
};
use crate::soft;
use crate::target::MatrixTypes;

/// Replaces the products whose types the device's units don't have.
pub fn expand_matrix_products(function: &mut Function, has_unit: impl Fn(MatrixTypes) -> bool) {
    rewrite(function, |b, stmt| match stmt {
        Stmt::Warp(Warp { results, op: WarpOp::MatrixProduct(types, fragments), .. }) if !has_unit(*types) => {
            expand(b, *types, fragments, results);
            Rewritten::Replaced
        }
        _ => Rewritten::Kept,
    });
}

fn expand(b: &mut Builder<'_>, types: MatrixTypes, fragments: &Fragments, results: &[Value]) {
    let index = b.builtin(Builtin::ThreadIndex);
    let lane = b.and_const(index, 31);
    let own = b.and_const(lane, 28);
    let quad = b.and_const(lane, 3);
    let first = b.shl(quad, 3);
    let second = b.add_const(first, 4);
    let [low, high, low_next, high_next] = fragments.a;
    let rows = [[low, low_next], [high, high_next]].map(|words| line(b, words, own));
    let columns = [first, second].map(|lanes| line(b, fragments.b, lanes));
    let places = rows.iter().flat_map(|row| columns.iter().map(move |column| (row, column)));
    for (((row, column), addend), &result) in places.zip(fragments.c).zip(results) {
        let pairs: Vec<(Value, Value)> = row.iter().zip(column).filter_map(|(&row, &column)| row.zip(column)).collect();
        let op = sum(b, types, &pairs, addend);
        b.push(Stmt::Let(result, op));
    }
}

/// Words of four lanes, from this one on: the first of each lane, then the others. There are none of words that are zero everywhere.
fn line(b: &mut Builder<'_>, words: [Value; 2], first: Value) -> Vec<Option<Value>> {
    let mut line = Vec::new();
    for word in words {
        for next in 0..4 {
            line.push((b.known(word) != Some(0)).then(|| {
                let lane = b.add_const(first, next);
                from_lane(b, word, lane)
            }));
        }
    }
    line
}

/// What another lane has as a value.
fn from_lane(b: &mut Builder<'_>, value: Value, lane: Value) -> Value {
    let [members, clamp] = [u32::MAX, 31].map(|bits| b.i32(bits));
    let op = WarpOp::Shuffle { mode: Shuffle::Index, value, lane, clamp };
    let [taken, in_range] = [Type::I32, Type::Bool].map(|ty| b.function.value(ty));
    b.push(Stmt::Warp(Warp { results: vec![taken, in_range], op, members: Some(members) }));
    taken
}

/// The sum of the products of pairs of words and an addend.
fn sum(b: &mut Builder<'_>, types: MatrixTypes, pairs: &[(Value, Value)], addend: Value) -> Op {
    let (factors, accumulator) = match types {
        MatrixTypes::F16 => (Factors::F16, Accumulator::F32),
        MatrixTypes::F16Alone => (Factors::F16, Accumulator::F16),
        MatrixTypes::Bf16 => (Factors::Bf16, Accumulator::F32),
        MatrixTypes::Tf32 => (Factors::Tf32, Accumulator::F32),
        MatrixTypes::S8 => return bytes(b, [true, true], pairs, addend),
        MatrixTypes::S8U8 => return bytes(b, [true, false], pairs, addend),
        MatrixTypes::U8S8 => return bytes(b, [false, true], pairs, addend),
        MatrixTypes::U8 => return bytes(b, [false, false], pairs, addend),
    };
    soft::fused_sum(b, factors, accumulator, pairs, addend)
}

fn bytes(b: &mut Builder<'_>, are_signed: [bool; 2], pairs: &[(Value, Value)], addend: Value) -> Op {
    let mut sum = b.i32(0);
    for &(x, y) in pairs {
        let dot = b.dot_of_bytes(x, y, are_signed);
        sum = b.add(sum, dot);
    }
    Op::Binary(Binary::Add, sum, addend)
}
