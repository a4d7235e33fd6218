//! Findings that end a run, findings after which it continues, and near misses that are neither.

use super::*;
use crate::finding::FindingKind;

/// Runs code that begins with `body`, in plain and in checked mode, and expects a fatal finding.
fn fatal(invocations: u32, kind: FindingKind, text: &str, body: impl Fn(&mut Assembler)) {
    for check in [false, true] {
        let mut asm = Assembler::new(invocations);
        asm.block(&[], &[]);
        body(&mut asm);
        asm.put(Inst::Return);
        let finding = asm.runs(4).mode(check, None).run().result.unwrap_err();
        assert_eq!(finding.kind, kind, "{finding}");
        assert!(finding.message.contains(text), "{finding}");
    }
}

/// Like [`fatal`], but expects no finding.
fn silent(body: impl Fn(&mut Assembler)) {
    for check in [false, true] {
        let mut asm = Assembler::new(1);
        asm.block(&[], &[]);
        body(&mut asm);
        asm.put(Inst::Return);
        asm.runs(4).mode(check, None).words();
    }
}

fn load_at(address: u64) -> impl Fn(&mut Assembler) {
    move |asm| {
        let pointer = asm.constant(address);
        asm.load(Class::Device, pointer);
    }
}

#[test]
fn accesses_outside() {
    // The buffer has 4096 words.
    silent(load_at(BUFFER + 4 * 4095));
    fatal(1, FindingKind::OutOfBounds, "0 bytes past the end of allocation 1", load_at(BUFFER + 4 * 4096));
    fatal(1, FindingKind::OutOfBounds, "4 bytes before allocation 1", load_at(BUFFER - 4));
    fatal(1, FindingKind::OutOfBounds, "null pointer", load_at(0));
    fatal(1, FindingKind::OutOfBounds, "4 bytes before a null pointer", load_at(4_u64.wrapping_neg()));
    fatal(1, FindingKind::Misaligned, "multiple of 4", load_at(BUFFER + 2));
    fatal(1, FindingKind::OutOfBounds, "workgroup memory", |asm| {
        asm.code.workgroup_bytes = 8;
        let pointer = asm.constant(8);
        asm.load(Class::Workgroup, pointer);
    });
    fatal(1, FindingKind::OutOfBounds, "own memory", |asm| {
        asm.code.private_bytes = 8;
        let pointer = asm.constant(8);
        asm.load(Class::Private, pointer);
    });
    fatal(1, FindingKind::OutOfBounds, "push constants", |asm| {
        let pointer = asm.constant(4);
        asm.load(Class::PushConstant, pointer);
    });
    silent(|asm| {
        let pointer = asm.constant(0);
        asm.load(Class::PushConstant, pointer);
    });
}

#[test]
fn indices_outside() {
    let indexed = |index: u64, used: bool| {
        move |asm: &mut Assembler| {
            let (d, a, index) = (asm.slot(), asm.constant(BUFFER), asm.constant(index));
            asm.put(Inst::Index { bits: 32, d, a, index, stride: 4, count: 10 });
            if used {
                asm.load(Class::Device, d);
            }
        }
    };
    silent(indexed(9, true));
    silent(indexed(10, false));
    fatal(1, FindingKind::OutOfBounds, "outside of its array", indexed(10, true));
    fatal(1, FindingKind::OutOfBounds, "outside of its array", indexed(0xffff_ffff, true));
}

#[test]
fn other_faults() {
    fatal(1, FindingKind::Unreachable, "OpUnreachable", |asm| asm.put(Inst::Unreachable));
    fatal(1, FindingKind::ReadOnly, "push constants", |asm| {
        let zero = asm.constant(0);
        asm.put(Inst::Store { class: Class::PushConstant, bytes: 4, how: 0, value: zero, pointer: zero, offset: 0 });
    });
}

#[test]
fn use_after_free() {
    let mut asm = Assembler::new(1);
    asm.block(&[], &[]);
    let pointer = asm.constant(BUFFER);
    asm.load(Class::Device, pointer);
    asm.put(Inst::Return);
    let mut run = asm.runs(4);
    run.freed = true;
    for check in [false, true] {
        run.mode.check = check;
        let finding = run.run().result.unwrap_err();
        assert_eq!(finding.kind, FindingKind::UseAfterFree);
        assert!(finding.message.contains("allocation 1 (16384 bytes"), "{finding}");
    }
}

/// A barrier that one invocation doesn't reach: it ends, waits at another barrier, or at a subgroup barrier.
fn astray(how: u32) -> Run {
    let mut asm = Assembler::new(8);
    asm.block(&[], &[1, 2]);
    let id = asm.builtin(BuiltIn::LocalInvocationIndex);
    asm.branch_if(id, 5, 1, 2);
    asm.block(&[], &[]);
    match how {
        0 => {}
        _ => asm.barrier(Scope::Workgroup),
    }
    asm.put(Inst::Return);
    asm.block(&[], &[]);
    asm.barrier(Scope::Workgroup);
    asm.put(Inst::Return);
    asm.runs(4)
}

#[test]
fn barriers_that_some_miss() {
    for (check, seed) in modes() {
        let ended = astray(0).mode(check, seed).run().result.unwrap_err();
        assert_eq!(ended.kind, FindingKind::DivergentBarrier);
        assert!(ended.message.contains("7 of 8 invocations wait here, 1 have ended"), "{ended}");
        let apart = astray(1).mode(check, seed).run().result.unwrap_err();
        assert_eq!(apart.kind, FindingKind::DivergentBarrier);
        assert!(apart.other.is_some() && apart.message.contains("0 have ended"), "{apart}");
    }
}

