//! The cost of machine code by a model: the issue cycles of each instruction, ten times as many for each loop around it.

use std::collections::BTreeMap;
use std::ops::Range;

/// The factor of an instruction's cost for each loop around it.
const ROUNDS: u64 = 10;
/// Loops that count.
const MOST_LOOPS: u32 = 4;

/// Constants that the translator compares exponents with before a branch that is hardly ever taken: of f64 that may be infinite or NaN
/// (`nan_groups.rs`), of operands of divisions without their sign (`division.rs`), on f32 and, dividend and divisor, on f64, of operands of
/// square roots (`sqrt.rs`), and of sums whose errors decide multiply-adds (`fma/groups.rs`).
pub const RARE: [u32; 6] = [0xffe0_0000, 80 << 24, 800 << 21, 200 << 21, 229 << 23, 188 << 23];
/// Instructions between such a comparison and its branch, the first one after it.
const BRANCH_DISTANCE: usize = 8;

/// The cost of a kernel's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Weighted issue cycles of one wave.
    pub cycles: u64,
    /// The deepest nesting of its loops.
    pub loops: u32,
}

/// The sum of the instructions' costs. A backward branch closes the loop that starts at its target, where several may jump to. A forward
/// branch soon after a test with one of the [`RARE`] constants jumps over code that is hardly ever executed and doesn't count.
pub fn weighted(costs: &[u64], branches: &BTreeMap<usize, usize>, tests: &[usize], unrolled: u64) -> Option<Cost> {
    let (mut loops, mut rare) = (BTreeMap::new(), Vec::new());
    let is_decided_by = |test: usize, at: usize| {
        at < test + BRANCH_DISTANCE && branches.range(test..).next().is_some_and(|(&first, _)| first == at)
    };
    for (&at, &target) in branches {
        if target <= at {
            loops.insert(target, at);
        } else if tests.iter().any(|&test| is_decided_by(test, at)) {
            rare.push(at + 1..target);
        }
    }
    let (mut outside, mut inside, mut deepest) = (0, 0, None);
    for (at, cycles) in costs.iter().enumerate() {
        let depth = loops.iter().filter(|&(&start, &end)| (start..=end).contains(&at)).count() as u32;
        deepest = deepest.max(Some(depth));
        if !rare.iter().any(|rare: &Range<usize>| rare.contains(&at)) {
            *if depth > 0 { &mut inside } else { &mut outside } += cycles * ROUNDS.pow(depth.min(MOST_LOOPS));
        }
    }
    Some(Cost { cycles: outside + inside / unrolled, loops: deepest? })
}
