//! Fragments: the parts of a matrix that the lanes of a warp hold (PTX sections 9.7.14.4 and 9.7.14.5).
//!
//! There is one rule for all shapes and types. The lines of A are its rows, those of B its columns. Lane `4 g + t` holds of eight lines the one with
//! number `g`. A register holds neighbours in the direction of the sum, and the registers of lanes with `t` from 0 to 3 follow each other. Such
//! blocks of eight lines come in pairs where a matrix has 16 lines or more: then the next registers hold eight lines more, and those after them
//! what follows in the direction of the sum. Only one of A and B comes in pairs, the taller one. The elements of C and D in a lane are two
//! neighbours in the line `g` of the taller one, of the other's lines `2 t` and `2 t + 1`.
//!
//! `m8n8k4` on f16 is another thing: `lower::thread::quads` has its fragments.
//!
//! Of a product of a warpgroup, each of its four warps has 16 rows by this rule (PTX section 9.7.15.5.1.1).
//!
//! PTX leaves fragments of `wmma` to the hardware. An H200 has them by the same rule in each shape of f16, bf16, tf32 and f64.

use super::modifiers::{Fragment, Modifiers, Shape};
use super::types::ScalarType;
use super::word::Word;

/// The rows that each warp of a warpgroup has.
pub const WARP_ROWS: u32 = 16;

/// The matrix of `D = A B + C` that an operand is a fragment of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "as the manual has them")]
pub enum Matrix {
    D,
    A,
    B,
    C,
}

impl Matrix {
    /// The operand's number among the types of an instruction, D's first, and among its operands.
    pub fn number(self) -> usize {
        self as usize
    }
}

impl From<Fragment> for Matrix {
    fn from(named: Fragment) -> Self {
        match named {
            Fragment::A => Self::A,
            Fragment::B => Self::B,
            Fragment::C => Self::C,
            Fragment::D => Self::D,
        }
    }
}

/// Matrices of a product, or one of them, that an instruction is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Product {
    /// Rows of A, C and D; those of one warp where a warpgroup has 64.
    pub rows: u32,
    /// Columns of B, C and D.
    pub columns: u32,
    /// Rows of B, and columns of A unless half of them are left out.
    pub depth: u32,
    /// Whether A has only the half of its elements that aren't zero.
    pub is_sparse: bool,
    /// Whether the product is one of a warpgroup, or a part of such a product.
    pub is_of_warpgroup: bool,
    /// Types of D, A, B and C.
    types: [ScalarType; 4],
}

/// The part of A or B that a register of all lanes holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// The first of eight lines.
    pub line: u32,
    /// The place in the direction of the sum.
    pub start: u32,
}

/// The place of the elements of C and D with one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element {
    /// The first of eight lines of the taller factor; lane `4 g + t` has line `g` of them.
    pub line: u32,
    /// The first of eight lines of the other factor; lane `4 g + t` has line `2 t + next` of them.
    pub across: u32,
    /// 0 or 1.
    pub next: u32,
}

impl Product {
    /// The product of modifiers, if they belong to an instruction on fragments.
    pub fn of(modifiers: &Modifiers) -> Option<Self> {
        let [rows, columns, depth] = modifiers.shape()?.extent();
        let is_of_warpgroup = modifiers.has(Word::MmaAsync);
        let rows = if is_of_warpgroup { rows.min(WARP_ROWS) } else { rows };
        let types = match *modifiers.types.as_slice() {
            // A matrix alone.
            [ty] => [ty; 4],
            // `wmma` doesn't name the types of f16 factors.
            [d, c] => [d, ScalarType::F16, ScalarType::F16, c],
            // The sums of `wgmma` replace their addends.
            [d, a, b] => [d, a, b, d],
            [d, a, b, c] => [d, a, b, c],
            _ => return None,
        };
        Some(Self { rows, columns, depth, is_sparse: modifiers.sparsity().is_some(), is_of_warpgroup, types })
    }

    /// The shape of a warp's part of so many columns.
    pub fn tile(&self, columns: u32) -> Option<Word> {
        Word::from_text(&format!("m{}n{columns}k{}", self.rows, self.depth))
    }

    /// The type of a matrix' elements.
    pub fn ty(&self, matrix: Matrix) -> ScalarType {
        self.types[matrix.number()] // there are four
    }

    /// Rows of A, columns of B.
    fn lines(&self, matrix: Matrix) -> u32 {
        if matrix == Matrix::B { self.columns } else { self.rows }
    }

    /// Whether the columns of B are held as rows of A are otherwise.
    pub fn is_transposed(&self) -> bool {
        self.columns > 16 && self.rows < WARP_ROWS
    }

    /// Whether the instruction computes four products at once.
    pub fn is_of_quads(&self) -> bool {
        [self.rows, self.columns, self.depth] == [8, 8, 4] && self.ty(Matrix::A) == ScalarType::F16
    }

    /// The factor whose lines may be held in pairs of blocks, and the other one.
    pub fn tall_and_wide(&self) -> (Matrix, Matrix) {
        if self.is_transposed() { (Matrix::B, Matrix::A) } else { (Matrix::A, Matrix::B) }
    }

    /// The number of blocks of eight lines that follow each other in registers.
    fn paired(&self, matrix: Matrix) -> u32 {
        if (matrix == Matrix::B) == self.is_transposed() && self.lines(matrix) > 8 { 2 } else { 1 }
    }

    /// The number of elements in a register.
    pub fn elements_of_register(&self, matrix: Matrix) -> u32 {
        (32 / self.ty(matrix).bits()).max(1)
    }

