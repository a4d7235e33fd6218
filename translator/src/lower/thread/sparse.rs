//! Sparse products: of each four neighbours in a row of A two are left out, and two indices say which remain (PTX section 9.7.14.6).
//!
//! Neighbours are halves of words, two of which make a tf32, or bytes, in which pairs of four bits go together. Four bits of metadata are the indices
//! of one four.

use super::matrix::from_lane;
use super::sums::Line;
use crate::decode::program::{Instruction, Operand};
use crate::diagnostic::{Diagnostic, Result};
use crate::ir::Value;
use crate::isa::fragments::{Matrix, Product};
use crate::isa::types::ScalarType;
use crate::lower::lowering::Lowering;

/// The indices of the elements that A has, of this lane's rows.
pub struct Indices {
    /// The metadata of lanes, those of lower numbers first.
    metadata: Vec<Value>,
    /// Whether a word of metadata belongs to one row; else its halves belong to the rows `g` and `g + 8`.
    has_row: bool,
    ty: ScalarType,
}

impl Indices {
    /// Takes the metadata from those of the lanes from this on that the selector names.
    pub fn of(l: &mut Lowering<'_, '_>, i: &Instruction, product: &Product, first: Value) -> Result<Self> {
        let Operand::Imm(selector) = *l.operand(i, 5) else {
            return Err(Diagnostic::internal("a sparse product without a selector", i.span));
        };
        let metadata = l.int(i, 4, ScalarType::B32)?;
        let lanes = u64::from(product.index_lanes());
        let mut words = Vec::new();
        for next in 0..lanes {
            words.push(from_lane(l, metadata, l.b.add_const(first, selector * lanes + next)));
        }
        Ok(Self { metadata: words, has_row: product.has_narrow_factors(), ty: product.ty(Matrix::A) })
    }

    /// The four bits of a four, lowest, by its number in the row `g` or `g + 8`.
    fn four(&self, l: &mut Lowering<'_, '_>, half: u32, number: u32) -> Value {
        let (word, position) = if self.has_row {
            (half + 2 * (number / 8), number % 8 * 4)
        } else {
            (number / 4, half * 16 + number % 4 * 4)
        };
        // There are words for all fours.
        l.b.shr(self.metadata[word as usize], position)
    }

    /// The factors of a column of B for the elements of the row `g` or `g + 8`.
    pub fn kept(&self, l: &mut Lowering<'_, '_>, half: u32, column: &Line) -> Line {
        match self.ty {
            // Four halves are the lower and the upper half of a register, and belong to the lower or upper half of one of A.
            ScalarType::E4m3 | ScalarType::E5m2 if column.len() == 2 => {
                let [low, high] = column.as_slice() else { return Line::new() };
                let mut kept = vec![Vec::new(), Vec::new()];
                for (number, (&low, &high)) in (0..).zip(low.iter().zip(high)) {
                    let four = self.four(l, half, number);
                    let word = halves(l, four, low, high);
                    kept[number as usize % 2].push(word); // there are two
                }
                kept
            }
            ScalarType::F16 | ScalarType::Bf16 | ScalarType::Tf32 => {
                column.iter().map(|words| self.halves(l, half, words)).collect()
            }
            _ => column.iter().map(|words| self.bytes(l, half, words)).collect(),
        }
    }

    fn halves(&self, l: &mut Lowering<'_, '_>, half: u32, words: &[Value]) -> Vec<Value> {
        let fours = (0..).zip(words.chunks(2));
        let kept = fours.filter_map(|(number, four)| {
            let [low, high] = *four else { return None };
            let indices = self.four(l, half, number);
            if self.ty == ScalarType::Tf32 {
                let is_high = upper(l, indices);
                return Some(l.b.select(is_high, high, low));
            }
            Some(halves(l, indices, low, high))
        });
        kept.collect()
    }

    fn bytes(&self, l: &mut Lowering<'_, '_>, half: u32, words: &[Value]) -> Vec<Value> {
        let mut kept = Vec::new();
        for (number, fours) in (0..).step_by(2).zip(words.chunks(2)) {
            let mut word = l.b.i32(0);
            for (next, &four) in (0..).zip(fours) {
                let indices = self.four(l, half, number + next);
                for place in 0..2 {
                    let index = l.b.and_const(l.b.shr(indices, 2 * place), 3);
                    let byte = l.b.and_const(l.b.shr_by(four, l.b.shl(index, 3)), 0xff);
                    word = l.b.or(word, l.b.shl(byte, 16 * next + 8 * place));
                }
            }
            kept.push(word);
        }
        kept
    }
}

/// Whether an index points into the upper word.
fn upper(l: &mut Lowering<'_, '_>, index: Value) -> Value {
    l.b.is_nonzero(l.b.and_const(index, 2))
}

/// Two of the four halves of two words.
fn halves(l: &mut Lowering<'_, '_>, indices: Value, low: Value, high: Value) -> Value {
    let [first, second] = [0, 2].map(|position| {
        let index = l.b.shr(indices, position);
        let is_high = upper(l, index);
        let word = l.b.select(is_high, high, low);
        let shift = l.b.and_const(l.b.shl(index, 4), 16);
        l.b.and_const(l.b.shr_by(word, shift), 0xffff)
    });
    super::matrix::joined(l, first, second)
}
