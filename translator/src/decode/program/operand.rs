//! Operands of instructions.

use super::ids::{FuncId, Label, ParamId, Reg, VarId};
use super::special::Special;
use crate::isa::types::ScalarType;

/// An operand with its names resolved.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// A register.
    Reg(Reg),
    /// `!p`
    NotReg(Reg),
    /// A register plus so much: `x+1`.
    Sum(Reg, i64),
    /// A constant by its bits in the operand's type, zero-extended.
    Imm(u64),
    /// A special register.
    Special(Special),
    /// A register of a video instruction: parts of it, or its negation.
    Video(Box<Selected>),
    /// `_`
    Sink,
    /// `{a, b}`
    Vector(Vec<Operand>),
    /// `p|q`
    Pair(Box<[Operand; 2]>),
    /// A memory operand.
    Address(Base, i64),
    /// The address of something as a value.
    AddressOf(Base, i64),
    /// The handle of a texture, sampler or surface that a kernel's parameter holds.
    Handle(ParamId),
    /// A label.
    Label(Label),
    /// A function.
    Function(FuncId),
    /// `(a, b)` of a call.
    List(Vec<Operand>),
    /// The address of a function as a value.
    FunctionAddress(FuncId),
    /// The functions that a call through a register may call.
    Targets(Box<Targets>),
    /// The labels that an indexed branch goes to.
    Labels(Vec<Label>),
}

/// The functions that a call through a register may call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Targets {
    /// The functions, if they are listed; else all whose address the module takes.
    pub functions: Option<Vec<FuncId>>,
    /// The functions' parameters.
    pub formals: Vec<Passed>,
    /// The functions' results.
    pub results: Vec<Passed>,
}

/// The way in which a parameter or result is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passed {
    /// Its type, if it is a scalar.
    pub scalar: Option<ScalarType>,
    /// Its size in bytes.
    pub bytes: u64,
    /// Whether a register passes the value, not a `.param` variable.
    pub register: bool,
    /// Whether the parameter is an array without a size.
    pub open: bool,
}

/// A register with the modifiers that a video instruction may give it.
#[derive(Clone, Debug, PartialEq)]
pub struct Selected {
    /// The register.
    pub register: Reg,
    /// `.b0`, `.h10` and so on.
    pub parts: Option<Parts>,
    /// `-a`
    pub negated: bool,
}

/// Bytes or half-words, by number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    /// Width of each: 8 or 16.
    pub bits: u32,
    /// Their numbers, the one for the lowest place first: `.h10` gives 0, 1.
    pub numbers: Vec<u32>,
}

impl Parts {
    /// The parts that a selector without its dot names; digits are not checked against a number of parts.
    pub fn parse(selector: &str) -> Option<Self> {
        let (bits, digits) = match selector.split_at_checked(1)? {
            ("b", digits) => (8, digits),
            ("h", digits) => (16, digits),
            _ => return None,
        };
        let numbers: Option<Vec<u32>> = digits.chars().rev().map(|digit| digit.to_digit(10)).collect();
        numbers.filter(|numbers| !numbers.is_empty()).map(|numbers| Self { bits, numbers })
    }

    /// Position of the lowest part, in bits.
    pub fn position(&self) -> u32 {
        self.numbers.first().map_or(0, |number| number * self.bits)
    }
}

/// The base of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// Zero.
    Absolute,
    /// A register.
    Reg(Reg),
    /// A variable in memory.
    Variable(VarId),
    /// A `.param` variable.
    Param(ParamId),
    /// The element of a variable whose number is in a register.
    Element {
        /// The variable.
        variable: VarId,
        /// The register.
        index: Reg,
        /// Bytes of an element.
        bytes: u32,
    },
}

impl Base {
    /// The variable in memory that the address lies in.
    pub fn variable(self) -> Option<VarId> {
        match self {
            Self::Variable(variable) | Self::Element { variable, .. } => Some(variable),
            Self::Absolute | Self::Reg(_) | Self::Param(_) => None,
        }
    }

    /// As [`Self::variable`], to be changed.
    pub fn variable_mut(&mut self) -> Option<&mut VarId> {
        match self {
            Self::Variable(variable) | Self::Element { variable, .. } => Some(variable),
            Self::Absolute | Self::Reg(_) | Self::Param(_) => None,
        }
    }

    /// The register that the address is computed from.
    pub fn register(self) -> Option<Reg> {
        match self {
            Self::Reg(register) | Self::Element { index: register, .. } => Some(register),
            Self::Absolute | Self::Variable(_) | Self::Param(_) => None,
        }
    }
}
