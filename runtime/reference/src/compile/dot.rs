//! Integer dot products.

use rspirv::spirv::{Op, PackedVectorFormat};

use super::Result;
use super::compiler::Compiler;
use super::layout::Scalar;
use super::value::Cells;
use crate::code::{Binary, Convert, Inst, Slot};
use crate::module::{Instruction, rule};

/// How the components of both vectors are extended.
fn extensions(op: Op) -> Option<[Convert; 2]> {
    let (s, u) = (Convert::SToS, Convert::UToU);
    Some(match op {
        Op::SDot => [s, s],
        Op::UDot => [u, u],
        Op::SUDot => [s, u],
        _ => return None,
    })
}

impl Compiler<'_> {
    /// Compiles an integer dot product. Returns whether it is one.
    pub(super) fn integer_dot(&mut self, inst: &Instruction<'_>) -> Result<bool> {
        let Some(extensions) = extensions(inst.op) else { return Ok(false) };
        let (result, count) = self.layouts.vector(inst.ty)?;
        let (a, b) = (inst.operand(0)?, inst.operand(1)?);
        let (scalar, components) = self.vector_of(a)?;
        let packed = components == 1;
        if !scalar.is_int() || !result.is_int() || count != 1 || self.vector_of(b)? != (scalar, components) {
            return Err(inst.refuse(rule::UNIVERSAL, "has operands or a result of another type"));
        }
        let format = inst.operands.get(2);
        let four_bytes = format == Some(&(PackedVectorFormat::PackedVectorFormat4x8Bit as u32));
        if packed && (scalar != Scalar::Int(32) || !four_bytes) {
            return Err(inst.refuse(rule::UNIVERSAL, "has scalars that are not vectors of four bytes"));
        }
        let from = if packed { 8 } else { scalar.bits() };
        if result.bits() < from {
            return Err(inst.refuse(rule::UNSUPPORTED, "has a result or components of this width"));
        }
        let to = result.bits();
        let operands = [
            self.components(a, packed, from, to, extensions[0])?,
            self.components(b, packed, from, to, extensions[1])?,
        ];
        let mut sum = None;
        for (&a, &b) in operands[0].iter().zip(&operands[1]) {
            let term = self.apply(Binary::IMul, to, a, b)?;
            sum = Some(match sum {
                None => term,
                Some(sum) => self.apply(Binary::IAdd, to, sum, term)?,
            });
        }
        self.result(inst, [sum.unwrap_or_default()])?;
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
}
