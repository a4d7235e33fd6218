//! Reads of a batch. Each read takes its short ways where it stands. Those that need loads do so in one loop over the reads, so that the
//! code for loads of any texture, which is long, is there once.

use super::common::{Common, sources};
use super::waiting::Waiting;
use super::ways::Ways;
use super::{by_loads, fetch};
use crate::decode::program::Instruction;
use crate::diagnostic::Result;
use crate::ir::{Builder, Compare, Stmt, Type, Value};
use crate::lower::lowering::Lowering;

/// Lowers the reads of a batch, which have the same modifiers and kinds of operands.
pub(in crate::lower) fn read_all(l: &mut Lowering<'_, '_>, first: &Instruction, others: &[&Instruction]) -> Result {
    l.b.at(first.span);
    let ways = Ways::of(l, first)?;
    let mut reads = vec![(first, read_or_wait(l, &ways)?)];
    for read in others {
        l.b.at(read.span);
        let ways = Ways::of(l, read)?;
        reads.push((read, read_or_wait(l, &ways)?));
    }
    l.b.at(first.span);
    let loads = l.nested(|l| in_turn(l, &reads))?;
    l.b.append(ways.unless_always(loads));
    for (instruction, Waiting { results, .. }) in reads {
        l.b.at(instruction.span);
        fetch::finish(l, instruction, results)?;
    }
    Ok(())
}

/// Reads by a short way, if there is one for the texture.
fn read_or_wait(l: &mut Lowering<'_, '_>, ways: &Ways) -> Result<Waiting> {
    let waiting = Waiting::none(l);
    waiting.read(l, ways)?;
    Ok(waiting)
}

/// A loop over the reads that wait.
fn in_turn(l: &mut Lowering<'_, '_>, reads: &[(&Instruction, Waiting)]) -> Result {
    let Some((first, _)) = reads.first() else { return Ok(()) };
    let operands: Vec<_> = reads.iter().map(|(read, _)| sources(read)).collect();
    let differs = |number: usize| {
        let mut all = operands.iter().map(|sources| sources.get(number));
        let first = all.next();
        all.any(|other| Some(other) != first)
    };
    let common = Common::of(l, first, differs);
    let mut values = Vec::new();
    for (number, ty, var) in &common.variables {
        let all = operands.iter().filter_map(|sources| sources.get(*number));
        values.push((*var, all.map(|source| l.source(source, *ty)).collect::<Result<Vec<_>>>()?));
    }
    let waits: Vec<Value> = reads.iter().map(|(_, read)| l.b.get(read.waits)).collect();
    let turn = l.b.var(Type::I32);
    l.b.set(turn, l.b.i32(0));
    let body = l.nested(|l| {
        let number = l.b.get(turn);
        let turns: Vec<Value> = (0..reads.len() as u64).map(|read| is_turn(&l.b, number, read)).collect();
        let is_needed = choose(&l.b, &turns, &waits);
        l.if_(is_needed, |l| {
            for (var, values) in &values {
                l.b.set(*var, choose(&l.b, &turns, values));
            }
            let channels = fetch::no_channels(l);
            by_loads(l, &common.instruction, channels)?;
            let values = channels.map(|channel| l.b.get(channel));
            for (is_turn, (_, read)) in turns.iter().zip(reads) {
                let results = read.results.into_iter().zip(values);
                l.b.if_(*is_turn, |b| results.for_each(|(result, value)| b.set(result, value)));
            }
            Ok(())
        })?;
        let next = l.b.add_const(number, 1);
        l.b.set(turn, next);
        let is_last = is_turn(&l.b, next, reads.len() as u64);
        l.b.if_(is_last, Builder::break_);
        Ok(())
    })?;
    l.b.push(Stmt::Loop(body));
    Ok(())
}

fn is_turn(b: &Builder<'_>, number: Value, read: u64) -> Value {
    b.compare_const(Compare::Equal, number, read)
}

/// The value whose turn it is.
fn choose(b: &Builder<'_>, turns: &[Value], values: &[Value]) -> Value {
    let mut pairs = turns.iter().zip(values);
    let first = pairs.next().map(|(_, value)| *value);
    let rest = |b: &Builder<'_>, first| pairs.fold(first, |other, (is_turn, value)| b.select(*is_turn, *value, other));
    match first {
        Some(first) => rest(b, first),
        None => b.i32(0),
    }
}