/// In a loop, each invocation writes to workgroup memory and reads its neighbor's value after a barrier.
#[test]
fn barriers_that_all_reach() {
    let mut asm = Assembler::new(20);
    asm.code.workgroup_bytes = 80;
    asm.block(&[], &[1]);
    let (i, x) = (asm.slot(), asm.slot());
    let id = asm.builtin(BuiltIn::LocalInvocationIndex);
    let zero = asm.constant(0);
    asm.put(Inst::Move { d: i, a: zero });
    asm.put(Inst::Move { d: x, a: id });
    let index = asm.a_loop(1);
    asm.enter(index, 1);
    asm.block(&[index], &[2, 3]);
    let own = asm.element(0, id);
    asm.put(Inst::Store { class: Class::Workgroup, bytes: 4, how: 0, value: x, pointer: own, offset: 0 });
    asm.barrier(Scope::Workgroup);
    let (one, count) = (asm.constant(1), asm.constant(20));
    let next = asm.binary(Binary::IAdd, id, one);
    let next = asm.binary(Binary::UMod, next, count);
    let pointer = asm.element(0, next);
    let loaded = asm.load(Class::Workgroup, pointer);
    asm.put(Inst::Move { d: x, a: loaded });
    asm.barrier(Scope::Workgroup);
    asm.branch_if(i, 4, 3, 2);
    asm.block(&[index], &[]);
    asm.add(i, 1);
    asm.next_round(index, 1);
    asm.block(&[], &[]);
    asm.store(id, x);
    asm.put(Inst::Return);
    let mut run = asm.runs(8);
    for (check, seed) in modes() {
        run = run.mode(check, seed);
        let words = run.words();
        assert_eq!(words[..20], (0..20).map(|id| (id + 5) % 20).collect::<Vec<u32>>(), "seed {seed:?}");
    }
}

/// The findings of checked mode for the code of one invocation.
fn found(body: impl Fn(&mut Assembler)) -> Vec<Finding> {
    let mut asm = Assembler::new(2);
    asm.block(&[], &[1]);
    body(&mut asm);
    asm.block(&[], &[]);
    asm.put(Inst::Return);
    let outcome = asm.runs(4).mode(true, None).run();
    assert_eq!(outcome.result, Ok(()));
    outcome.found
}

fn undefined(asm: &mut Assembler) -> Slot {
    let (one, width) = (asm.constant(1), asm.constant(32));
    asm.binary(Binary::ShiftLeftLogical, one, width)
}

#[test]
fn undefined_values_that_matter() {
    let decides = found(|asm| {
        let value = undefined(asm);
        let copy = asm.binary(Binary::IAdd, value, value);
        asm.branch_if(copy, 0, 1, 1);
    });
    assert_eq!(decides.len(), 1, "both invocations did it at the same place");
    assert_eq!((decides[0].kind, decides[0].repeated), (FindingKind::Undefined, 1));
    assert_eq!(
        decides[0].other.as_ref().and_then(|origin| origin.instruction.as_ref()).map(|i| i.word),
        Some(0),
        "it comes from the first instruction"
    );
    let carried = found(|asm| {
        let value = undefined(asm);
        let zero = asm.constant(0);
        let cleared = asm.binary(Binary::BitwiseAnd, value, zero);
        asm.branch_if(cleared, 0, 1, 1);
    });
    assert_eq!(carried, [], "no undefined bit is left");
    let address = found(|asm| {
        let (value, zero) = (undefined(asm), asm.constant(0));
        let index = asm.binary(Binary::BitwiseAnd, value, zero);
        asm.fetch(index);
        let one = asm.constant(1);
        let index = asm.binary(Binary::BitwiseAnd, value, one);
        asm.fetch(index);
        asm.put(Inst::Jump(1));
    });
    assert_eq!(address.iter().map(|finding| finding.kind).collect::<Vec<_>>(), [FindingKind::Undefined]);
    let uninitialised = found(|asm| {
        asm.code.private_bytes = 8;
        let (first, second) = (asm.constant(0), asm.constant(4));
        asm.put(Inst::Store { class: Class::Private, bytes: 4, how: 0, value: first, pointer: first, offset: 0 });
        let defined = asm.load(Class::Private, first);
        let undefined = asm.load(Class::Private, second);
        let condition = asm.binary(Binary::IEqual, defined, undefined);
        asm.put(Inst::Branch { condition: defined, yes: 1, no: 1 });
        asm.put(Inst::Branch { condition, yes: 1, no: 1 });
    });
    assert_eq!(uninitialised, [], "the first branch left already");
    let uninitialised = found(|asm| {
        asm.code.private_bytes = 4;
        let pointer = asm.constant(0);
        let value = asm.load(Class::Private, pointer);
        asm.branch_if(value, 0, 1, 1);
    });
    assert_eq!(uninitialised.iter().map(|finding| finding.kind).collect::<Vec<_>>(), [FindingKind::Uninitialised]);
}

#[test]
fn undefined_values_are_arbitrary_under_seeds() {
    let mut asm = Assembler::new(4);
    asm.block(&[], &[]);
    let id = asm.builtin(BuiltIn::LocalInvocationIndex);
    let value = undefined(&mut asm);
    asm.store(id, value);
    asm.put(Inst::Return);
    let run = asm.runs(4);
    assert_eq!(run.words()[..4], [0; 4]);
    let run = run.mode(false, Some(1));
    let words = run.words();
    assert!(words[..4].iter().all(|&word| word != 0));
    assert_eq!(words, run.words(), "the same seed, the same run");
    assert_ne!(words, run.mode(false, Some(2)).words());
}
