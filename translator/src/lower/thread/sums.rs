//! The sums of products that elements of a product of matrices are (docs/numerics.md).

use crate::decode::program::Instruction;
use crate::diagnostic::Result;
use crate::ir::{Accumulator, Arithmetic, Builder, Factors, MatrixStep, Minifloat, Op, Rounding, Type, Unary, Value};
use crate::isa::fragments::{Matrix, Product};
use crate::isa::modifiers::Operator;
use crate::isa::types::ScalarType;
use crate::isa::word::Word;
use crate::lower::float::{self, float_of};
use crate::lower::integer;
use crate::lower::lowering::Lowering;
use crate::soft::{self, DOUBLE, HALF, Overflow, SINGLE};
use ptx2spv_target::{Generation, MatrixTypes};

/// A row of A or a column of B: its words in the order of the sum, in as many parts as elements of a register are held in.
pub type Line = Vec<Vec<Value>>;

/// The computation of a sum.
#[derive(Clone, Copy)]
pub enum Terms {
    /// An addend and the products of so many words at once, as steps on integers.
    Fused { factors: Factors, words: usize, addend: ScalarType, result: ScalarType },
    /// As products of f16, without the addend: first those of the lower halves of all registers, then the others. Sums may be f16 too.
    Minifloats { are_halves: bool },
    /// Products of bytes, of which A's and B's may be signed.
    Bytes { are_signed: [bool; 2], is_saturated: bool },
    /// Bits that both factors have, or one of them.
    Bits { are_common: bool },
    /// One fused multiply-add after another.
    Doubles(Rounding),
}

impl Terms {
    /// The computation of an instruction's sums.
    pub fn of(product: &Product, i: &Instruction, generation: Option<Generation>) -> Result<Self> {
        let [addend, result] = [Matrix::C, Matrix::D].map(|matrix| product.ty(matrix));
        let most = words_at_once(generation);
        let fused = |factors, words: usize| Self::Fused { factors, words: words.min(most), addend, result };
        Ok(match product.ty(Matrix::A) {
            ScalarType::F16 => fused(Factors::F16, usize::MAX),
            ScalarType::Bf16 => fused(Factors::Bf16, usize::MAX),
            // `wmma` is two instructions.
            ScalarType::Tf32 => fused(Factors::Tf32, if i.modifiers.has(Word::Mma) { 4 } else { usize::MAX }),
            ScalarType::E4m3 | ScalarType::E5m2 if has_own_minifloats(product, generation) => {
                let are_e5m2 = [Matrix::A, Matrix::B].map(|matrix| product.ty(matrix) == ScalarType::E5m2);
                let factors = match are_e5m2 {
                    [false, false] => Factors::E4m3,
                    [false, true] => Factors::E4m3E5m2,
                    [true, false] => Factors::E5m2E4m3,
                    [true, true] => Factors::E5m2,
                };
                fused(factors, usize::MAX)
            }
            ScalarType::E4m3 | ScalarType::E5m2 => Self::Minifloats { are_halves: result == ScalarType::F16 },
            ScalarType::F64 => Self::Doubles(float::rounding(i)),
            ScalarType::B1 => {
                let operator = i.required(i.modifiers.operator())?;
                Self::Bits { are_common: operator == Operator::And }
            }
            _ => {
                let are_signed =
                    [Matrix::A, Matrix::B].map(|matrix| matches!(product.ty(matrix), ScalarType::S8 | ScalarType::S4));
                Self::Bytes { are_signed, is_saturated: i.modifiers.has(Word::Satfinite) }
            }
        })
    }

    /// A register of a factor in parts whose elements have a type that is computed with: bytes of each second four bits, f16 of each second pair
    /// of bytes.
    pub fn parts(l: &mut Lowering<'_, '_>, product: &Product, matrix: Matrix, word: Value) -> Vec<Value> {
        let ty = product.ty(matrix);
        let minifloat = match ty {
            ScalarType::E4m3 | ScalarType::E5m2 if has_own_minifloats(product, l.layout.generation) => {
                return vec![word];
            }
            ScalarType::E4m3 => Minifloat::E4m3,
            ScalarType::E5m2 => Minifloat::E5m2,
            ScalarType::U4 | ScalarType::S4 => return [0, 4].map(|position| fours(l, ty, word, position)).to_vec(),
            _ => return vec![word],
        };
        let parts = [0, 16].map(|position| {
            let half = l.b.shr(word, position);
            l.b.op(Type::I32, Op::Matrix(MatrixStep::Halves(minifloat), half, half, half))
        });
        parts.to_vec()
    }

