//! Participants of subgroup operations: with maximal reconvergence, as in plain runs, and with weaker promises.

use super::*;

/// The invocations of each test's only workgroup: two subgroups of 8, and one of 4.
const COUNT: u32 = 20;
const SIZE: u32 = 8;

/// Runs code. `expected` returns the expected result of an invocation, given the members of its subgroup.
fn expect(asm: Assembler, expected: impl Fn(u32, &[u32]) -> u32) {
    let mut run = asm.runs(SIZE);
    for check in [false, true] {
        run.mode.check = check;
        let words = run.words();
        for id in 0..COUNT {
            let first = id / SIZE * SIZE;
            let subgroup: Vec<u32> = (first..(first + SIZE).min(COUNT)).collect();
            assert_eq!(words[id as usize], expected(id, &subgroup), "invocation {id}");
        }
    }
}

/// Code whose first block has these successors, a sum that is zero, and the invocation's number.
fn begin(forward: &[u32]) -> (Assembler, Slot, Slot) {
    let mut asm = Assembler::new(COUNT);
    asm.block(&[], forward);
    let (total, zero) = (asm.slot(), asm.constant(0));
    let id = asm.builtin(BuiltIn::LocalInvocationIndex);
    asm.put(Inst::Move { d: total, a: zero });
    (asm, total, id)
}

fn how_many(subgroup: &[u32], is_so: impl Fn(u32) -> bool) -> u32 {
    subgroup.iter().filter(|&&id| is_so(id)).count() as u32
}

fn remainder(asm: &mut Assembler, id: Slot, divisor: u64) -> Slot {
    let divisor = asm.constant(divisor);
    asm.binary(Binary::UMod, id, divisor)
}

/// `total = total * 100 + count`, so that the result of each operation is visible.
fn append_count(asm: &mut Assembler, total: Slot) {
    let (more, hundred) = (asm.count(), asm.constant(100));
    let shifted = asm.binary(Binary::IMul, total, hundred);
    asm.put(Inst::Binary { op: Binary::IAdd, bits: 32, d: total, a: shifted, b: more });
}

/// The last operation, and the result that the invocation returns.
fn end(asm: &mut Assembler, total: Slot, id: Slot) {
    append_count(asm, total);
    asm.store(id, total);
    asm.put(Inst::Return);
}

/// A branch with an operation in each arm, and the last one after it.
fn arms_and_end(asm: &mut Assembler, condition: Slot, total: Slot, id: Slot) {
    asm.branch_if(condition, 0, 1, 2);
    for _ in 0..2 {
        asm.block(&[], &[3]);
        let here = asm.count();
        asm.put(Inst::Move { d: total, a: here });
        asm.put(Inst::Jump(3));
    }
    asm.block(&[], &[]);
    end(asm, total, id);
}

#[test]
fn both_arms_and_what_follows() {
    let (mut asm, total, id) = begin(&[1, 2]);
    let third = remainder(&mut asm, id, 3);
    arms_and_end(&mut asm, third, total, id);
    expect(asm, |id, subgroup| {
        100 * how_many(subgroup, |other| (other % 3 == 0) == (id % 3 == 0)) + subgroup.len() as u32
    });
}

/// A loop of `id % 4 + 1` iterations with an operation inside and one after it.
#[test]
fn rounds_of_a_loop() {
    let (mut asm, total, id) = begin(&[1]);
    let (i, zero) = (asm.slot(), asm.constant(0));
    let rounds = remainder(&mut asm, id, 4);
    asm.put(Inst::Move { d: i, a: zero });
    let index = asm.a_loop(1);
    asm.enter(index, 1);
    asm.block(&[index], &[2, 3]);
    append_count(&mut asm, total);
    let last = asm.binary(Binary::IEqual, i, rounds);
    asm.put(Inst::Branch { condition: last, yes: 3, no: 2 });
    asm.block(&[index], &[]);
    asm.add(i, 1);
    asm.next_round(index, 1);
    asm.block(&[], &[]);
    end(&mut asm, total, id);
    expect(asm, |id, subgroup| {
        let inside = (0..=id % 4).fold(0, |total, round| 100 * total + how_many(subgroup, |other| other % 4 >= round));
        inside.wrapping_mul(100).wrapping_add(subgroup.len() as u32)
    });
}

