//! Each subgroup operation compared with an independent formula, for all sizes, with inactive invocations and a partial
//! subgroup.

use super::*;

/// Offsets of the invocations' inputs and outputs in the buffer, in words.
const OTHER: u64 = 1024;
const ACTIVE: u64 = 1536;
const RESULT: u64 = 2048;

/// The invocations of a subgroup, for the formula.
struct Case<'a> {
    active: &'a [bool],
    values: &'a [u32],
    others: &'a [u32],
}

impl Case<'_> {
    fn value(&self, place: usize) -> Option<u32> {
        self.active.get(place).copied().filter(|&active| active).map(|_| self.values[place])
    }

    /// The positions of the participants.
    fn there(&self) -> impl Iterator<Item = usize> + Clone {
        (0..self.active.len()).filter(|&place| self.active[place])
    }
}

/// Pseudo-random numbers (Lehmer's generator).
fn numbers(seed: u32) -> impl Iterator<Item = u32> {
    std::iter::successors(Some(u64::from(seed) + 1), |x| Some(x * 48271 % 0x7fff_ffff)).skip(3).map(|x| (x * 2) as u32)
}

/// Runs an operation for all sizes. `value` and `other` make inputs from random numbers and the size; `expected`
/// returns the result of the invocation at a position, or `None` if it is undefined.
fn check(
    op: GroupOp,
    value: impl Fn(u32) -> u32,
    other: impl Fn(u32, u32) -> u32,
    expected: impl Fn(&Case<'_>, usize) -> Option<Vec<u32>>,
) {
    for size in [1, 2, 4, 8, 16, 32, 64, 128_u32] {
        let count = (size + size / 2) as usize;
        let mut asm = Assembler::new(count as u32);
        asm.block(&[], &[1, 2]);
        let id = asm.builtin(BuiltIn::LocalInvocationIndex);
        let values = asm.fetch(id);
        let fetch = |asm: &mut Assembler, base| {
            let pointer = asm.element(BUFFER + 4 * base, id);
            asm.load(Class::Device, pointer)
        };
        let others = fetch(&mut asm, OTHER);
        let active = fetch(&mut asm, ACTIVE);
        asm.branch_if(active, 0, 2, 1);
        asm.block(&[], &[2]);
        let bits = if op == GroupOp::Ballot { 1 } else { 32 };
        let result = asm.group(op, bits, values, others);
        let results = if op == GroupOp::Ballot { 4 } else { 1 };
        let four = asm.constant(4);
        let first = asm.binary(Binary::IMul, id, four);
        for word in 0..results {
            let offset = asm.constant(RESULT + word);
            let index = asm.binary(Binary::IAdd, first, offset);
            asm.store(index, result + word as u32);
        }
        asm.put(Inst::Jump(2));
        asm.block(&[], &[]);
        asm.put(Inst::Return);

        let mut run = asm.runs(size);
        let mut random = numbers(size);
        let values: Vec<u32> = (0..count).map(|_| value(random.next().unwrap())).collect();
        // The number of a broadcast is the same everywhere.
        let others: Vec<u32> = match op {
            GroupOp::Broadcast => vec![other(random.next().unwrap(), size); count],
            _ => (0..count).map(|_| other(random.next().unwrap(), size)).collect(),
        };
        let active: Vec<bool> = (0..count).map(|_| !random.next().unwrap().is_multiple_of(4)).collect();
        run.input = vec![0xdead_beef; RESULT as usize];
        run.input[..count].copy_from_slice(&values);
        run.input[OTHER as usize..][..count].copy_from_slice(&others);
        for (word, &active) in run.input[ACTIVE as usize..].iter_mut().zip(&active) {
            *word = active.into();
        }
        let words = run.words();
        for first in (0..count).step_by(size as usize) {
            let range = first..(first + size as usize).min(count);
            let (active, values, others) = (&active[range.clone()], &values[range.clone()], &others[range.clone()]);
            let case = Case { active, values, others };
            for place in case.there() {
                let Some(expected) = expected(&case, place) else { continue };
                let at = RESULT as usize + 4 * (first + place);
                assert_eq!(
                    words[at..][..results as usize],
                    expected,
                    "{op:?}, size {size}, invocation {first}+{place}"
                );
            }
        }
    }
}

/// Like [`check`], for operations with one result.
fn check_one(
    op: GroupOp,
    value: impl Fn(u32) -> u32,
    other: impl Fn(u32, u32) -> u32,
    expected: impl Fn(&Case<'_>, usize) -> Option<u32>,
) {
    check(op, value, other, |case, place| expected(case, place).map(|word| vec![word]));
}

fn any(random: u32) -> u32 {
    random
}

fn unused(_random: u32, _size: u32) -> u32 {
    0
}

#[test]
fn ballots() {
    check(
        GroupOp::Ballot,
        |random| random >> 7 & 1,
        unused,
        |case, _| {
            let ballot = case.there().fold(0_u128, |ballot, place| ballot | u128::from(case.values[place]) << place);
            Some((0..4).map(|word| (ballot >> (32 * word)) as u32).collect())
        },
    );
}

#[test]
fn shuffles() {
    let within = |random: u32, size: u32| random % size;
    let beyond = |random: u32, size: u32| random % (size + 2);
    check_one(GroupOp::Broadcast, any, within, |case, place| case.value(case.others[place] as usize));
    check_one(GroupOp::Shuffle, any, beyond, |case, place| case.value(case.others[place] as usize));
    check_one(GroupOp::ShuffleXor, any, beyond, |case, place| case.value(place ^ case.others[place] as usize));
}

/// Checks all forms of a reduction.
fn check_arithmetic(op: Binary, value: fn(u32) -> u32, identity: u32, join: fn(u32, u32) -> u32) {
    let total = |case: &Case<'_>, is_in: &dyn Fn(usize) -> bool| {
        Some(case.there().filter(|&place| is_in(place)).fold(identity, |total, place| join(total, case.values[place])))
    };
    check_one(GroupOp::Arithmetic(op, Scan::Reduce), value, unused, |case, _| total(case, &|_| true));
    check_one(GroupOp::Arithmetic(op, Scan::Inclusive), value, unused, |case, place| {
        total(case, &|other| other <= place)
    });
    check_one(GroupOp::Arithmetic(op, Scan::Exclusive), value, unused, |case, place| {
        total(case, &|other| other < place)
    });
}

#[test]
fn arithmetic() {
    check_arithmetic(Binary::IAdd, any, 0, u32::wrapping_add);
    check_arithmetic(Binary::UMin, any, u32::MAX, u32::min);
}

#[test]
fn float_arithmetic() {
    fn of(f: fn(f32, f32) -> f32, a: u32, b: u32) -> u32 {
        f(f32::from_bits(a), f32::from_bits(b)).to_bits()
    }
    // Small integers, so that no sum is rounded.
    let small: fn(u32) -> u32 = |random| ((random % 100) as f32).to_bits();
    let any: fn(u32) -> u32 = |random| (random as f32 - 1e9).to_bits();
    check_arithmetic(Binary::FAdd, small, 0, |a, b| of(|a, b| a + b, a, b));
    check_arithmetic(Binary::GroupNonUniformFMax, any, f32::NEG_INFINITY.to_bits(), |a, b| of(f32::max, a, b));
}

/// The value of an inactive invocation is undefined, and reported once a branch depends on it.
#[test]
fn values_of_inactive_invocations_are_undefined() {
    let code = |decides: bool| {
        let mut asm = Assembler::new(4);
        asm.block(&[], &[1, 2]);
        let id = asm.builtin(BuiltIn::LocalInvocationIndex);
        asm.branch_if(id, 3, 2, 1);
        asm.block(&[], &[2, 3]);
        let one = asm.constant(1);
        let after = asm.binary(Binary::IAdd, id, one);
        let next = asm.group(GroupOp::Shuffle, 32, id, after);
        if decides {
            asm.branch_if(next, 0, 2, 3);
        } else {
            asm.put(Inst::Jump(2));
        }
        for _ in 0..2 {
            asm.block(&[], &[]);
            asm.put(Inst::Return);
        }
        asm.runs(4).mode(true, None).run()
    };
    let found = code(true).found;
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].kind, found[0].site.local), (crate::FindingKind::Undefined, Some([2, 0, 0])));
    assert!(found[0].message.contains("branch"));
    assert_eq!(code(false).found, []);
}
