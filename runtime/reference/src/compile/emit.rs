//! Collects instructions, registers, constants and jump targets, and numbers them at the end.

use rustc_hash::FxHashMap;

use crate::arithmetic;
use crate::code::{Code, FloatControls, GroupOp, Inst, Origin, Slot};
use crate::config::Plain;
use crate::module::{Refusal, rule};

/// Maximum number of instructions of an entry point.
const INST_LIMIT: usize = 1 << 22;

/// Maximum number of registers of an invocation. Those of a workgroup must fit into the host's memory too, which is checked before it
/// runs.
const SLOT_LIMIT: u32 = 1 << 22;

/// Marks slots of constants until they are numbered.
const CONSTANT: Slot = 1 << 31;

/// A jump target. Until [`Emitter::finish`], instructions contain labels instead of [`Pc`](crate::code::Pc)s.
pub(super) type Label = u32;

#[derive(Default)]
pub(super) struct Emitter {
    insts: Vec<Inst>,
    places: Vec<Origin>,
    /// The origin of the next instructions.
    pub(super) place: Origin,
    slots: u32,
    constants: Vec<u64>,
    constant_slots: FxHashMap<u64, Slot>,
    labels: Vec<u32>,
    /// The last position with a label.
    last_bound: Option<usize>,
    /// Whether operations on constants are folded.
    pub(super) folds: bool,
}

impl Emitter {
    pub(super) fn emit(&mut self, inst: Inst) -> Result<(), Refusal> {
        if self.insts.len() >= INST_LIMIT {
            return Err(Refusal::new(rule::UNSUPPORTED, format!("more than {INST_LIMIT} instructions")));
        }
        self.insts.push(inst);
        self.places.push(self.place);
        Ok(())
    }

    /// New contiguous registers.
    pub(super) fn fresh(&mut self, count: u32) -> Result<Slot, Refusal> {
        let first = self.slots;
        match first.checked_add(count) {
            Some(slots) if slots <= SLOT_LIMIT => self.slots = slots,
            _ => return Err(Refusal::new(rule::UNSUPPORTED, format!("more than {SLOT_LIMIT} registers"))),
        }
        Ok(first)
    }

    /// The register of a constant.
    pub(super) fn constant(&mut self, bits: u64) -> Slot {
        // The number of constants stays far below 2^31: each has an instruction or a word of the module.
        *self.constant_slots.entry(bits).or_insert_with(|| {
            self.constants.push(bits);
            CONSTANT | (self.constants.len() - 1) as u32
        })
    }

    /// The value of a register that is a constant.
    pub(super) fn constant_bits(&self, slot: Slot) -> Option<u64> {
        if slot & CONSTANT == 0 { None } else { self.constants.get((slot & !CONSTANT) as usize).copied() }
    }

    /// Emits an operation with one result, and returns the result's register.
    pub(super) fn compute(&mut self, inst: impl FnOnce(Slot) -> Inst) -> Result<Slot, Refusal> {
        let d = self.slots;
        let inst = inst(d);
        if self.folds
            && let Some(bits) = self.fold(&inst)
        {
            return Ok(self.constant(bits));
        }
        self.fresh(1)?;
        self.emit(inst)?;
        Ok(d)
    }

    fn fold(&self, inst: &Inst) -> Option<u64> {
        let value = |slot| self.constant_bits(slot);
        let floats = FloatControls::default();
        Some(match *inst {
            Inst::Unary { op, bits, a, .. } => op.apply(bits, [value(a)?], &floats, &mut Plain),
            Inst::Binary { op, bits, a, b, .. } => op.apply(bits, [value(a)?, value(b)?], &floats, &mut Plain),
            Inst::Ternary { op, bits, a, b, c, .. } => {
                op.apply(bits, [value(a)?, value(b)?, value(c)?], &floats, &mut Plain)
            }
            Inst::Convert { op, from, to, a, .. } => arithmetic::convert(op, from, to, value(a)?, &floats, &mut Plain),
            _ => return None,
        })
    }

    pub(super) fn label(&mut self) -> Label {
        self.labels.push(u32::MAX);
        (self.labels.len() - 1) as Label
    }

