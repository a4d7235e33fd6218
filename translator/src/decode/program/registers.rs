//! The registers that an instruction reads and writes.

use super::{Instruction, Operand, Reg};

impl Instruction {
    /// Calls `each` for every register, reads before writes, and says which of both.
    pub fn visit_registers(&self, each: &mut impl FnMut(Reg, bool)) {
        if let Some((guard, _)) = self.guard {
            each(guard, false);
        }
        for writes in [false, true] {
            for (index, operand) in self.operands.iter().enumerate() {
                let destination = self.form.is_destination(index);
                registers(operand, &mut |register, is_address| {
                    if writes == (destination && !is_address) {
                        each(register, writes);
                    }
                });
            }
        }
    }
}

/// Calls `each` for the registers of an operand, and says whether they are part of an address.
fn registers(operand: &Operand, each: &mut impl FnMut(Reg, bool)) {
    match operand {
        Operand::Reg(register) | Operand::NotReg(register) | Operand::Sum(register, _) => each(*register, false),
        Operand::Video(selected) => each(selected.register, false),
        Operand::Vector(operands) | Operand::List(operands) => {
            for operand in operands {
                registers(operand, each);
            }
        }
        Operand::Pair(operands) => {
            for operand in operands.iter() {
                registers(operand, each);
            }
        }
        Operand::Address(base, _) | Operand::AddressOf(base, _) => {
            base.register().into_iter().for_each(|register| each(register, true));
        }
        Operand::Imm(_)
        | Operand::Special(_)
        | Operand::Sink
        | Operand::Handle(_)
        | Operand::Label(_)
        | Operand::Function(_)
        | Operand::FunctionAddress(_)
        | Operand::Targets(_)
        | Operand::Labels(_) => {}
    }
}