/// An outer loop of `id % 3 + 1` and an inner one of `id % 2 + 1` iterations, with the operation in the inner one.
/// Invocations that leave the inner loop early only wait for the others after it.
#[test]
fn nested_loops() {
    let (mut asm, total, id) = begin(&[1]);
    let (i, j, zero) = (asm.slot(), asm.slot(), asm.constant(0));
    let (outer_rounds, inner_rounds) = (remainder(&mut asm, id, 3), remainder(&mut asm, id, 2));
    let (outer, inner) = (asm.a_loop(1), asm.a_loop(2));
    asm.put(Inst::Move { d: i, a: zero });
    asm.enter(outer, 1);
    asm.block(&[outer], &[2]);
    asm.put(Inst::Move { d: j, a: zero });
    asm.enter(inner, 2);
    asm.block(&[outer, inner], &[3, 4]);
    let here = asm.count();
    asm.put(Inst::Binary { op: Binary::IAdd, bits: 32, d: total, a: total, b: here });
    let last = asm.binary(Binary::IEqual, j, inner_rounds);
    asm.put(Inst::Branch { condition: last, yes: 4, no: 3 });
    asm.block(&[outer, inner], &[]);
    asm.add(j, 1);
    asm.next_round(inner, 2);
    asm.block(&[outer], &[5, 6]);
    let together = asm.count();
    let thousand = asm.constant(1000);
    let counted = asm.binary(Binary::IMul, together, thousand);
    asm.put(Inst::Binary { op: Binary::IAdd, bits: 32, d: total, a: total, b: counted });
    let last = asm.binary(Binary::IEqual, i, outer_rounds);
    asm.put(Inst::Branch { condition: last, yes: 6, no: 5 });
    asm.block(&[outer], &[]);
    asm.add(i, 1);
    asm.next_round(outer, 1);
    asm.block(&[], &[]);
    asm.store(id, total);
    asm.put(Inst::Return);
    expect(asm, |id, subgroup| {
        (0..=id % 3)
            .map(|i| {
                let inner: u32 =
                    (0..=id % 2).map(|j| how_many(subgroup, |other| other % 3 >= i && other % 2 >= j)).sum();
                inner + 1000 * how_many(subgroup, |other| other % 3 >= i)
            })
            .sum()
    });
}

#[test]
fn those_who_return_early_are_not_waited_for() {
    let (mut asm, _, id) = begin(&[1, 2]);
    let third = remainder(&mut asm, id, 3);
    asm.branch_if(third, 1, 1, 2);
    asm.block(&[], &[]);
    asm.put(Inst::Return);
    asm.block(&[], &[]);
    let here = asm.count();
    asm.store(id, here);
    asm.put(Inst::Return);
    expect(asm, |id, subgroup| if id % 3 == 1 { 0 } else { how_many(subgroup, |other| other % 3 != 1) });
}

/// A function with an operation is called from two arms of a branch, and by all invocations.
#[test]
fn calls_from_different_places_are_apart() {
    let (mut asm, total, id) = begin(&[1, 2]);
    let third = remainder(&mut asm, id, 3);
    asm.branch_if(third, 0, 1, 2);
    for _ in 0..2 {
        asm.block(&[], &[3]);
        asm.put(Inst::Call(4));
        asm.put(Inst::Jump(3));
    }
    asm.block(&[], &[]);
    asm.put(Inst::Call(4));
    asm.store(id, total);
    asm.put(Inst::Return);
    asm.block(&[], &[]);
    append_count(&mut asm, total);
    asm.put(Inst::Return);
    expect(asm, |id, subgroup| {
        100 * how_many(subgroup, |other| (other % 3 == 0) == (id % 3 == 0)) + subgroup.len() as u32
    });
}

/// An operation that a branch can skip. Invocations that wait after it are not at the same place.
#[test]
fn those_who_are_past_are_not_waited_for() {
    let (mut asm, total, id) = begin(&[1, 2]);
    let half = remainder(&mut asm, id, 2);
    asm.branch_if(half, 0, 1, 2);
    asm.block(&[], &[2]);
    append_count(&mut asm, total);
    append_count(&mut asm, total);
    asm.put(Inst::Jump(2));
    asm.block(&[], &[]);
    end(&mut asm, total, id);
    expect(asm, |id, subgroup| {
        let even = how_many(subgroup, |other| other % 2 == 0);
        (if id % 2 == 0 { even * 10_000 + even * 100 } else { 0 }) + subgroup.len() as u32
    });
}

/// Runs an operation in the arms of a branch, and one after it, with a seed. Returns for each whether all possible
/// invocations took part.
fn whole_under(seed: u64, maximal: bool, subgroup_uniform: bool, divergent: bool) -> [bool; 2] {
    let mut asm = Assembler::new(16);
    asm.code.convergence = crate::code::Convergence { maximal, subgroup_uniform };
    asm.block(&[], &[1, 2]);
    let total = asm.slot();
    let id = asm.builtin(BuiltIn::LocalInvocationIndex);
    let by = if divergent { asm.builtin(BuiltIn::SubgroupLocalInvocationId) } else { asm.builtin(BuiltIn::SubgroupId) };
    let half = remainder(&mut asm, by, 2);
    arms_and_end(&mut asm, half, total, id);
    let words = asm.runs(8).mode(false, Some(seed)).words();
    let arm = if divergent { 4 } else { 8 };
    [words[..16].iter().all(|word| word / 100 == arm), words[..16].iter().all(|word| word % 100 == 8)]
}

#[test]
fn operations_come_apart_only_where_they_may() {
    let seeds = || 0..40;
    assert!(seeds().all(|seed| whole_under(seed, true, false, true) == [true, true]), "maximal reconvergence");
    assert!(seeds().all(|seed| whole_under(seed, true, false, false) == [true, true]), "maximal reconvergence");
    assert!(
        seeds().all(|seed| whole_under(seed, false, true, false) == [true, true]),
        "whole subgroups that branch together stay together"
    );
    assert!(seeds().any(|seed| !whole_under(seed, false, true, true)[0]), "half of a subgroup may come apart");
    assert!(
        seeds().all(|seed| whole_under(seed, false, false, true)[1]),
        "where the whole workgroup comes together again, it is together"
    );
    assert!(seeds().any(|seed| !whole_under(seed, false, false, false)[0]), "a subgroup is not the workgroup");
}
