//! Lowering: the meaning of each PTX instruction, in operations of the intermediate representation.
//!
//! A row of the instruction table names an operation; [`dispatch`] has its lowering function. That gets the decoded
//! instruction, reads operands through [`Lowering`], and writes its result through it. Registers hold integers of their
//! width; narrow ones live zero-extended in 32 bits (see [`crate::ir`]). [`build`] makes the control-flow graph.

pub mod build;
pub mod calls;
pub mod compare;
pub mod convert;
mod device_words;
pub(crate) mod dispatch;
pub mod float;
pub mod integer;
pub mod launches;
pub mod layout;
pub mod lowering;
pub mod memory;
mod memory_order;
pub mod movement;
mod sources;
pub mod tensor;
pub mod texture;
pub mod thread;

use crate::decode::program::Instruction;
use crate::diagnostic::Result;
use crate::isa::operation::Action;
use lowering::Lowering;
use texture::batch::Step;

impl Lowering<'_, '_> {
    /// Lowers instructions that belong together.
    pub fn step(&mut self, step: &Step<'_>) -> Result {
        match step {
            Step::Single(instruction) => self.instruction(instruction),
            Step::Batch(first, others) => texture::read_all(self, first, others),
        }
    }

    /// Lowers one instruction, under its guard if it has one.
    pub fn instruction(&mut self, instruction: &Instruction) -> Result {
        let Action::Compute(operation) = instruction.form.row.action else { return Ok(()) };
        let lower = |l: &mut Self, instruction: &Instruction| match instruction.contraction {
            Some(contraction) => float::contraction::contracted(l, instruction, operation, contraction),
            None => dispatch::function(operation)(l, instruction),
        };
        self.b.at(instruction.span);
        self.guarded(instruction, |l| lower(l, instruction))
    }

    /// Appends the statements of `lower` under the guard of an instruction, if it has one.
    fn guarded(&mut self, instruction: &Instruction, lower: impl FnOnce(&mut Self) -> Result) -> Result {
        let Some((register, negated)) = instruction.guard else { return lower(self) };
        let guard = self.register(register)?;
        let guard = if negated { self.b.not(guard) } else { guard };
        self.if_(guard, lower)
    }
}
