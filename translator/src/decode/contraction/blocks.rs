//! Basic blocks as NVIDIA's compiler has them when it fuses: after it has replaced some instructions by code with branches.

use rustc_hash::FxHashMap;

use crate::decode::program::{Instruction, Item, Label, Operand};
use crate::isa::operation::{Action, Operation};
use crate::isa::types::ScalarType;
use crate::isa::word::Word;

/// A basic block, and where control goes after it.
#[derive(Debug, Default)]
pub(super) struct Block {
    /// Its items, in the order of execution.
    pub(super) items: Vec<usize>,
    /// The numbers of the blocks that may follow.
    pub(super) next: Vec<usize>,
}

/// A run of items without a branch, and how it ends.
#[derive(Default)]
struct Run {
    items: std::ops::Range<usize>,
    /// The labels that its end may go to.
    labels: Vec<Label>,
    /// Whether control may also go on with the next run.
    falls_through: bool,
}

/// The basic blocks of a function, some of whose instructions are dead.
pub(super) fn find(items: &[Item], dead: &[bool]) -> Vec<Block> {
    let references = references(items, dead);
    let count = |label: &Label| references.get(label).copied().unwrap_or(0);
    let mut runs: Vec<Run> = Vec::new();
    let mut starts = FxHashMap::<Label, usize>::default();
    let mut run = Run { falls_through: true, ..Run::default() };
    for (position, item) in items.iter().enumerate() {
        match item {
            Item::Label(label) if count(label) > 0 => {
                runs.push(std::mem::replace(&mut run, Run::begin(position)));
                starts.insert(*label, runs.len());
            }
            Item::Instruction(instruction) if is_expanded(instruction) && dead.get(position) != Some(&true) => {
                runs.push(std::mem::replace(&mut run, Run::begin(position)));
            }
            _ => {}
        }
        run.items.end = position + 1;
        if let Some(labels) = leaves(items, dead, position)
            && let Item::Instruction(instruction) = item
        {
            run.falls_through = instruction.guard.is_some() || goes_on(instruction.form.row.action);
            run.labels = labels;
            runs.push(std::mem::replace(&mut run, Run::begin(position + 1)));
        }
    }
    runs.push(run);
    joined(&runs, &starts, count)
}

impl Run {
    fn begin(position: usize) -> Self {
        Self { items: position..position, labels: Vec::new(), falls_through: true }
    }
}

/// The number of branches to each label.
fn references(items: &[Item], dead: &[bool]) -> FxHashMap<Label, usize> {
    let mut references = FxHashMap::default();
    for position in 0..items.len() {
        for label in leaves(items, dead, position).into_iter().flatten() {
            *references.entry(label).or_default() += 1;
        }
    }
    references
}

/// The labels that an instruction may go to, if it ends a block.
fn leaves(items: &[Item], dead: &[bool], position: usize) -> Option<Vec<Label>> {
    let Some(Item::Instruction(instruction)) = items.get(position) else { return None };
    let action = instruction.form.row.action;
    // Code goes on in the same block after a barrier.
    if action.is_straight_line() || (matches!(action, Action::Barrier(_)) && instruction.guard.is_none()) {
        return None;
    }
    let labels = instruction.operands.iter().flat_map(|operand| match operand {
        Operand::Label(label) => vec![*label],
        Operand::Labels(labels) => labels.clone(),
        _ => Vec::new(),
    });
    let labels: Vec<Label> = labels.collect();
    (!stays(items, dead, position)).then_some(labels)
}

/// Whether an instruction is a branch to the next instruction that stays. The compiler removes such a branch, and does
/// not need its guard.
pub(super) fn stays(items: &[Item], dead: &[bool], position: usize) -> bool {
    let Some(Item::Instruction(instruction)) = items.get(position) else { return false };
    let [Operand::Label(target)] = instruction.operands.as_slice() else { return false };
    let mut following = (position + 1..items.len()).map_while(|next| match items.get(next)? {
        Item::Label(label) => Some(Some(label)),
        Item::Instruction(_) => (dead.get(next) == Some(&true)).then_some(None),
    });
    instruction.form.row.action == Action::Branch && following.any(|label| label == Some(target))
}

