//! Long operations that a kernel has at many places: helpers take their place, and give the same.

use super::support::{Random, access};
use crate::evaluator::Machine;
use ptx2spv_translator::Target;
use ptx2spv_translator::internals::ir::{Binary, Builder, Function, Op, Space, Stmt, Type, Value, verify};
use ptx2spv_translator::internals::legalize::split_words;
use ptx2spv_translator::internals::pipeline::legalize;
use ptx2spv_translator::target::{Facts, Feature};

/// Operations one after another.
const STEPS: usize = 40;

fn poor(integers: bool) -> Target {
    let mut target = Target::preset("lavapipe").expect("a preset");
    target.facts = Facts::default();
    target.features.remove(&Feature::ShaderFloat64);
    if !integers {
        target.features.remove(&Feature::ShaderInt64);
    }
    target
}

/// Sums, products, quotients and fused ones of the last result and an operand, which is a constant now and then; in conditions
/// and loops too.
fn step(b: &Builder<'_>, number: usize, x: Value, y: Value) -> Value {
    let y = if number % 5 == 4 { b.constant(Type::F64, 1.625f64.to_bits()) } else { y };
    match number % 4 {
        0 => b.op(Type::F64, Op::Binary(Binary::FMul, x, y)),
        1 => b.op(Type::F64, Op::Binary(Binary::FAdd, x, y)),
        2 => b.op(Type::F64, Op::Binary(Binary::FDiv, x, y)),
        _ => b.op(Type::F64, Op::Fma(x, y, y)),
    }
}

fn expected(x: f64, y: f64) -> f64 {
    (0..STEPS).fold(x, |x, number| {
        let y = if number % 5 == 4 { 1.625 } else { y };
        match number % 4 {
            0 => x * y,
            1 => x + y,
            2 => x / y,
            _ => x.mul_add(y, y),
        }
    })
}

/// The operand at an offset of shared memory.
fn operand(b: &Builder<'_>, offset: u32) -> Value {
    let address = b.i32(offset);
    let bits = b.value(Type::I64);
    b.push(Stmt::Load { results: vec![bits], access: access(Space::Shared, 8), address });
    b.bitcast(bits, Type::F64)
}

/// Stores the result and ends.
fn finish(b: Builder<'_>, result: Value) {
    let bits = b.bits(result);
    b.store(access(Space::Shared, 8), b.i32(0), vec![bits]);
    b.finish();
}

fn program() -> Function {
    let mut function = Function::default();
    let b = Builder::new(&mut function);
    let [mut x, y] = [8, 16].map(|offset| operand(&b, offset));
    for number in 0..STEPS / 2 {
        x = step(&b, number, x, y);
    }
    let kept = b.var(Type::I64);
    b.set(kept, b.bits(x));
    // One round.
    let round = b.nested(|b| {
        for number in STEPS / 2..STEPS {
            let next = step(b, number, b.bitcast(b.get(kept), Type::F64), y);
            b.set(kept, b.bits(next));
        }
        b.break_();
    });
    b.push(Stmt::Loop(round));
    let result = b.bitcast(b.get(kept), Type::F64);
    finish(b, result);
    function
}

#[test]
fn many_of_a_few() {
    for integers in [true, false] {
        let target = poor(integers);
        let mut function = program();
        legalize(&mut function, &target).expect("legal");
        if !integers {
            split_words(&mut function);
        }
        assert_eq!(verify(&function), Ok(()), "{function}");
        assert_eq!(function.helpers.len(), 4, "{function}");
        let mut random = Random::new(1);
        for _ in 0..200 {
            // Not so far from 1 that all would end in infinity or zero.
            let [x, y] = [0, 1].map(|_| f64::from_bits((random.bits() >> 12) | 0x3fe << 52));
            let shared = [0, x.to_bits(), y.to_bits()].into_iter().flat_map(u64::to_le_bytes).collect();
            let mut machine = Machine { shared, steps: 1_000_000, ..Machine::default() };
            assert_eq!(machine.run(&function), Ok(()));
            let bits = machine.shared.iter().take(8).rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte));
            assert_eq!(f64::from_bits(bits), expected(x, y), "{x} {y}");
        }
    }
}

#[test]
fn a_few() {
    let mut function = Function::default();
    let b = Builder::new(&mut function);
    let [x, y] = [8, 16].map(|offset| operand(&b, offset));
    let sum = step(&b, 1, x, y);
    finish(b, sum);
    legalize(&mut function, &poor(true)).expect("legal");
    assert_eq!(verify(&function), Ok(()), "{function}");
    assert!(function.helpers.is_empty(), "{function}");
}
