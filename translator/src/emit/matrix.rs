//! Products of matrices by the device's matrix units (SPV_KHR_cooperative_matrix).

use rspirv::dr::Operand;
use rspirv::spirv::{CooperativeMatrixOperands, CooperativeMatrixUse, Op, Word};

use super::body::Body;
use super::module::Global;
use super::result::Result;
use crate::diagnostic::ErrorKind;
use crate::ir::{self, Fragments, Stmt, SubgroupOp, Type, Value};
use ptx2spv_target::{Feature, MatrixTypes, UnitTypes};

/// The types of a product, for SPIR-V.
struct Types {
    /// A factor's element type, and the number of elements in a word.
    factor: Global,
    in_word: u32,
    /// An element of a sum.
    sum: Global,
    signs: CooperativeMatrixOperands,
    /// See [`UnitTypes::shape`].
    shape: [u32; 3],
}

impl Types {
    fn new(types: MatrixTypes) -> Option<Self> {
        use CooperativeMatrixOperands as Signs;
        let of_factors = [Signs::MATRIX_A_SIGNED_COMPONENTS_KHR, Signs::MATRIX_B_SIGNED_COMPONENTS_KHR];
        let of_results = Signs::MATRIX_C_SIGNED_COMPONENTS_KHR | Signs::MATRIX_RESULT_SIGNED_COMPONENTS_KHR;
        let unit = types.for_unit()?;
        let shape = unit.shape();
        Some(match unit {
            UnitTypes::Halves { alone } => {
                let sum = Global::Float(if alone { 16 } else { 32 });
                Self { factor: Global::Float(16), in_word: 2, sum, signs: Signs::NONE_KHR, shape }
            }
            UnitTypes::Bfloats => {
                Self { factor: Global::Bfloat16, in_word: 2, sum: Global::Float(32), signs: Signs::NONE_KHR, shape }
            }
            UnitTypes::Bytes { are_signed } => {
                let signed =
                    of_factors.into_iter().zip(are_signed).filter_map(|(sign, is_signed)| is_signed.then_some(sign));
                let signs = signed.fold(Signs::NONE_KHR, |signs, sign| signs | sign | of_results);
                Self { factor: Global::Int(8), in_word: 4, sum: Global::Int(32), signs, shape }
            }
        })
    }
}

/// A product and its results.
pub(super) type Product<'f> = (&'f [Value], MatrixTypes, Fragments);

/// Two products that a unit has at once.
pub(super) struct Pair<'f> {
    /// The statements between the two products, which need nothing of the first.
    pub(super) between: &'f [Stmt],
    pub(super) products: [Product<'f>; 2],
    /// The statements after the two products.
    pub(super) rest: &'f [Stmt],
}

/// The pair that a statement begins before others, if it does.
pub(super) fn pair<'f>(stmt: &'f Stmt, after: &'f [Stmt]) -> Option<Pair<'f>> {
    let first @ (results, types, tile) = product(stmt)?;
    let is_free = |stmt: &&Stmt| matches!(stmt, Stmt::At(_) | Stmt::Let(_, ir::Op::Get(_) | ir::Op::Const(_)));
    let (between, after) = after.split_at_checked(after.iter().take_while(is_free).count())?;
    let (next, rest) = after.split_first()?;
    let second @ (_, others, other) = product(next)?;
    let needs_first = other.b.iter().chain(&other.c).any(|word| results.contains(word));
    let is_pair = types.tiles_of_unit() > 1 && types == others && tile.a == other.a && !needs_first;
    is_pair.then_some(Pair { between, products: [first, second], rest })
}

fn product(stmt: &Stmt) -> Option<Product<'_>> {
    let Stmt::Subgroup(results, SubgroupOp::MatrixProduct(types, fragments)) = stmt else { return None };
    Some((results, *types, *fragments))
}

/// An invocation's words of matrices that are the columns of one: of each line, which has two of every matrix, all lie together. A matrix stands for those that are
/// lacking.
fn beside<const N: usize>(tiles: &[[Word; N]], count: u32) -> Vec<Word> {
    let mut words = Vec::new();
    for first in (0..N).step_by(2) {
        for tile in tiles.iter().cycle().take(count as usize) {
            words.extend(tile.iter().skip(first).take(2));
        }
    }
    words
}

