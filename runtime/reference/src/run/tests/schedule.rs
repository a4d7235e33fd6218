//! Who runs when: speed, fairness, deadlocks and budgets.

use super::*;
use crate::finding::FindingKind;

/// All modes, so many seeds.
fn modes() -> impl Iterator<Item = (bool, Option<u64>)> {
    [(false, None), (true, None)].into_iter().chain((0..8).flat_map(|seed| [(false, Some(seed)), (true, Some(seed))]))
}

#[test]
#[ignore]
fn speed() {
    let mut asm = Assembler::new(64);
    asm.block(&[], &[1]);
    let (x, i) = (asm.slot(), asm.slot());
    let id = asm.builtin(Builtin::GlobalInvocationId);
    let zero = asm.constant(0);
    asm.put(Inst::Move { d: x, a: id });
    asm.put(Inst::Move { d: i, a: zero });
    asm.put(Inst::Jump(1));
    asm.block(&[0], &[2]);
    asm.a_loop(1);
    let c = asm.constant(1_664_525);
    for _ in 0..10 {
        asm.put(Inst::Binary { op: Binary::IMul, bits: 32, d: x, a: x, b: c });
        asm.add(x, 1_013_904_223);
        let y = asm.binary(Binary::BitwiseXor, x, i);
        asm.put(Inst::Binary { op: Binary::FAdd, bits: 32, d: x, a: x, b: y });
    }
    asm.add(i, 1);
    let end = asm.is(i, 20000);
    asm.put(Inst::Branch { condition: end, yes: 2, no: 1 });
    asm.block(&[], &[]);
    asm.store(id, x);
    asm.put(Inst::Return);
    let mut run = asm.runs(32).groups(8);
    run.step_budget = None;
    run.threads = 1;
    for check in [false, true] {
        run.mode.check = check;
        let begin = std::time::Instant::now();
        run.words();
        eprintln!("check {check}: {:.1} M/s", 512.0 * 20000.0 * 43.0 / begin.elapsed().as_secs_f64() / 1e6);
    }
}
