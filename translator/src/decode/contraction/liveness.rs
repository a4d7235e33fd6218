//! Registers that are read later, and instructions none of whose results is. NVIDIA's compiler has removed these when
//! it fuses.

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

use super::blocks::{self, Block, calls};
use crate::decode::program::{Instruction, Item, Reg};

/// Most registers times blocks that are looked at. In larger functions everything counts as read later.
const MAX_SIZE: usize = 1 << 28;

/// The registers of a function that are read later.
pub(super) struct Liveness {
    /// For each item, whether it is an instruction with unused results.
    pub(super) dead: Vec<bool>,
    /// The registers' numbers in the sets.
    numbers: FxHashMap<Reg, usize>,
    /// For each block by its last item, the registers that are read after it.
    after: FxHashMap<usize, FixedBitSet>,
    /// For each block by its first item, the registers that are read from there on.
    from: FxHashMap<usize, FixedBitSet>,
}

impl Liveness {
    /// Finds the registers that are read later. Instructions count as readers if their results are read.
    pub(super) fn new(items: &[Item], blocks: &[Block]) -> Self {
        let mut numbers = FxHashMap::default();
        for item in items {
            if let Item::Instruction(instruction) = item {
                instruction.visit_registers(&mut |register, _| {
                    let number = numbers.len();
                    numbers.entry(register).or_insert(number);
                });
            }
        }
        let mut liveness =
            Self { dead: vec![false; items.len()], numbers, after: FxHashMap::default(), from: FxHashMap::default() };
        if liveness.numbers.len().saturating_mul(blocks.len()) <= MAX_SIZE {
            liveness.solve(items, blocks);
        }
        liveness
    }

    pub(super) fn is_read_after(&self, block: &Block, register: Reg) -> bool {
        self.is_read(block.items.last().and_then(|last| self.after.get(last)), register)
    }

    pub(super) fn is_read_from(&self, block: &Block, register: Reg) -> bool {
        self.is_read(block.items.first().and_then(|first| self.from.get(first)), register)
    }

    fn is_read(&self, read: Option<&FixedBitSet>, register: Reg) -> bool {
        let number = self.numbers.get(&register);
        read.zip(number).is_none_or(|(read, number)| read.contains(*number))
    }

    /// Goes backwards through the blocks, and again through those before a block whose start has got more to read.
    fn solve(&mut self, items: &[Item], blocks: &[Block]) {
        let empty = FixedBitSet::with_capacity(self.numbers.len());
        let mut at_start = vec![empty.clone(); blocks.len()];
        let mut before = vec![Vec::new(); blocks.len()];
        for (number, block) in blocks.iter().enumerate() {
            for next in &block.next {
                if let Some(before) = before.get_mut(*next) {
                    before.push(number);
                }
            }
        }
        let mut todo: Vec<usize> = (0..blocks.len()).collect();
        let mut waits = vec![true; blocks.len()];
        while let Some(number) = todo.pop() {
            let Some(block) = blocks.get(number) else { continue };
            if let Some(waits) = waits.get_mut(number) {
                *waits = false;
            }
            let mut live = empty.clone();
            for next in block.next.iter().filter_map(|next| at_start.get(*next)) {
                live.union_with(next);
            }
            if let Some(last) = block.items.last() {
                self.after.insert(*last, live.clone());
            }
            for &item in block.items.iter().rev() {
                if let Some(Item::Instruction(instruction)) = items.get(item)
                    && !blocks::stays(items, &self.dead, item)
                {
                    let dead = self.step(instruction, &mut live);
                    if let Some(slot) = self.dead.get_mut(item) {
                        *slot = dead;
                    }
                }
            }
            if let Some(first) = block.items.first() {
                self.from.insert(*first, live.clone());
            }
            if let Some(at_start) = at_start.get_mut(number).filter(|at_start| **at_start != live) {
                *at_start = live;
                for &before in before.get(number).into_iter().flatten() {
                    if let Some(waits) = waits.get_mut(before).filter(|waits| !**waits) {
                        *waits = true;
                        todo.push(before);
                    }
                }
            }
        }
    }

    /// Goes back over one instruction, and returns whether it is dead.
    fn step(&self, instruction: &Instruction, live: &mut FixedBitSet) -> bool {
        let mut is_read = false;
        let each = |written: bool, act: &mut dyn FnMut(usize)| {
            instruction.visit_registers(&mut |register, writes| {
                if let Some(number) = self.numbers.get(&register).filter(|_| writes == written) {
                    act(*number);
                }
            });
        };
        each(true, &mut |number| is_read |= live.contains(number));
        if !is_read && instruction.only_computes() && !calls(instruction) {
            return true;
        }
        if instruction.guard.is_none() {
            each(true, &mut |number| live.set(number, false));
        }
        each(false, &mut |number| live.insert(number));
        false
    }
}
