//! `Pack…` and `Unpack…` of `GLSL.std.450`.

use rspirv::spirv::GlslStd450Op as Glsl;

use super::Result;
use super::compiler::Compiler;
use super::layout::Scalar;
use crate::code::{Convert, Inst, Unary};
use crate::module::{Instruction, rule};

/// The operation that packs or unpacks a component, the bits of a packed component, and whether it packs.
fn normalised(function: Glsl) -> Option<(Unary, u8, bool)> {
    Some(match function {
        Glsl::PackSnorm4x8 => (Unary::PackSnorm8, 8, true),
        Glsl::PackUnorm4x8 => (Unary::PackUnorm8, 8, true),
        Glsl::PackSnorm2x16 => (Unary::PackSnorm16, 16, true),
        Glsl::PackUnorm2x16 => (Unary::PackUnorm16, 16, true),
        Glsl::UnpackSnorm4x8 => (Unary::UnpackSnorm8, 8, false),
        Glsl::UnpackUnorm4x8 => (Unary::UnpackUnorm8, 8, false),
        Glsl::UnpackSnorm2x16 => (Unary::UnpackSnorm16, 16, false),
        Glsl::UnpackUnorm2x16 => (Unary::UnpackUnorm16, 16, false),
        _ => return None,
    })
}

impl Compiler<'_> {
    /// Compiles a pack or unpack function. Returns whether it is one.
    pub(super) fn pack(&mut self, inst: &Instruction<'_>, function: Glsl) -> Result<bool> {
        let (half, float, word) = (Scalar::Float(16), Scalar::Float(32), Scalar::Int(32));
        if let Some((op, bits, packs)) = normalised(function) {
            let count = u32::from(32 / bits);
            let cells = if packs {
                let cells = self.shaped(inst, (float, count), (word, 1))?;
                let mut parts = Vec::new();
                for a in cells {
                    parts.push(self.emit.compute(|d| Inst::Unary { op, bits: 32, d, a })?);
                }
                self.reinterpret(&parts, bits, 32)?
            } else {
                let cells = self.shaped(inst, (word, 1), (float, count))?;
                let mut parts = Vec::new();
                for a in self.reinterpret(&cells, 32, bits)? {
                    parts.push(self.emit.compute(|d| Inst::Unary { op, bits, d, a })?);
                }
                parts
            };
            self.result(inst, cells)?;
            return Ok(true);
        }
        let cells = match function {
            Glsl::PackHalf2x16 => {
                let cells = self.shaped(inst, (float, 2), (word, 1))?;
                let halves = self.refloat(&cells, float, half)?;
                self.reinterpret(&halves, 16, 32)?
            }
            Glsl::UnpackHalf2x16 => {
                let cells = self.shaped(inst, (word, 1), (float, 2))?;
                let halves = self.reinterpret(&cells, 32, 16)?;
                self.refloat(&halves, half, float)?
            }
            Glsl::PackDouble2x32 => {
                let cells = self.shaped(inst, (word, 2), (Scalar::Float(64), 1))?;
                self.reinterpret(&cells, 32, 64)?
            }
            Glsl::UnpackDouble2x32 => {
                let cells = self.shaped(inst, (Scalar::Float(64), 1), (word, 2))?;
                self.reinterpret(&cells, 64, 32)?
            }
            _ => return Ok(false),
        };
        self.result(inst, cells)?;
        Ok(true)
    }

    /// The registers of the operand. Checks the shapes of the operand and of the result.
    fn shaped(&mut self, inst: &Instruction<'_>, from: (Scalar, u32), to: (Scalar, u32)) -> Result<Vec<u32>> {
        let id = inst.operand(0)?;
        if self.vector_of(id)? != from || self.layouts.vector(inst.ty)? != to {
            return Err(inst.refuse(rule::UNIVERSAL, "has an operand or a result of another type"));
        }
        Ok(self.cells(id)?.to_vec())
    }

    fn refloat(&mut self, cells: &[u32], from: Scalar, to: Scalar) -> Result<Vec<u32>> {
        let (from, to, op) = (from.bits(), to.bits(), Convert::FToF(None));
        cells.iter().map(|&a| self.emit.compute(|d| Inst::Convert { op, from, to, d, a })).collect()
    }
}