    /// The number of blocks of four words in the direction of the sum that a matrix unit takes at once.
    pub fn blocks_at_once(self) -> usize {
        match self {
            Self::Fused { words: ..8, .. } => 1,
            _ => 2,
        }
    }

    /// Whether the unit takes the halves of such a block one after the other.
    pub fn halves_blocks(self) -> bool {
        matches!(self, Self::Fused { words: ..4, .. })
    }

    /// Whether sums are f16 throughout.
    fn is_of_halves(self) -> bool {
        match self {
            Self::Fused { addend, result, .. } => addend == ScalarType::F16 && result == ScalarType::F16,
            Self::Minifloats { are_halves } => are_halves,
            Self::Bytes { .. } | Self::Bits { .. } | Self::Doubles(_) => false,
        }
    }

    /// The types by which matrix units compute it, if they do.
    pub fn unit(self) -> Option<MatrixTypes> {
        let is_alone = self.is_of_halves();
        let choose = |alone, wide| Some(if is_alone { alone } else { wide });
        match self {
            Self::Fused { factors: Factors::F16, .. } | Self::Minifloats { .. } => {
                choose(MatrixTypes::F16Alone, MatrixTypes::F16)
            }
            Self::Fused { factors: Factors::Bf16, .. } => Some(MatrixTypes::Bf16),
            Self::Fused { factors: Factors::Tf32, .. } => Some(MatrixTypes::Tf32),
            Self::Fused { factors: Factors::E4m3, .. } => choose(MatrixTypes::E4m3Alone, MatrixTypes::E4m3),
            Self::Fused { factors: Factors::E4m3E5m2, .. } => choose(MatrixTypes::E4m3E5m2Alone, MatrixTypes::E4m3E5m2),
            Self::Fused { factors: Factors::E5m2E4m3, .. } => choose(MatrixTypes::E5m2E4m3Alone, MatrixTypes::E5m2E4m3),
            Self::Fused { factors: Factors::E5m2, .. } => choose(MatrixTypes::E5m2Alone, MatrixTypes::E5m2),
            Self::Bytes { are_signed, .. } => Some(MatrixTypes::of_bytes(are_signed)),
            Self::Bits { .. } | Self::Doubles(_) => None,
        }
    }

    /// The sum of the products of a row and a column and an addend.
    pub fn sum(self, l: &mut Lowering<'_, '_>, row: &Line, column: &Line, addend: Value) -> Value {
        let first = self.first(l, addend);
        let sum = self.add_products(l, row, column, first);
        self.last(l, sum, addend)
    }

    /// The value that the products are added to.
    pub fn first(self, l: &mut Lowering<'_, '_>, addend: Value) -> Value {
        match self {
            Self::Fused { addend: ScalarType::F16, .. } if !self.is_of_halves() => {
                l.b.bits(soft::widen(&l.b, HALF, addend))
            }
            Self::Fused { .. } | Self::Bytes { is_saturated: false, .. } | Self::Bits { .. } | Self::Doubles(_) => {
                addend
            }
            Self::Minifloats { .. } | Self::Bytes { is_saturated: true, .. } => l.b.i32(0),
        }
    }

    /// The result, given the sum of the products and the value of [`Terms::first`].
    pub fn last(self, l: &mut Lowering<'_, '_>, sum: Value, addend: Value) -> Value {
        match self {
            Self::Fused { result: ScalarType::F16, .. } if !self.is_of_halves() => {
                soft::narrow(&l.b, HALF, Rounding::NearestEven, Overflow::Rounded, float_of(l, SINGLE, sum))
            }
            Self::Fused { .. } | Self::Bytes { is_saturated: false, .. } | Self::Bits { .. } | Self::Doubles(_) => sum,
            Self::Minifloats { are_halves: true } => {
                // An f32 has enough bits for the second rounding to make no difference.
                let [sum, addend] = [sum, addend].map(|bits| soft::widen(&l.b, HALF, bits));
                let result = l.b.rounded(Rounding::NearestEven, Arithmetic::Add(sum, addend));
                soft::narrow(&l.b, HALF, Rounding::NearestEven, Overflow::Rounded, result)
            }
            Self::Minifloats { are_halves: false } => {
                let [sum, addend] = [sum, addend].map(|bits| float_of(l, SINGLE, bits));
                let result = l.b.rounded(Rounding::NearestEven, Arithmetic::Add(sum, addend));
                l.b.bits(float::or_nan(l, result, &[addend, sum]))
            }
            Self::Bytes { is_saturated: true, .. } => integer::saturating_add(l, sum, addend),
        }
    }

