//! `pmevent` (PTX section 9.7.19): counters that the host reads. A warp counts once, however many of its threads take part.

use crate::decode::program::{Instruction, Operand};
use crate::diagnostic::{Diagnostic, Result};
use crate::ir::{Stmt, Type, Warp, WarpOp};
use crate::isa::word::Word;
use crate::lower::device_words::fetch_add;
use crate::lower::lowering::Lowering;
use ptx2spv_interface::{Counters, push_constant};

/// `pmevent`: the operand is an event, or with `.mask` a bit for each event.
pub fn pmevent(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let &Operand::Imm(operand) = l.operand(i, 0) else {
        return Err(Diagnostic::invalid("an event is a constant", i.span));
    };
    if !i.modifiers.has(Word::Mask) && operand >= Counters::COUNT.into() {
        return Err(Diagnostic::invalid(format!("{operand} is not an event: they are 0 to 15"), i.span));
    }
    let mask = if i.modifiers.has(Word::Mask) { operand } else { 1 << operand };
    let Some(counters) = l.layout.services.counters else {
        return Err(Diagnostic::internal("an event without counters", i.span));
    };
    let [lane, elected] = [Type::I32, Type::Bool].map(|ty| l.b.value(ty));
    l.b.push(Stmt::Warp(Warp { results: vec![lane, elected], op: WarpOp::Elect, members: None }));
    l.b.if_(elected, |b| {
        let base = b.push_constant(Type::I64, push_constant::VARIABLES_ADDRESS);
        for event in (0..Counters::COUNT).filter(|event| mask >> event & 1 != 0) {
            // Two words, because not every device has atomics on 64 bits.
            let low = b.add_const(base, counters.offset + 8 * u64::from(event));
            let one = b.i32(1);
            let before = fetch_add(b, low, one);
            b.if_(b.is_zero(b.add_const(before, 1)), |b| {
                fetch_add(b, b.add_const(low, 4), one);
            });
        }
    });
    Ok(())
}