    /// The contents of the registers of A or B.
    pub fn blocks(&self, matrix: Matrix) -> Vec<Block> {
        let paired = self.paired(matrix);
        let depth = if self.is_sparse && matrix == Matrix::A { self.depth / 2 } else { self.depth };
        let mut blocks = Vec::new();
        for group in (0..self.lines(matrix)).step_by(8 * paired as usize) {
            for start in (0..depth).step_by(4 * self.elements_of_register(matrix) as usize) {
                blocks.extend((0..paired).map(|half| Block { line: group + 8 * half, start }));
            }
        }
        blocks
    }

    /// The places of the elements of C and D.
    pub fn elements(&self) -> Vec<Element> {
        let (tall, wide) = self.tall_and_wide();
        let paired = self.paired(tall);
        let mut elements = Vec::new();
        for group in (0..self.lines(tall)).step_by(8 * paired as usize) {
            for across in (0..self.lines(wide)).step_by(8) {
                for half in 0..paired {
                    elements.extend([0, 1].map(|next| Element { line: group + 8 * half, across, next }));
                }
            }
        }
        elements
    }

    /// The length of a row or column of a matrix.
    pub fn neighbours(&self, matrix: Matrix, of_row: bool) -> u32 {
        match (matrix, of_row) {
            (Matrix::A, true) | (Matrix::B, false) => self.depth,
            (Matrix::B | Matrix::C | Matrix::D, true) => self.columns,
            (Matrix::A | Matrix::C | Matrix::D, false) => self.rows,
        }
    }

    /// The number of registers of each lane that hold a matrix, and their type.
    pub fn registers(&self, matrix: Matrix) -> (usize, ScalarType) {
        let ty = self.ty(matrix);
        let count = match matrix {
            // As many for each shape of `wmma`. Those that no element is left for repeat the others.
            Matrix::A | Matrix::B
                if ty == ScalarType::F16 && self.rows * self.columns == 256 && !self.is_of_warpgroup =>
            {
                8
            }
            Matrix::A | Matrix::B if self.is_of_quads() => 2,
            Matrix::C | Matrix::D if self.is_of_quads() => 8 / self.elements_of_register(matrix) as usize,
            Matrix::A | Matrix::B => self.blocks(matrix).len(),
            Matrix::C | Matrix::D => self.elements().len() / self.elements_of_register(matrix) as usize,
        };
        let register = match ty {
            ScalarType::F32 | ScalarType::F64 | ScalarType::S32 => ty,
            _ => ScalarType::B32,
        };
        (count, register)
    }

    /// The number of lanes of each four that hold the indices of the kept elements of a sparse A.
    pub fn index_lanes(&self) -> u32 {
        // Two indices of two bits for each 32 bits of a row, or for each 16 where the elements are no wider than a byte.
        let bits = self.depth / 2 * self.ty(Matrix::A).bits();
        let groups = bits / if self.has_narrow_factors() { 16 } else { 32 };
        groups * self.rows * 4 / (32 * 8)
    }

    /// Whether A's elements are no wider than a byte.
    pub fn has_narrow_factors(&self) -> bool {
        self.ty(Matrix::A).bits() <= 8
    }
}

impl Shape {
    /// Rows of D and A, columns of D and B, and how many products each element of D is the sum of.
    fn extent(self) -> [u32; 3] {
        let text = self.word().text();
        let mut numbers = text.split(['m', 'n', 'k']).filter_map(|number| number.parse().ok());
        std::array::from_fn(|_| numbers.next().unwrap_or(0))
    }
}

/// Whether a matrix, or a factor of `wmma.mma`, lies in memory by rows.
pub fn is_by_rows(modifiers: &Modifiers) -> bool {
    modifiers.words.iter().find(|word| matches!(word, Word::Row | Word::Col)) == Some(&Word::Row)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn product(shape: Word, types: [ScalarType; 4]) -> Product {
        Product::of(&Modifiers { types: types.to_vec(), words: vec![shape] }).expect("a shape")
    }

    #[test]
    fn blocks_and_elements() {
        use ScalarType::{F16, F32};
        let a = |line, start| Block { line, start };
        let mma = product(Word::M16n8k16, [F32, F16, F16, F32]);
        assert_eq!(mma.blocks(Matrix::A), [a(0, 0), a(8, 0), a(0, 8), a(8, 8)]);
        assert_eq!(mma.blocks(Matrix::B), [a(0, 0), a(0, 8)]);
        let wide = product(Word::M8n32k16, [F32, F16, F16, F32]);
        assert!(wide.is_transposed());
        let mut words = vec![Word::MmaAsync];
        words.extend(Word::from_text("m64n24k16"));
        let modifiers = Modifiers { types: vec![F16, F16, F16], words };
        let warpgroup = Product::of(&modifiers).expect("a shape");
        assert_eq!(warpgroup.blocks(Matrix::A), mma.blocks(Matrix::A));
        assert_eq!((warpgroup.registers(Matrix::A).0, warpgroup.registers(Matrix::D).0), (4, 6));
        assert_eq!(warpgroup.tile(8), Some(Word::M16n8k16));
        assert_eq!(wide.blocks(Matrix::A), [a(0, 0), a(0, 8)]);
        assert_eq!(wide.blocks(Matrix::B)[..4], mma.blocks(Matrix::A));
        let places: Vec<_> = wide.elements().iter().map(|place| (place.line, place.across, place.next)).collect();
        assert_eq!(
            places,
            [(0, 0, 0), (0, 0, 1), (8, 0, 0), (8, 0, 1), (16, 0, 0), (16, 0, 1), (24, 0, 0), (24, 0, 1)]
        );
    }
}
