//! Runs of `Fma` on a device that flushes, in loops, against the host's arithmetic.

use super::support::{Random, access};
use crate::evaluator::Machine;
use ptx2spv_translator::Target;
use ptx2spv_translator::internals::ir::{Builder, Function, Space, Type, Value, verify};
use ptx2spv_translator::internals::pipeline::{legalize, optimise};
use ptx2spv_translator::target::Facts;

/// Variables that go around the loop.
const VARS: usize = 6;
const ROUNDS: u32 = 3;
const CONSTANTS: [f32; 5] = [0.0, 1.0, -0.5, 1e-30, 3.25e7];

/// A step of a loop's body, on numbers of earlier values.
#[derive(Clone, Copy, Debug)]
enum Step {
    Fma(usize, usize, usize),
    Add(usize, usize),
    Mul(usize, usize),
    Negate(usize),
    /// The first if the second is less than the third, else the latter.
    Choose(usize, usize, usize),
    /// Writes to memory, which ends a run.
    Store(usize),
    /// An `Fma` under a condition, through the first variable.
    Nested(usize, usize),
}

fn draw(random: &mut Random) -> Vec<Step> {
    let mut known = VARS + CONSTANTS.len();
    (0..3 + random.below(20))
        .map(|_| {
            let mut value = || random.below(known);
            let (a, b, c) = (value(), value(), value());
            let step = match random.below(12) {
                0 => Step::Add(a, b),
                1 => Step::Mul(a, b),
                2 => Step::Negate(a),
                3 => Step::Choose(a, b, c),
                4 => Step::Store(a),
                5 => Step::Nested(a, b),
                _ => Step::Fma(a, b, c),
            };
            known += usize::from(!matches!(step, Step::Store(_) | Step::Nested(..)));
            step
        })
        .collect()
}

fn function(steps: &[Step]) -> Function {
    let mut function = Function::default();
    let vars = [(); VARS].map(|()| function.var(Type::I32));
    let counter = function.var(Type::I32);
    let b = Builder::new(&mut function);
    for (n, var) in (0..).zip(vars) {
        let value = b.load_one(access(Space::Shared, 4), b.i32(4 * n));
        b.set(var, value);
    }
    let body = b.nested(|b| {
        let mut values: Vec<Value> = vars.iter().map(|var| b.bitcast(b.get(*var), Type::F32)).collect();
        values.extend(CONSTANTS.map(|value| b.f32(value)));
        for step in steps {
            let value = match *step {
                Step::Fma(x, y, z) => b.fma(values[x], values[y], values[z]),
                Step::Add(x, y) => b.fadd(values[x], values[y]),
                Step::Mul(x, y) => b.fmul(values[x], values[y]),
                Step::Negate(x) => {
                    let bits = b.xor_const(b.bits(values[x]), 1 << 31);
                    b.bitcast(bits, Type::F32)
                }
                Step::Choose(x, y, z) => b.select(b.flt(values[y], values[z]), values[x], values[z]),
                Step::Store(x) => {
                    b.store(access(Space::Shared, 4), b.i32(4 * VARS as u32), vec![b.bits(values[x])]);
                    continue;
                }
                Step::Nested(x, y) => {
                    let less = b.flt(values[x], values[y]);
                    b.if_(less, |b| {
                        let sum = b.fma(values[x], values[y], values[x]);
                        b.set(vars[0], b.bits(sum));
                    });
                    continue;
                }
            };
            values.push(value);
        }
        for (var, value) in vars.iter().skip(1).zip(values.iter().rev()) {
            b.set(*var, b.bits(*value));
        }
        let next = b.add_const(b.get(counter), 1);
        b.set(counter, next);
        let done = b.eq(next, b.i32(ROUNDS));
        b.if_(done, |b| b.break_());
    });
    b.push(ptx2spv_translator::internals::ir::Stmt::Loop(body));
    for (n, var) in (0..).zip(vars) {
        b.store(access(Space::Shared, 4), b.i32(4 * n), vec![b.get(var)]);
    }
    b.finish();
    function
}

