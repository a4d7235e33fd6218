//! Fragments: the parts of a matrix that the lanes of a warp hold (PTX section 9.7.14).

use super::modifiers::{Modifiers, Shape};
use super::types::ScalarType;

/// Which matrix of `D = A B + C` an operand is a fragment of.
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

impl Shape {
    /// Rows of D and A, columns of D and B, and how many products each element of D is the sum of.
    pub fn extent(self) -> [u32; 3] {
        match self {
            Shape::M16n8k4 => [16, 8, 4],
            Shape::M16n8k8 => [16, 8, 8],
            Shape::M16n8k16 => [16, 8, 16],
        }
    }
}

/// The number of registers of each lane that hold a matrix, and their type.
pub fn registers(modifiers: &Modifiers, matrix: Matrix) -> Option<(usize, ScalarType)> {
    let [rows, columns, depth] = modifiers.shape()?.extent();
    let ty = modifiers.ty(matrix.number())?;
    let elements = match matrix {
        Matrix::D | Matrix::C => rows * columns,
        Matrix::A => rows * depth,
        Matrix::B => depth * columns,
    };
    let register = if ty == ScalarType::F32 { ty } else { ScalarType::B32 };
    Some(((elements * ty.bits() / (32 * 32)) as usize, register))
}