/// Whether control goes on after an instruction that ends a block, even without a guard.
fn goes_on(action: Action) -> bool {
    match action {
        Action::Call | Action::Barrier(_) | Action::Compute(_) | Action::Nothing(_) => true,
        Action::Branch | Action::IndexedBranch | Action::Return | Action::Exit | Action::Fail(_) => false,
    }
}

/// Whether an instruction of straight-line code becomes code with branches, unless it is dead.
fn is_expanded(instruction: &Instruction) -> bool {
    let Action::Compute(operation) = instruction.form.row.action else { return false };
    match operation {
        Operation::IntegerDiv | Operation::IntegerRem => instruction.modifiers.ty(0) != Some(ScalarType::U32),
        Operation::Bfind => is_long(instruction),
        Operation::Fence | Operation::FenceSequential | Operation::Pmevent => true,
        Operation::Vote | Operation::Ballot => instruction.guard.is_some(),
        _ => {
            let accesses = instruction.form.accesses_memory() && !instruction.modifiers.has(Word::Param);
            instruction.guard.is_some() && accesses || calls(instruction)
        }
    }
}

/// Whether an instruction becomes a call, at least for some operands. Calls are never removed, even if their results
/// are unused.
pub(super) fn calls(instruction: &Instruction) -> bool {
    let Action::Compute(operation) = instruction.form.row.action else { return false };
    match operation {
        Operation::IntegerDiv | Operation::IntegerRem => is_long(instruction),
        Operation::FloatDiv | Operation::FloatRcp | Operation::FloatSqrt | Operation::ApproximateRsqrtDouble => true,
        _ => false,
    }
}

/// Whether an instruction computes in 64 bits.
fn is_long(instruction: &Instruction) -> bool {
    instruction.modifiers.ty(0).is_some_and(|ty| ty.bits() == 64)
}

/// Makes blocks of runs. One that only one other goes to, and that always, is the same block.
fn joined(runs: &[Run], starts: &FxHashMap<Label, usize>, count: impl Fn(&Label) -> usize) -> Vec<Block> {
    let start = |label: &Label| starts.get(label).copied();
    let arrived_at = |number: usize| number > 0 && runs.get(number - 1).is_some_and(|before| before.falls_through);
    let follower = |run: &Run| match run.labels.as_slice() {
        [label] if !run.falls_through && count(label) == 1 => start(label).filter(|number| !arrived_at(*number)),
        _ => None,
    };
    let mut follows = vec![false; runs.len()];
    for run in runs {
        if let Some(follows) = follower(run).and_then(|number| follows.get_mut(number)) {
            *follows = true;
        }
    }
    let mut block_of = vec![0; runs.len()];
    let mut blocks = Vec::new();
    let mut lasts = Vec::new();
    // Runs that follow each other in a circle are never executed.
    for first in (0..runs.len()).filter(|number| follows.get(*number) == Some(&false)) {
        let mut block = Block::default();
        let (mut number, mut last) = (Some(first), first);
        while let Some((run, place)) = number.and_then(|number| Some((runs.get(number)?, number))) {
            block.items.extend(run.items.clone());
            if let Some(block_of) = block_of.get_mut(place) {
                *block_of = blocks.len();
            }
            last = place;
            number = follower(run);
        }
        blocks.push(block);
        lasts.push(last);
    }
    for (block, last) in blocks.iter_mut().zip(lasts) {
        let Some(run) = runs.get(last) else { continue };
        let through = run.falls_through.then_some(last + 1);
        let next = run.labels.iter().filter_map(start).chain(through);
        block.next = next.filter_map(|number| block_of.get(number).copied()).collect();
    }
    blocks
}
