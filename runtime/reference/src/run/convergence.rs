//! Positions of a subgroup's invocations relative to each other: which are at the same place, and which can still get
//! there. This decides who takes part in a subgroup operation. This module only compares positions;
//! [`super::workgroup`] does the waiting.

use std::sync::OnceLock;

use crate::code::{Code, Pc};

#[derive(Clone, Copy, Debug)]
pub(super) struct Position<'a> {
    /// The active calls, outermost first: the position of each [`Inst::Call`](crate::code::Inst::Call).
    pub calls: &'a [Pc],
    pub pc: Pc,
    /// The iteration of each loop. Since there is no recursion, one number for each loop is enough. Numbers of loops
    /// that the invocation is not in are meaningless.
    pub rounds: &'a [u64],
}

impl Position<'_> {
    /// The position in the function at a call depth, which must not exceed the current depth.
    fn at(&self, depth: usize) -> Pc {
        self.calls.get(depth).copied().unwrap_or(self.pc)
    }
}

/// A bit for each block.
type Blocks = Box<[u64]>;

/// The forward paths between blocks.
#[derive(Debug)]
pub(super) struct Convergence {
    /// The predecessors of each block along forward edges.
    before: Vec<Vec<u32>>,
    /// The blocks that can reach each block, computed on first use, since few blocks have subgroup operations.
    reaching: Vec<OnceLock<Blocks>>,
}

impl Convergence {
    pub fn new(code: &Code) -> Self {
        let mut before = vec![Vec::new(); code.blocks.len()];
        for (index, block) in code.blocks.iter().enumerate() {
            for &next in &block.forward {
                before[next as usize].push(index as u32);
            }
        }
        let reaching = code.blocks.iter().map(|_| OnceLock::new()).collect();
        Self { before, reaching }
    }

    /// Whether two invocations are at the same place, in the same iterations of the loops around it.
    pub fn same(&self, code: &Code, a: Position<'_>, b: Position<'_>) -> bool {
        a.pc == b.pc
            && a.calls == b.calls
            && a.calls.iter().chain([&a.pc]).all(|&pc| {
                let loops = &code.blocks[code.places[pc as usize].block as usize].loops;
                loops.iter().all(|&index| a.rounds[index as usize] == b.rounds[index as usize])
            })
    }

    /// Whether an invocation may still get to the position of another one.
    pub fn can_reach(&self, code: &Code, from: Position<'_>, to: Position<'_>) -> bool {
        for depth in 0..=to.calls.len() {
            let (here, there) = (from.at(depth), to.at(depth));
            let (from_block, to_block) = (code.places[here as usize].block, code.places[there as usize].block);
            let (around, around_there) =
                (&code.blocks[from_block as usize].loops, &code.blocks[to_block as usize].loops);
            let common = around.iter().zip(around_there).take_while(|(a, b)| a == b);
            for (&index, _) in common.clone() {
                let (round, its) = (from.rounds[index as usize], to.rounds[index as usize]);
                if round != its {
                    return round < its;
                }
            }
            if here != there {
                return match around.get(common.count()) {
                    // From anywhere in a loop, the way out passes every block after the header.
                    Some(&left) => self.reaches(code.loops[left as usize], to_block),
                    None if from_block == to_block => here < there,
                    None => self.reaches(from_block, to_block),
                };
            }
            if from.calls.len() == depth {
                return true;
            }
        }
        // It is inside of a call that the other one hasn't reached yet, and so has passed that place.
        false
    }

    fn reaches(&self, from: u32, to: u32) -> bool {
        let blocks = self.reaching[to as usize].get_or_init(|| self.all_before(to));
        blocks[from as usize / 64] >> (from % 64) & 1 != 0
    }

    fn all_before(&self, block: u32) -> Blocks {
        let mut found = vec![0_u64; self.before.len().div_ceil(64)];
        let mut open = vec![block];
        while let Some(block) = open.pop() {
            let (word, bit) = (block as usize / 64, 1 << (block % 64));
            if found[word] & bit == 0 {
                found[word] |= bit;
                open.extend(&self.before[block as usize]);
            }
        }
        found.into()
    }
}
