//! Products of matrices in the registers of a warp (PTX sections 9.7.14.4 to 9.7.14.6).
//!
//! [`fragments`](crate::isa::fragments) says which lanes hold which elements. Each lane takes the words of its rows and of its columns from the
//! lanes that hold them, in the order of the sum.

use super::matrix::{from_lane, own_lane, set, words};
use super::quads;
use super::sparse::Indices;
use super::sums::{Line, Terms};
use super::tiles;
use crate::decode::program::Instruction;
use crate::ir::Value;
use crate::isa::fragments::{Matrix, Product};
use crate::isa::types::ScalarType;
use crate::lower::lowering::{Lowering, Result};

/// `mma` and `wmma.mma`
pub fn multiply(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let product = i.required(Product::of(&i.modifiers))?;
    if product.is_of_quads() {
        return quads::multiply(l, i, &product);
    }
    let terms = Terms::of(&product, i)?;
    if let Some(types) = terms.unit().filter(|_| !product.is_sparse) {
        return tiles::multiply(l, i, &product, terms, types);
    }
    let lane = own_lane(l);
    let quad = l.b.and_const(lane, 3);
    let own = l.b.and_const(lane, 28);
    let (tall, wide) = product.tall_and_wide();
    let tall = lines(l, i, &product, tall, &[own])?;
    // Lanes 8 t to 8 t + 3 hold line 2 t, the next four line 2 t + 1.
    let first = l.b.shl(quad, 3);
    let second = l.b.add_const(first, 4);
    let wide = lines(l, i, &product, wide, &[first, second])?;
    let indices = if product.is_sparse { Some(Indices::of(l, i, &product, own)?) } else { None };
    let mut results = Vec::new();
    for (place, addend) in product.elements().into_iter().zip(addends(l, i, &product)?) {
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
    set(l, i, &product, &results)
}

/// For each eight lines of a factor, those that the lanes from these on hold.
fn lines(
    l: &mut Lowering<'_, '_>,
    i: &Instruction,
    product: &Product,
    matrix: Matrix,
    lanes: &[Value],
) -> Result<Vec<Line>> {
    let words = words(l, i, matrix)?;
    let parts: Vec<Vec<Value>> = words.into_iter().map(|word| Terms::parts(l, product.ty(matrix), word)).collect();
    let blocks = product.blocks(matrix);
    let mut lines = Vec::new();
    let mut starts: Vec<u32> = blocks.iter().map(|block| block.line).collect();
    starts.sort_unstable();
    starts.dedup();
    for start in starts {
        for &first in lanes {
            let mut line = Line::new();
            for (_, parts) in blocks.iter().zip(&parts).filter(|(block, _)| block.line == start) {
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

/// The elements of C.
pub(super) fn addends(l: &mut Lowering<'_, '_>, i: &Instruction, product: &Product) -> Result<Vec<Value>> {
    let words = words(l, i, Matrix::C)?;
    if product.ty(Matrix::C) != ScalarType::F16 {
        return Ok(words);
    }
    let mut halves = Vec::new();
    for word in words {
        halves.extend([l.b.and_const(word, 0xffff), l.b.shr(word, 16)]);
    }
    Ok(halves)
}
