//! An instruction that stands for several reads of one kind.

use std::sync::Arc;

use super::HANDLES;
use crate::decode::program::{Instruction, Operand};
use crate::ir::Var;
use crate::isa::types::ScalarType;
use crate::lower::lowering::{Lowering, carrier};

/// A read whose operands are variables.
#[derive(Debug)]
pub(super) struct Common {
    /// The read. Its destinations are those of some read; nobody writes to them.
    pub(super) instruction: Instruction,
    /// For each operand that is a variable: its number among the [`sources`], its type, and the variable.
    pub(super) variables: Vec<(usize, ScalarType, Var)>,
}

impl Common {
    /// From a read of the kind, with variables for those of its [`sources`] that differ from read to read.
    pub(super) fn of(l: &mut Lowering<'_, '_>, read: &Instruction, differs: impl Fn(usize) -> bool) -> Common {
        let mut operands = read.operands.clone();
        let mut variables = Vec::new();
        let mut number = 0;
        visit_sources(&mut operands, |ty, operand| {
            if differs(number) {
                let var = l.b.var(carrier(ty));
                *operand = Operand::Reg(l.frame.registers.push((ty, Some(var))));
                variables.push((number, ty, var));
            }
            number += 1;
        });
        let Instruction { form, span, .. } = *read;
        let modifiers = Arc::clone(&read.modifiers);
        let instruction = Instruction { form, modifiers, guard: None, operands, contraction: None, span };
        Common { instruction, variables }
    }
}

/// The operands that a read needs.
pub(super) fn sources(read: &Instruction) -> Vec<Operand> {
    let mut found = Vec::new();
    visit_sources(&mut read.operands.clone(), |_, operand| found.push(operand.clone()));
    found
}

/// Calls `visit` with the operands that a read needs, in an order that is the same for reads of one kind.
fn visit_sources(operands: &mut [Operand], mut visit: impl FnMut(ScalarType, &mut Operand)) {
    // The destinations come first, and last a depth to compare with, which has no effect.
    for (number, operand) in operands.iter_mut().enumerate().take(DEPTH).skip(1) {
        let handles = if number == 1 { HANDLES } else { 0 };
        let elements = match operand {
            Operand::List(elements) => elements.as_mut_slice(),
            other => std::slice::from_mut(other),
        };
        for (place, element) in elements.iter_mut().enumerate().filter(|(_, element)| **element != Operand::Sink) {
            visit(if place < handles { ScalarType::B64 } else { ScalarType::B32 }, element);
        }
    }
}

/// The number of the operand that is a depth to compare with.
const DEPTH: usize = 6;
