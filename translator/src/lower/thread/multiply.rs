//! Products of matrices in the registers of a warp (PTX section 9.7.14.5).
//!
//! A word of a fragment holds neighbours in the direction of the sum. Lane `4 g + t` has words of the rows `g` and `g + 8` of A, words of the column `g`
//! of B, and the columns `2 t` and `2 t + 1` of the result's rows `g` and `g + 8`. So each lane takes the words of its rows from the four lanes that
//! hold them, and those of its columns likewise.

use super::matrix::{from_lane, joined, own_lane};
use crate::decode::program::{Instruction, Operand};
use crate::diagnostic::Diagnostic;
use crate::ir::{Accumulator, Factors, MatrixStep, Op, Type, Unary, Value};
use crate::isa::fragments::Matrix;
use crate::isa::types::ScalarType;
use crate::lower::lowering::{Lowering, Result};

/// `mma.sync` of floats
pub fn multiply(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let factors = match i.ty(1)? {
        ScalarType::F16 => Factors::F16,
        ScalarType::Bf16 => Factors::Bf16,
        _ => Factors::Tf32,
    };
    let a = words(l, i, Matrix::A)?;
    let b = words(l, i, Matrix::B)?;
    let addends = addends(l, i)?;
    let accumulator = if i.ty(0)? == ScalarType::F32 { Accumulator::F32 } else { Accumulator::F16 };
    let lane = own_lane(l);
    let quad = l.b.and_const(lane, 3);
    let mut columns = Vec::new();
    for column in 0..2 {
        // Lane 8 t + 4 q begins the lanes of column 2 t + q.
        let first = l.b.shl(quad, 3);
        let first = l.b.add_const(first, 4 * column);
        let mut taken = Vec::new();
        for other in 0..4 {
            let place = l.b.xor_const(quad, other);
            let place = l.b.add(first, place);
            for &word in &b {
                taken.push(from_lane(l, word, place));
            }
        }
        columns.push(taken);
    }
    let mut rows = Vec::new();
    for row in 0..2 {
        let mut taken = Vec::new();
        for other in 0..4 {
            let place = l.b.xor_const(lane, other);
            for &word in a.iter().skip(row).step_by(2) {
                taken.push(if other == 0 { word } else { from_lane(l, word, place) });
            }
        }
        rows.push(taken);
    }
    let mut results = Vec::new();
    for (row, addends) in rows.iter().zip(addends.chunks(2)) {
        for (column, &addend) in columns.iter().zip(addends) {
            results.push(sum(l, factors, accumulator, (row, column), addend));
        }
    }
    set(l, i, accumulator, &results)
}

/// A sum of products of words and an addend.
fn sum(
    l: &mut Lowering<'_, '_>,
    factors: Factors,
    accumulator: Accumulator,
    (row, column): (&[Value], &[Value]),
    addend: Value,
) -> Value {
    let mut step = |step, x, y, z| l.b.op(Type::I32, Op::Matrix(step, x, y, z));
    let mut scale = step(MatrixStep::Start(accumulator), addend, addend, addend);
    for (&x, &y) in row.iter().zip(column) {
        scale = step(MatrixStep::Scale(factors), x, y, scale);
    }
    let terms: Vec<Value> =
        row.iter().zip(column).map(|(&x, &y)| step(MatrixStep::Sum(factors), x, y, scale)).collect();
    // A term is below 2^28, so that four fit.
    let mut total = l.b.i64(0);
    for terms in terms.chunks(4) {
        let mut part = l.b.i32(0);
        for &term in terms {
            part = l.b.add(part, term);
        }
        let part = l.b.unary(Unary::SignExtend, part);
        total = l.b.add(total, part);
    }
    l.b.op(Type::I32, Op::Matrix(MatrixStep::Round(accumulator), addend, scale, total))
}

/// The words of a fragment.
fn words(l: &mut Lowering<'_, '_>, i: &Instruction, matrix: Matrix) -> Result<Vec<Value>> {
    let Operand::Vector(elements) = l.operand(i, matrix.number()) else {
        return Err(Diagnostic::internal("a fragment that is no vector", i.span));
    };
    elements.iter().map(|element| l.source(element, ScalarType::B32)).collect()
}

/// The elements of C.
fn addends(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result<Vec<Value>> {
    let words = words(l, i, Matrix::C)?;
    if i.ty(3)? == ScalarType::F32 {
        return Ok(words);
    }
    let mut halves = Vec::new();
    for word in words {
        halves.extend([l.b.and_const(word, 0xffff), l.b.shr(word, 16)]);
    }
    Ok(halves)
}

/// Sets the elements of D.
fn set(l: &mut Lowering<'_, '_>, i: &Instruction, accumulator: Accumulator, results: &[Value]) -> Result {
    let Operand::Vector(destinations) = l.operand(i, 0) else {
        return Err(Diagnostic::internal("a product of matrices without destinations", i.span));
    };
    match accumulator {
        Accumulator::F32 => {
            for (destination, &result) in destinations.iter().zip(results) {
                l.assign(destination, ScalarType::B32, result)?;
            }
        }
        Accumulator::F16 => {
            for (destination, pair) in destinations.iter().zip(results.chunks(2)) {
                let [low, high] = *pair else { continue };
                let word = joined(l, low, high);
                l.assign(destination, ScalarType::B32, word)?;
            }
        }
    }
    Ok(())
}
