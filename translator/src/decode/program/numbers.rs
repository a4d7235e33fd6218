//! New numbers for the variables and functions that a program refers to.

use super::{FuncId, Function, InitValue, Item, Operand, VarId, Variable};

/// Gives numbers by those before.
pub trait Numbers {
    /// Changes the number of a variable.
    fn variable(&self, id: &mut VarId);

    /// Changes the number of a function.
    fn function(&self, id: &mut FuncId);
}

impl Variable {
    /// Changes the numbers in its initial content.
    pub fn renumber(&mut self, numbers: &impl Numbers) {
        for piece in &mut self.init {
            match &mut piece.value {
                InitValue::Bits(_) => {}
                InitValue::Address { variable, .. } => numbers.variable(variable),
                InitValue::Function { function, .. } => numbers.function(function),
            }
        }
    }
}

impl Function {
    /// Changes the numbers in its parameters and code.
    pub fn renumber(&mut self, numbers: &impl Numbers) {
        self.params.iter_mut().filter_map(|param| param.memory.as_mut()).for_each(|id| numbers.variable(id));
        for item in self.body.iter_mut().flatten() {
            if let Item::Instruction(instruction) = item {
                instruction.operands.iter_mut().for_each(|operand| operand.renumber(numbers));
            }
        }
    }
}

impl Operand {
    /// Changes the numbers in it. Operands nest two deep.
    fn renumber(&mut self, numbers: &impl Numbers) {
        match self {
            Self::Address(base, _) | Self::AddressOf(base, _) => {
                base.variable_mut().into_iter().for_each(|id| numbers.variable(id));
            }
            Self::Function(id) | Self::FunctionAddress(id) => numbers.function(id),
            Self::Vector(list) | Self::List(list) => list.iter_mut().for_each(|part| part.renumber(numbers)),
            Self::Pair(pair) => pair.iter_mut().for_each(|part| part.renumber(numbers)),
            Self::Targets(targets) => targets.functions.iter_mut().flatten().for_each(|id| numbers.function(id)),
            Self::Reg(_)
            | Self::NotReg(_)
            | Self::Sum(..)
            | Self::Imm(_)
            | Self::Special(_)
            | Self::Video(_)
            | Self::Sink
            | Self::Handle(_)
            | Self::Label(_)
            | Self::Labels(_) => {}
        }
    }
}
