//! Scheduling: fairness, deadlocks, budgets, and traces.

use super::*;
use crate::code::SourceLine;
use crate::finding::FindingKind;

/// Every invocation spins until word `flag` of the buffer isn't 0, except those whose `builtin` is `setter`, which set
/// it. Then all write 7 after it.
fn wait_for(setter: u64, builtin: BuiltIn) -> Run {
    let mut asm = Assembler::new(32);
    asm.block(&[], &[1, 2]);
    let flag = asm.constant(BUFFER);
    let who = asm.builtin(builtin);
    let id = asm.builtin(BuiltIn::GlobalInvocationId);
    asm.branch_if(who, setter, 1, 2);
    asm.block(&[], &[3]);
    let one = asm.constant(1);
    asm.atomic(AtomicOp::Store, Class::Device, flag, one);
    asm.put(Inst::Jump(3));
    let index = asm.a_loop(2);
    asm.block(&[index], &[3]);
    let set = asm.atomic(AtomicOp::Load, Class::Device, flag, one);
    asm.branch_if(set, 0, 2, 3);
    asm.block(&[], &[]);
    let seven = asm.constant(7);
    let after = asm.binary(Binary::IAdd, id, one);
    asm.store(after, seven);
    asm.put(Inst::Return);
    asm.runs(8)
}

#[test]
fn waiting_for_another_invocation() {
    for setter in [0, 31] {
        for (check, seed) in modes() {
            let words = wait_for(setter, BuiltIn::LocalInvocationIndex).mode(check, seed).words();
            assert_eq!(words[1..33], [7; 32]);
        }
    }
}

#[test]
fn waiting_for_another_workgroup() {
    for setter in [0, 49] {
        for threads in [1, 2, 3] {
            let mut run = wait_for(setter, BuiltIn::WorkgroupId).groups(50);
            run.threads = threads;
            assert_eq!(run.words()[1..1601], [7; 1600]);
        }
        for (check, seed) in modes().skip(1) {
            let words = wait_for(setter, BuiltIn::WorkgroupId).groups(50).mode(check, seed).words();
            assert_eq!(words[1..1601], [7; 1600]);
        }
    }
}

#[test]
fn waiting_for_nobody() {
    for (check, seed) in modes() {
        for threads in [1, 3] {
            let mut run = wait_for(1000, BuiltIn::LocalInvocationIndex).groups(3).mode(check, seed);
            run.threads = threads;
            let finding = run.run().result.unwrap_err();
            assert_eq!(finding.kind, FindingKind::Deadlock, "{finding}");
            assert!(finding.message.contains("32 invocations of this workgroup spin"), "{finding}");
        }
    }
}

/// Invocation 0 waits for something that the others would do after a barrier.
#[test]
fn waiting_at_a_barrier_for_each_other() {
    for (check, seed) in modes() {
        let mut asm = Assembler::new(8);
        asm.block(&[], &[1, 2]);
        let (flag, one) = (asm.constant(BUFFER), asm.constant(1));
        let id = asm.builtin(BuiltIn::LocalInvocationIndex);
        asm.branch_if(id, 0, 1, 2);
        asm.a_loop(1);
        asm.block(&[0], &[2]);
        let set = asm.atomic(AtomicOp::Load, Class::Device, flag, one);
        asm.branch_if(set, 0, 1, 2);
        asm.block(&[], &[]);
        asm.barrier(Scope::Workgroup);
        asm.atomic(AtomicOp::Store, Class::Device, flag, one);
        asm.put(Inst::Return);
        let finding = asm.runs(4).mode(check, seed).run().result.unwrap_err();
        assert_eq!(finding.kind, FindingKind::Deadlock, "{finding}");
        assert!(finding.message.contains("1 invocations") && finding.message.contains("7 wait"), "{finding}");
    }
}

/// A spin lock that all invocations of several workgroups take to increment a counter.
#[test]
fn locks() {
    let code = || {
        let mut asm = Assembler::new(32);
        asm.block(&[], &[1]);
        let (lock, counter) = (asm.constant(BUFFER), asm.constant(BUFFER + 4));
        let (zero, one) = (asm.constant(0), asm.constant(1));
        asm.a_loop(1);
        asm.put(Inst::Jump(1));
        asm.block(&[0], &[2]);
        let taken = asm.atomic(AtomicOp::Exchange, Class::Device, lock, one);
        asm.branch_if(taken, 1, 1, 2);
        asm.block(&[], &[]);
        let old = asm.load(Class::Device, counter);
        let new = asm.binary(Binary::IAdd, old, one);
        asm.put(Inst::Store { class: Class::Device, bytes: 4, how: 0, value: new, pointer: counter, offset: 0 });
        asm.atomic(AtomicOp::Store, Class::Device, lock, zero);
        asm.put(Inst::Return);
        asm.runs(8)
    };
    assert_eq!(code().groups(64).words()[..2], [0, 64 * 32]);
    for (check, seed) in modes().skip(1) {
        assert_eq!(code().groups(3).mode(check, seed).words()[..2], [0, 3 * 32]);
    }
}