impl Body<'_, '_, '_> {
    /// Products of the same types and the same first factor, as many as the unit has at once or less.
    pub(super) fn matrix_products(&mut self, products: &[Product<'_>]) -> Result<()> {
        let Some((_, types, _)) = products.first() else { return Ok(()) };
        let tiles: Vec<Fragments> = products.iter().map(|(.., tile)| *tile).collect();
        let sums = self.sums_of_products(*types, &tiles)?;
        for ((results, ..), sums) in products.iter().zip(sums) {
            results.iter().zip(sums).for_each(|(result, sum)| self.set_value(*result, sum));
        }
        Ok(())
    }

    /// The sums of products of the same first factor.
    fn sums_of_products(&mut self, types: MatrixTypes, tiles: &[Fragments]) -> Result<Vec<[Word; 4]>> {
        let lacking = || ErrorKind::Internal("a product of matrices that has no unit".into());
        let Types { factor, in_word, sum, signs, shape } = Types::new(types).ok_or_else(lacking)?;
        let [rows, columns, depth] = shape;
        let narrow = if in_word == 4 { Feature::ShaderInt8 } else { Feature::ShaderInt16 };
        self.module.need(narrow, "the device's products of matrices")?;
        let [low, high, low_next, high_next] = tiles.first().ok_or_else(lacking)?.a;
        // All words of a row lie together here.
        let a = [low, low_next, high, high_next].map(|word| self.value(word));
        let tiles_at_once = types.tiles_of_unit();
        let b: Vec<_> = tiles.iter().map(|tile| tile.b.map(|word| self.value(word))).collect();
        let c: Vec<_> = tiles.iter().map(|tile| tile.c.map(|word| self.value(word))).collect();
        let a = self.matrix(factor, [rows, depth], CooperativeMatrixUse::MatrixAKHR, &a)?;
        let b = beside(&b, tiles_at_once);
        let b = self.matrix(factor, [depth, columns], CooperativeMatrixUse::MatrixBKHR, &b)?;
        let c = beside(&c, tiles_at_once);
        let c = self.matrix(sum, [rows, columns], CooperativeMatrixUse::MatrixAccumulatorKHR, &c)?;
        let ty = self.matrix_type(sum, [rows, columns], CooperativeMatrixUse::MatrixAccumulatorKHR)?;
        let mut operands = [a, b, c].map(Operand::IdRef).to_vec();
        if !signs.is_empty() {
            operands.push(Operand::CooperativeMatrixOperands(signs));
        }
        let product = self.result(Op::CooperativeMatrixMulAddKHR, ty, operands);
        let mut sums = vec![[0; 4]; tiles.len()];
        for (tile, words) in (0..).zip(&mut sums) {
            for (row, pair) in (0..).zip(words.chunks_mut(2)) {
                for (next, word) in (0..).zip(pair) {
                    *word = self.sum_word(sum, product, 2 * (row * tiles_at_once + tile) + next)?;
                }
            }
        }
        self.matrices.insert((ty, beside(&sums, tiles_at_once)), product);
        Ok(sums)
    }

    /// The elements of words, by shifts: the driver for which this is makes less of vectors.
    fn elements(&mut self, element: Global, in_word: u32, words: &[Word]) -> Result<Vec<Word>> {
        let bits = 32 / in_word;
        let word_type = self.ty(Type::I32)?;
        let integer = self.module.global(Global::Int(bits))?;
        let ty = self.module.global(element)?;
        let mut elements = Vec::new();
        for &word in words {
            for position in (0..32).step_by(bits as usize) {
                let shifted = if position == 0 {
                    word
                } else {
                    let amount = self.module.u32_constant(position)?;
                    self.compute(Op::ShiftRightLogical, word_type, &[word, amount])
                };
                let narrow = self.compute(Op::UConvert, integer, &[shifted]);
                elements.push(if ty == integer { narrow } else { self.compute(Op::Bitcast, ty, &[narrow]) });
            }
        }
        Ok(elements)
    }

    fn matrix_type(&mut self, element: Global, size: [u32; 2], place: CooperativeMatrixUse) -> Result<Word> {
        let element = self.module.global(element)?;
        self.module.global(Global::Matrix(element, size, place))
    }

    /// A matrix whose elements of this invocation these words have: of a sum one each, of a factor as many as there is room for.
    fn matrix(&mut self, element: Global, size: [u32; 2], place: CooperativeMatrixUse, words: &[Word]) -> Result<Word> {
        let ty = self.matrix_type(element, size, place)?;
        let key = (ty, words.to_vec());
        if let Some(&made) = self.matrices.get(&key) {
            return Ok(made);
        }
        let elements = match (place, element) {
            (CooperativeMatrixUse::MatrixAccumulatorKHR, Global::Float(16)) => {
                self.elements(element, 2, words)?.into_iter().step_by(2).collect()
            }
            (CooperativeMatrixUse::MatrixAccumulatorKHR, Global::Float(_)) => {
                let ty = self.module.global(element)?;
                words.iter().map(|&word| self.compute(Op::Bitcast, ty, &[word])).collect()
            }
            (CooperativeMatrixUse::MatrixAccumulatorKHR, _) => words.to_vec(),
            (_, Global::Int(bits) | Global::Float(bits)) => self.elements(element, 32 / bits, words)?,
            (_, Global::Bfloat16) => self.elements(element, 2, words)?,
            _ => Vec::new(),
        };
        let first = elements.first().copied().unwrap_or_default();
        let mut matrix = self.compute(Op::CompositeConstruct, ty, &[first]);
        for (number, &element) in (0..).zip(&elements).skip(1) {
            let operands = vec![Operand::IdRef(element), Operand::IdRef(matrix), Operand::LiteralBit32(number)];
            matrix = self.result(Op::CompositeInsert, ty, operands);
        }
        self.matrices.insert(key, matrix);
        Ok(matrix)
    }

    fn sum_word(&mut self, element: Global, sums: Word, number: u32) -> Result<Word> {
        let word = self.ty(Type::I32)?;
        let ty = self.module.global(element)?;
        let sum = self.component(ty, sums, number);
        Ok(match element {
            Global::Float(16) => {
                let integer = self.module.global(Global::Int(16))?;
                let bits = self.compute(Op::Bitcast, integer, &[sum]);
                self.compute(Op::UConvert, word, &[bits])
            }
            Global::Float(_) => self.compute(Op::Bitcast, word, &[sum]),
            _ => sum,
        })
    }
}
