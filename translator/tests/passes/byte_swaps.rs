//! Swaps of two bytes that are written as a sum for drivers that compile them wrong.

use super::support::{Random, access};
use crate::evaluator::Machine;
use ptx2spv_translator::Target;
use ptx2spv_translator::internals::ir::{Binary, Builder, Function, Op, Space, Stmt, verify};
use ptx2spv_translator::internals::pipeline::legalize;

/// Loads two bytes, swaps them, and joins a third that overlaps.
fn swap(target: &Target) -> Function {
    let mut function = Function::default();
    let b = Builder::new(&mut function);
    let pair = b.load_one(access(Space::Shared, 2), b.i32(0));
    let word = b.load_one(access(Space::Shared, 4), b.i32(4));
    let high = b.shr(pair, 8);
    let raised = b.shl(b.and_const(pair, 0xff), 8);
    let swapped = b.or(high, raised);
    // Here the operands share bits: this must stay.
    let overlapping = b.or(word, b.shl(word, 8));
    b.store(access(Space::Shared, 4), b.i32(8), vec![swapped]);
    b.store(access(Space::Shared, 4), b.i32(12), vec![overlapping]);
    b.finish();
    legalize(&mut function, target).unwrap();
    assert_eq!(verify(&function), Ok(()), "{function}");
    function
}

fn ors(function: &Function) -> usize {
    function.body.iter().filter(|stmt| matches!(stmt, Stmt::Let(_, Op::Binary(Binary::Or, ..)))).count()
}

#[test]
fn swaps_become_sums_where_the_driver_needs_it() {
    let nvidia = swap(&Target::preset("nvidia").expect("a preset"));
    assert_eq!(ors(&nvidia), 1, "{nvidia}");
    let lavapipe = swap(&Target::preset("lavapipe").expect("a preset"));
    assert_eq!(ors(&lavapipe), 2, "{lavapipe}");
    let mut random = Random::new(3);
    for _ in 0..1000 {
        let (pair, word) = (random.bits() as u16, random.bits() as u32);
        let mut shared = vec![0; 16];
        shared[..2].copy_from_slice(&pair.to_le_bytes());
        shared[4..8].copy_from_slice(&word.to_le_bytes());
        for function in [&nvidia, &lavapipe] {
            let mut machine = Machine { shared: shared.clone(), steps: 1000, ..Machine::default() };
            machine.run(function).expect("it ends");
            let results = [pair.swap_bytes().into(), word | word << 8].map(u32::to_le_bytes).concat();
            assert_eq!(machine.shared[8..], results);
        }
    }
}
