//! Products of matrices in the registers of a warp (PTX sections 9.7.14.4 to 9.7.14.6).
//!
//! [`fragments`](crate::isa::fragments) says which lanes hold which elements. Each lane takes the words of its rows and of its columns from the
//! lanes that hold them, in the order of the sum.

use super::matrix::{addends, from_lane, own_lane, set, words};
use super::quads;
use super::sparse::Indices;
use super::sums::{Line, Terms};
use super::tiles;
use crate::decode::program::Instruction;
use crate::diagnostic::Result;
use crate::ir::{Compare, Value};
use crate::isa::fragments::{Matrix, Product};
use crate::isa::types::ScalarType;
use crate::lower::lowering::Lowering;
use ptx2spv_target::{Generation, MatrixTypes};

/// `mma` and `wmma.mma`, if [`turns`] gives none
pub fn multiply(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let product = i.required(Product::of(&i.modifiers))?;
    if product.is_of_quads() {
        return quads::multiply(l, i, &product);
    }
    if let Some(types) = unit(i, l.layout.generation) {
        return tiles::multiply(l, i, &product, Terms::of(&product, i, l.layout.generation)?, types);
    }
    let addends = addends(l, i, &product, Matrix::C)?;
    sums(l, i, &product, None, addends)
}

/// The types by which matrix units compute a product, if they do.
pub fn unit(i: &Instruction, generation: Option<Generation>) -> Option<MatrixTypes> {
    let product = Product::of(&i.modifiers).filter(|product| !product.is_sparse && !product.is_of_quads())?;
    Terms::of(&product, i, generation).ok()?.unit()
}

/// The number of turns of a product whose products of elements are added one after another, each by long code.
pub fn turns(i: &Instruction) -> Result<Option<u32>> {
    let product = i.required(Product::of(&i.modifiers))?;
    Ok((product.ty(Matrix::A) == ScalarType::F64).then_some(product.depth))
}

/// Gives D the elements of C, before the first turn.
pub fn begin(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let product = i.required(Product::of(&i.modifiers))?;
    let addends = addends(l, i, &product, Matrix::C)?;
    set(l, i, &product, &addends)
}

/// Adds the products of a turn to the elements of D.
pub fn add(l: &mut Lowering<'_, '_>, i: &Instruction, turn: Value) -> Result {
    let product = i.required(Product::of(&i.modifiers))?;
    let addends = addends(l, i, &product, Matrix::D)?;
    sums(l, i, &product, Some(turn), addends)
}

/// Adds products to addends: those of a turn or all.
fn sums(
    l: &mut Lowering<'_, '_>,
    i: &Instruction,
    product: &Product,
    turn: Option<Value>,
    addends: Vec<Value>,
) -> Result {
    let terms = Terms::of(product, i, l.layout.generation)?;
    let lane = own_lane(l);
    let quad = l.b.and_const(lane, 3);
    let own = l.b.and_const(lane, 28);
    let (tall, wide) = product.tall_and_wide();
    let tall = lines(l, i, product, tall, (&[own], turn))?;
    // Lanes 8 t to 8 t + 3 hold line 2 t, the next four line 2 t + 1.
    let first = l.b.shl(quad, 3);
    let second = l.b.add_const(first, 4);
    let wide = lines(l, i, product, wide, (&[first, second], turn))?;
    let indices = if product.is_sparse { Some(Indices::of(l, i, product, own)?) } else { None };
    let mut results = Vec::new();
    for (place, addend) in product.elements().into_iter().zip(addends) {
        // There are as many lines as elements are in.
        let tall = &tall[place.line as usize / 8];
        let wide = &wide[(place.across / 4 + place.next) as usize];
        let (row, column) = if product.is_transposed() { (wide, tall) } else { (tall, wide) };
        results.push(match &indices {
            None => terms.sum(l, row, column, addend),
            Some(indices) => {
                let kept = indices.kept(l, place.line / 8, column);
                terms.sum(l, row, &kept, addend)
            }
        });
    }
    set(l, i, product, &results)
}

/// For each eight lines of a factor, those that the lanes from these on hold, or the words that the lanes have of them
/// in a turn.
fn lines(
    l: &mut Lowering<'_, '_>,
    i: &Instruction,
    product: &Product,
    matrix: Matrix,
    (lanes, turn): (&[Value], Option<Value>),
) -> Result<Vec<Line>> {
    let words = words(l, i, matrix)?;
    let parts: Vec<Vec<Value>> = words.into_iter().map(|word| Terms::parts(l, product, matrix, word)).collect();
    let blocks = product.blocks(matrix);
    let mut lines = Vec::new();
    let mut starts: Vec<u32> = blocks.iter().map(|block| block.line).collect();
    starts.sort_unstable();
    starts.dedup();
    for start in starts {
        for &first in lanes {
            let mut line = Line::new();
            let parts = blocks.iter().zip(&parts).filter(|(block, _)| block.line == start).map(|(_, parts)| parts);
            if let Some(turn) = turn {
                line.push(vec![in_turn(l, parts, first, turn)]);
                lines.push(line);
                continue;
            }
            for parts in parts {
                line.resize(parts.len(), Vec::new());
                for next in 0..4 {
                    let lane = l.b.add_const(first, next);
                    for (words, &part) in line.iter_mut().zip(parts) {
                        words.push(from_lane(l, part, lane));
                    }
                }
            }
            lines.push(line);
        }
    }
    Ok(lines)
}

/// The word of a line whose turn it is, where words have one part.
fn in_turn<'v>(
    l: &mut Lowering<'_, '_>,
    registers: impl Iterator<Item = &'v Vec<Value>>,
    first: Value,
    turn: Value,
) -> Value {
    let number = l.b.shr(turn, 2);
    let lane = l.b.add(first, l.b.and_const(turn, 3));
    let mut chosen = None;
    for (register, &value) in (0..).zip(registers.flatten()) {
        chosen = Some(match chosen {
            None => value,
            Some(before) => {
                let is_before = l.b.compare_const(Compare::LessUnsigned, number, register);
                l.b.select(is_before, before, value)
            }
        });
    }
    // There are registers for each line.
    let word = chosen.unwrap_or(turn);
    from_lane(l, word, lane)
}
