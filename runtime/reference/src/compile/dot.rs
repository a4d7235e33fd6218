//! Integer dot products.

use rspirv::spirv::{Op, PackedVectorFormat};

use super::Result;
use super::compiler::Compiler;
use super::layout::Scalar;
use super::value::Cells;
use crate::code::{Binary, Convert, Inst, Slot, Ternary};
use crate::module::{Instruction, rule};

/// The properties of a dot product: extension of both vectors' components, signed sums, and saturating accumulation.
struct Product {
    extend: [Convert; 2],
    signed: bool,
    accumulates: bool,
}

fn product(op: Op) -> Option<Product> {
    let (s, u) = (Convert::SToS, Convert::UToU);
    let (extend, signed) = match op {
        Op::SDot | Op::SDotAccSat => ([s, s], true),
        Op::UDot | Op::UDotAccSat => ([u, u], false),
        Op::SUDot | Op::SUDotAccSat => ([s, u], true),
        _ => return None,
    };
    Some(Product { extend, signed, accumulates: matches!(op, Op::SDotAccSat | Op::UDotAccSat | Op::SUDotAccSat) })
}

impl Compiler<'_> {
    /// Compiles an integer dot product. Returns whether it is one.
    pub(super) fn integer_dot(&mut self, inst: &Instruction<'_>) -> Result<bool> {
        let Some(product) = product(inst.op) else { return Ok(false) };
        let (result, count) = self.layouts.vector(inst.ty)?;
        let (a, b) = (inst.operand(0)?, inst.operand(1)?);
        let (scalar, components) = self.vector_of(a)?;
        let packed = components == 1;
        if !scalar.is_int() || !result.is_int() || count != 1 || self.vector_of(b)? != (scalar, components) {
            return Err(inst.refuse(rule::UNIVERSAL, "has operands or a result of another type"));
        }
        let format = inst.operands.get(if product.accumulates { 3 } else { 2 });
        let four_bytes = format == Some(&(PackedVectorFormat::PackedVectorFormat4x8Bit as u32));
        if packed && (scalar != Scalar::Int(32) || !four_bytes) {
            return Err(inst.refuse(rule::UNIVERSAL, "has scalars that are not vectors of four bytes"));
        }
        let from = if packed { 8 } else { scalar.bits() };
        if result.bits() < from || (product.accumulates && from > 16) {
            return Err(inst.refuse(rule::UNSUPPORTED, "has a result or components of this width"));
        }
        // Saturating sums are computed exactly: 16-bit products and a sum of at most 32 bits fit into 64 bits.
        let to = if product.accumulates { 64 } else { result.bits() };
        let operands = [
            self.components(a, packed, from, to, product.extend[0])?,
            self.components(b, packed, from, to, product.extend[1])?,
        ];
        let mut sum = None;
        for (&a, &b) in operands[0].iter().zip(&operands[1]) {
            let term = self.apply(Binary::IMul, to, a, b)?;
            sum = Some(match sum {
                None => term,
                Some(sum) => self.apply(Binary::IAdd, to, sum, term)?,
            });
        }
        let mut sum = sum.unwrap_or_default();
        if product.accumulates {
            sum = self.saturated(inst, &product, result.bits(), sum)?;
        }
        self.result(inst, [sum])?;
        Ok(true)
    }

    /// The components of a vector, extended to a width.
    fn components(&mut self, id: u32, packed: bool, from: u8, to: u8, op: Convert) -> Result<Vec<Slot>> {
        let cells: Cells = self.cells(id)?;
        let cells = if packed { self.reinterpret(&cells, 32, 8)? } else { cells.to_vec() };
        if from == to {
            return Ok(cells);
        }
        cells.iter().map(|&a| self.emit.compute(|d| Inst::Convert { op, from, to, d, a })).collect()
    }

    /// Adds a 64-bit sum to an accumulator, clamped to the accumulator's range.
    fn saturated(&mut self, inst: &Instruction<'_>, product: &Product, bits: u8, sum: Slot) -> Result<Slot> {
        let id = inst.operand(2)?;
        if self.vector_of(id)? != (Scalar::Int(bits), 1) || bits > 32 {
            return Err(inst.refuse(rule::UNSUPPORTED, "accumulates values of this width"));
        }
        let (extend, clamp) =
            if product.signed { (Convert::SToS, Ternary::SClamp) } else { (Convert::UToU, Ternary::UClamp) };
        let (least, most) = if product.signed {
            let half = 1i64 << (bits - 1);
            (half.wrapping_neg().cast_unsigned(), (half - 1).cast_unsigned())
        } else {
            (0, u64::MAX >> (64 - bits))
        };
        let a = self.scalar(id)?;
        let accumulator = self.emit.compute(|d| Inst::Convert { op: extend, from: bits, to: 64, d, a })?;
        let a = self.apply(Binary::IAdd, 64, sum, accumulator)?;
        let (b, c) = (self.emit.constant(least), self.emit.constant(most));
        let a = self.emit.compute(|d| Inst::Ternary { op: clamp, bits: 64, d, a, b, c })?;
        self.emit.compute(|d| Inst::Convert { op: Convert::UToU, from: 64, to: bits, d, a })
    }
}
