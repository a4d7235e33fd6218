//! `GLSL.std.450`, and products of vectors: scalar functions are operations of their own, others are composed of these as the specification
//! defines.

use ptx2spv_target::marks;
use rspirv::spirv::{GlslStd450Op as Glsl, Op};

use super::Result;
use super::compiler::Compiler;
use crate::code::{Binary, Inst, Slot, Ternary, Unary};
use crate::module::{Instruction, rule};

fn unary(function: Glsl) -> Option<Unary> {
    Some(match function {
        Glsl::RoundEven => Unary::RoundEven,
        Glsl::Trunc => Unary::Trunc,
        Glsl::FAbs => Unary::FAbs,
        Glsl::Floor => Unary::Floor,
        Glsl::Ceil => Unary::Ceil,
        Glsl::Sin => Unary::Sin,
        Glsl::Cos => Unary::Cos,
        Glsl::Tanh => Unary::Tanh,
        Glsl::Exp => Unary::Exp,
        Glsl::Log => Unary::Log,
        Glsl::Exp2 => Unary::Exp2,
        Glsl::Log2 => Unary::Log2,
        Glsl::Sqrt => Unary::Sqrt,
        Glsl::InverseSqrt => Unary::InverseSqrt,
        Glsl::FindUMsb => Unary::FindUMsb,
        _ => return None,
    })
}

fn binary(function: Glsl) -> Option<Binary> {
    Some(match function {
        Glsl::FMin => Binary::FMin,
        Glsl::UMin => Binary::UMin,
        Glsl::SMin => Binary::SMin,
        Glsl::FMax => Binary::FMax,
        Glsl::UMax => Binary::UMax,
        Glsl::SMax => Binary::SMax,
        Glsl::NMin => Binary::NMin,
        Glsl::NMax => Binary::NMax,
        _ => return None,
    })
}

fn ternary(function: Glsl) -> Option<Ternary> {
    Some(match function {
        Glsl::SClamp => Ternary::SClamp,
        Glsl::NClamp => Ternary::NClamp,
        Glsl::Fma => Ternary::Fma,
        _ => return None,
    })
}

impl Compiler<'_> {
    /// Compiles an extended instruction.
    pub(super) fn extended(&mut self, inst: &Instruction<'_>) -> Result<()> {
        let set = inst.operand(0)?;
        if self.module.is_debug_set(set) {
            return self.mark(inst, set);
        }
        if self.module.set_name(set) != Some("GLSL.std.450") {
            return Err(inst.refuse(rule::UNSUPPORTED, "an instruction set other than GLSL.std.450"));
        }
        let number = inst.operand(1)?;
        let inner = Instruction { operands: inst.rest(2), ..*inst };
        let unknown = || inst.refuse(rule::UNSUPPORTED, format!("instruction {number} of GLSL.std.450"));
        let function = Glsl::from_u32(number).ok_or_else(unknown)?;
        if let Some(op) = unary(function) {
            self.unary(&inner, op)
        } else if let Some(op) = binary(function) {
            self.binary(&inner, op)
        } else if let Some(op) = ternary(function) {
            self.ternary(&inner, op)
        } else {
            match function {
                Glsl::Normalize => self.normalize(&inner),
                Glsl::Reflect => self.reflect(&inner),
                _ => Err(unknown()),
            }
        }
    }

    /// Compiles an instruction without effect of its own, if it is one of [`marks`].
    fn mark(&mut self, inst: &Instruction<'_>, set: u32) -> Result<()> {
        if self.module.set_name(set) == Some(marks::SET) && inst.operand(1)? == marks::ARRIVE {
            let thread = self.scalar(inst.operand(2)?)?;
            let place = self.constant_operand(inst, inst.operand(3)?)? as u32;
            self.emit.emit(Inst::Arrive { thread, place })?;
        }
        Ok(())
    }

    /// The registers of operands that are vectors of floats of one width, and the width.
    fn floats<const N: usize>(&mut self, inst: &Instruction<'_>) -> Result<(u8, [Vec<Slot>; N])> {
        let (scalar, count) = self.vector_of(inst.operand(0)?)?;
        self.expect_result(inst, scalar)?;
        let mut all = std::array::from_fn(|_| Vec::new());
        for (index, cells) in all.iter_mut().enumerate() {
            let id = inst.operand(index)?;
            if !scalar.is_float() || self.vector_of(id)? != (scalar, count) {
                return Err(inst.refuse(rule::UNIVERSAL, "has operands of different types"));
            }
            *cells = self.cells(id)?.to_vec();
        }
        Ok((scalar.bits(), all))
    }

    pub(super) fn apply(&mut self, op: Binary, bits: u8, a: Slot, b: Slot) -> Result<Slot> {
        self.emit.compute(|d| Inst::Binary { op, bits, d, a, b })
    }

    /// An operation on pairs of components.
    fn map2(&mut self, op: Binary, bits: u8, a: &[Slot], b: &[Slot]) -> Result<Vec<Slot>> {
        a.iter().zip(b).map(|(&a, &b)| self.apply(op, bits, a, b)).collect()
    }

    /// An operation on each component and a scalar.
    fn scale(&mut self, op: Binary, bits: u8, a: &[Slot], b: Slot) -> Result<Vec<Slot>> {
        a.iter().map(|&a| self.apply(op, bits, a, b)).collect()
    }

    /// The sum of the products of components.
    fn dot(&mut self, bits: u8, a: &[Slot], b: &[Slot]) -> Result<Slot> {
        let products = self.map2(Binary::FMul, bits, a, b)?;
        self.joined(Binary::FAdd, bits, &products)
    }

    /// Compiles `OpDot` or `OpVectorTimesScalar`. Returns whether the instruction is one of them.
    pub(super) fn vector_product(&mut self, inst: &Instruction<'_>) -> Result<bool> {
        match inst.op {
            Op::Dot => {
                let (bits, [a, b]) = self.floats(inst)?;
                let product = self.dot(bits, &a, &b)?;
                self.result(inst, [product])?;
            }
            Op::VectorTimesScalar => {
                let (vector, scalar) = (inst.operand(0)?, inst.operand(1)?);
                let (kind, _) = self.vector_of(vector)?;
                self.expect_result(inst, kind)?;
                if !kind.is_float() || self.vector_of(scalar)? != (kind, 1) {
                    return Err(inst.refuse(rule::UNIVERSAL, "has operands of different types"));
                }
                let (a, b) = (self.cells(vector)?.to_vec(), self.scalar(scalar)?);
                let product = self.scale(Binary::FMul, kind.bits(), &a, b)?;
                self.result(inst, product)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn normalize(&mut self, inst: &Instruction<'_>) -> Result<()> {
        let (bits, [a]) = self.floats(inst)?;
        let square = self.dot(bits, &a, &a)?;
        let length = self.emit.compute(|d| Inst::Unary { op: Unary::Sqrt, bits, d, a: square })?;
        let normal = self.scale(Binary::FDiv, bits, &a, length)?;
        self.result(inst, normal)
    }

    /// `Reflect I N`: I - 2 * dot(N, I) * N.
    fn reflect(&mut self, inst: &Instruction<'_>) -> Result<()> {
        let (bits, [incident, normal]) = self.floats(inst)?;
        let angle = self.dot(bits, &normal, &incident)?;
        let twice = self.apply(Binary::FAdd, bits, angle, angle)?;
        let along = self.scale(Binary::FMul, bits, &normal, twice)?;
        let result = self.map2(Binary::FSub, bits, &incident, &along)?;
        self.result(inst, result)
    }
}
