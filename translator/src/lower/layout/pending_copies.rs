//! Copies by `cp.async` whose words wait in registers. Where a loop waits for the copies that it begins, as those of tiled products do, they are
//! read when they begin, and written when the thread waits: the time that reads take passes while it computes. PTX allows both until then.

use crate::decode::program::{Function, Item, Label, Operand};
use crate::diagnostic::Span;
use crate::index::Index;
use crate::ir::{Access, Builder, Function as Ir, MemoryOrder, Space, Type, Value, Var};
use crate::isa::operation::{Action, Operation};
use crate::isa::word::Word;

/// The most of them in a kernel: registers are scarce.
const MOST: usize = 8;

/// The copies of a kernel that may be pending.
#[derive(Clone, Debug)]
pub struct PendingCopies {
    /// The number of groups that the thread has committed.
    commits: Var,
    copies: Vec<PendingCopy>,
}

/// A copy that may be pending.
#[derive(Clone, Copy, Debug)]
pub struct PendingCopy {
    site: Span,
    /// The address that the copy writes to, plus one; 0 if the copy isn't pending.
    place: Var,
    words: [Var; 4],
    /// The number of words.
    count: usize,
    /// The number of groups that had been committed when the copy began.
    group: Var,
}

impl PendingCopies {
    /// The pending copies of a kernel, outside of the functions that it calls; none if no copy may be pending.
    pub fn of(kernel: &Function, ir: &mut Ir) -> Option<Self> {
        let mut var = || ir.var(Type::I32);
        let mut copies = Vec::new();
        for (site, count) in sites(kernel).into_iter().take(MOST) {
            let (place, group) = (var(), var());
            copies.push(PendingCopy { site, place, words: [var(), var(), var(), var()], count, group });
        }
        (!copies.is_empty()).then(|| Self { commits: var(), copies })
    }

    pub fn at(&self, site: Span) -> Option<&PendingCopy> {
        self.copies.iter().find(|copy| copy.site == site)
    }

    /// Notes the words that a copy is to write, and their address.
    pub fn begin(&self, b: &Builder<'_>, copy: &PendingCopy, to: Value, words: &[Value]) {
        b.set(copy.place, b.add_const(to, 1));
        copy.words.iter().zip(words).for_each(|(var, word)| b.set(*var, *word));
        b.set(copy.group, b.get(self.commits));
    }

    /// Counts a group.
    pub fn commit(&self, b: &Builder<'_>) {
        b.set(self.commits, b.add_const(b.get(self.commits), 1));
    }

    /// Completes all pending copies, or those of all groups but the last ones.
    pub fn complete(&self, b: &Builder<'_>, but: Option<u32>) {
        for copy in &self.copies {
            let place = b.get(copy.place);
            let is_pending = b.is_nonzero(place);
            let is_due = match but {
                None => is_pending,
                Some(groups) => {
                    let group = b.get(copy.group);
                    let commits = b.get(self.commits);
                    // One that began after the last commit belongs to no group yet.
                    let later = b.sub(commits, group);
                    let is_old = b.ult(b.i32(groups), later);
                    b.and(is_pending, is_old)
                }
            };
            b.if_(is_due, |b| copy.write(b, place));
        }
    }
}

impl PendingCopy {
    /// Writes the pending words.
    pub fn complete(&self, b: &Builder<'_>) {
        let place = b.get(self.place);
        b.if_(b.is_nonzero(place), |b| self.write(b, place));
    }

    fn write(&self, b: &Builder<'_>, place: Value) {
        let to = b.sub_const(place, 1);
        let words = self.words.iter().take(self.count).map(|var| b.get(*var)).collect();
        b.store(Access { space: Space::Shared, bytes: 4, order: MemoryOrder::Weak, read_only: false }, to, words);
        b.set(self.place, b.i32(0));
    }
}

/// The copies whose innermost loop, by the order of the text, waits for copies; each with its number of words.
fn sites(kernel: &Function) -> Vec<(Span, usize)> {
    let items = kernel.body.as_deref().unwrap_or_default();
    let mut places: Vec<Option<usize>> = vec![None; kernel.labels as usize];
    // Loops from their labels to their branches, and the places of copies and waits.
    let (mut loops, mut copies, mut waits) = (Vec::new(), Vec::new(), Vec::new());
    for (place, item) in items.iter().enumerate() {
        let instruction = match item {
            Item::Label(label) => {
                if let Some(entry) = places.get_mut(label.position()) {
                    *entry = Some(place);
                }
                continue;
            }
            Item::Instruction(instruction) => instruction,
        };
        match instruction.form.row.action {
            Action::Compute(Operation::CopyAsync) => {
                if let Some(&Operand::Imm(bytes)) = instruction.operands.get(2) {
                    let count = usize::try_from(bytes / 4).unwrap_or(usize::MAX);
                    copies.push((place, (instruction.span, count)));
                }
            }
            Action::Compute(Operation::MbarrierArriveForCopies) => waits.push(place),
            Action::Compute(Operation::CopiesAwaited) if !instruction.modifiers.has(Word::CommitGroup) => {
                waits.push(place);
            }
            _ => {
                let start = |label: &Label| places.get(label.position()).copied().flatten();
                let labels = instruction.operands.iter().filter_map(|operand| match operand {
                    Operand::Label(label) => start(label),
                    _ => None,
                });
                loops.extend(labels.map(|start| (start, place)));
            }
        }
    }
    let within = |place: usize, (start, end): (usize, usize)| (start..end).contains(&place);
    let waits_in = |copy: usize| {
        let around = loops.iter().copied().filter(|&range| within(copy, range));
        let innermost = around.min_by_key(|(start, end)| end - start);
        innermost.is_some_and(|range| waits.iter().any(|&wait| within(wait, range)))
    };
    copies.into_iter().filter(|(place, _)| waits_in(*place)).map(|(_, copy)| copy).collect()
}
