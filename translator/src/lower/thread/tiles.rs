//! Products by tiles of 16 by 8 elements, as matrix units compute them ([`WarpOp::MatrixProduct`]). Elements that a
//! product lacks of a tile are zero, and zeros change no sum.

use super::matrix::{addends, own_lane, set, words};
use super::sums::Terms;
use super::warp;
use crate::decode::program::Instruction;
use crate::diagnostic::Result;
use crate::ir::{Fragments, Type, Value, WarpOp};
use crate::isa::fragments::{Block, Matrix, Product};
use crate::lower::lowering::Lowering;
use ptx2spv_target::MatrixTypes;

/// The registers of a factor, each in the parts that are computed with, and their contents.
struct Factor {
    blocks: Vec<Block>,
    parts: Vec<Vec<Value>>,
}

impl Factor {
    fn of(l: &mut Lowering<'_, '_>, i: &Instruction, product: &Product, matrix: Matrix) -> Result<Self> {
        let words = words(l, i, matrix)?;
        let parts = words.into_iter().map(|word| Terms::parts(l, product, matrix, word)).collect();
        Ok(Self { blocks: product.blocks(matrix), parts })
    }

    /// The starts of blocks in the direction of the sum.
    fn starts(&self) -> Vec<u32> {
        let mut starts: Vec<u32> = self.blocks.iter().map(|block| block.start).collect();
        starts.sort_unstable();
        starts.dedup();
        starts
    }

    fn part(&self, line: u32, start: Option<&u32>, part: usize) -> Option<Value> {
        let wanted = Block { line, start: *start? };
        let (_, parts) = self.blocks.iter().zip(&self.parts).find(|(block, _)| **block == wanted)?;
        parts.get(part).copied()
    }
}

/// The product.
pub fn multiply(
    l: &mut Lowering<'_, '_>,
    i: &Instruction,
    product: &Product,
    terms: Terms,
    types: MatrixTypes,
) -> Result {
    let (tall, wide) = product.tall_and_wide();
    let [tall, wide] = [tall, wide].map(|matrix| Factor::of(l, i, product, matrix));
    let (tall, wide) = (tall?, wide?);
    let addends = addends(l, i, product, Matrix::C)?;
    let elements = product.elements();
    let starts = tall.starts();
    let zero = l.b.i32(0);
    let mut results = vec![zero; elements.len()];
    let mut tiles: Vec<(u32, u32)> = elements.iter().map(|place| (place.line / 16 * 16, place.across)).collect();
    tiles.sort_unstable();
    tiles.dedup();
    for (line, across) in tiles {
        let numbers = [(line, 0), (line, 1), (line + 8, 0), (line + 8, 1)].map(|wanted| {
            elements.iter().position(|place| (place.line, place.next) == wanted && place.across == across)
        });
        let c = numbers.map(|number| number.and_then(|number| addends.get(number).copied()));
        let mut sums = c.map(|addend| addend.map_or(zero, |addend| terms.first(l, addend)));
        for starts in starts.chunks(terms.blocks_at_once()) {
            for part in 0..tall.parts.first().map_or(0, Vec::len) {
                let first = starts.first();
                let second = starts.get(1);
                let of_tall = |line, start| tall.part(line, start, part).unwrap_or(zero);
                let of_wide = |start| wide.part(across, start, part).unwrap_or(zero);
                let fragments = Fragments {
                    a: [(line, first), (line + 8, first), (line, second), (line + 8, second)]
                        .map(|(line, start)| of_tall(line, start)),
                    b: [first, second].map(of_wide),
                    c: sums,
                };
                for fragments in steps(l, terms, fragments) {
                    sums = tile(l, types, Fragments { c: sums, ..fragments });
                }
            }
        }
        for ((number, sum), addend) in numbers.into_iter().zip(sums).zip(c) {
            if let Some((number, addend)) = number.zip(addend) {
                results[number] = terms.last(l, sum, addend); // there are as many results as elements
            }
        }
    }
    set(l, i, product, &results)
}

/// The parts of a tile's factors that are taken one after another.
fn steps(l: &mut Lowering<'_, '_>, terms: Terms, whole: Fragments) -> Vec<Fragments> {
    if !terms.halves_blocks() {
        return vec![whole];
    }
    // Two of the four lanes that hold a line have the first half.
    let lane = own_lane(l);
    let is_second = l.b.is_nonzero(l.b.and_const(lane, 2));
    let zero = l.b.i32(0);
    let first = whole.map(|word| l.b.select(is_second, zero, word));
    let second = whole.map(|word| l.b.select(is_second, word, zero));
    vec![first, second]
}

/// The sums of a tile.
fn tile(l: &mut Lowering<'_, '_>, types: MatrixTypes, fragments: Fragments) -> [Value; 4] {
    warp::by_all(l, WarpOp::MatrixProduct(types, fragments), [Type::I32; 4])
}
