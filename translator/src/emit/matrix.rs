//! Products of matrices by the device's matrix units (SPV_KHR_cooperative_matrix).

use rspirv::dr::Operand;
use rspirv::spirv::{CooperativeMatrixOperands, CooperativeMatrixUse, Op, Word};

use super::body::Body;
use super::module::Global;
use super::result::Result;
use crate::diagnostic::ErrorKind;
use crate::ir::{Fragments, Type};
use ptx2spv_target::{Feature, MatrixTypes, UnitTypes};

/// Rows of the first factor, and columns of the second.
const ROWS: u32 = 16;
const COLUMNS: u32 = 8;

/// The types of a product, for SPIR-V.
struct Types {
    /// A factor's element, and how many are in a word.
    factor: Global,
    in_word: u32,
    /// An element of a sum.
    sum: Global,
    signs: CooperativeMatrixOperands,
}

impl Types {
    fn new(types: MatrixTypes) -> Option<Self> {
        use CooperativeMatrixOperands as Signs;
        let of_factors = [Signs::MATRIX_A_SIGNED_COMPONENTS_KHR, Signs::MATRIX_B_SIGNED_COMPONENTS_KHR];
        let of_results = Signs::MATRIX_C_SIGNED_COMPONENTS_KHR | Signs::MATRIX_RESULT_SIGNED_COMPONENTS_KHR;
        Some(match types.for_unit()? {
            UnitTypes::Halves { alone } => {
                let sum = Global::Float(if alone { 16 } else { 32 });
                Self { factor: Global::Float(16), in_word: 2, sum, signs: Signs::NONE_KHR }
            }
            UnitTypes::Bytes { are_signed } => {
                let signed =
                    of_factors.into_iter().zip(are_signed).filter_map(|(sign, is_signed)| is_signed.then_some(sign));
                let signs = signed.fold(Signs::NONE_KHR, |signs, sign| signs | sign | of_results);
                Self { factor: Global::Int(8), in_word: 4, sum: Global::Int(32), signs }
            }
        })
    }
}

impl Body<'_, '_, '_> {
    /// The sums.
    pub(super) fn matrix_product(&mut self, types: MatrixTypes, fragments: Fragments) -> Result<[Word; 4]> {
        let lacking = || ErrorKind::Internal("a product of matrices that has no unit".into());
        let Types { factor, in_word, sum, signs } = Types::new(types).ok_or_else(lacking)?;
        let narrow = if in_word == 4 { Feature::ShaderInt8 } else { Feature::ShaderInt16 };
        self.module.need(narrow, "the device's products of matrices")?;
        let Fragments { a: [low, high, low_next, high_next], b, c } = fragments;
        let c = c.map(|word| self.value(word));
        // All words of a row lie together here.
        let rows = [low, low_next, high, high_next].map(|word| self.value(word));
        let columns = b.map(|word| self.value(word));
        let depth = 8 * in_word;
        let a = self.matrix(factor, [ROWS, depth], CooperativeMatrixUse::MatrixAKHR, &rows)?;
        let b = self.matrix(factor, [depth, COLUMNS], CooperativeMatrixUse::MatrixBKHR, &columns)?;
        let c = self.matrix(sum, [ROWS, COLUMNS], CooperativeMatrixUse::MatrixAccumulatorKHR, &c)?;
        let ty = self.matrix_type(sum, [ROWS, COLUMNS], CooperativeMatrixUse::MatrixAccumulatorKHR)?;
        let mut operands = [a, b, c].map(Operand::IdRef).to_vec();
        if !signs.is_empty() {
            operands.push(Operand::CooperativeMatrixOperands(signs));
        }
        let product = self.result(Op::CooperativeMatrixMulAddKHR, ty, operands);
        let mut sums = [0; 4];
        for (number, word) in (0..).zip(&mut sums) {
            *word = self.sum_word(sum, product, number)?;
        }
        self.matrices.insert((ty, sums.to_vec()), product);
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
