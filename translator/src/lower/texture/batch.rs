//! Finds reads of textures that can be done at one place, as a batch: reads of one kind in a basic block, none of which depends on another.
//!
//! Of the instructions between them, those that need none of their results are done first, the rest afterwards. Only
//! instructions that compute registers, or load, change places; any other, such as a store, ends the batch.

use rustc_hash::FxHashSet;

use crate::decode::program::{Instruction, Operand, Reg};
use crate::diagnostic::Span;
use crate::isa::operation::{Action, Operation};
use crate::isa::word::Word;

/// The most reads of a batch, whose results all exist at the same time.
const MOST_READS: usize = 32;

/// The most instructions that are put off until after a batch, which bounds the work of finding the batches among these.
const MOST_LATER: usize = 2000;

/// Instructions that are lowered together.
#[derive(Debug)]
pub enum Step<'i> {
    /// One, by itself.
    Single(&'i Instruction),
    /// The first of several reads, and the others.
    Batch(&'i Instruction, Vec<&'i Instruction>),
}

impl<'i> Step<'i> {
    /// The reads of textures that are much code.
    pub fn long_reads(&self) -> Vec<&'i Instruction> {
        match self {
            Step::Single(single) if is_long(single) => vec![single],
            Step::Single(_) => Vec::new(),
            Step::Batch(first, others) => std::iter::once(*first).chain(others.iter().copied()).collect(),
        }
    }

    /// The place of the first instruction.
    pub fn span(&self) -> Span {
        match self {
            Step::Single(first) | Step::Batch(first, _) => first.span,
        }
    }
}

/// The instructions of straight-line code, with the reads of textures in batches.
pub fn steps<'i>(instructions: impl Iterator<Item = &'i Instruction>) -> Vec<Step<'i>> {
    let mut rest = instructions.collect::<Vec<_>>();
    // From the last instruction to the first.
    rest.reverse();
    let mut steps = Vec::new();
    let mut open = Open::default();
    loop {
        let next = rest.pop();
        if let Some(next) = next.filter(|next| open.takes(next)) {
            match open.place(next) {
                Place::Before => steps.push(Step::Single(next)),
                Place::Within => open.read(next),
                Place::After => open.put_off(next),
            }
            continue;
        }
        // The batch ends before this instruction. There may be others among those that were put off.
        rest.extend(next);
        let Open { reads, later, .. } = std::mem::take(&mut open);
        rest.extend(later.into_iter().rev());
        match reads.as_slice() {
            [] => match rest.pop() {
                Some(single) => steps.push(Step::Single(single)),
                None => return steps,
            },
            [single] => steps.push(Step::Single(single)),
            [first, others @ ..] => steps.push(Step::Batch(first, others.to_vec())),
        }
    }
}

/// The place of an instruction relative to a batch.
enum Place {
    Before,
    Within,
    After,
}

/// A batch that is being collected.
#[derive(Default)]
struct Open<'i> {
    reads: Vec<&'i Instruction>,
    /// The instructions after the batch.
    later: Vec<&'i Instruction>,
    /// The registers that both read, and those that both write.
    read: FxHashSet<Reg>,
    written: FxHashSet<Reg>,
}

impl<'i> Open<'i> {
    /// Whether the instruction may change places with the batch or join it.
    fn takes(&self, instruction: &Instruction) -> bool {
        let has_room = self.reads.len() < MOST_READS && self.later.len() < MOST_LATER;
        let is_read = is_read(instruction);
        let is_first = self.reads.is_empty();
        has_room && (is_read || (!is_first && is_movable(instruction)))
    }

    fn place(&self, instruction: &Instruction) -> Place {
        let mut depends = false;
        instruction.visit_registers(&mut |register, writes| {
            depends |= self.written.contains(&register) || (writes && self.read.contains(&register));
        });
        match (depends, is_read(instruction)) {
            (true, _) => Place::After,
            (false, false) => Place::Before,
            (false, true) if self.reads.first().is_none_or(|first| is_alike(first, instruction)) => Place::Within,
            (false, true) => Place::After,
        }
    }

    fn read(&mut self, instruction: &'i Instruction) {
        self.reads.push(instruction);
        self.note(instruction);
    }

    fn put_off(&mut self, instruction: &'i Instruction) {
        self.later.push(instruction);
        self.note(instruction);
    }

    fn note(&mut self, instruction: &Instruction) {
        instruction.visit_registers(&mut |register, writes| {
            if writes { &mut self.written } else { &mut self.read }.insert(register);
        });
    }
}

/// Whether an instruction reads a texture by long code, and unconditionally.
fn is_read(instruction: &Instruction) -> bool {
    is_long(instruction) && instruction.guard.is_none()
}

/// Whether an instruction becomes long code.
fn is_long(instruction: &Instruction) -> bool {
    matches!(instruction.form.row.action, Action::Compute(Operation::TextureSample | Operation::TextureGather))
}

/// Whether two reads have the same modifiers and operands of the same kinds.
pub(super) fn is_alike(a: &Instruction, b: &Instruction) -> bool {
    let shape = |i: &Instruction| {
        let sampler =
            i.operands.get(1).map(|place| matches!(place, Operand::List(all) if all.get(1) == Some(&Operand::Sink)));
        let offsets = matches!(i.operands.get(5), Some(Operand::List(_)));
        (sampler, offsets)
    };
    std::ptr::eq(a.form, b.form) && a.modifiers == b.modifiers && shape(a) == shape(b)
}

/// Whether an instruction only gives results, which depend on its operands and on memory that nobody writes to at the
/// same time.
fn is_movable(instruction: &Instruction) -> bool {
    // `.cv` reads anew what other threads may write.
    let is_ordered = instruction.modifiers.has(Word::Cv) || uses_carry(instruction);
    // The carry flag and special registers are not among the operands' registers.
    instruction.only_computes() && !is_ordered && !instruction.operands.iter().any(has_special)
}

/// Whether an instruction reads or writes the carry flag.
fn uses_carry(instruction: &Instruction) -> bool {
    let reads_or_writes = matches!(
        instruction.form.row.action,
        Action::Compute(
            Operation::ExtendedAdd
                | Operation::ExtendedAddc
                | Operation::ExtendedSub
                | Operation::ExtendedSubc
                | Operation::ExtendedMad
                | Operation::ExtendedMadc
        )
    );
    reads_or_writes || instruction.modifiers.has(Word::Cc)
}

fn has_special(operand: &Operand) -> bool {
    match operand {
        Operand::Special(_) => true,
        Operand::Vector(all) | Operand::List(all) => all.iter().any(has_special),
        Operand::Pair(both) => both.iter().any(has_special),
        _ => false,
    }
}
