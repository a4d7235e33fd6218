//! Reads of a batch. Each read takes its short ways where it stands. Those that need loads do so in one loop over the reads, so that the
//! code for loads of any texture, which is long, is there once.

use super::ways::Ways;
use super::{apart, fetch, gather, sample};
use crate::decode::program::{Instruction, Operand};
use crate::ir::{Builder, Compare, Stmt, Type, Value, Var};
use crate::isa::operation::{Action, Operation};
use crate::isa::types::ScalarType;
use crate::lower::lowering::{Lowering, Result, carrier};

/// A read that may need loads.
struct Read<'i> {
    instruction: &'i Instruction,
    /// The channels' bits.
    results: [Var; 4],
    /// Whether it needs loads.
    waits: Var,
}

/// Lowers the reads of a batch, which have the same modifiers and kinds of operands.
pub(in crate::lower) fn read_all(l: &mut Lowering<'_, '_>, first: &Instruction, others: &[&Instruction]) -> Result {
    l.b.at(first.span);
    let ways = Ways::of(l, first)?;
    let mut reads = vec![Read::by(l, first, &ways)?];
    for read in others {
        l.b.at(read.span);
        let ways = Ways::of(l, read)?;
        reads.push(Read::by(l, read, &ways)?);
    }
    l.b.at(first.span);
    let loads = apart(l, |l| by_loads(l, first, &reads))?;
    l.b.block.extend(ways.unless_always(loads));
    for Read { instruction, results, .. } in reads {
        l.b.at(instruction.span);
        fetch::finish(l, instruction, results)?;
    }
    Ok(())
}

impl<'i> Read<'i> {
    /// Reads by a short way, if there is one for the texture.
    fn by(l: &mut Lowering<'_, '_>, instruction: &'i Instruction, ways: &Ways) -> Result<Read<'i>> {
        let results = fetch::no_channels(l);
        let waits = l.b.var(Type::Bool);
        let [no, yes] = [false, true].map(|waits| l.b.bool(waits));
        l.b.set(waits, no);
        let all = ways.or_else(l, results, vec![Stmt::Set(waits, yes)])?;
        l.b.block.extend(all);
        Ok(Read { instruction, results, waits })
    }
}

/// A loop over the reads that wait.
fn by_loads(l: &mut Lowering<'_, '_>, first: &Instruction, reads: &[Read<'_>]) -> Result {
    let mut operands = Varying::default();
    let common = operands.merge_instruction(l, first, reads)?;
    let waits: Vec<Value> = reads.iter().map(|read| l.b.get(read.waits)).collect();
    let turn = l.b.var(Type::I32);
    let zero = l.b.i32(0);
    l.b.set(turn, zero);
    let body = apart(l, |l| {
        let number = l.b.get(turn);
        let turns: Vec<Value> = (0..reads.len() as u64).map(|read| is_turn(&mut l.b, number, read)).collect();
        let is_needed = choose(&mut l.b, &turns, &waits);
        let then = apart(l, |l| {
            for (var, values) in &operands.registers {
                let value = choose(&mut l.b, &turns, values);
                l.b.set(*var, value);
            }
            let channels = fetch::no_channels(l);
            match first.form.row.action {
                Action::Compute(Operation::TextureGather) => gather::by_loads(l, &common, channels)?,
                _ => sample::by_loads(l, &common, channels)?,
            }
            let values = channels.map(|channel| l.b.get(channel));
            for (is_turn, read) in turns.iter().zip(reads) {
                let results = read.results.into_iter().zip(values);
                l.b.if_(*is_turn, |b| results.for_each(|(result, value)| b.set(result, value)));
            }
            Ok(())
        })?;
        l.b.push(Stmt::If { condition: is_needed, then, otherwise: Vec::new() });
        let next = l.b.add_const(number, 1);
        l.b.set(turn, next);
        let is_last = is_turn(&mut l.b, next, reads.len() as u64);
        l.b.if_(is_last, Builder::break_);
        Ok(())
    })?;
    l.b.push(Stmt::Loop(body));
    Ok(())
}

fn is_turn(b: &mut Builder<'_>, number: Value, read: u64) -> Value {
    b.compare_const(Compare::Equal, number, read)
}

/// The value whose turn it is.
fn choose(b: &mut Builder<'_>, turns: &[Value], values: &[Value]) -> Value {
    let mut pairs = turns.iter().zip(values);
    let first = pairs.next().map(|(_, value)| *value);
    let rest =
        |b: &mut Builder<'_>, first| pairs.fold(first, |other, (is_turn, value)| b.select(*is_turn, *value, other));
    match first {
        Some(first) => rest(b, first),
        None => b.i32(0),
    }
}

/// Operands that differ from read to read.
#[derive(Default)]
struct Varying {
    /// The variable of the register that stands for each in the loop, and its values.
    registers: Vec<(Var, Vec<Value>)>,
}

impl Varying {
    /// An instruction that is each of the reads in turn.
    fn merge_instruction(
        &mut self,
        l: &mut Lowering<'_, '_>,
        first: &Instruction,
        reads: &[Read<'_>],
    ) -> Result<Instruction> {
        let mut operands = first.operands.clone();
        // The destinations stay; nobody writes to them.
        for (number, operand) in operands.iter_mut().enumerate().skip(1) {
            let all = reads.iter().map(|read| l.operand(read.instruction, number)).collect::<Vec<_>>();
            let handles = if number == 1 { HANDLES } else { 0 };
            *operand = self.merge(l, &all, handles)?;
        }
        let Instruction { form, span, .. } = *first;
        let modifiers = first.modifiers.clone();
        Ok(Instruction { form, modifiers, guard: None, operands, contraction: None, span })
    }

    /// An operand that is each of those of the reads in turn. In a list the first so many are handles.
    fn merge(&mut self, l: &mut Lowering<'_, '_>, all: &[&Operand], handles: usize) -> Result<Operand> {
        let Some(first) = all.first() else { return Ok(Operand::Sink) };
        if let Operand::List(elements) = first {
            let mut merged = Vec::new();
            for number in 0..elements.len() {
                let elements = all.iter().map(|operand| match operand {
                    Operand::List(elements) => elements.get(number).unwrap_or(&Operand::Sink),
                    _ => &Operand::Sink,
                });
                let elements = elements.collect::<Vec<_>>();
                let ty = if number < handles { ScalarType::B64 } else { ScalarType::B32 };
                merged.push(self.merge_scalar(l, &elements, ty)?);
            }
            return Ok(Operand::List(merged));
        }
        self.merge_scalar(l, all, ScalarType::B32)
    }

    fn merge_scalar(&mut self, l: &mut Lowering<'_, '_>, all: &[&Operand], ty: ScalarType) -> Result<Operand> {
        let Some((first, others)) = all.split_first() else { return Ok(Operand::Sink) };
        if others.iter().all(|other| other == first) {
            return Ok((*first).clone());
        }
        let mut values = Vec::new();
        for operand in all {
            values.push(l.source(operand, ty)?);
        }
        let var = l.b.var(carrier(ty));
        let register = l.frame.registers.push((ty, Some(var)));
        self.registers.push((var, values));
        Ok(Operand::Reg(register))
    }
}

/// How many handles precede the coordinates: the texture's and the sampler's.
const HANDLES: usize = 2;