/// An endless loop whose state never repeats.
#[test]
fn step_budget() {
    let mut asm = Assembler::new(2);
    asm.block(&[], &[1]);
    let i = asm.slot();
    let zero = asm.constant(0);
    asm.put(Inst::Move { d: i, a: zero });
    asm.put(Inst::Jump(1));
    asm.a_loop(1);
    asm.block(&[0], &[]);
    asm.add(i, 1);
    asm.put(Inst::Jump(1));
    let mut run = asm.runs(8).groups(5);
    run.step_budget = Some(1_000_000);
    for (check, seed) in modes() {
        run = run.mode(check, seed);
        let finding = run.run().result.unwrap_err();
        assert_eq!(finding.kind, FindingKind::StepBudget);
        assert!(finding.message.contains("1000000"));
    }
}

/// A wait for the clock ends by itself, and a loop with a counter in the invocation's own memory isn't a cycle.
#[test]
fn what_only_looks_like_spinning() {
    let mut asm = Assembler::new(2);
    asm.code.private_bytes = 4;
    asm.block(&[], &[1]);
    let (zero, end) = (asm.constant(0), asm.constant(100_000));
    asm.put(Inst::Store { class: Class::Private, bytes: 4, how: 0, value: zero, pointer: zero, offset: 0 });
    asm.put(Inst::Jump(1));
    asm.a_loop(1);
    asm.block(&[0], &[2]);
    let now = asm.slot();
    asm.put(Inst::Clock { d: now });
    let early = asm.slot();
    asm.put(Inst::Binary { op: Binary::ULessThan, bits: 64, d: early, a: now, b: end });
    asm.put(Inst::Branch { condition: early, yes: 1, no: 2 });
    asm.a_loop(2);
    asm.block(&[1], &[3]);
    let old = asm.load(Class::Private, zero);
    asm.add(old, 1);
    asm.put(Inst::Store { class: Class::Private, bytes: 4, how: 0, value: old, pointer: zero, offset: 0 });
    let more = asm.binary(Binary::ULessThan, old, end);
    asm.put(Inst::Move { d: old, a: zero });
    asm.put(Inst::Move { d: now, a: zero });
    asm.put(Inst::Branch { condition: more, yes: 2, no: 3 });
    asm.block(&[], &[]);
    asm.put(Inst::Return);
    asm.runs(2).words();
}

/// All workgroups of a grid run, even if their number is odd.
#[test]
fn whole_grids() {
    for groups in [0, 1, 3, 37] {
        let mut asm = Assembler::new(3);
        asm.block(&[], &[]);
        let (at, one) = (asm.constant(BUFFER), asm.constant(1));
        asm.atomic(AtomicOp::Update(Binary::IAdd), Class::Device, at, one);
        let id = asm.builtin(BuiltIn::GlobalInvocationId);
        let after = asm.binary(Binary::IAdd, id, one);
        asm.store(after, one);
        asm.put(Inst::Return);
        let mut run = asm.runs(2).groups(groups);
        for (check, seed) in modes() {
            run = run.mode(check, seed);
            let words = run.words();
            let count = 3 * groups as usize;
            assert_eq!(words[0] as usize, count);
            assert!(words[1..=count].iter().all(|&word| word == 1));
        }
    }
}

#[test]
fn traces_one_invocation() {
    let mut asm = Assembler::new(4);
    asm.block(&[], &[1]);
    let id = asm.builtin(BuiltIn::GlobalInvocationId);
    let here = asm.count();
    asm.put(Inst::Jump(1));
    asm.block(&[], &[]);
    let sum = asm.binary(Binary::IAdd, id, here);
    asm.store(id, sum);
    asm.put(Inst::Return);
    // The store is a single SPIR-V instruction.
    let first = asm.code.places.len() - 4;
    for place in &mut asm.code.places[first..first + 3] {
        place.word = 100;
        place.line = Some(SourceLine { file: 0, line: 12 });
    }
    asm.code.files.push("a.ptx".into());
    let mut run = asm.runs(4).groups(2);
    run.trace = Some(Trace { workgroup: [1, 0, 0], local: [2, 0, 0] });
    let expected = [
        "instruction 0 -> 0x6",
        "instruction 1 -> 0xf -> 0x0 -> 0x0 -> 0x0",
        "instruction 2 -> 0x4",
        "instruction 3",
        "instruction 4 -> 0xa",
        "a.ptx:12: instruction 100 -> 0x1000000018 at 0x1000000018 <- 0xa",
        "instruction 8 (ended)",
    ];
    for (check, seed) in modes().take(2) {
        run = run.mode(check, seed);
        assert_eq!(run.run().trace, expected);
    }
}