/// The values of the variables and of memory after the loop.
fn expected(steps: &[Step], mut vars: [f32; VARS], mut stored: f32) -> [f32; VARS + 1] {
    for _ in 0..ROUNDS {
        let mut values: Vec<f32> = vars.iter().copied().chain(CONSTANTS).collect();
        for step in steps {
            values.push(match *step {
                Step::Fma(x, y, z) => values[x].mul_add(values[y], values[z]),
                Step::Add(x, y) => values[x] + values[y],
                Step::Mul(x, y) => values[x] * values[y],
                Step::Negate(x) => -values[x],
                Step::Choose(x, y, z) if values[y] < values[z] => values[x],
                Step::Choose(_, _, z) => values[z],
                Step::Store(x) => {
                    stored = values[x];
                    continue;
                }
                Step::Nested(x, y) => {
                    if values[x] < values[y] {
                        vars[0] = values[x].mul_add(values[y], values[x]);
                    }
                    continue;
                }
            });
        }
        for (var, value) in vars.iter_mut().skip(1).zip(values.iter().rev()) {
            *var = *value;
        }
    }
    std::array::from_fn(|n| if n < VARS { vars[n] } else { stored })
}

fn operand(random: &mut Random) -> f32 {
    let sign = if random.below(2) == 0 { 1.0 } else { -1.0 };
    let fraction = 1.0 + random.below(1 << 23) as f32 / (1 << 23) as f32;
    let exponent = match random.below(12) {
        0 => return 0.0 * sign,
        1 => return f32::from_bits(random.below(1 << 23) as u32) * sign,
        2 => return f32::INFINITY * sign,
        3 => -126,
        4 => -102 + random.below(3) as i32,
        5 => -41 + random.below(4) as i32,
        6 => -63 + random.below(4) as i32,
        7 => 100,
        _ => random.below(20) as i32 - 10,
    };
    let whole = if random.below(2) == 0 { 1.0 } else { fraction };
    sign * whole * 2f32.powi(exponent)
}

fn check(target: &Target, programs: u32) {
    let mut random = Random::new(0x9e37_79b9_7f4a_7c15);
    for program in 0..programs {
        let steps = draw(&mut random);
        let mut function = function(&steps);
        optimise(&mut function, target).unwrap();
        legalize(&mut function, target).unwrap();
        assert_eq!(verify(&function), Ok(()), "{function}");
        let facts = target.facts.clone();
        let mut machine = Machine { facts, shared: vec![0; 4 * VARS + 4], ..Machine::default() };
        for _ in 0..20 {
            let ordinary = random.below(2) == 0;
            let operands: [f32; VARS] = std::array::from_fn(|_| {
                if ordinary { random.below(2000) as f32 / 7.0 - 100.0 } else { operand(&mut random) }
            });
            let bytes = operands.iter().flat_map(|float| float.to_le_bytes());
            machine.shared = bytes.chain([0; 4]).collect();
            machine.vars.clear();
            machine.steps = 100_000;
            machine.run(&function).unwrap_or_else(|fault| panic!("{steps:?} {operands:x?}: {fault}"));
            let words = machine
                .shared
                .chunks_exact(4)
                .map(|word| word.iter().rev().fold(0, |bits, byte| bits << 8 | u32::from(*byte)));
            for (n, (bits, exact)) in words.zip(expected(&steps, operands, 0.0)).enumerate() {
                let same = bits == exact.to_bits() || f32::from_bits(bits).is_nan() && exact.is_nan();
                assert!(
                    same,
                    "{n} of program {program} {steps:?} on {operands:?}: {} for {exact:e}",
                    f32::from_bits(bits)
                );
            }
        }
    }
}

fn target(facts: Facts) -> Target {
    let mut target = Target::preset("lavapipe").expect("a preset");
    target.facts = Facts { fma_f32_fused: true, nan_f32_nvidia: true, ..facts };
    target
}

#[test]
fn runs_are_exact() {
    check(&target(Facts { denormals_f32_kept: true, denormals_f64_kept: true, ..Facts::default() }), 3000);
}

#[test]
fn runs_are_exact_where_all_is_flushed() {
    check(&target(Facts { denormals_f64_kept: true, ..Facts::default() }), 500);
}

/// Sums that go around a loop need no test, nor do factors that are used again.
#[test]
fn tests_are_shared() {
    let steps = [Step::Fma(1, 2, 3), Step::Fma(1, 2, 11), Step::Fma(1, 2, 12), Step::Fma(2, 1, 13)];
    let mut function = function(&steps);
    let facts = Facts {
        denormals_f32_kept: true,
        denormals_f64_kept: true,
        known_specials_f32_right: true,
        known_constants_f32_right: true,
        known_factors_f32_right: true,
        known_specials_f64_right: true,
        known_constants_f64_right: true,
        ..Facts::default()
    };
    let target = target(facts);
    optimise(&mut function, &target).unwrap();
    legalize(&mut function, &target).unwrap();
    let text = function.to_string();
    assert_eq!(text.matches(" fma ").count(), 4, "{text}");
    assert_eq!(text.matches("less_unsigned").count(), 3, "{text}");
}
