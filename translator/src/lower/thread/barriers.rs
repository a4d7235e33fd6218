//! `bar`, `barrier` (PTX section 9.7.12.1) and `wgmma.wait_group`, and the threads that they wait for. [`crate::cfg`]
//! decides for the kernel as a whole how they wait.

use crate::cfg::{Barrier, Kind, Red, Reduction, Stop};
use crate::decode::program::{Instruction, Operand};
use crate::diagnostic::{Diagnostic, Result};
use crate::ir::Builtin;
use crate::isa::modifiers::BarrierReduction;
use crate::isa::operation::Alignment;
use crate::isa::types::ScalarType;
use crate::isa::word::Word;
use crate::lower::lowering::Lowering;

/// The highest number of a barrier.
const LAST: u64 = Barrier::NUMBERED as u64 - 1;

/// The stop that a barrier instruction is.
pub fn stop(l: &mut Lowering<'_, '_>, i: &Instruction, alignment: Alignment) -> Result<Stop> {
    l.b.at(i.span);
    let aligned = match alignment {
        Alignment::Aligned => true,
        Alignment::AsSaid => i.modifiers.has(Word::Aligned),
    };
    if i.modifiers.has(Word::Cluster) {
        let id = l.b.i32(Barrier::CLUSTER);
        let kind = if i.modifiers.has(Word::Arrive) { Kind::Arrive } else { Kind::Wait };
        return Ok(Stop::Barrier(Barrier { kind, id, count: None, cluster: true, aligned }));
    }
    if i.modifiers.has(Word::WaitGroup) {
        // What a warp may do once its product is complete, such as giving memory back, may concern the product as a whole.
        let id = l.b.shr(l.b.builtin(Builtin::ThreadIndex), Barrier::WARPGROUP.ilog2());
        return Ok(Stop::Barrier(Barrier { kind: Kind::Warpgroup, id, count: None, cluster: false, aligned }));
    }
    let reduces = i.modifiers.has(Word::Red);
    let first = usize::from(reduces);
    if let Operand::Imm(id @ LAST..) = l.operand(i, first)
        && *id > LAST
    {
        return Err(Diagnostic::invalid(format!("barrier {id}: there are 16, numbered from 0"), i.span));
    }
    let id = l.int(i, first, ScalarType::U32)?;
    let id = l.b.and_const(id, LAST);
    let count = match l.operand(i, first + 1) {
        Operand::Sink => None,
        Operand::Imm(0) if i.modifiers.has(Word::Arrive) => {
            return Err(Diagnostic::invalid("an arrival at a barrier for no threads", i.span));
        }
        Operand::Imm(count) if count % 32 != 0 => {
            let message = format!("a barrier for {count} threads: that is not a multiple of a warp's 32");
            return Err(Diagnostic::invalid(message, i.span));
        }
        _ => Some(l.int(i, first + 1, ScalarType::U32)?),
    };
    let kind = if reduces {
        let reduction = match i.required(i.modifiers.barrier_reduction())? {
            BarrierReduction::And => Reduction::All,
            BarrierReduction::Or => Reduction::Any,
            BarrierReduction::Popc => Reduction::Count,
        };
        let predicate = l.int(i, 3, ScalarType::Pred)?;
        let result = match l.operand(i, 0) {
            Operand::Reg(register) => Some(l.variable(*register)?),
            _ => None,
        };
        Kind::Red(Red { reduction, predicate, result })
    } else if i.modifiers.has(Word::Arrive) {
        Kind::Arrive
    } else {
        Kind::Sync
    };
    Ok(Stop::Barrier(Barrier { kind, id, count, cluster: false, aligned }))
}
