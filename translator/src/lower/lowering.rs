//! The state of lowering a basic block, and registers as variables.

use crate::decode::program::{Instruction, Operand, Program, Reg};
use crate::diagnostic::{Diagnostic, Result};
use crate::ir::{Block, Builder, Stmt, Type, Unary, Value, Var};
use crate::isa::types::ScalarType;
use crate::lower::layout::Layout;
use crate::lower::layout::frame::Frame;

/// Lowers the instructions of one basic block.
pub struct Lowering<'a, 'f> {
    /// The builder to which operations are appended.
    pub b: Builder<'f>,
    /// The module.
    pub program: &'a Program,
    /// The kernel's layout of memory and parameters.
    pub layout: &'a Layout,
    /// The function instance that is being lowered.
    pub frame: &'a mut Frame,
}

/// The type that holds values of a PTX type; for 128-bit types, the type of the lower half.
pub fn carrier(ty: ScalarType) -> Type {
    match ty.bits() {
        1 => Type::Bool,
        64 | 128 => Type::I64,
        _ => Type::I32,
    }
}

/// The float type of a width in bits.
pub fn float_type(ty: ScalarType) -> Type {
    if ty.bits() == 64 { Type::F64 } else { Type::F32 }
}

fn undeclared() -> Diagnostic {
    Diagnostic::internal("a register without a declaration", None)
}

impl Lowering<'_, '_> {
    /// PTX type of a register.
    pub fn register_type(&self, register: Reg) -> Result<ScalarType> {
        self.frame.registers.at(register).map(|(ty, _)| *ty).ok_or_else(undeclared)
    }

    /// The variable that holds a register.
    pub fn variable(&mut self, register: Reg) -> Result<Var> {
        let (ty, var) = self.frame.registers.at_mut(register).ok_or_else(undeclared)?;
        Ok(*var.get_or_insert_with(|| self.b.var(carrier(*ty))))
    }

    /// Content of a register.
    pub fn register(&mut self, register: Reg) -> Result<Value> {
        let var = self.variable(register)?;
        Ok(self.b.get(var))
    }

    /// The variable that holds the upper half of a 128-bit register.
    pub fn upper(&mut self, register: Reg) -> Var {
        *self.frame.upper.entry(register).or_insert_with(|| self.b.var(Type::I64))
    }

    /// The variable that holds the carry flag `CC.CF`.
    pub fn carry(&mut self) -> Var {
        *self.frame.carry.get_or_insert_with(|| self.b.var(Type::Bool))
    }

    /// The list that `fill` appends to, apart from the present one.
    pub fn nested(&mut self, fill: impl FnOnce(&mut Self) -> Result) -> Result<Block> {
        let outer = self.b.take_block();
        let filled = fill(self);
        let block = self.b.replace_block(outer);
        filled.map(|()| block)
    }

    /// Runs `then` if the condition holds.
    pub fn if_(&mut self, condition: Value, then: impl FnOnce(&mut Self) -> Result) -> Result {
        self.if_else(condition, then, |_| Ok(()))
    }

    /// Runs `then` if the condition holds, else `otherwise`.
    pub fn if_else(
        &mut self,
        condition: Value,
        then: impl FnOnce(&mut Self) -> Result,
        otherwise: impl FnOnce(&mut Self) -> Result,
    ) -> Result {
        let then = self.nested(then)?;
        let otherwise = self.nested(otherwise)?;
        self.b.push(Stmt::If { condition, then, otherwise });
        Ok(())
    }

    /// Makes the function record where threads exit.
    pub fn note_exits(&mut self) {
        self.b.function(|function| {
            if function.exited.is_none() {
                function.exited = Some(function.var(Type::Bool));
            }
        });
    }

