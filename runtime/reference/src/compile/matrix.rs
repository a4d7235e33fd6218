//! Matrices, which are lists of columns, and products with vectors.

use rspirv::spirv::Op;

use super::Result;
use super::compiler::Compiler;
use super::layout::Kind;
use super::value::Cells;
use crate::code::{Binary, Inst, Slot, Unary};
use crate::module::{Instruction, rule};

/// A matrix of floats.
struct Matrix {
    bits: u8,
    columns: usize,
    rows: usize,
    /// The columns, one after another.
    cells: Cells,
}

impl Matrix {
    fn at(&self, column: usize, row: usize) -> Slot {
        // There is a cell for each row of each column.
        self.cells[column * self.rows + row]
    }

    fn column(&self, column: usize) -> &[Slot] {
        &self.cells[column * self.rows..(column + 1) * self.rows]
    }

    fn row(&self, row: usize) -> Vec<Slot> {
        (0..self.columns).map(|column| self.at(column, row)).collect()
    }
}

impl Compiler<'_> {
    /// Compiles a product or `OpTranspose`. Returns whether it is one.
    pub(super) fn matrix_operation(&mut self, inst: &Instruction<'_>) -> Result<bool> {
        let cells = match inst.op {
            Op::Dot => {
                let (a, b) = (self.vector_operand(inst, 0)?, self.vector_operand(inst, 1)?);
                vec![self.dot_of(inst, &a, &b)?]
            }
            Op::VectorTimesScalar | Op::MatrixTimesScalar => {
                let a = self.vector_operand(inst, 0)?;
                let b = self.vector_operand(inst, 1)?;
                if b.bits != a.bits || b.cells.len() != 1 {
                    return Err(inst.refuse(rule::UNIVERSAL, "has operands of different types"));
                }
                self.scale(Binary::FMul, a.bits, &a.cells, b.cells[0])?
            }
            Op::MatrixTimesVector => {
                let (a, b) = (self.vector_operand(inst, 0)?, self.vector_operand(inst, 1)?);
                self.product(inst, &a, &b)?
            }
            Op::MatrixTimesMatrix => {
                let (a, b) = (self.vector_operand(inst, 0)?, self.vector_operand(inst, 1)?);
                self.product(inst, &a, &b)?
            }
            Op::VectorTimesMatrix => {
                let (a, b) = (self.vector_operand(inst, 0)?, self.vector_operand(inst, 1)?);
                let row = Matrix { columns: a.rows, rows: 1, ..a };
                self.product(inst, &row, &b)?
            }
            Op::OuterProduct => {
                let (a, b) = (self.vector_operand(inst, 0)?, self.vector_operand(inst, 1)?);
                let row = Matrix { columns: b.rows, rows: 1, ..b };
                self.product(inst, &a, &row)?
            }
            Op::Transpose => {
                let a = self.vector_operand(inst, 0)?;
                (0..a.rows).flat_map(|row| a.row(row)).collect()
            }
            _ => return Ok(false),
        };
        self.float_result(inst, cells)?;
        Ok(true)
    }

    /// Defines a result of the same float type as the first operand.
    fn float_result(&mut self, inst: &Instruction<'_>, cells: Vec<Slot>) -> Result<()> {
        let scalar = self.layouts.leaves(self.type_of(inst.operand(0)?)?, None)?.first().map(|leaf| leaf.1);
        if self.layouts.leaves(inst.ty, None)?.iter().any(|leaf| Some(leaf.1) != scalar) {
            return Err(inst.refuse(rule::UNIVERSAL, "has a result of another type"));
        }
        self.result(inst, cells)
    }

    /// A float operand. Vectors and scalars are matrices with one column.
    fn vector_operand(&mut self, inst: &Instruction<'_>, index: usize) -> Result<Matrix> {
        let id = inst.operand(index)?;
        let ty = self.type_of(id)?;
        let (column, columns) = match self.layouts.get(ty)?.kind {
            Kind::Matrix { column, count } => (column, count),
            _ => (ty, 1),
        };
        let (scalar, rows) = self.layouts.vector(column)?;
        if !scalar.is_float() {
            return Err(inst.refuse(rule::UNIVERSAL, "has operands that are not floats"));
        }
        let cells = self.cells(id)?;
        Ok(Matrix { bits: scalar.bits(), columns: columns as usize, rows: rows as usize, cells })
    }

    fn dot_of(&mut self, inst: &Instruction<'_>, a: &Matrix, b: &Matrix) -> Result<Slot> {
        if a.bits != b.bits || a.cells.len() != b.cells.len() {
            return Err(inst.refuse(rule::UNIVERSAL, "has operands of different types"));
        }
        self.dot(a.bits, &a.cells, &b.cells)
    }

    fn product(&mut self, inst: &Instruction<'_>, a: &Matrix, b: &Matrix) -> Result<Vec<Slot>> {
        if a.columns != b.rows || a.bits != b.bits {
            return Err(inst.refuse(rule::UNIVERSAL, "has operands of shapes that don't fit each other"));
        }
        let mut cells = Vec::with_capacity(a.rows * b.columns);
        for column in 0..b.columns {
            for row in 0..a.rows {
                cells.push(self.dot(a.bits, &a.row(row), b.column(column))?);
            }
        }
        Ok(cells)
    }

    fn square(&mut self, inst: &Instruction<'_>) -> Result<Matrix> {
        let matrix = self.vector_operand(inst, 0)?;
        if matrix.rows != matrix.columns || matrix.rows < 2 {
            return Err(inst.refuse(rule::UNIVERSAL, "is for square matrices"));
        }
        Ok(matrix)
    }

    pub(super) fn determinant(&mut self, inst: &Instruction<'_>) -> Result<()> {
        let matrix = self.square(inst)?;
        let all: Vec<usize> = (0..matrix.rows).collect();
        let determinant = self.minor(&matrix, &all, &all)?;
        self.float_result(inst, vec![determinant])
    }

    /// The adjugate divided by the determinant.
    pub(super) fn inverse(&mut self, inst: &Instruction<'_>) -> Result<()> {
        let matrix = self.square(inst)?;
        let (size, bits) = (matrix.rows, matrix.bits);
        let all: Vec<usize> = (0..size).collect();
        let determinant = self.minor(&matrix, &all, &all)?;
        let mut cells = Vec::with_capacity(size * size);
        for column in 0..size {
            for row in 0..size {
                // The cofactor at the transposed position.
                let mut cofactor = self.minor(&matrix, &without(&all, row), &without(&all, column))?;
                if (column + row) % 2 == 1 {
                    cofactor = self.emit.compute(|d| Inst::Unary { op: Unary::FNegate, bits, d, a: cofactor })?;
                }
                cells.push(self.apply(Binary::FDiv, bits, cofactor, determinant)?);
            }
        }
        self.float_result(inst, cells)
    }

    /// The determinant of a selection of columns and rows, at most 4 each, expanded along the first column.
    fn minor(&mut self, matrix: &Matrix, columns: &[usize], rows: &[usize]) -> Result<Slot> {
        let Some((&column, columns)) = columns.split_first() else { return Ok(self.one(matrix.bits)) };
        if let [row] = *rows {
            return Ok(matrix.at(column, row));
        }
        let mut sum = None;
        for (place, &row) in rows.iter().enumerate() {
            let rest = self.minor(matrix, columns, &without(rows, row))?;
            let term = self.apply(Binary::FMul, matrix.bits, matrix.at(column, row), rest)?;
            sum = Some(match sum {
                None => term,
                Some(sum) => {
                    let op = if place % 2 == 0 { Binary::FAdd } else { Binary::FSub };
                    self.apply(op, matrix.bits, sum, term)?
                }
            });
        }
        Ok(sum.unwrap_or_default())
    }
}

fn without(all: &[usize], one: usize) -> Vec<usize> {
    all.iter().copied().filter(|&other| other != one).collect()
}
