//! Each subgroup operation compared with an independent formula, for all sizes, with inactive invocations and a partial
//! subgroup.

use super::*;
use crate::code::GroupArithmetic::*;

/// Offsets of the invocations' inputs and outputs in the buffer, in words.
const OTHER: u64 = 1024;
const ACTIVE: u64 = 1536;
const RESULT: u64 = 2048;

/// The invocations of a subgroup, for the formula.
struct Case<'a> {
    size: usize,
    active: &'a [bool],
    values: &'a [[u32; 4]],
    others: &'a [u32],
}

impl Case<'_> {
    fn value(&self, place: usize) -> Option<u32> {
        self.active.get(place).copied().filter(|&active| active).map(|_| self.values[place][0])
    }

    /// The positions of the participants.
    fn there(&self) -> impl Iterator<Item = usize> + Clone {
        (0..self.active.len()).filter(|&place| self.active[place])
    }

    fn ballot(&self, place: usize) -> u128 {
        self.values[place].iter().rev().fold(0, |high, &word| high << 32 | u128::from(word))
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
        let id = asm.builtin(Builtin::LocalInvocationIndex);
        let four = asm.constant(4);
        let first = asm.binary(Binary::IMul, id, four);
        let values = asm.slots(4);
        for word in 0..4 {
            let offset = asm.constant(word);
            let index = asm.binary(Binary::IAdd, first, offset);
            let loaded = asm.fetch(index);
            asm.put(Inst::Move { d: values + word as u32, a: loaded });
        }
        let fetch = |asm: &mut Assembler, base| {
            let pointer = asm.element(BUFFER + 4 * base, id);
            asm.load(Class::Device, pointer)
        };
        let others = fetch(&mut asm, OTHER);
        let active = fetch(&mut asm, ACTIVE);
        asm.branch_if(active, 0, 2, 1);
        asm.block(&[], &[2]);
        let bits = if matches!(op, GroupOp::All | GroupOp::Any | GroupOp::Ballot) { 1 } else { 32 };
        let result = asm.group(op, bits, values, others);
        let results = if op == GroupOp::Ballot { 4 } else { 1 };
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
        let values: Vec<[u32; 4]> =
            (0..count).map(|_| std::array::from_fn(|_| value(random.next().unwrap()))).collect();
        // Within the cluster or quad of a rotation the amount must be the same, so it is the same everywhere.
        let others: Vec<u32> = match op {
            GroupOp::Rotate { .. } | GroupOp::Broadcast | GroupOp::QuadBroadcast => {
                vec![other(random.next().unwrap(), size); count]
            }
            _ => (0..count).map(|_| other(random.next().unwrap(), size)).collect(),
        };
        let active: Vec<bool> = (0..count).map(|_| !random.next().unwrap().is_multiple_of(4)).collect();
        run.input = vec![0xdead_beef; RESULT as usize];
        run.input[..4 * count].copy_from_slice(values.as_flattened());
        run.input[OTHER as usize..][..count].copy_from_slice(&others);
        for (word, &active) in run.input[ACTIVE as usize..].iter_mut().zip(&active) {
            *word = active.into();
        }
        let words = run.words();
        for first in (0..count).step_by(size as usize) {
            let range = first..(first + size as usize).min(count);
            let (active, values, others) = (&active[range.clone()], &values[range.clone()], &others[range.clone()]);
            let case = Case { size: size as usize, active, values, others };
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

/// Any number.
fn any(random: u32) -> u32 {
    random
}

/// A boolean that is mostly true.
fn mostly(random: u32) -> u32 {
    u32::from(!random.is_multiple_of(16))
}

fn unused(_random: u32, _size: u32) -> u32 {
    0
}

#[test]
fn votes() {
    check_one(GroupOp::Elect, any, unused, |case, place| Some((case.there().next() == Some(place)).into()));
    check_one(GroupOp::All, mostly, unused, |case, _| {
        Some(case.there().all(|place| case.values[place][0] == 1).into())
    });
    check_one(
        GroupOp::Any,
        |random| 1 - mostly(random),
        unused,
        |case, _| Some(case.there().any(|place| case.values[place][0] == 1).into()),
    );
    for few in [1, 40] {
        check_one(
            GroupOp::AllEqual { float: false },
            |random| random / few % 40 / 39,
            unused,
            |case, _| {
                let values: Vec<u32> = case.there().map(|place| case.values[place][0]).collect();
                Some(values.windows(2).all(|pair| pair[0] == pair[1]).into())
            },
        );
    }
    // Zeros of both signs are equal, and a NaN is equal to nothing.
    check_one(GroupOp::AllEqual { float: true }, |random| random & 0x8000_0000, unused, |_, _| Some(1));
    check_one(GroupOp::AllEqual { float: true }, |_| 0x7fc0_0000, unused, |_, _| Some(0));
}

#[test]
fn ballots() {
    check(
        GroupOp::Ballot,
        |random| random >> 7 & 1,
        unused,
        |case, _| {
            let ballot = case.there().fold(0_u128, |ballot, place| ballot | u128::from(case.values[place][0]) << place);
            Some((0..4).map(|word| (ballot >> (32 * word)) as u32).collect())
        },
    );
    check_one(GroupOp::InverseBallot, any, unused, |case, place| Some((case.ballot(place) >> place) as u32 & 1));
    check_one(
        GroupOp::BallotBitExtract,
        any,
        |random, size| random % size,
        |case, place| Some((case.ballot(place) >> case.others[place]) as u32 & 1),
    );
    let bits = |case: &Case<'_>, place: usize| {
        (0..case.size).filter(|&bit| case.ballot(place) >> bit & 1 == 1).collect::<Vec<usize>>()
    };
    check_one(GroupOp::BallotBitCount(Scan::Reduce), any, unused, |case, place| Some(bits(case, place).len() as u32));
    check_one(GroupOp::BallotBitCount(Scan::Inclusive), any, unused, |case, place| {
        Some(bits(case, place).iter().filter(|&&bit| bit <= place).count() as u32)
    });
    check_one(GroupOp::BallotBitCount(Scan::Exclusive), any, unused, |case, place| {
        Some(bits(case, place).iter().filter(|&&bit| bit < place).count() as u32)
    });
    check_one(GroupOp::BallotFindLsb, any, unused, |case, place| bits(case, place).first().map(|&bit| bit as u32));
    check_one(GroupOp::BallotFindMsb, any, unused, |case, place| bits(case, place).last().map(|&bit| bit as u32));
}

#[test]
fn shuffles() {
    let within = |random: u32, size: u32| random % size;
    let beyond = |random: u32, size: u32| random % (size + 2);
    check_one(GroupOp::BroadcastFirst, any, unused, |case, _| case.value(case.there().next()?));
    check_one(GroupOp::Broadcast, any, within, |case, place| case.value(case.others[place] as usize));
    check_one(GroupOp::Shuffle, any, beyond, |case, place| case.value(case.others[place] as usize));
    check_one(GroupOp::ShuffleXor, any, beyond, |case, place| case.value(place ^ case.others[place] as usize));
    check_one(GroupOp::ShuffleUp, any, beyond, |case, place| {
        case.value(place.checked_sub(case.others[place] as usize)?)
    });
    check_one(GroupOp::ShuffleDown, any, beyond, |case, place| case.value(place + case.others[place] as usize));
    check_one(GroupOp::Rotate { cluster: 0 }, any, beyond, |case, place| {
        case.value((place + case.others[place] as usize) % case.size)
    });
    check_one(GroupOp::Rotate { cluster: 4 }, any, beyond, |case, place| {
        // A cluster must not be larger than the subgroup.
        let turned = (place + case.others[place] as usize) % 4;
        (case.size >= 4).then(|| case.value(place / 4 * 4 + turned))?
    });
    check_one(
        GroupOp::QuadBroadcast,
        any,
        |random, _| random % 4,
        |case, place| case.value(place / 4 * 4 + case.others[place] as usize),
    );
    for (direction, partner) in [(0, [1, 0, 3, 2]), (1, [2, 3, 0, 1]), (2, [3, 2, 1, 0])] {
        check_one(GroupOp::QuadSwap(direction), any, unused, |case, place| {
            case.value(place / 4 * 4 + partner[place % 4])
        });
    }
}

/// Checks all forms of a reduction.
fn check_arithmetic(op: GroupArithmetic, value: fn(u32) -> u32, identity: u32, join: fn(u32, u32) -> u32) {
    let total = |case: &Case<'_>, is_in: &dyn Fn(usize) -> bool| {
        Some(
            case.there()
                .filter(|&place| is_in(place))
                .fold(identity, |total, place| join(total, case.values[place][0])),
        )
    };
    check_one(GroupOp::Arithmetic(op, Scan::Reduce), value, unused, |case, _| total(case, &|_| true));
    check_one(GroupOp::Arithmetic(op, Scan::Inclusive), value, unused, |case, place| {
        total(case, &|other| other <= place)
    });
    check_one(GroupOp::Arithmetic(op, Scan::Exclusive), value, unused, |case, place| {
        total(case, &|other| other < place)
    });
    check_one(GroupOp::Arithmetic(op, Scan::Clustered(4)), value, unused, |case, place| {
        (case.size >= 4).then(|| total(case, &|other| other / 4 == place / 4))?
    });
}