    /// Binds a label to the next instruction. A jump to it directly before is removed.
    pub(super) fn bind(&mut self, label: Label) {
        if self.last_bound != Some(self.insts.len()) && self.insts.last() == Some(&Inst::Jump(label)) {
            self.insts.pop();
            self.places.pop();
        }
        self.last_bound = Some(self.insts.len());
        self.labels[label as usize] = self.insts.len() as u32;
    }

    pub(super) fn position(&self, label: Label) -> u32 {
        self.labels[label as usize]
    }

    /// Numbers constants and registers and resolves labels, everywhere in `code`. Adds the instructions to it.
    pub(super) fn finish(self, code: &mut Code) {
        let Self { insts, places, slots, constants, labels, .. } = self;
        code.insts = insts;
        code.places = places;
        let mut used = vec![false; constants.len()];
        visit_slots(code, |slot| {
            if *slot & CONSTANT != 0 {
                used[(*slot & !CONSTANT) as usize] = true;
            }
        });
        let mut numbers = vec![0; constants.len()];
        for (index, bits) in constants.into_iter().enumerate() {
            if used[index] {
                numbers[index] = code.constants.len() as u32;
                code.constants.push(bits);
            }
        }
        let count = code.constants.len() as u32;
        code.slots = count + slots;
        visit_slots(code, |slot| {
            *slot = if *slot & CONSTANT != 0 { numbers[(*slot & !CONSTANT) as usize] } else { *slot + count };
        });
        visit_targets(code, |target| *target = labels[*target as usize]);
    }
}

/// Calls `f` for every register in instructions.
fn visit_slots(code: &mut Code, mut f: impl FnMut(&mut Slot)) {
    for inst in &mut code.insts {
        match inst {
            Inst::Unary { d, a, .. } | Inst::Convert { d, a, .. } | Inst::Move { d, a } | Inst::Offset { d, a, .. } => {
                [d, a].into_iter().for_each(&mut f);
            }
            Inst::Binary { d, a, b, .. } | Inst::Wide { d, a, b, .. } => [d, a, b].into_iter().for_each(&mut f),
            Inst::Ternary { d, a, b, c, .. } => [d, a, b, c].into_iter().for_each(&mut f),
            Inst::InsertBits { d, insert, offset, count, .. } => {
                [d, insert, offset, count].into_iter().for_each(&mut f)
            }
            Inst::Index { d, a, index, .. } => [d, a, index].into_iter().for_each(&mut f),
            Inst::Builtin { d, .. } | Inst::Clock { d } => f(d),
            Inst::Arrive { thread, .. } => f(thread),
            Inst::Access { pointer, .. } => f(pointer),
            Inst::Load { d, pointer, .. } => [d, pointer].into_iter().for_each(&mut f),
            Inst::Store { value, pointer, .. } => [value, pointer].into_iter().for_each(&mut f),
            Inst::Branch { condition, .. } => f(condition),
            Inst::Atomic(_)
            | Inst::Group(_)
            | Inst::Barrier(_)
            | Inst::Fence(_)
            | Inst::Jump(_)
            | Inst::Call(_)
            | Inst::Return
            | Inst::Forget { .. }
            | Inst::Unreachable
            | Inst::EnterLoop(_)
            | Inst::NextRound(_) => {}
        }
    }
    for atomic in &mut code.atomics {
        [&mut atomic.d, &mut atomic.pointer, &mut atomic.value, &mut atomic.comparator].into_iter().for_each(&mut f);
    }
    for group in &mut code.groups {
        [&mut group.d, &mut group.value, &mut group.other].into_iter().for_each(&mut f);
        if let GroupOp::MatrixProduct(product) = &mut group.op {
            f(&mut product.addend);
        }
    }
}

/// Calls `f` for every jump target in instructions.
fn visit_targets(code: &mut Code, mut f: impl FnMut(&mut Label)) {
    for inst in &mut code.insts {
        match inst {
            Inst::Jump(target) | Inst::Call(target) => f(target),
            Inst::Branch { yes, no, .. } => [yes, no].into_iter().for_each(&mut f),
            _ => {}
        }
    }
}
