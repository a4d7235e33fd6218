//! Effects of instructions beside their results.

use super::Instruction;
use crate::isa::modifiers::Order;
use crate::isa::operation::{Action, Effects, Operation};

impl Instruction {
    /// Whether an instruction does nothing but write registers. The instruction may load, in no order with other
    /// threads' accesses.
    pub fn only_computes(&self) -> bool {
        let Action::Compute(operation) = self.form.row.action else { return false };
        let writes = self.form.is_destination(0);
        let is_weak = match self.modifiers.order() {
            Some(Order::Volatile | Order::Mmio | Order::Relaxed | Order::Acquire | Order::Release | Order::AcqRel) => {
                false
            }
            None | Some(Order::Weak) => true,
        };
        let loads = matches!(operation, Operation::Load | Operation::LoadReadOnly | Operation::MultimemLoad);
        let memory = self.form.accesses_memory() && !(loads && is_weak);
        // Every field is named, so that a new effect isn't forgotten.
        let Effects {
            may_report,
            waits,
            uses_stack,
            counts_events,
            atomic,
            atomic_of_any_type,
            ordered: _,
            sequential,
            reads_texels: _,
            samples: _,
        } = operation.effects();
        let acts = may_report || waits || uses_stack || counts_events || atomic || atomic_of_any_type || sequential;
        writes && !acts && !memory
    }
}