    /// Operand number `index`; missing ones (which decoding has refused where they are needed) read as `_`.
    pub fn operand<'i>(&self, instruction: &'i Instruction, index: usize) -> &'i Operand {
        instruction.operands.get(index).unwrap_or(&Operand::Sink)
    }

    /// Converts the bits of one type to those of an equally wide or narrower type.
    pub(super) fn fit(&mut self, value: Value, from: ScalarType, to: ScalarType) -> Value {
        match (from.bits().min(64), to.bits()) {
            (32.., 64) if from.bits() == 32 => self.b.zero_extend(value),
            (64, 64) | (1, _) => value,
            (64, bits) => {
                let low = self.b.truncate(value);
                self.zero_extend_narrow(low, bits)
            }
            (from, to) if from > to => self.zero_extend_narrow(value, to),
            _ => value,
        }
    }

    /// `I64` to `I32` where it isn't already.
    pub fn narrow(&mut self, value: Value) -> Value {
        if self.b.type_of(value) == Type::I64 { self.b.truncate(value) } else { value }
    }

    /// Clears the bits above a narrow width of an `I32`.
    pub fn zero_extend_narrow(&mut self, value: Value, bits: u32) -> Value {
        if bits < 32 { self.b.and_const(value, (1 << bits) - 1) } else { value }
    }

    /// Copies the sign of a narrow width through an `I32`.
    pub fn sign_extend_narrow(&mut self, value: Value, bits: u32) -> Value {
        if bits >= 32 {
            return value;
        }
        self.b.sar(self.b.shl(value, 32 - bits), 32 - bits)
    }

    /// Writes a result of a type to destination operand number `index`. The upper bits of narrow results don't matter.
    /// A wider register gets them extended by the type's sign.
    pub fn set(&mut self, instruction: &Instruction, index: usize, ty: ScalarType, value: Value) -> Result {
        let operand = self.operand(instruction, index);
        self.assign(operand, ty, value)
    }

    /// As [`Self::set`] for any destination operand.
    pub fn assign(&mut self, operand: &Operand, ty: ScalarType, value: Value) -> Result {
        match operand {
            Operand::Sink => Ok(()),
            Operand::Reg(register) => {
                let to = self.register_type(*register)?;
                let mut value = value;
                if ty.bits() < 32 && ty.bits() > 1 {
                    value = if ty.is_signed() && to.bits() > ty.bits() {
                        self.sign_extend_narrow(value, ty.bits())
                    } else {
                        self.zero_extend_narrow(value, ty.bits())
                    };
                }
                if to.bits() >= 64 && ty.bits() <= 32 {
                    value = self.b.unary(if ty.is_signed() { Unary::SignExtend } else { Unary::ZeroExtend }, value);
                }
                if matches!(to.bits(), 8 | 16) {
                    value = self.zero_extend_narrow(value, to.bits());
                }
                let var = self.variable(*register)?;
                self.b.set(var, value);
                if to.bits() == 128 {
                    // Decoding refuses signed types here.
                    let above = self.b.i64(0);
                    let upper = self.upper(*register);
                    self.b.set(upper, above);
                }
                Ok(())
            }
            other => Err(Diagnostic::internal(format!("operand {other:?} as a destination"), None)),
        }
    }

    /// The halves of a 128-bit source, the lower one first.
    pub fn source128(&mut self, operand: &Operand) -> Result<[Value; 2]> {
        match operand {
            Operand::Reg(register) => {
                let upper = self.upper(*register);
                Ok([self.register(*register)?, self.b.get(upper)])
            }
            Operand::Imm(bits) => Ok([self.b.i64(*bits), self.b.i64(0)]),
            other => Err(Diagnostic::internal(format!("operand {other:?} of 128 bits"), None)),
        }
    }

    /// Writes the halves of a 128-bit result.
    pub fn assign128(&mut self, operand: &Operand, low: Value, high: Value) -> Result {
        match operand {
            Operand::Sink => Ok(()),
            Operand::Reg(register) => {
                let halves = [self.variable(*register)?, self.upper(*register)];
                for (half, value) in halves.into_iter().zip([low, high]) {
                    self.b.set(half, value);
                }
                Ok(())
            }
            other => Err(Diagnostic::internal(format!("operand {other:?} of 128 bits"), None)),
        }
    }
}
