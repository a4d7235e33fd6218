//! Lowering: what each PTX instruction means, in operations of the intermediate representation.
//!
//! A row of the instruction table names an operation; [`dispatch`] has its lowering function. That gets the decoded
//! instruction, reads operands through [`Lowering`], and writes its result through it. Registers hold integers of their
//! width; narrow ones live zero-extended in 32 bits (see [`crate::ir`]). [`build`] makes the control-flow graph.

pub mod addresses32;
pub mod approximate;
pub mod async_stores;
pub mod atomics;
mod atomics128;
pub mod barriers;
pub mod build;
pub mod caches;
pub mod calls;
pub mod cluster;
pub mod compare;
mod contraction;
pub mod convert;
pub mod convert_float;
pub mod convert_packed;
pub mod copies;
mod device_words;
pub(crate) mod dispatch;
pub mod events;
pub mod extended;
pub mod fields;
pub mod float;
pub mod float_bits;
pub mod frame;
mod grid;
pub mod half;
mod heap;
pub mod integer;
pub mod launches;
pub mod layout;
pub mod logic;
pub mod mbarrier;
pub mod memory;
pub mod movement;
pub mod packed;
pub mod prologue;
pub mod reports;
pub mod resources;
pub mod services;
pub mod simd;
pub mod special;
pub mod stack;
pub mod tensor;
pub mod texture;
pub mod video;
pub mod warp;

use frame::Frame;
use layout::Layout;

use crate::decode::program::{Instruction, Operand, Program, Reg};
use crate::diagnostic::Diagnostic;
use crate::ir::{Builder, Type, Unary, Value, Var};
use crate::isa::operation::Action;
use crate::isa::types::ScalarType;

/// Advice for symbols that another module defines.
pub(crate) const LINK: &str = "link this module with the one that defines it: `ptx2spv link`, or `--link FILE`";

/// The result of a lowering function.
pub type Result<T = ()> = std::result::Result<T, Diagnostic>;

/// Lowers the instructions of one basic block.
pub struct Lowering<'a, 'f> {
    /// Where operations are appended.
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

impl Lowering<'_, '_> {
    /// Lowers one instruction, under its guard if it has one.
    pub fn instruction(&mut self, instruction: &Instruction) -> Result {
        let Action::Compute(operation) = instruction.form.row.action else { return Ok(()) };
        let lower = |l: &mut Self, instruction: &Instruction| match instruction.contraction {
            Some(contraction) => contraction::contracted(l, instruction, operation, contraction),
            None => dispatch::function(operation)(l, instruction),
        };
        self.b.at(instruction.span);
        let Some((register, negated)) = instruction.guard else { return lower(self, instruction) };
        let guard = self.register(register);
        let guard = if negated { self.b.not(guard) } else { guard };
        let outer = std::mem::take(&mut self.b.block);
        let result = lower(self, instruction);
        let then = std::mem::replace(&mut self.b.block, outer);
        self.b.push(crate::ir::Stmt::If { condition: guard, then, otherwise: Vec::new() });
        result
    }

    /// PTX type of a register.
    pub fn register_type(&self, register: Reg) -> ScalarType {
        self.frame.registers.get(register.0 as usize).map_or(ScalarType::B32, |(ty, _)| *ty)
    }

    /// The variable that holds a register.
    pub fn variable(&mut self, register: Reg) -> Var {
        let function = &mut *self.b.function;
        match self.frame.registers.get_mut(register.0 as usize) {
            Some((ty, var)) => *var.get_or_insert_with(|| function.var(carrier(*ty))),
            None => function.var(Type::I32),
        }
    }

    /// Content of a register.
    pub fn register(&mut self, register: Reg) -> Value {
        let var = self.variable(register);
        self.b.get(var)
    }

    /// The variable that holds the upper half of a 128-bit register.
    pub fn upper(&mut self, register: Reg) -> Var {
        let function = &mut *self.b.function;
        *self.frame.upper.entry(register).or_insert_with(|| function.var(Type::I64))
    }

    /// The variable that holds the carry flag `CC.CF`.
    pub fn carry(&mut self) -> Var {
        let function = &mut *self.b.function;
        *self.frame.carry.get_or_insert_with(|| function.var(Type::Bool))
    }

    /// Makes the function record where threads exit.
    pub fn note_exits(&mut self) {
        if self.b.function.exited.is_none() {
            self.b.function.exited = Some(self.b.function.var(Type::Bool));
        }
    }

    /// Operand number `index`; missing ones (which decoding has refused where they are needed) read as `_`.
    pub fn operand<'i>(&self, instruction: &'i Instruction, index: usize) -> &'i Operand {
        instruction.operands.get(index).unwrap_or(&Operand::Sink)
    }

    /// A source operand as a value of a type: its bits, zero-extended where the type is narrow.
    pub fn source(&mut self, operand: &Operand, ty: ScalarType) -> Result<Value> {
        match operand {
            Operand::Reg(register) => {
                let value = self.register(*register);
                let found = self.register_type(*register);
                Ok(self.fit(value, found, ty))
            }
            Operand::NotReg(register) => {
                let value = self.register(*register);
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

    /// Source operand number `index` as a value of a type.
    pub fn int(&mut self, instruction: &Instruction, index: usize, ty: ScalarType) -> Result<Value> {
        let operand = self.operand(instruction, index);
        self.source(operand, ty)
    }

    /// As [`Self::int`], with narrow signed types sign-extended to 32 bits.
    pub fn signed(&mut self, instruction: &Instruction, index: usize, ty: ScalarType) -> Result<Value> {
        let value = self.int(instruction, index, ty)?;
        Ok(if ty.is_signed() { self.sign_extend_narrow(value, ty.bits()) } else { value })
    }

    /// Converts the bits of one type to those of an equally wide or narrower type.
    fn fit(&mut self, value: Value, from: ScalarType, to: ScalarType) -> Value {
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
        let high = self.b.shl(value, 32 - bits);
        self.b.sar(high, 32 - bits)
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
                let to = self.register_type(*register);
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
                let var = self.variable(*register);
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
                Ok([self.register(*register), self.b.get(upper)])
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
                let halves = [self.variable(*register), self.upper(*register)];
                for (half, value) in halves.into_iter().zip([low, high]) {
                    self.b.set(half, value);
                }
                Ok(())
            }
            other => Err(Diagnostic::internal(format!("operand {other:?} of 128 bits"), None)),
        }
    }
}
