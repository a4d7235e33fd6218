//! Source operands as values.

use super::lowering::{Lowering, carrier};
use super::memory;
use crate::decode::program::{Instruction, Operand};
use crate::diagnostic::{Diagnostic, Result};
use crate::ir::Value;
use crate::isa::types::ScalarType;
use crate::lower::memory::addresses32;
use crate::lower::thread::special;

impl Lowering<'_, '_> {
    /// A source operand as a value of a type: its bits, zero-extended where the type is narrow.
    pub fn source(&mut self, operand: &Operand, ty: ScalarType) -> Result<Value> {
        match operand {
            Operand::Reg(register) => {
                let value = self.register(*register)?;
                let found = self.register_type(*register)?;
                Ok(self.fit(value, found, ty))
            }
            Operand::NotReg(register) => {
                let value = self.register(*register)?;
                Ok(self.b.not(value))
            }
            Operand::Sum(register, addend) => {
                let value = self.source(&Operand::Reg(*register), ty)?;
                let sum = self.b.add_const(value, addend.cast_unsigned());
                Ok(self.zero_extend_narrow(sum, ty.bits()))
            }
            Operand::Imm(bits) => Ok(self.b.constant(carrier(ty), *bits)),
            Operand::Special(special) => {
                let (value, found) = special::read(self, *special);
                Ok(self.fit(value, found, ty))
            }
            Operand::FunctionAddress(function) => Ok(self.b.constant(carrier(ty), function.address())),
            Operand::AddressOf(base, offset) => {
                if ty.bits() == 32 {
                    addresses32::check(self, *base)?;
                }
                let value = memory::variable_address(self, *base, *offset)?;
                Ok(if ty.bits() == 64 { value } else { self.narrow(value) })
            }
            Operand::Handle(param) => memory::handle(self, *param),
            other => Err(Diagnostic::internal(format!("operand {other:?} read as a value"), None)),
        }
    }

    pub fn int(&mut self, instruction: &Instruction, index: usize, ty: ScalarType) -> Result<Value> {
        let operand = self.operand(instruction, index);
        self.source(operand, ty)
    }

    /// As [`Self::int`], with narrow signed types sign-extended to 32 bits.
    pub fn signed(&mut self, instruction: &Instruction, index: usize, ty: ScalarType) -> Result<Value> {
        let value = self.int(instruction, index, ty)?;
        Ok(if ty.is_signed() { self.sign_extend_narrow(value, ty.bits()) } else { value })
    }
}
