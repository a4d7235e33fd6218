//! Types and constants of a module, with specialization constants replaced by their values.

use rspirv::spirv::{Decoration, Op};

use super::Result;
use super::compiler::{Cells, Compiler, Value};
use super::layout::Scalar;
use crate::module::{Instruction, rule};

impl Compiler<'_> {
    /// Processes everything outside of functions, in order.
    pub(super) fn globals(&mut self, specialization: &[(u32, u64)]) -> Result<()> {
        let module = self.module;
        self.emit.folds = true;
        for &index in &module.globals {
            let inst = module.instructions.get(index);
            self.emit.place.word = inst.word;
            match inst.op {
                // Created on first use.
                Op::Variable => {}
                op if op.is_type() || op == Op::TypeForwardPointer => self.declare_type(&inst)?,
                Op::ConstantNull => {
                    self.layouts.get(inst.ty)?;
                    self.define(inst.id, Value::Null(inst.ty))?;
                }
                Op::Constant | Op::SpecConstant => {
                    let bits = self.specialized(&inst, specialization).map_or_else(|| number(&inst), Ok)?;
                    self.literal(&inst, bits)?;
                }
                Op::ConstantTrue | Op::ConstantFalse | Op::SpecConstantTrue | Op::SpecConstantFalse => {
                    let default = u64::from(matches!(inst.op, Op::ConstantTrue | Op::SpecConstantTrue));
                    let bits = self.specialized(&inst, specialization).unwrap_or(default);
                    self.literal(&inst, u64::from(bits != 0))?;
                }
                Op::ConstantComposite | Op::SpecConstantComposite => self.composite(&inst)?,
                Op::SpecConstantOp => self.constant_operation(&inst)?,
                _ => {}
            }
        }
        self.emit.folds = false;
        Ok(())
    }

    fn declare_type(&mut self, inst: &Instruction<'_>) -> Result<()> {
        let ids = match inst.op {
            Op::TypeArray | Op::TypeCooperativeMatrixKHR => inst.rest(1),
            _ => &[],
        };
        let mut constants = Vec::new();
        for &id in ids {
            let value = self.constant_operand(inst, id)?;
            let value = u32::try_from(value).map_err(|_| inst.refuse(rule::LIMITS, format!("a size of {value}")))?;
            constants.push((id, value));
        }
        let unknown = || inst.refuse(rule::UNIVERSAL, "has a size that is no constant");
        let constant =
            |id| constants.iter().find(|(known, _)| *known == id).map(|(_, value)| *value).ok_or_else(unknown);
        self.layouts.declare(self.module, inst, constant)
    }

    fn specialized(&self, inst: &Instruction<'_>, specialization: &[(u32, u64)]) -> Option<u64> {
        let id = self.module.decoration(inst.id, Decoration::SpecId)?;
        specialization.iter().find(|entry| entry.0 == id).map(|entry| entry.1)
    }

    /// A scalar constant. Narrow literals are sign-extended in their word, but zero-extended in registers.
    fn literal(&mut self, inst: &Instruction<'_>, bits: u64) -> Result<()> {
        let (scalar, count) = self.layouts.vector(inst.ty)?;
        inst.refuse_if(count != 1 || matches!(scalar, Scalar::Pointer(_)), "has no number as its type")?;
        let slot = self.emit.constant(bits & (u64::MAX >> (64 - scalar.bits())));
        self.result(inst, [slot])
    }

    /// A constant computed from other constants.
    fn constant_operation(&mut self, inst: &Instruction<'_>) -> Result<()> {
        let op = inst.operand(0)?;
        let op = Op::from_u32(op).ok_or_else(|| inst.refuse(rule::UNIVERSAL, format!("unknown opcode {op}")))?;
        let inner = Instruction { op, operands: inst.rest(1), ..*inst };
        let wrong = inner.op == Op::SpecConstantOp || !self.pure(&inner)?;
        inst.refuse_if(wrong, format_args!("Op{op:?} can't be used for constants"))?;
        let cells: Cells = self.cells(inst.id)?;
        let wrong = cells.iter().any(|&slot| self.emit.constant_bits(slot).is_none());
        inst.refuse_if(wrong, "has operands that are not constants")?;
        Ok(())
    }
}

/// The literal of a constant.
fn number(inst: &Instruction<'_>) -> Result<u64> {
    match *inst.operands {
        [low] => Ok(u64::from(low)),
        [low, high] => Ok(u64::from(high) << 32 | u64::from(low)),
        _ => Err(inst.refuse(rule::INSTRUCTION, "has no literal of one or two words")),
    }
}
