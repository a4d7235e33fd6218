//! Traces one invocation: a line for each SPIR-V instruction that it runs, with the source line and the results.

use std::fmt::Write;

use super::lane::{Lane, Snapshot, State};
use super::launch::{Launch, Log, lock};
use super::step::{self, Context, Stop};
use super::world::World;
use crate::code::{AtomicOp, Code, Inst, Pc, Slot};

/// Runs an invocation like [`step::run`], and traces each step.
pub(super) fn follow<W: World>(
    cx: &mut Context<'_, W>,
    lane: &mut Lane,
    limit: u32,
    snapshot: &mut Snapshot,
) -> (Stop, u32) {
    snapshot.take(lane);
    let version = cx.world.version();
    for used in 1..=limit {
        let pc = lane.pc;
        let (stop, _) = step::run::<W, true>(cx, lane, 1, snapshot);
        if !lane.is_parked() {
            record(cx.launch, lane, pc);
        }
        match stop {
            Stop::Slice => {}
            Stop::Cycle if cx.world.version() != version => {}
            stop => return (stop, used),
        }
    }
    (Stop::Slice, limit)
}

pub(super) fn record(launch: &Launch<'_>, lane: &Lane, pc: Pc) {
    let code = &launch.program.code;
    let (inst, word) = (&code.insts[pc as usize], code.places[pc as usize].word);
    let mut log = lock(launch.log);
    let Log { lines, last } = &mut *log;
    let continued = last.filter(|(before, _)| before + 1 == pc && code.places[*before as usize].word == word);
    if continued.is_none() {
        let line = launch.program.line(pc).map_or(String::new(), |(file, line)| format!("{file}:{line}: "));
        lines.push(line + &(launch.program.disassemble)(word));
    }
    let Some(text) = lines.last_mut() else { return };
    let is_address = matches!(inst, Inst::Offset { .. } | Inst::Index { .. });
    if is_address && let Some((_, Some(length))) = continued {
        text.truncate(length);
    }
    *last = Some((pc, is_address.then_some(text.len())));
    // Writing to a string can't fail.
    let _ = describe(text, code, lane, inst);
}

fn describe(text: &mut String, code: &Code, lane: &Lane, inst: &Inst) -> std::fmt::Result {
    match *inst {
        Inst::Access { pointer, .. } => write!(text, " at {:#x}", lane.registers[pointer as usize])?,
        Inst::Store { value, .. } => write!(text, " <- {}", shown(lane, value))?,
        Inst::Return if lane.state == State::Ended => write!(text, " (ended)")?,
        _ => {}
    }
    let (first, count) = results(code, inst);
    for slot in first..first + count {
        write!(text, " -> {}", shown(lane, slot))?;
    }
    Ok(())
}

fn shown(lane: &Lane, slot: Slot) -> String {
    let value = lane.registers[slot as usize];
    match lane.shadow.as_ref().map_or(0, |shadow| shadow.undefined[slot as usize]) {
        0 => format!("{value:#x}"),
        undefined => format!("{value:#x} (undefined bits {undefined:#x})"),
    }
}

/// The registers written by an instruction: the first, and the number of them.
fn results(code: &Code, inst: &Inst) -> (Slot, u32) {
    match *inst {
        Inst::Unary { d, .. }
        | Inst::Binary { d, .. }
        | Inst::Ternary { d, .. }
        | Inst::Convert { d, .. }
        | Inst::InsertBits { d, .. }
        | Inst::Move { d, .. }
        | Inst::Offset { d, .. }
        | Inst::Index { d, .. }
        | Inst::Load { d, .. }
        | Inst::Builtin { d, .. }
        | Inst::Clock { d } => (d, 1),
        Inst::Wide { d, .. } => (d, 2),
        Inst::Atomic(index) => {
            let atomic = &code.atomics[index as usize];
            (atomic.d, (atomic.op != AtomicOp::Store).into())
        }
        Inst::Group(index) => {
            let group = &code.groups[index as usize];
            (group.d, group.results())
        }
        _ => (0, 0),
    }
}