    fn add_products(self, l: &mut Lowering<'_, '_>, row: &Line, column: &Line, mut sum: Value) -> Value {
        let words = || row.iter().flatten().copied().zip(column.iter().flatten().copied());
        match self {
            Self::Fused { factors, words: at_once, .. } => {
                let accumulator = match (factors, self.is_of_halves()) {
                    (Factors::F16 | Factors::Bf16 | Factors::Tf32, false) => Accumulator::F32,
                    (Factors::F16 | Factors::Bf16 | Factors::Tf32, true) => Accumulator::F16,
                    (_, false) => Accumulator::ShortF32,
                    (_, true) => Accumulator::ShortF16,
                };
                let pairs: Vec<_> = words().collect();
                for pairs in pairs.chunks(at_once) {
                    sum = fused(&l.b, l.layout.generation, (factors, accumulator), pairs, sum);
                }
            }
            Self::Minifloats { are_halves } => {
                let accumulator = if are_halves { Accumulator::F16 } else { Accumulator::F32 };
                for (row, column) in row.iter().zip(column) {
                    let pairs: Vec<_> = row.iter().copied().zip(column.iter().copied()).collect();
                    sum = fused(&l.b, l.layout.generation, (Factors::F16, accumulator), &pairs, sum);
                }
            }
            Self::Bytes { are_signed, .. } => {
                for (a, b) in words() {
                    sum = l.b.add(sum, l.b.dot_of_bytes(a, b, are_signed));
                }
            }
            Self::Bits { are_common } => {
                for (a, b) in words() {
                    let bits = if are_common { l.b.and(a, b) } else { l.b.xor(a, b) };
                    sum = l.b.add(sum, l.b.unary(Unary::BitCount, bits));
                }
            }
            Self::Doubles(rounding) => {
                let mut total = float_of(l, DOUBLE, sum);
                for (a, b) in words() {
                    let [a, b] = [a, b].map(|bits| float_of(l, DOUBLE, bits));
                    let next = l.b.rounded(rounding, Arithmetic::Fma(a, b, total));
                    total = float::or_nan(l, next, &[b, total, a]);
                }
                return l.b.bits(total);
            }
        }
        sum
    }
}

/// The bytes of each second four bits of a word.
fn fours(l: &mut Lowering<'_, '_>, ty: ScalarType, word: Value, position: u32) -> Value {
    let bytes = l.b.and_const(l.b.shr(word, position), 0x0f0f_0f0f);
    if ty == ScalarType::U4 {
        return bytes;
    }
    // The sign of each byte through its upper half.
    l.b.or(bytes, l.b.mul_const(l.b.and_const(bytes, 0x0808_0808), 0x1e))
}

/// The most words of each factor that matrix units take at once; eight are all that an instruction has.
fn words_at_once(generation: Option<Generation>) -> usize {
    match generation {
        Some(Generation::Volta) => 2,
        Some(Generation::Turing | Generation::Ampere | Generation::Ada) => 4,
        Some(Generation::Hopper) | None => usize::MAX,
    }
}

/// Whether the hardware adds products of floats of eight bits; else the floats become f16.
fn has_own_minifloats(product: &Product, generation: Option<Generation>) -> bool {
    product.is_of_warpgroup || !matches!(generation, Some(Generation::Hopper) | None)
}

/// An addend and the products of pairs of words, added at once.
pub fn fused(
    b: &Builder<'_>,
    generation: Option<Generation>,
    (factors, accumulator): (Factors, Accumulator),
    pairs: &[(Value, Value)],
    addend: Value,
) -> Value {
    if generation.is_none() {
        let mut sum = soft::plain_addend(b, accumulator, addend);
        for &(x, y) in pairs {
            sum = soft::add_plain_products(b, factors, x, y, sum);
        }
        return soft::plain_sum(b, accumulator, sum);
    }
    let step = |step, x, y, z| b.op(Type::I32, Op::Matrix(step, x, y, z));
    let mut scale = step(MatrixStep::Start(accumulator), addend, addend, addend);
    for &(x, y) in pairs {
        scale = step(MatrixStep::Scale(factors), x, y, scale);
    }
    let terms: Vec<Value> = pairs.iter().map(|&(x, y)| step(MatrixStep::Sum(factors), x, y, scale)).collect();
    // A term is below 2^28, so that four fit.
    let mut total = b.i64(0);
    for terms in terms.chunks(4) {
        let mut part = b.i32(0);
        for &term in terms {
            part = b.add(part, term);
        }
        total = b.add(total, b.unary(Unary::SignExtend, part));
    }
    b.op(Type::I32, Op::Matrix(MatrixStep::Round(accumulator), addend, scale, total))
}