#[test]
fn arithmetic() {
    check_arithmetic(IAdd, any, 0, u32::wrapping_add);
    check_arithmetic(IMul, |random| random | 1, 1, u32::wrapping_mul);
    check_arithmetic(UMin, any, u32::MAX, u32::min);
    check_arithmetic(UMax, any, 0, u32::max);
    check_arithmetic(SMin, any, i32::MAX as u32, |a, b| (a as i32).min(b as i32) as u32);
    check_arithmetic(SMax, any, i32::MIN as u32, |a, b| (a as i32).max(b as i32) as u32);
    check_arithmetic(And, |random| random | 0xffff, u32::MAX, |a, b| a & b);
    check_arithmetic(Or, |random| random & 0x1111, 0, |a, b| a | b);
    check_arithmetic(Xor, any, 0, |a, b| a ^ b);
}

#[test]
fn float_arithmetic() {
    fn of(f: fn(f32, f32) -> f32, a: u32, b: u32) -> u32 {
        f(f32::from_bits(a), f32::from_bits(b)).to_bits()
    }
    // Small integers and powers of two, so that no sum or product is rounded.
    let small: fn(u32) -> u32 = |random| ((random % 100) as f32).to_bits();
    let power: fn(u32) -> u32 = |random| (if random.is_multiple_of(2) { 2_f32 } else { 0.5 }).to_bits();
    let any: fn(u32) -> u32 = |random| (random as f32 - 1e9).to_bits();
    check_arithmetic(FAdd, small, 0, |a, b| of(|a, b| a + b, a, b));
    check_arithmetic(FMul, power, 1_f32.to_bits(), |a, b| of(|a, b| a * b, a, b));
    check_arithmetic(FMin, any, f32::INFINITY.to_bits(), |a, b| of(f32::min, a, b));
    check_arithmetic(FMax, any, f32::NEG_INFINITY.to_bits(), |a, b| of(f32::max, a, b));
}

/// The value of an inactive invocation is undefined, and reported once a branch depends on it.
#[test]
fn values_of_inactive_invocations_are_undefined() {
    let code = |decides: bool| {
        let mut asm = Assembler::new(4);
        asm.block(&[], &[1, 2]);
        let id = asm.builtin(Builtin::LocalInvocationIndex);
        asm.branch_if(id, 3, 2, 1);
        asm.block(&[], &[2, 3]);
        let one = asm.constant(1);
        let next = asm.group(GroupOp::ShuffleDown, 32, id, one);
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
